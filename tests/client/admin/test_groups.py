from __future__ import annotations

import pytest

from penstock.client.admin.consumer_groups import describe_consumer_group, describe_consumer_groups
from penstock.client.admin.group_offsets import (
    CommittedOffset,
    alter_group_offsets,
    delete_group_offsets,
    list_group_offsets,
)
from penstock.client.admin.groups import (
    GroupState,
    GroupType,
    delete_groups,
    list_consumer_groups,
    list_groups,
)
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError
from tests.java_tools.members import PROTOCOLS, member
from tests.wire_client.conftest import Asker


async def group_ids(cluster: Cluster, **filters: object) -> set[str]:
    return {group.group_id for group in await list_groups(cluster, **filters)}  # type: ignore[arg-type]


def test_a_group_that_only_has_offsets(ask: Asker, servers: str, topic: str) -> None:
    """Is made by its first commit, read, in part forgotten, and deleted."""
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)

    async def live(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic, 2)])
        wanted = {first: CommittedOffset(4, metadata="so far"), second: CommittedOffset(2)}
        assert await alter_group_offsets(cluster, topic, wanted) == {first: None, second: None}
        assert await list_group_offsets(cluster, topic) == wanted
        missing = TopicPartition(topic, 7)
        assert await list_group_offsets(cluster, topic, [second, missing]) == {
            second: wanted[second],
            missing: None,
        }
        [listed] = [group for group in await list_consumer_groups(cluster) if group.group_id == topic]
        assert (listed.type, listed.protocol, listed.state) == (GroupType.CLASSIC, "", GroupState.EMPTY)
        described = await describe_consumer_group(cluster, topic)
        assert (described.state, described.members, described.epoch) == (GroupState.EMPTY, (), None)
        assert described.coordinator in (await cluster.describe()).nodes
        assert await delete_group_offsets(cluster, topic, [first]) == {first: None}
        assert await list_group_offsets(cluster, topic) == {second: wanted[second]}
        assert await delete_groups(cluster, [topic]) == {topic: None}
        assert topic not in await group_ids(cluster)

    ask(live, servers)


def test_filters(ask: Asker, servers: str, topic: str) -> None:
    async def filtered(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic)])
        await alter_group_offsets(cluster, topic, {TopicPartition(topic, 0): CommittedOffset(0)})
        assert topic in await group_ids(cluster, states=[GroupState.EMPTY], types=[GroupType.CLASSIC])
        assert topic not in await group_ids(cluster, states=[GroupState.STABLE])
        assert topic not in await group_ids(cluster, types=[GroupType.SHARE, GroupType.CONSUMER])
        assert topic not in await group_ids(cluster, protocols=["consumer"])

    ask(filtered, servers)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_group_with_a_member(ask: Asker, servers: str, topic: str, protocol: str) -> None:
    settings = {"group_protocol": protocol, "client_id": "reader", "group_instance_id": "first"}
    everything = frozenset(TopicPartition(topic, each) for each in (0, 1))

    async def create(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic, 2)])

    async def describe(cluster: Cluster) -> None:
        group = (await describe_consumer_groups(cluster, [topic]))[topic]
        [only] = group.members
        is_newer = protocol == "consumer"
        assert group.type is (GroupType.CONSUMER if is_newer else GroupType.CLASSIC)
        assert group.state is GroupState.STABLE
        assert (only.client_id, only.instance_id, only.assignment) == ("reader", "first", everything)
        assert only.target_assignment == (everything if is_newer else frozenset())
        assert (only.is_upgraded, only.epoch == group.epoch) == ((True, True) if is_newer else (None, True))
        [why_not] = (await delete_groups(cluster, [topic])).values()
        assert why_not is not None
        assert why_not.code is ErrorCode.NON_EMPTY_GROUP
        refused = await delete_group_offsets(cluster, topic, everything)
        assert {error.code for error in refused.values() if error} == {ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC}

    ask(create, servers)
    with member(servers, topic, [topic], partitions=2, **settings):
        ask(describe, servers)


def test_a_group_that_is_not_there(ask: Asker, servers: str, topic: str) -> None:
    async def look(cluster: Cluster) -> None:
        with pytest.raises(KafkaError, match=f"Group {topic} not found") as raised:
            await describe_consumer_group(cluster, topic)
        assert raised.value.code is ErrorCode.GROUP_ID_NOT_FOUND
        assert await list_group_offsets(cluster, topic) == {}
        [why_not] = (await delete_groups(cluster, [topic])).values()
        assert why_not is not None
        assert why_not.code is ErrorCode.GROUP_ID_NOT_FOUND
        with pytest.raises(KafkaError, match="The group id does not exist"):
            await delete_group_offsets(cluster, topic, [TopicPartition(topic, 0)])

    ask(look, servers)
