"""`penstock up`."""

import argparse
from dataclasses import replace
from pathlib import Path

from penstock.cli.platform.data_dir_argument import add_data_dir, data_dir_of
from penstock.cli.platform.overrides import (
    add_overrides,
    parse_overrides,
    parse_settings,
    refuse_unknown_settings,
)
from penstock.stack.brokers_before import decide_count
from penstock.stack.services import AVAILABLE, StackOptions, plan
from penstock.stack.up import run_detached, run_in_foreground, temporary_data_dir


def main(arguments: list[str]) -> int:
    parsed = _parser().parse_args(arguments)
    options = _options(parsed)
    if parsed.detach:
        run_detached(options, _in_foreground(arguments, options))
    else:
        run_in_foreground(options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock up",
        description="Start the platform. It prints a table of addresses and the line `Penstock is ready` when "
        "every service answers, starts again what dies, and stops cleanly on Ctrl-C or `penstock down`.",
        allow_abbrev=False,
    )
    place = parser.add_mutually_exclusive_group()
    add_data_dir(place)
    place.add_argument(
        "--ephemeral", action="store_true", help="keep the data in a temporary directory, removed at the end"
    )
    parser.add_argument("--ephemeral-dir", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "--brokers",
        type=int,
        metavar="N",
        help="how many brokers, each a process: broker-1 on port 9092, broker-2 on 9093 and so on; topics get up to "
        "three replicas. As many as the data directory had before if not given, 1 in a new one",
    )
    parser.add_argument(
        "--port-offset",
        type=int,
        default=0,
        metavar="N",
        help="add N to every port, so that several platforms live on one machine",
    )
    parser.add_argument(
        "--only",
        action="extend",
        type=_names,
        default=[],
        metavar="NAMES",
        help=f"start only these: {','.join(AVAILABLE)}",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on; %(default)s if not given"
    )
    parser.add_argument("--detach", action="store_true", help="return when the platform is ready")
    add_overrides(parser)
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _options(parsed: argparse.Namespace) -> StackOptions:
    ephemeral = parsed.ephemeral or parsed.ephemeral_dir is not None
    options = StackOptions(
        data_dir=Path() if ephemeral else data_dir_of(parsed),
        ephemeral=ephemeral,
        brokers=_count_of_brokers(parsed, ephemeral=ephemeral),
        port_offset=parsed.port_offset,
        only=tuple(parsed.only),
        host=parsed.host,
        overrides=parse_overrides(parsed.override),
        settings=parse_settings(parsed.settings),
    )
    refuse_unknown_settings(options.overrides, options.settings)
    plan(options)  # refuses bad options before a directory is made
    return replace(options, data_dir=parsed.ephemeral_dir or temporary_data_dir()) if ephemeral else options


def _count_of_brokers(parsed: argparse.Namespace, *, ephemeral: bool) -> int:
    if ephemeral:
        return 1 if parsed.brokers is None else int(parsed.brokers)
    return decide_count(parsed.brokers, data_dir_of(parsed))


def _in_foreground(arguments: list[str], options: StackOptions) -> list[str]:
    """The same command without --detach, and with the temporary directory that was chosen."""
    words = [word for word in arguments if word not in ("--detach", "--ephemeral")]
    return [*words, "--ephemeral-dir", str(options.data_dir)] if options.ephemeral else words
