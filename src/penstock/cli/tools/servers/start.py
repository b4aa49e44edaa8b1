"""What kafka-server-start and zookeeper-server-start have in common: their arguments, and the background."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import penstock
from penstock.cli.platform.overrides import parse_overrides
from penstock.errors import ConfigError

LOG_DIR_VARIABLE = "LOG_DIR"
DEFAULT_LOG_DIR = "logs"


@dataclass(frozen=True, slots=True)
class StartArguments:
    properties: Path | None
    overrides: dict[str, str]
    daemon: bool


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}; `{self.prog} --help` tells what it takes")


def parse_start_arguments(
    tool: str, properties_name: str, output_name: str, words: Sequence[str] | None
) -> StartArguments:
    given = sys.argv[1:] if words is None else list(words)
    if not given:
        print(f"USAGE: {tool} [-daemon] {properties_name} [--override property=value]*")
        raise SystemExit(1)
    parsed = _parser(tool, properties_name, output_name).parse_args(given)
    return StartArguments(parsed.properties, parse_overrides(parsed.override), parsed.daemon)


def _parser(tool: str, properties_name: str, output_name: str) -> argparse.ArgumentParser:
    parser = _Parser(tool, description="Start a server, until SIGTERM or Ctrl-C.", allow_abbrev=False)
    parser.add_argument("properties", nargs="?", type=Path, help=f"a file of settings, {properties_name}")
    parser.add_argument(
        "-daemon",
        action="store_true",
        help=f"run in the background; output goes to $LOG_DIR/{output_name}, or logs/{output_name}",
    )
    parser.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="property=value",
        help="a setting that wins over the file; can be given several times",
    )
    parser.add_argument("--version", action="version", version=f"penstock {penstock.__version__}")
    return parser


def go_into_background(output_name: str) -> None:
    """The parent ends here; the child goes on in a session of its own and prints to a file, as Kafka's does."""
    directory = Path(os.environ.get(LOG_DIR_VARIABLE) or DEFAULT_LOG_DIR)
    directory.mkdir(parents=True, exist_ok=True)
    output = os.open(directory / output_name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(output)
