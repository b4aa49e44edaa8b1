"""`penstock streams run app.py`, `penstock streams describe app.py`, `penstock streams reset app.py`."""

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

from penstock.cli.bootstrap_default import default_bootstrap_servers
from penstock.cli.streams.reset import add_reset
from penstock.errors import ConfigError
from penstock.pipeline.tasks.program import ProgramFile
from penstock.settings.properties import read_properties

BOOTSTRAP = "bootstrap.servers"


def main(arguments: list[str]) -> int:
    parsed = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = parsed.run
    return run(parsed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock streams",
        description="Programs of streams: a Python file with a Program at its top level. `docs/guide/streams.md` "
        "tells how to write one.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="{run,describe,reset}")
    run = commands.add_parser("run", help="run a program here, until Ctrl-C", allow_abbrev=False)
    _add_file(run)
    run.add_argument(
        "--bootstrap-server", help="the Kafka to run on; what the file says, or else localhost:9092"
    )
    run.add_argument("--config", type=Path, metavar="FILE", help="a properties file with settings")
    run.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, on top of all others"
    )
    run.add_argument("--verbose", action="store_true", help="tell what goes on")
    run.set_defaults(run=_run)
    describe = commands.add_parser("describe", help="print a program's topology", allow_abbrev=False)
    _add_file(describe)
    describe.add_argument("--dot", action="store_true", help="as a graph in DOT")
    describe.set_defaults(run=_describe)
    add_reset(commands)
    return parser


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the program: a Python file")


def _run(parsed: argparse.Namespace) -> int:
    from penstock.pipeline.tasks.process import run_program

    logging.basicConfig(
        level=logging.INFO if parsed.verbose else logging.WARNING, format="%(asctime)s %(message)s"
    )
    file = ProgramFile.read(parsed.file)
    given = {**(read_properties(parsed.config) if parsed.config else {}), **_settings_of(parsed.set)}
    if parsed.bootstrap_server:
        given[BOOTSTRAP] = parsed.bootstrap_server
    if BOOTSTRAP not in given and BOOTSTRAP not in file.load().configs:
        given[BOOTSTRAP] = default_bootstrap_servers()
    return run_program(file, given)


def _settings_of(words: list[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not equals:
            raise ConfigError(f"--set: got {name!r}; takes NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _describe(parsed: argparse.Namespace) -> int:
    topology = ProgramFile.read(parsed.file).load().topology
    print(topology.describe_dot() if parsed.dot else topology.describe(), end="")
    return 0
