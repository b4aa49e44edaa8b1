"""Finds transactions that are open in a partition and that no coordinator will ever end.

A transaction hangs if its partition has seen nothing of its producer for longer than any transaction may take, and
if the coordinator either does not know the producer or does not count the partition among those it wrote to.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from penstock.cli.options.argparse4j import Namespace
from penstock.cli.options.command_line import print_error_and_exit
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.tables import pretty_table
from penstock.cli.tools.transactions.failures import failed_to
from penstock.client.admin.transactions import (
    ProducerState,
    describe_producers,
    describe_transaction,
    list_transactions,
)
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError, error_for

MAX_TIMEOUT_MINUTES = 15
MS_PER_MINUTE = 60_000
# Brokers are asked for so many partitions or topics at once.
BATCH_SIZE = 500
HEADINGS = (
    "Topic",
    "Partition",
    "ProducerId",
    "ProducerEpoch",
    "CoordinatorEpoch",
    "StartOffset",
    "LastTimestamp",
    "Duration(min)",
)


class OpenTransaction(NamedTuple):
    partition: TopicPartition
    producer: ProducerState


def find_hanging(cluster: Cluster, given: Namespace) -> None:
    topic, partition, broker_id = given["topic"], given["partition"], given["broker_id"]
    if topic is None and broker_id is None:
        print_error_and_exit(
            "The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search"
        )
    if partition is not None and topic is None:
        print_error_and_exit("The --partition argument requires --topic to be provided")
    if topic is not None and partition is not None:
        partitions = [TopicPartition(topic, partition)]
    else:
        partitions = _partitions(cluster, topic, broker_id)
    timeout_ms = given["max_transaction_timeout"] * MS_PER_MINUTE
    candidates = [
        found
        for batch in _batches(partitions)
        for found in _open_for_longer(cluster, batch, broker_id, timeout_ms)
    ]
    _print(_hanging(cluster, candidates) if candidates else [])


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _batches(partitions: Iterable[TopicPartition]) -> Iterator[list[TopicPartition]]:
    left = iter(partitions)
    while batch := list(islice(left, BATCH_SIZE)):
        yield batch


def _partitions(cluster: Cluster, topic: str | None, broker_id: int | None) -> list[TopicPartition]:
    """Those of the topic, or of all topics, that the broker has a replica of."""
    with failed_to("list topics" if topic is None else "describe 1 topics"):
        metadata = now(cluster.metadata(None if topic is None else [topic]))
        for each in metadata.topics:
            if each.error_code and topic is not None:
                raise error_for(each.error_code)
    return [
        TopicPartition(each.name or "", partition.partition_index)
        for each in metadata.topics
        for partition in each.partitions
        if broker_id is None or broker_id in partition.replica_nodes
    ]


def _open_for_longer(
    cluster: Cluster, partitions: Sequence[TopicPartition], broker_id: int | None, timeout_ms: int
) -> list[OpenTransaction]:
    asked = "Optional.empty" if broker_id is None else f"Optional[{broker_id}]"
    with failed_to(f"describe producers for {len(partitions)} partitions on broker {asked}"):
        results = now(describe_producers(cluster, partitions, broker_id=broker_id))
        if failed := [each for each in results.values() if isinstance(each, KafkaError)]:
            raise failed[0]
    now_ms = _now_ms()
    return [
        OpenTransaction(partition, producer)
        for partition in in_hash_order(results)
        for producer in _producers(results[partition])
        if producer.current_transaction_start_offset is not None
        and now_ms - producer.last_timestamp > timeout_ms
    ]


def _producers(result: list[ProducerState] | KafkaError) -> list[ProducerState]:
    return [] if isinstance(result, KafkaError) else result


def _hanging(cluster: Cluster, candidates: Sequence[OpenTransaction]) -> list[OpenTransaction]:
    by_producer: dict[int, list[OpenTransaction]] = {}
    for each in candidates:
        by_producer.setdefault(each.producer.producer_id, []).append(each)
    names = _transactional_ids(cluster, set(by_producer))
    expected = _partitions_that_coordinators_will_end(cluster, set(names.values()))
    return [
        each
        for producer_id in in_hash_order(by_producer)
        for each in by_producer[producer_id]
        if each.partition not in expected.get(names.get(producer_id, ""), ())
    ]


def _transactional_ids(cluster: Cluster, producer_ids: set[int]) -> dict[int, str]:
    with failed_to(f"list transactions for {len(producer_ids)} producers"):
        listed = now(list_transactions(cluster, producer_ids=sorted(producer_ids)))
    return {
        each.producer_id: each.transactional_id
        for listings in listed.values()
        for each in listings
        if each.producer_id in producer_ids
    }


def _partitions_that_coordinators_will_end(
    cluster: Cluster, transactional_ids: set[str]
) -> dict[str, Sequence[TopicPartition]]:
    found: dict[str, Sequence[TopicPartition]] = {}
    with failed_to(f"describe {len(transactional_ids)} transactions"):
        for name in sorted(transactional_ids):
            try:
                found[name] = now(describe_transaction(cluster, name)).partitions
            except KafkaError as error:
                if error.code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                    raise
    return found


def _print(hanging: Sequence[OpenTransaction]) -> None:
    now_ms = _now_ms()
    rows = [
        (
            partition.topic,
            partition.partition,
            producer.producer_id,
            producer.producer_epoch,
            -1 if producer.coordinator_epoch is None else producer.coordinator_epoch,
            producer.current_transaction_start_offset,
            producer.last_timestamp,
            (now_ms - producer.last_timestamp) // MS_PER_MINUTE,
        )
        for partition, producer in hanging
    ]
    print(pretty_table(HEADINGS, rows))
