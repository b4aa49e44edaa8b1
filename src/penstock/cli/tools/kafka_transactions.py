"""kafka-transactions: lists and describes transactions, finds those that hang, and ends them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NoReturn

from penstock.cli.options.argparse4j import ArgumentParser, ArgumentParserError, Namespace
from penstock.cli.options.command_line import KAFKA_VERSION, load_properties, print_error_and_exit
from penstock.cli.options.kinds import LONG, Kind
from penstock.cli.tool import Exit, run
from penstock.cli.tools.common.admin_client import admin_client
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.pretty_table import pretty_table
from penstock.cli.tools.transactions.failures import failed_to
from penstock.cli.tools.transactions.hanging import MAX_TIMEOUT_MINUTES, find_hanging
from penstock.client.admin.transactions import (
    AbortSpec,
    ProducerState,
    abort_transaction,
    describe_producers,
    describe_transaction,
    list_transactions,
    terminate_transaction,
)
from penstock.client.cluster import Cluster, now
from penstock.client.errors import KafkaError
from penstock.errors import ConfigError
from penstock.types import TopicPartition

TOOL = "kafka-transactions"
SHORT_LIMIT = 2**15


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, transactions, arguments)


def transactions(words: list[str]) -> int:
    parser = _parser()
    try:
        given = parser.parse_args(words)
    except ArgumentParserError as error:
        parser.handle_error(error)
        return 1
    with admin_client(_configs(given)) as cluster:
        COMMANDS[given["command"]](cluster, given)
    return 0


def _configs(given: Namespace) -> dict[str, str]:
    try:
        configs = load_properties(given["command_config"]) if given["command_config"] else {}
    except ConfigError as error:
        print_error_and_exit(f"Failed to load admin client properties: {error}")
    return {**configs, "bootstrap.servers": given["bootstrap_server"]}


# --- the command line


def _print_version() -> NoReturn:
    print(f"{KAFKA_VERSION} (Commit:unknown)")
    raise Exit(0)


def _short(text: str) -> int:
    number = LONG.convert(text)
    if not -SHORT_LIMIT <= number < SHORT_LIMIT:
        raise ValueError(f'Value out of range. Value:"{text}" Radix:10')
    return int(number)


SHORT = Kind("Short", _short, is_number=True)


def _parser() -> ArgumentParser:
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
    return parser


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


# --- the commands


def _list(cluster: Cluster, given: Namespace) -> None:
    duration = given["duration_filter"]
    with failed_to("list transactions"):
        listed = now(
            list_transactions(
                cluster,
                longer_than_ms=-1 if duration is None else duration,
                transactional_id_pattern=given["transactional_id_pattern"],
            )
        )
    rows = [
        (each.transactional_id, node_id, each.producer_id, each.state)
        for node_id in in_hash_order(listed)
        for each in listed[node_id]
    ]
    print(pretty_table(("TransactionalId", "Coordinator", "ProducerId", "TransactionState"), rows))


DESCRIBE_HEADINGS = (
    "CoordinatorId",
    "TransactionalId",
    "ProducerId",
    "ProducerEpoch",
    "TransactionState",
    "TransactionTimeoutMs",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
    "TopicPartitions",
)


def _describe(cluster: Cluster, given: Namespace) -> None:
    name = given["transactional_id"]
    with failed_to(f"describe transaction state of transactional-id `{name}`"):
        found = now(describe_transaction(cluster, name))
    start = found.start_time_ms
    row = (
        found.coordinator_id,
        name,
        found.producer_id,
        found.producer_epoch,
        found.state,
        found.timeout_ms,
        start,
        None if start is None else time.time_ns() // 1_000_000 - start,
        ",".join(map(str, in_hash_order(found.partitions))),
    )
    print(pretty_table(DESCRIBE_HEADINGS, [row]))


PRODUCER_HEADINGS = (
    "ProducerId",
    "ProducerEpoch",
    "LatestCoordinatorEpoch",
    "LastSequence",
    "LastTimestamp",
    "CurrentTransactionStartOffset",
)


def _producers_of(
    cluster: Cluster, partition: TopicPartition, action: str, broker_id: int | None = None
) -> list[ProducerState]:
    with failed_to(action):
        found = now(describe_producers(cluster, [partition], broker_id=broker_id))[partition]
        if isinstance(found, KafkaError):
            raise found
    return found


def _describe_producers(cluster: Cluster, given: Namespace) -> None:
    partition, broker_id = TopicPartition(given["topic"], given["partition"]), given["broker_id"]
    whom = "leader" if broker_id is None else f"broker {broker_id}"
    action = f"describe producers for partition {partition} on {whom}"
    rows = [
        (
            each.producer_id,
            each.producer_epoch,
            -1 if each.coordinator_epoch is None else each.coordinator_epoch,
            each.last_sequence,
            each.last_timestamp,
            each.current_transaction_start_offset,
        )
        for each in _producers_of(cluster, partition, action, broker_id)
    ]
    print(pretty_table(PRODUCER_HEADINGS, rows))


def _abort(cluster: Cluster, given: Namespace) -> None:
    if given["start_offset"] is None and given["producer_id"] is None:
        print_error_and_exit(
            "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or above) "
            "or with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)"
        )
    partition = TopicPartition(given["topic"], given["partition"])
    if given["start_offset"] is None:
        spec = _given_transaction(partition, given)
    else:
        spec = _transaction_at(cluster, partition, given["start_offset"])
    with failed_to(f"abort transaction {spec}"):
        now(abort_transaction(cluster, spec))


def _given_transaction(partition: TopicPartition, given: Namespace) -> AbortSpec:
    """A coordinator epoch below 0 is that of a producer that has ended no transaction yet: 0 is never too high."""
    for name in ("producer_epoch", "coordinator_epoch"):
        if given[name] is None:
            print_error_and_exit(f"Missing required argument --{name.replace('_', '-')}")
    return AbortSpec(
        partition, given["producer_id"], given["producer_epoch"], max(given["coordinator_epoch"], 0)
    )


def _transaction_at(cluster: Cluster, partition: TopicPartition, start_offset: int) -> AbortSpec:
    producers = _producers_of(cluster, partition, f"validate producer state for partition {partition}")
    found = [each for each in producers if each.current_transaction_start_offset == start_offset]
    if not found:
        print_error_and_exit(
            f"Could not find any open transactions starting at offset {start_offset} on partition {partition}"
        )
    producer = found[0]
    return AbortSpec(
        partition, producer.producer_id, producer.producer_epoch, producer.coordinator_epoch or 0
    )


def _terminate(cluster: Cluster, given: Namespace) -> None:
    name = given["transactionalId"]
    with failed_to(f"force terminate transactionalId `{name}`"):
        now(terminate_transaction(cluster, name))


COMMANDS: dict[str, Callable[[Cluster, Namespace], None]] = {
    "list": _list,
    "describe": _describe,
    "describe-producers": _describe_producers,
    "abort": _abort,
    "find-hanging": find_hanging,
    "forceTerminateTransaction": _terminate,
}


if __name__ == "__main__":
    raise SystemExit(main())
