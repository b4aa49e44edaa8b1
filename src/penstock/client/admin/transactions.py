"""Transactions: those that coordinators know of, the producers that wrote to a partition, and ending what hangs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.client.admin.by_leader import PartitionResults, ask_by_leader, grouped_by_topic
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    TopicRequest,
)
from penstock.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from penstock.wire_client import Cluster, CoordinatorKind
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError, error_for, is_retriable


@dataclass(frozen=True, slots=True)
class TransactionListing:
    transactional_id: str
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    coordinator_id: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class ProducerState:
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int | None
    current_transaction_start_offset: int | None


@dataclass(frozen=True, slots=True)
class AbortSpec:
    """A transaction on one partition, by who wrote it."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int

    def __str__(self) -> str:
        return (
            f"AbortTransactionSpec(topicPartition={self.partition}, producerId={self.producer_id}, "
            f"producerEpoch={self.producer_epoch}, coordinatorEpoch={self.coordinator_epoch})"
        )


# --- what coordinators know


async def list_transactions(
    cluster: Cluster,
    *,
    producer_ids: Iterable[int] = (),
    longer_than_ms: int = -1,
    transactional_id_pattern: str | None = None,
) -> dict[int, list[TransactionListing]]:
    """The transactions that each broker coordinates."""
    request = ListTransactionsRequest(
        producer_id_filters=list(producer_ids),
        duration_filter=longer_than_ms,
        transactional_id_pattern=transactional_id_pattern or None,
    )
    nodes = (await cluster.describe()).nodes
    listed = await cluster.each(_list_of_node(cluster, node.id, request) for node in nodes)
    return {node.id: listings for node, listings in zip(nodes, listed, strict=True)}


async def _list_of_node(
    cluster: Cluster, node_id: int, request: ListTransactionsRequest
) -> list[TransactionListing]:
    _require_filters(await cluster.newest_version(node_id, ListTransactionsRequest), request)
    async for attempt in cluster.attempts(f"node {node_id} to list transactions"):
        answer = await cluster.ask_node(node_id, request, ListTransactionsResponse)
        if answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            attempt.failed(error_for(answer.error_code))
            continue
        if answer.error_code:
            raise _list_error(node_id, answer.error_code)
        return [
            TransactionListing(each.transactional_id, each.producer_id, each.transaction_state)
            for each in answer.transaction_states
        ]
    raise AssertionError("attempts end by raising")


def _require_filters(version: int, request: ListTransactionsRequest) -> None:
    for name, is_set, first_version in (
        ("duration", request.duration_filter >= 0, 1),
        ("transactional id pattern", request.transactional_id_pattern is not None, 2),
    ):
        if is_set and version < first_version:
            raise UnsupportedVersionError(
                f"The node cannot list transactions by {name}: it has ListTransactions up to version {version}, "
                f"and that came with version {first_version}",
                ErrorCode.UNSUPPORTED_VERSION,
            )


def _list_error(node_id: int, code: int) -> KafkaError:
    reason = "with an unexpected exception"
    if code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
        reason = "because the coordinator is shutting down"
    return error_for(code, f"ListTransactions request sent to broker {node_id} failed {reason}")


async def describe_transaction(cluster: Cluster, transactional_id: str) -> TransactionDescription:
    answer = await cluster.ask_coordinator(
        transactional_id,
        DescribeTransactionsRequest([transactional_id]),
        DescribeTransactionsResponse,
        kind=CoordinatorKind.TRANSACTION,
        error_of=lambda answer: int(answer.transaction_states[0].error_code),
    )
    said = answer.transaction_states[0]
    if said.error_code:
        raise _describe_error(transactional_id, said.error_code)
    partitions = [
        TopicPartition(topic.topic, partition) for topic in said.topics for partition in topic.partitions
    ]
    return TransactionDescription(
        await cluster.find_coordinator(transactional_id, CoordinatorKind.TRANSACTION),
        said.transaction_state,
        said.producer_id,
        said.producer_epoch,
        said.transaction_timeout_ms,
        None if said.transaction_start_time_ms < 0 else said.transaction_start_time_ms,
        tuple(partitions),
    )


def _describe_error(transactional_id: str, code: int) -> KafkaError:
    reasons: dict[int, str] = {
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "due to authorization failure",
        ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: "because the ID could not be found",
    }
    reason = reasons.get(code, "due to unexpected error")
    return error_for(
        code, f"DescribeTransactions request for transactionalId `{transactional_id}` failed {reason}"
    )


async def terminate_transaction(cluster: Cluster, transactional_id: str) -> None:
    """Aborts what is under way by fencing its producer, as a new producer of this id does."""
    request = InitProducerIdRequest(transactional_id, cluster.config.request_timeout_ms)
    async for attempt in cluster.attempts(f"the end of the transaction of {transactional_id!r}"):
        answer = await cluster.ask_coordinator(
            transactional_id, request, InitProducerIdResponse, kind=CoordinatorKind.TRANSACTION
        )
        if answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS:
            attempt.failed(error_for(answer.error_code))
            continue
        if answer.error_code:
            raise _terminate_error(transactional_id, answer.error_code)
        return


