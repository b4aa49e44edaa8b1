"""The options of kafka-transactions."""

from __future__ import annotations

from typing import NoReturn

from penstock.cli.options.argparse4j import ArgumentParser, Subparsers
from penstock.cli.options.command_line import KAFKA_VERSION
from penstock.cli.options.kinds import LONG, Kind
from penstock.cli.tool import Exit
from penstock.cli.tools.transactions.hanging import MAX_TIMEOUT_MINUTES

SHORT_LIMIT = 2**15


def _print_version() -> NoReturn:
    print(f"{KAFKA_VERSION} (Commit:unknown)")
    raise Exit(0)


def _short(text: str) -> int:
    number = LONG.convert(text)
    if not -SHORT_LIMIT <= number < SHORT_LIMIT:
        raise ValueError(f'Value out of range. Value:"{text}" Radix:10')
    return int(number)


SHORT = Kind("Short", _short, is_number=True)


def transactions_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "kafka-transactions.sh",
        description="This tool is used to analyze the transactional state of producers in the cluster. "
        "It can be used to detect and recover from hanging transactions.",
    )
    parser.add_argument(
        "-v",
        "--version",
        action=_print_version,
        help="show the version of this Kafka distribution and exit",
    )
    parser.add_argument(
        "--command-config",
        metavar="FILE",
        help="property file containing configs to be passed to admin client",
    )
    parser.add_argument(
        "--bootstrap-server",
        metavar="host:port",
        required=True,
        help="hostname and port for the broker to connect to, in the form `host:port`  "
        "(multiple comma-separated entries can be given)",
    )
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    _add_commands(commands)
    return parser


def _add_commands(commands: Subparsers) -> None:
    _add_list(commands.add_parser("list", help="list transactions"))
    _add_describe(
        commands.add_parser(
            "describe",
            description="Describe the state of an active transactional-id.",
            help="describe the state of an active transactional-id",
        )
    )
    _add_describe_producers(
        commands.add_parser(
            "describe-producers", help="describe the states of active producers for a topic partition"
        )
    )
    _add_abort(
        commands.add_parser("abort", help="abort a hanging transaction (requires administrative privileges)")
    )
    _add_find_hanging(commands.add_parser("find-hanging", help="find hanging transactions"))
    force = "Force abort an ongoing transaction on transactionalId"
    terminate = commands.add_parser(
        "forceTerminateTransaction",
        description=force,
        help=f"{force} (requires administrative privileges)",
    )
    terminate.add_argument("--transactionalId", required=True, help="transactional id")


def _add_list(command: ArgumentParser) -> None:
    command.add_argument(
        "--duration-filter",
        type=LONG,
        help="Duration (in millis) to filter by: if < 0, all transactions will be returned; "
        "otherwise, only transactions running longer than this duration will be returned",
    )
    command.add_argument(
        "--transactional-id-pattern", help="Transactional id regular expression pattern to filter by"
    )


def _add_describe(command: ArgumentParser) -> None:
    command.add_argument("--transactional-id", required=True, help="transactional id")


def _add_describe_producers(command: ArgumentParser) -> None:
    command.add_argument(
        "--broker-id",
        type=int,
        help="optional broker id to describe the producer state on a specific replica",
    )
    _add_partition(command)


def _add_partition(command: ArgumentParser) -> None:
    command.add_argument("--topic", required=True, help="topic name")
    command.add_argument("--partition", type=int, required=True, help="partition number")


def _add_abort(command: ArgumentParser) -> None:
    _add_partition(command)
    newer = command.add_argument_group(
        "Brokers on versions 3.0 and above",
        "For newer brokers, only the start offset of the transaction to be aborted is required",
    )
    newer.add_argument("--start-offset", type=LONG, help="start offset of the transaction to abort")
    older = command.add_argument_group(
        "Brokers on versions older than 3.0",
        "For older brokers, you must provide all of these arguments",
    )
    older.add_argument("--producer-id", type=LONG, help="producer id")
    older.add_argument("--producer-epoch", type=SHORT, help="producer epoch")
    older.add_argument("--coordinator-epoch", type=int, help="coordinator epoch")


def _add_find_hanging(command: ArgumentParser) -> None:
    command.add_argument("--broker-id", type=int, help="broker id to search for hanging transactions")
    command.add_argument(
        "--max-transaction-timeout",
        type=int,
        default=MAX_TIMEOUT_MINUTES,
        help="maximum transaction timeout in minutes to limit the scope of the search (15 minutes by default)",
    )
    command.add_argument(
        "--topic", help="topic name to limit search to (required if --partition is specified)"
    )
    command.add_argument("--partition", type=int, help="partition number")
