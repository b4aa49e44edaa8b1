"""Asking the cluster why nothing comes: what librdkafka does not tell, a few requests of our own do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.client.admin.consumer_groups import describe_consumer_group
from penstock.client.consumer.state import Finding, WaitsFor
from penstock.errors import ErrorCode, PenstockError
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, ClusterConfig, Disconnected, blocking_cluster, now
from penstock.wire_client.errors import BrokerUnreachableError, KafkaError

PATIENCE_MS = 2_000
"""For each answer; the consumer does not poll meanwhile."""

Leaders = dict[str, dict[int, int]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the consumer would like to read, and as whom."""

    topics: Sequence[str]
    partitions: Sequence[TopicPartition]
    group_id: str | None
    """None where partitions were assigned by hand."""
    member_id: str


def look(configs: Mapping[str, object], wanted: Wanted) -> Finding | None:
    """What keeps the consumer waiting, if the cluster knows."""
    try:
        config = ClusterConfig.from_configs(configs)
    except PenstockError:
        return None
    patient = config._replace(
        client_id=f"{config.client_id}-look",
        request_timeout_ms=PATIENCE_MS,
        connection_setup_timeout_ms=PATIENCE_MS,
        default_api_timeout_ms=0,  # one attempt: the next look is the next
    )
    with blocking_cluster(patient) as cluster:
        return now(_look(cluster, wanted))


async def _look(cluster: Cluster, wanted: Wanted) -> Finding | None:
    try:
        return await _look_at_topics(cluster, wanted) or await _look_at_group(cluster, wanted)
    except Disconnected as error:
        return Finding(WaitsFor.BROKERS, str(error))
    except BrokerUnreachableError as error:
        return Finding(WaitsFor.BROKERS, str(error.__cause__ or error))
    except KafkaError as error:
        return Finding(WaitsFor.ASSIGNMENT, error.message)


async def _look_at_topics(cluster: Cluster, wanted: Wanted) -> Finding | None:
    named = {*wanted.topics, *(partition.topic for partition in wanted.partitions)}
    if not named:
        await cluster.describe()
        return None
    leaders, missing = await _leaders(cluster, sorted(named))
    if missing:
        return Finding(WaitsFor.TOPIC, missing)
    for topic, partition in wanted.partitions:
        count = len(leaders[topic])
        if partition >= count:
            message = f"{topic}-{partition} does not exist: topic {topic} has {count} partitions"
            return Finding(WaitsFor.TOPIC, message)
    return await _look_at_leaders(cluster, leaders)


async def _leaders(cluster: Cluster, topics: list[str]) -> tuple[Leaders, str]:
    """The leader of each partition, and what is wrong with a topic."""
    leaders: Leaders = {}
    for topic in (await cluster.metadata(topics)).topics:
        name = topic.name or ""
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return {}, f"topic {name} does not exist"
        if topic.error_code:
            return {}, f"topic {name}: {ErrorCode(topic.error_code).name}"
        leaders[name] = {each.partition_index: each.leader_id for each in topic.partitions}
    return leaders, ""


async def _look_at_leaders(cluster: Cluster, leaders: Leaders) -> Finding | None:
    for topic, of_partition in leaders.items():
        for partition, leader in of_partition.items():
            if leader < 0:
                return Finding(WaitsFor.BROKERS, f"{topic}-{partition} has no leader: its brokers are away")
            await cluster.connection_to(leader)
    return None


async def _look_at_group(cluster: Cluster, wanted: Wanted) -> Finding | None:
    if wanted.group_id is None or wanted.partitions:
        return None
    group = await describe_consumer_group(cluster, wanted.group_id)
    leaders, _ = await _leaders(cluster, list(wanted.topics))
    count = sum(map(len, leaders.values()))
    is_member = wanted.member_id in {member.member_id for member in group.members}
    if is_member and len(group.members) > count:
        return Finding(
            WaitsFor.FREE_PARTITION,
            f"no partition for this member: group {wanted.group_id!r} has {len(group.members)} members for "
            f"{count} partition{'s' if count != 1 else ''} of {', '.join(wanted.topics)}",
        )
    return Finding(
        WaitsFor.ASSIGNMENT,
        f"waiting for group {wanted.group_id!r}, which is {group.state.value} with {len(group.members)} members, "
        f"to assign partitions of {', '.join(wanted.topics) or 'the topics that match'}",
    )
