"""`penstock init`: the settings files that the start commands of the tutorials name, in a folder of the user's."""

import argparse
from importlib.resources import files
from pathlib import Path

from penstock.errors import ConfigError

FOLDER = "config"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "penstock init",
        description="Write config/server.properties, zookeeper.properties, producer.properties and "
        "consumer.properties into a directory: settings for one broker on port 9092 and ZooKeeper on 2181.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "directory", nargs="?", type=Path, default=Path(), help="the current one if not given"
    )
    folder = parser.parse_args(arguments).directory / FOLDER
    write_config(folder)
    return 0


def write_config(folder: Path) -> None:
    """Writes nothing at all where one of the files is there already: it may have been edited."""
    shipped = {entry.name: entry.read_text() for entry in files("penstock").joinpath(FOLDER).iterdir()}
    for name in sorted(shipped):
        if (folder / name).exists():
            raise ConfigError(f"{folder / name}: is there already; remove it, or name another directory")
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(shipped):
        (folder / name).write_text(shipped[name])
        print(folder / name)
