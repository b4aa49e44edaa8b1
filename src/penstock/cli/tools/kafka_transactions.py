"""kafka-transactions: lists and describes transactions, finds those that hang, and ends them."""

from __future__ import annotations

import time
from collections.abc import Callable

from penstock.cli.options.argparse4j import ArgumentParserError, Namespace
from penstock.cli.options.command_line import load_properties, print_error_and_exit
from penstock.cli.tool import run
from penstock.cli.tools.common.admin_client import admin_client
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.tables import pretty_table
from penstock.cli.tools.transactions.failures import failed_to
from penstock.cli.tools.transactions.hanging import find_hanging
from penstock.cli.tools.transactions.options import transactions_parser
from penstock.client.admin.transactions import (
    AbortSpec,
    ProducerState,
    abort_transaction,
    describe_producers,
    describe_transaction,
    list_transactions,
    terminate_transaction,
)
from penstock.errors import ConfigError
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

TOOL = "kafka-transactions"
SHORT_LIMIT = 2**15


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, transactions, arguments)


def transactions(words: list[str]) -> int:
    parser = transactions_parser()
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
