"""How a server is started by itself: its arguments, its settings, and the background."""

import argparse
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, NoReturn, TypeVar

import penstock
from penstock.cli.platform.overrides import parse_overrides
from penstock.errors import ConfigError, PenstockError, exit_code_of
from penstock.settings.properties import read_properties

log = logging.getLogger(__name__)

LOG_DIR_VARIABLE = "LOG_DIR"
DEFAULT_LOG_DIR = "logs"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

Settings = TypeVar("Settings")


class LineFormatter(logging.Formatter):
    """A message is one line, whatever a client has put into a name: no line that looks like another message."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802, the name that logging calls
        record.message = _CONTROL.sub(lambda found: repr(found[0])[1:-1], record.message)
        return super().formatMessage(record)


def log_to_stderr(level: int = logging.INFO) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter(LOG_FORMAT))
    logging.basicConfig(handlers=[handler], level=level)


class Server(NamedTuple, Generic[Settings]):
    tool: str
    properties_name: str
    output_name: str
    """Of the file for what it prints in the background."""
    read_settings: Callable[[Path | None, Mapping[str, str]], Settings]
    """Of a file, if there is one, and of what `--override` says."""
    run: Callable[[Settings], int]


def start(server: Server[Settings], words: Sequence[str] | None, log_level: int = logging.INFO) -> int:
    log_to_stderr(log_level)
    try:
        given = parse_start_arguments(server.tool, server.properties_name, server.output_name, words)
        settings = server.read_settings(given.properties, given.overrides)
        if given.daemon:
            go_into_background(server.output_name)
        return server.run(settings)
    except (PenstockError, OSError) as error:
        with suppress(OSError):  # the log may lie on a disk that is full
            print(f"{server.tool}: {error}", file=sys.stderr, flush=True)
        return exit_code_of(error)


def settings_with_overrides(
    file: Path | None,
    overrides: Mapping[str, str],
    from_configs: Callable[[dict[str, str], str], Settings],
    warnings: Callable[[dict[str, str]], Iterable[str]],
) -> Settings:
    """The settings of a file with the overrides on top; warns of those that have no effect."""
    configs = {**(read_properties(file) if file is not None else {}), **overrides}
    settings = from_configs(configs, str(file) if file is not None else "--override")
    for line in warnings(configs):
        log.warning("%s", line)
    return settings


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
    add_server_arguments(parser, output_name)
    return parser


def add_server_arguments(parser: argparse.ArgumentParser, output_name: str) -> None:
    """What every command that starts a server takes: `daemon`, `override`."""
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