def _terminate_error(transactional_id: str, code: int) -> KafkaError:
    reasons: dict[int, str] = {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "cluster authorization failure",
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "transactional ID authorization failure",
    }
    reason = reasons.get(code, "unexpected error")
    return error_for(
        code, f"InitProducerId request for transactionalId `{transactional_id}` failed due to {reason}"
    )


# --- what partitions know


async def describe_producers(
    cluster: Cluster, partitions: Iterable[TopicPartition], *, broker_id: int | None = None
) -> PartitionResults[list[ProducerState]]:
    """Who wrote to each partition of late, as its leader or the given broker knows."""

    async def ask_node(
        node_id: int, part: dict[TopicPartition, None]
    ) -> PartitionResults[list[ProducerState]]:
        topics = grouped_by_topic(part, lambda partition, _: partition)
        request = DescribeProducersRequest([TopicRequest(name, indexes) for name, indexes in topics.items()])
        ask = cluster.ask_leader if broker_id is None else cluster.ask_node
        answer = await ask(node_id, request, DescribeProducersResponse)
        return {
            partition: _producers(partition, each, broker_id)
            for topic in answer.topics
            for each in topic.partitions
            for partition in [TopicPartition(topic.name, each.partition_index)]
        }

    wanted = dict.fromkeys(partitions)
    return await ask_by_leader(cluster, wanted, ask_node, "the producers of partitions", only_node=broker_id)


def _producers(
    partition: TopicPartition, said: PartitionResponse, broker_id: int | None
) -> list[ProducerState] | KafkaError:
    if said.error_code:
        return _producers_error(partition, said, broker_id)
    return [
        ProducerState(
            each.producer_id,
            each.producer_epoch,
            each.last_sequence,
            each.last_timestamp,
            None if each.coordinator_epoch < 0 else each.coordinator_epoch,
            None if each.current_txn_start_offset < 0 else each.current_txn_start_offset,
        )
        for each in said.active_producers
    ]


def _producers_error(partition: TopicPartition, said: PartitionResponse, broker_id: int | None) -> KafkaError:
    """An error that asking again may help against keeps its code."""
    code, describe = said.error_code, f"Failed to describe active producers for partition {partition}"
    if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return error_for(code)
    if code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
        if broker_id is None:
            return error_for(code)
        return _final(code, f"{describe} on brokerId {broker_id}")
    if code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        return error_for(code, f"{describe} due to authorization failure on topic `{partition.topic}`")
    if code == ErrorCode.INVALID_TOPIC_EXCEPTION:
        reason = said.error_message or error_for(code).message
        return error_for(
            code, f"Failed to fetch metadata for partition {partition} due to invalid topic error: {reason}"
        )
    return _final(code, f"{describe} due to unexpected error")


def _final(code: int, message: str) -> KafkaError:
    """An error after which nobody asks again, whatever its code says."""
    return KafkaError(message) if is_retriable(code) else error_for(code, message)


async def abort_transaction(cluster: Cluster, spec: AbortSpec) -> None:
    """Ends a transaction on one partition, whatever its coordinator knows of it."""

    async def ask_node(node_id: int, part: dict[TopicPartition, AbortSpec]) -> PartitionResults[None]:
        topic = WritableTxnMarkerTopic(spec.partition.topic, [spec.partition.partition])
        marker = WritableTxnMarker(
            spec.producer_id, spec.producer_epoch, False, [topic], spec.coordinator_epoch
        )
        answer = await cluster.ask_leader(node_id, WriteTxnMarkersRequest([marker]), WriteTxnMarkersResponse)
        return {
            TopicPartition(topic.name, each.partition_index): _abort_error(spec, each.error_code)
            for marker in answer.markers
            for topic in marker.topics
            for each in topic.partitions
        }

    results = await ask_by_leader(cluster, {spec.partition: spec}, ask_node, "the transaction to be aborted")
    if (error := results[spec.partition]) is not None:
        raise error


_ABORT_ELSEWHERE = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.REPLICA_NOT_AVAILABLE,
    ErrorCode.BROKER_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


def _abort_error(spec: AbortSpec, code: int) -> KafkaError | None:
    if not code:
        return None
    if code in _ABORT_ELSEWHERE:
        return error_for(code)
    reasons: dict[int, str] = {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "due to cluster authorization error",
        ErrorCode.INVALID_PRODUCER_EPOCH: "due an invalid producer epoch",
        ErrorCode.TRANSACTION_COORDINATOR_FENCED: (
            f"since the provided coordinator epoch {spec.coordinator_epoch} has been fenced by the active "
            "coordinator"
        ),
    }
    reason = reasons.get(code, f"due to unexpected error: {error_for(code).message}")
    return _final(code, f"WriteTxnMarkers request with {spec} failed {reason}")
