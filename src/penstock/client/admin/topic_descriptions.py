"""What topics look like: their partitions, with leaders and replicas.

Brokers since 3.8 are asked page by page (DescribeTopicPartitions), so that a topic of very many partitions fits; they
also tell the eligible leader replicas. Older ones, and questions by topic id, go through Metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.client.admin.topic_ids import topic_id_bytes, topic_id_text
from penstock.errors import ErrorCode
from penstock.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from penstock.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from penstock.wire_client import Cluster, Node
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError, error_for

PARTITIONS_PER_ANSWER = 2000


@dataclass(frozen=True, slots=True)
class TopicPartitionInfo:
    partition: int
    leader: Node | None
    replicas: tuple[Node, ...]
    isr: tuple[Node, ...]
    elr: tuple[Node, ...] | None = None
    """Eligible leader replicas; None if the broker does not tell."""
    last_known_elr: tuple[Node, ...] | None = None


@dataclass(frozen=True, slots=True)
class TopicDescription:
    name: str
    topic_id: str
    is_internal: bool
    partitions: tuple[TopicPartitionInfo, ...]


Descriptions = dict[str, TopicDescription | KafkaError]
Nodes = Mapping[int, Node]


async def describe_topics(
    cluster: Cluster, names: Iterable[str], *, partitions_per_answer: int = PARTITIONS_PER_ANSWER
) -> Descriptions:
    """By name; for each a description, or why there is none."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    try:
        found = await _page_by_page(cluster, wanted, partitions_per_answer)
    except UnsupportedVersionError:
        found = await _through_metadata(cluster, wanted)
    return {name: found.get(name) or _unknown(f"Topic {name} not found.") for name in wanted}


async def describe_topics_by_id(cluster: Cluster, topic_ids: Iterable[str]) -> Descriptions:
    """By topic id."""
    wanted = list(dict.fromkeys(topic_ids))
    request = MetadataRequest(
        [MetadataRequestTopic(topic_id_bytes(topic_id), None) for topic_id in wanted],
        allow_auto_topic_creation=False,
    )
    answer = await cluster.ask_any(request, MetadataResponse)
    nodes = _nodes_of(answer)
    found = {
        topic_id_text(topic.topic_id): _of_metadata(topic, nodes) for topic in answer.topics if topic.name
    }
    return {
        topic_id: found.get(topic_id)
        or error_for(ErrorCode.UNKNOWN_TOPIC_ID, f"TopicId {topic_id} not found.")
        for topic_id in wanted
    }


def _unknown(message: str) -> KafkaError:
    return error_for(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


# --- page by page


async def _page_by_page(cluster: Cluster, names: list[str], partitions_per_answer: int) -> Descriptions:
    nodes = {node.id: node for node in (await cluster.describe()).nodes}
    found: Descriptions = {}
    left = sorted(names)
    cursor: Cursor | None = None
    while left:
        request = DescribeTopicPartitionsRequest(
            [TopicRequest(name) for name in left], partitions_per_answer, cursor
        )
        answer = await cluster.ask_any(request, DescribeTopicPartitionsResponse)
        for topic in answer.topics:
            _add_page(found, topic, nodes)
        following = answer.next_cursor
        if following is None:
            break
        before, cursor = cursor, Cursor(following.topic_name, following.partition_index)
        if before is not None and _place(cursor) <= _place(before):
            raise KafkaError("the broker's pages of topic partitions do not go on")
        left = [name for name in left if name >= following.topic_name]
    return found


def _place(cursor: Cursor) -> tuple[str, int]:
    return cursor.topic_name, cursor.partition_index


def _add_page(found: Descriptions, topic: DescribeTopicPartitionsResponseTopic, nodes: Nodes) -> None:
    name = topic.name or ""
    if topic.error_code:
        found[name] = error_for(topic.error_code)
        return
    before = found.get(name)
    earlier = before.partitions if isinstance(before, TopicDescription) else ()
    partitions = (*earlier, *(_of_page(partition, nodes) for partition in topic.partitions))
    found[name] = TopicDescription(name, topic_id_text(topic.topic_id), topic.is_internal, partitions)


def _of_page(partition: DescribeTopicPartitionsResponsePartition, nodes: Nodes) -> TopicPartitionInfo:
    return TopicPartitionInfo(
        partition.partition_index,
        nodes.get(partition.leader_id),
        _named(partition.replica_nodes, nodes),
        _named(partition.isr_nodes, nodes),
        _named(partition.eligible_leader_replicas or (), nodes),
        _named(partition.last_known_elr or (), nodes),
    )


def _named(ids: Sequence[int], nodes: Nodes) -> tuple[Node, ...]:
    """A node that is not there just now has no address."""
    return tuple(nodes.get(node_id) or Node(node_id, "", -1) for node_id in ids)


# --- through Metadata


async def _through_metadata(cluster: Cluster, names: Sequence[str]) -> Descriptions:
    answer = await cluster.metadata(names)
    nodes = _nodes_of(answer)
    return {topic.name: _of_metadata(topic, nodes) for topic in answer.topics if topic.name is not None}


def _nodes_of(answer: MetadataResponse) -> Nodes:
    return {each.node_id: Node(each.node_id, each.host, each.port, each.rack) for each in answer.brokers}


def _of_metadata(topic: MetadataResponseTopic, nodes: Nodes) -> TopicDescription | KafkaError:
    if topic.error_code:
        return error_for(topic.error_code)

    def info(partition: MetadataResponsePartition) -> TopicPartitionInfo:
        return TopicPartitionInfo(
            partition.partition_index,
            nodes.get(partition.leader_id),
            _named(partition.replica_nodes, nodes),
            _named(partition.isr_nodes, nodes),
        )

    partitions = sorted(map(info, topic.partitions), key=lambda each: each.partition)
    return TopicDescription(
        topic.name or "", topic_id_text(topic.topic_id), topic.is_internal, tuple(partitions)
    )
