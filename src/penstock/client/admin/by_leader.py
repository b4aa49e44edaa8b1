"""Asks the leaders of partitions, partition by partition: one that fails does not take the others along.

A partition whose leader has moved, or is not known yet, is asked for again until the time is up. So is one that the
cluster does not know: it may have been created a moment ago.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.metadata import MetadataResponse
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, KafkaTimeoutError, error_for, is_retriable

T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M")

PartitionResults = dict[TopicPartition, R | KafkaError]
AskNode = Callable[[int, dict[TopicPartition, T]], Coroutine[Any, Any, PartitionResults[R]]]


async def ask_by_leader(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, T],
    ask_node: AskNode[T, R],
    what: str,
    *,
    only_node: int | None = None,
) -> PartitionResults[R]:
    """What `ask_node(node, part)` said of every partition: a result, or why there is none.

    With `only_node`, that broker is asked and not the leaders.
    """
    results: PartitionResults[R] = {}
    left = dict(wanted)
    try:
        async for attempt in cluster.attempts(what):
            results |= await _one_turn(cluster, left, ask_node, only_node)
            left = {partition: value for partition, value in left.items() if _may_help(results[partition])}
            if not left:
                break
            attempt.failed(_first_error(results, left))
    except KafkaTimeoutError as error:
        results |= dict.fromkeys(left, error)
    return {partition: results[partition] for partition in wanted}


async def _one_turn(
    cluster: Cluster, left: Mapping[TopicPartition, T], ask_node: AskNode[T, R], only_node: int | None
) -> PartitionResults[R]:
    leaders: PartitionResults[int]
    if only_node is None:
        topics = sorted({partition.topic for partition in left})
        leaders = leaders_or_errors(await cluster.metadata(topics), left)
    else:
        leaders = dict.fromkeys(left, only_node)
    by_node: dict[int, dict[TopicPartition, T]] = {}
    for partition, value in left.items():
        if isinstance(node_id := leaders[partition], int):
            by_node.setdefault(node_id, {})[partition] = value
    results: PartitionResults[R] = {
        partition: error for partition, error in leaders.items() if isinstance(error, KafkaError)
    }
    for said in await cluster.each(
        _asked(ask_node(node_id, part), node_id, part) for node_id, part in by_node.items()
    ):
        results |= said
    return results


async def _asked(
    asking: Coroutine[Any, Any, PartitionResults[R]], node_id: int, part: Mapping[TopicPartition, Any]
) -> PartitionResults[R]:
    """Also for partitions that the node left out of its answer, or when it gave none."""
    try:
        said = await asking
    except KafkaError as error:
        return dict.fromkeys(part, error)
    left_out = [partition for partition in part if partition not in said]
    missing: PartitionResults[R] = {
        partition: KafkaError(
            f"The response from broker {node_id} did not contain a result for topic partition {partition}"
        )
        for partition in left_out
    }
    return said | missing


def leaders_or_errors(
    metadata: MetadataResponse, partitions: Iterable[TopicPartition]
) -> PartitionResults[int]:
    """Each partition's leader, or why it has none."""
    found: PartitionResults[int] = {}
    codes: dict[str, int] = {}
    for topic in metadata.topics:
        codes[topic.name or ""] = topic.error_code or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        for each in topic.partitions:
            leaderless = error_for(each.error_code or ErrorCode.LEADER_NOT_AVAILABLE)
            partition = TopicPartition(topic.name or "", each.partition_index)
            found[partition] = each.leader_id if each.leader_id >= 0 else leaderless
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return {
        each: found[each] if each in found else _topic_error(each, codes.get(each.topic, unknown))
        for each in partitions
    }


def _topic_error(partition: TopicPartition, code: int) -> KafkaError:
    if is_retriable(code):
        return error_for(code)
    reasons: dict[int, str] = {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED: "topic authorization failure",
        ErrorCode.INVALID_TOPIC_EXCEPTION: f"invalid topic `{partition.topic}`",
    }
    reason = reasons.get(code, f"unexpected error for topic `{partition.topic}`")
    return error_for(code, f"Failed to fetch metadata for partition {partition} due to {reason}")


def _may_help(result: object) -> bool:
    """Whether to ask once more; a time that is up stays up."""
    return (
        isinstance(result, KafkaError)
        and not isinstance(result, KafkaTimeoutError)
        and is_retriable(result.code or ErrorCode.NONE)
    )


def _first_error(results: PartitionResults[R], left: Mapping[TopicPartition, Any]) -> KafkaError:
    error = results[next(iter(left))]
    assert isinstance(error, KafkaError)
    return error


def grouped_by_topic(
    partitions: Mapping[TopicPartition, T], member: Callable[[int, T], M]
) -> dict[str, list[M]]:
    """The members of a request that lists partitions under their topics."""
    topics: dict[str, list[M]] = {}
    for (topic, partition), value in partitions.items():
        topics.setdefault(topic, []).append(member(partition, value))
    return topics
