"""`penstock logs [SERVICE ...]`."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.cli.platform.data_dir_argument import add_data_dir, data_dir_of
from penstock.cli.records.tail import end_if_nobody_reads, harmless
from penstock.cli.tool import run
from penstock.errors import ConfigError
from penstock.stack.data_dir import DataDir
from penstock.stack.log_following import LogFile, follow

Show = Callable[[str, Sequence[str]], None]


def main(arguments: list[str]) -> int:
    return run("penstock logs", command, arguments)


def command(words: list[str]) -> int:
    parsed = _parser().parse_args(words)
    data_dir = DataDir(data_dir_of(parsed))
    names = _names(data_dir, parsed.services)
    logs = [LogFile(name, data_dir.log_path(name)) for name in names]
    show = _printer(names)
    for log in logs:
        show(log.name, log.last_lines(parsed.lines))
    if parsed.follow:
        follow(logs, show)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock logs",
        description="Show what services of the platform have written to their logs, whether or not it runs. Of "
        "several services each line begins with the name.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "services",
        nargs="*",
        metavar="SERVICE",
        help="as `penstock status` names them, or their kind, as in broker, which means all brokers; `penstock` is "
        "what `penstock up --detach` says; all that have a log if none is given",
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes, until Ctrl-C")
    parser.add_argument(
        "-n",
        "--lines",
        type=_count,
        default=100,
        metavar="N",
        help="begin with the last N lines of each; 100 if not given",
    )
    add_data_dir(parser)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"got {text!r}; takes a number from 0")
    return int(text)


def _names(data_dir: DataDir, wanted: Sequence[str]) -> list[str]:
    there = data_dir.services_with_logs()
    if not there:
        raise ConfigError(f"there are no logs in {data_dir.path}: no platform has run there")
    chosen = [name for each in wanted for name in _named(there, each, data_dir.path)]
    return list(dict.fromkeys(chosen)) or there


def _named(there: Sequence[str], wanted: str, path: Path) -> list[str]:
    """The one of this name, or all of this kind."""
    found = [name for name in there if wanted in (name, re.sub(r"-\d+$", "", name))]
    if found:
        return found
    raise ConfigError(f"{wanted!r} has no log in {path}; there are those of {', '.join(there)}")


def _printer(names: Sequence[str]) -> Show:
    width = max(map(len, names))
    clean = harmless if sys.stdout.isatty() else str

    def show(name: str, lines: Sequence[str]) -> None:
        prefix = f"{name:<{width}} | " if len(names) > 1 else ""
        if lines:
            sys.stdout.write("".join(f"{prefix}{clean(line)}\n" for line in lines))
            sys.stdout.flush()
        end_if_nobody_reads()

    return show
