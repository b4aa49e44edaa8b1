"""`connect-standalone [-daemon] connect-standalone.properties [connector.properties | connector.json ...]`: one Connect
worker by itself, with the connectors of these files."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli.platform.overrides import parse_overrides
from penstock.cli.tools.servers.spark import require_spark
from penstock.cli.tools.servers.start import (
    add_server_arguments,
    go_into_background,
    log_to_stderr,
    settings_with_overrides,
)
from penstock.errors import ConfigError, PenstockError
from penstock.pipeline.connect.settings import ConnectSettings, warnings_about
from penstock.settings.properties import read_properties

if TYPE_CHECKING:
    from penstock.pipeline.connect.worker.process import NamedConfig

TOOL = "connect-standalone"
OUTPUT_NAME = "connectStandalone.out"


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    if not given:
        parser.print_usage()
        return 1
    words = parser.parse_args(given)
    log_to_stderr()
    try:
        return _run(words)
    except (PenstockError, OSError) as error:
        print(f"{TOOL}: {error}", file=sys.stderr, flush=True)
        return 1


def _run(words: argparse.Namespace) -> int:
    settings = settings_with_overrides(
        words.worker, parse_overrides(words.override), ConnectSettings.standalone_from_configs, warnings_about
    )
    require_spark()
    from penstock.pipeline.connect.worker.process import run

    connectors = read_connectors(words.connectors)
    if words.daemon:
        go_into_background(OUTPUT_NAME)
    return run(TOOL, settings, connectors)


def read_connectors(files: Sequence[Path]) -> "list[NamedConfig]":
    from penstock.pipeline.connect.worker.process import NamedConfig

    found = [NamedConfig(*_read_connector(file), file) for file in files]
    for number, each in enumerate(found):
        if any(other.name == each.name for other in found[:number]):
            raise ConfigError(f"{each.file}: name: got {each.name!r}, which another file has already")
    return found


def _read_connector(file: Path) -> tuple[str, dict[str, str]]:
    config = _read_json(file) if file.suffix == ".json" else read_properties(file)
    name = config.get("name", "")
    if not name:
        raise ConfigError(f'{file}: Missing required configuration "name" which has no default value.')
    return name, config


def _read_json(file: Path) -> dict[str, str]:
    """A configuration, or a request as it would be POSTed: `{"name": ..., "config": {...}}`."""
    try:
        value: Any = json.loads(file.read_text())
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{file}: is no JSON: {error}") from None
    if isinstance(value, dict) and isinstance(value.get("config"), dict):
        value = {"name": value.get("name"), **value["config"]}
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise ConfigError(f"{file}: takes an object of texts, or one with `name` and `config`")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        TOOL, description="Run connectors in one worker, until SIGTERM or Ctrl-C."
    )
    parser.add_argument("worker", type=Path, help="the worker's settings, connect-standalone.properties")
    parser.add_argument("connectors", type=Path, nargs="*", help="connectors: properties, or JSON")
    add_server_arguments(parser, OUTPUT_NAME)
    return parser


if __name__ == "__main__":
    sys.exit(main())
