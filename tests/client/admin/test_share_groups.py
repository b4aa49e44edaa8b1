from __future__ import annotations

import uuid

import pytest

from penstock.client.admin.groups import GroupState, GroupType, delete_groups, list_groups
from penstock.client.admin.share_groups import (
    SharePartitionOffset,
    alter_share_group_offsets,
    delete_share_group_offsets,
    describe_share_group,
    list_share_group_offsets,
)
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError
from tests.wire_client.conftest import Asker

JOINS, LEAVES = 0, -1


async def heartbeat(cluster: Cluster, group: str, member: str, epoch: int) -> int:
    topics = [group] if epoch == JOINS else None
    request = ShareGroupHeartbeatRequest(group, member, epoch, subscribed_topic_names=topics)
    answer = await cluster.ask_coordinator(group, request, ShareGroupHeartbeatResponse)
    assert not answer.error_code, answer.error_message
    return answer.member_epoch


def test_the_life_of_a_share_group(ask: Asker, servers: str, topic: str) -> None:
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    member = str(uuid.uuid4())

    async def live(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic, 2)])
        epoch = JOINS
        async for _ in cluster.attempts("an assignment"):
            epoch = await heartbeat(cluster, topic, member, epoch)
            described = await describe_share_group(cluster, topic)
            if described.members[0].assignment:
                break
        assert described.state is GroupState.STABLE
        assert [(each.member_id, each.assignment) for each in described.members] == [
            (member, {first, second})
        ]
        [error] = set((await alter_share_group_offsets(cluster, topic, {first: 0})).values())
        assert error is not None
        assert error.code is ErrorCode.NON_EMPTY_GROUP
        await heartbeat(cluster, topic, member, LEAVES)
        assert (await describe_share_group(cluster, topic)).state is GroupState.EMPTY
        assert await alter_share_group_offsets(cluster, topic, {first: 0, second: 0}) == {
            first: None,
            second: None,
        }
        offsets = await list_share_group_offsets(cluster, topic)
        assert offsets.keys() == {first, second}
        assert await list_share_group_offsets(cluster, topic, [first]) == {first: offsets[first]}
        assert isinstance(offsets[first], SharePartitionOffset)
        assert offsets[first].start_offset == 0
        assert topic in {group.group_id for group in await list_groups(cluster, types=[GroupType.SHARE])}
        assert await delete_share_group_offsets(cluster, topic, [topic]) == {topic: None}
        assert await list_share_group_offsets(cluster, topic) == {}
        assert await delete_groups(cluster, [topic]) == {topic: None}

    ask(live, servers)


def test_a_share_group_that_is_not_there(ask: Asker, servers: str, topic: str) -> None:
    async def look(cluster: Cluster) -> None:
        with pytest.raises(KafkaError, match=f"Group {topic} not found"):
            await describe_share_group(cluster, topic)

    ask(look, servers)
