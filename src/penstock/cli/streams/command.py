"""`penstock streams`: run a program here, have the platform run it, see how it fares."""

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

from penstock.cli.bootstrap_default import default_bootstrap_servers
from penstock.cli.streams import platform
from penstock.cli.streams.reset import add_reset
from penstock.errors import ConfigError
from penstock.pipeline.tasks.program import ProgramFile
from penstock.settings.properties import read_properties

BOOTSTRAP = "bootstrap.servers"


def main(arguments: list[str]) -> int:
    parsed = _parser().parse_args(arguments)
    parsed.settings = _settings_of(parsed) if hasattr(parsed, "set") else {}
    run: Callable[[argparse.Namespace], int] = parsed.run
    return run(parsed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock streams",
        description="Programs of streams: a Python file with a Program at its top level. `docs/guide/streams.md` "
        "tells how to write one.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str, what_it_does: str, run: Callable[[argparse.Namespace], int]
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=what_it_does, description=what_it_does, allow_abbrev=False)
        command.set_defaults(run=run)
        return command

    _add_run(add("run", "run a program here, until Ctrl-C", _run))
    topology = add("topology", "print the topology of a program's file", _print_topology)
    _add_file(topology)
    topology.add_argument("--dot", action="store_true", help="as a graph in DOT")
    deploy = add("deploy", "have the platform run a program, from now on", platform.deploy)
    _add_file(deploy)
    _add_settings(deploy)
    platform.add_url(deploy)
    platform.add_url(add("list", "the programs that are deployed", platform.list_programs))
    describe = add("describe", "how a deployed program fares, and its topology", platform.describe)
    _add_program(describe)
    describe.add_argument("--json", action="store_true", help="as JSON")
    for name, what_it_does in (
        ("stop", "stop a deployed program"),
        ("start", "start it again, where it stopped"),
    ):
        told = add(name, what_it_does, platform.tell)
        told.set_defaults(what=name)
        _add_program(told)
    _add_program(add("delete", "stop a deployed program, and forget it", platform.delete))
    query = add("query", "rows of a deployed program's store, as JSON", platform.query)
    _add_program(query)
    query.add_argument("store", help="the store's name")
    query.add_argument("key", nargs="?", help="of one row, or of its windows; all rows without")
    query.add_argument("--first", metavar="KEY", help="from this key on, in the order of their bytes")
    query.add_argument("--last", metavar="KEY", help="up to this key, and with it")
    query.add_argument("--limit", help="so many rows at most; 1000 if not given")
    add_reset(commands)
    return parser


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the program: a Python file")


def _add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", help="its name")
    platform.add_url(parser)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="a properties file with settings")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, on top of all others"
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    parser.add_argument(
        "--bootstrap-server", help="the Kafka to run on; what the file says, or else localhost:9092"
    )
    _add_settings(parser)
    parser.add_argument("--verbose", action="store_true", help="tell what goes on")


def _settings_of(parsed: argparse.Namespace) -> dict[str, str]:
    pairs = [word.partition("=") for word in parsed.set]
    for name, equals, _ in pairs:
        if not equals:
            raise ConfigError(f"--set: got {name!r}; takes NAME=VALUE")
    from_file = read_properties(parsed.config) if parsed.config else {}
    return {**from_file, **{name: value for name, _, value in pairs}}


def _run(parsed: argparse.Namespace) -> int:
    from penstock.pipeline.tasks.process import run_program

    logging.basicConfig(
        level=logging.INFO if parsed.verbose else logging.WARNING, format="%(asctime)s %(message)s"
    )
    file, given = ProgramFile.read(parsed.file), dict(parsed.settings)
    if parsed.bootstrap_server:
        given[BOOTSTRAP] = parsed.bootstrap_server
    if BOOTSTRAP not in given and BOOTSTRAP not in file.load().configs:
        given[BOOTSTRAP] = default_bootstrap_servers()
    return run_program(file, given)


def _print_topology(parsed: argparse.Namespace) -> int:
    topology = ProgramFile.read(parsed.file).load().topology
    print(topology.describe_dot() if parsed.dot else topology.describe(), end="")
    return 0
