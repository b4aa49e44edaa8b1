from __future__ import annotations

from penstock.client.admin.configs import (
    AlterConfig,
    ConfigOperation,
    ConfigResource,
    ResourceType,
    alter_configs,
)
from penstock.client.admin.groups import GroupState, GroupType, list_groups
from penstock.client.admin.streams_groups import StreamsAssignment, describe_streams_groups
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.wire.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    Topology,
)
from penstock.wire_client import Cluster
from tests.wire_client.conftest import Asker


async def heartbeat(cluster: Cluster, group: str, epoch: int) -> StreamsGroupHeartbeatResponse:
    request = StreamsGroupHeartbeatRequest(
        group_id=group,
        member_id="m",
        member_epoch=epoch,
        rebalance_timeout_ms=60_000,
        topology=None if epoch else Topology(0, [Subtopology("0", [group])]),
        process_id="p",
        active_tasks=[TaskIds("0", [0, 1])] if epoch > 1 else [],
        client_tags=None,
        task_offsets=None,
        task_end_offsets=None,
    )
    answer = await cluster.ask_coordinator(group, request, StreamsGroupHeartbeatResponse)
    assert not answer.error_code, answer.error_message
    return answer


def test_what_is_told_of_a_streams_group(ask: Asker, servers: str, topic: str) -> None:
    async def live(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic, 2)])
        at_once = AlterConfig("streams.initial.rebalance.delay.ms", ConfigOperation.SET, "0")
        group = ConfigResource(ResourceType.GROUP, topic)
        assert await alter_configs(cluster, {group: [at_once]}) == {group: None}
        epoch = 0
        async for _ in cluster.attempts("an assignment"):
            epoch = (await heartbeat(cluster, topic, epoch)).member_epoch
            described = (await describe_streams_groups(cluster, [topic]))[topic]
            if described.members[0].assignment.active:
                break
        assert described.state is GroupState.STABLE
        assert described.source_topics == {topic}
        (subtopology,) = described.subtopologies
        assert (subtopology.subtopology_id, subtopology.topics_read) == ("0", (topic,))
        (member,) = described.members
        assert (member.member_id, member.process_id, member.epoch) == ("m", "p", epoch)
        assert member.assignment == member.target_assignment == StreamsAssignment((("0", (0, 1)),))
        listed = await list_groups(cluster, types=[GroupType.STREAMS])
        assert topic in {group.group_id for group in listed}

    ask(live, servers)
