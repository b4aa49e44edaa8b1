"""Streams groups over the socket; `PENSTOCK_TEST_PEER=apache` shows that Kafka does the same."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.group.streams.topics import (
    ASSIGNMENT_DELAYED,
    INCORRECTLY_PARTITIONED_TOPICS,
    MISSING_INTERNAL_TOPICS,
    MISSING_SOURCE_TOPICS,
    SHUTDOWN_APPLICATION,
    STALE_TOPOLOGY,
)
from penstock.testing import InProcessBroker
from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.share_group_describe import ShareGroupDescribeRequest
from penstock.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from penstock.wire.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from penstock.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.broker.asking import SET, create_topic, metadata, unique_topic
from tests.broker.classic_members import Member, join_all
from tests.broker.committing import commit, committed, delete_offset, fetch_group, new_group
from tests.broker.conftest import Server
from tests.broker.share_members import GROUP_RESOURCE, set_group_config
from tests.broker.streams_members import (
    StreamsMember,
    code_of,
    counting,
    describe,
    plain,
    settle,
    statuses,
)
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

UNSAFE_DOWNGRADE = 3


@pytest.fixture
def group(client: WireClient) -> str:
    """A group whose first assignment waits for nobody."""
    group = new_group(client)
    set_group_config(client, group, streams_initial_rebalance_delay_ms="0")
    return group


@pytest.fixture
def lines(client: WireClient) -> str:
    return unique_topic(client, partitions=2)


# members


def test_a_member_joins_works_and_leaves(client: WireClient, server: Server, lines: str, group: str) -> None:
    topology = counting(group, lines)
    with StreamsMember(server.bootstrap, group, topology) as alice:
        answer = alice.join()
        assert (code_of(answer), answer.heartbeat_interval_ms) == ("NONE", 5000)
        assert MISSING_INTERNAL_TOPICS in statuses(answer)
        described = settle(alice)
        assert alice.active == {"0": [0, 1], "1": [0, 1]}
        assert (described.group_epoch, described.assignment_epoch) == (alice.epoch, alice.epoch)
        (member,) = described.members
        assert (member.member_id, member.member_epoch) == (alice.member_id, alice.epoch)
        assert (member.client_id, member.client_host, member.process_id) == (
            "test",
            "/127.0.0.1",
            alice.process_id,
        )
        assert member.assignment == member.target_assignment
        listed = client.send(ListGroupsRequest(types_filter=["streams"])).groups
        (found,) = (each for each in listed if each.group_id == group)
        assert (found.protocol_type, found.group_state, found.group_type) == ("streams", "Stable", "streams")
        answer = alice.leave()
        assert (code_of(answer), answer.member_epoch) == ("NONE", -1)
    assert describe(client, group).group_state == "Empty"
    (deleted,) = client.send(DeleteGroupsRequest([group])).results
    assert code_of(deleted) == "NONE"
    assert code_of(describe(client, group)) == "GROUP_ID_NOT_FOUND"


def test_the_topics_of_the_program_are_made(
    client: WireClient, server: Server, lines: str, group: str
) -> None:
    with StreamsMember(server.bootstrap, group, counting(group, lines)) as alice:
        alice.join()
        topology = settle(alice).topology
    assert topology is not None
    assert topology.subtopologies is not None
    first, second = topology.subtopologies
    assert (first.subtopology_id, first.source_topics) == ("0", [lines])
    (repartition,), (changelog,) = second.repartition_source_topics, second.state_changelog_topics
    assert (repartition.partitions, changelog.partitions) == (2, 2)
    for name in (repartition.name, changelog.name):
        (found,) = metadata(client, name).topics
        assert len(found.partitions) == 2
    resource = DescribeConfigsResource(2, changelog.name, ["cleanup.policy"])
    (configs,) = client.send(DescribeConfigsRequest([resource])).results
    assert configs.configs[0].value == "compact"


def test_why_a_topic_can_not_be_made_is_told(server: Server, lines: str, group: str) -> None:
    topology = counting(group, lines)
    topology.subtopologies[1].state_changelog_topics[0].replication_factor = 7
    with StreamsMember(server.bootstrap, group, topology) as alice:
        alice.join()

        def told() -> bool:
            detail = statuses(alice.heartbeat()).get(MISSING_INTERNAL_TOPICS, "")
            return "Creation failed" in detail and f"{group}-counts-changelog" in detail

        wait_for(told, what="why", interval=0.1)


def test_tasks_move_with_standbys(client: WireClient, server: Server, lines: str, group: str) -> None:
    set_group_config(client, group, streams_num_standby_replicas="1")
    topology = counting(group, lines)
    with (
        StreamsMember(server.bootstrap, group, topology, endpoint=("alice", 7001)) as alice,
        StreamsMember(server.bootstrap, group, topology, endpoint=("bob", 7002)) as bob,
    ):
        alice.join()
        settle(alice)
        bob.join()
        settle(alice, bob)
        for member in (alice, bob):
            assert [len(partitions) for partitions in member.active.values()] == [1, 1]
        assert sorted(alice.active["1"] + bob.active["1"]) == [0, 1]
        assert (alice.standby["1"], bob.standby["1"]) == (bob.active["1"], alice.active["1"])
        told = bob.heartbeat(endpoint_information_epoch=-1).partitions_by_user_endpoint
        repartition = f"{group}-words-repartition"
        found = {
            each.user_endpoint.host: (
                {topic.topic: list(topic.partitions) for topic in each.active_partitions},
                {topic.topic: list(topic.partitions) for topic in each.standby_partitions},
            )
            for each in told
        }
        for name, member in (("alice", alice), ("bob", bob)):
            active = {lines: member.active["0"], repartition: member.active["1"]}
            assert found[name] == (active, {repartition: member.standby["1"]})
        bob.leave()
        settle(alice)
        assert alice.active == {"0": [0, 1], "1": [0, 1]}


def test_what_a_topology_waits_for(client: WireClient, server: Server, group: str) -> None:
    first, second = f"{group}-first", f"{group}-second"
    joined = Subtopology("0", [first, second], copartition_groups=[CopartitionGroup([0, 1], [], [])])
    with StreamsMember(server.bootstrap, group, Topology(2, [joined])) as alice:
        answer = alice.join()
        assert statuses(answer)[MISSING_SOURCE_TOPICS] == f"Source topics {first}, {second} are missing."
        assert describe(client, group).group_state == "NotReady"
        create_topic(client, first, 2)
        create_topic(client, second, 3)
        wait_for(
            lambda: (
                statuses(alice.heartbeat()).get(INCORRECTLY_PARTITIONED_TOPICS)
                == f"Following topics do not have the same number of partitions: [{{{first}=2, {second}=3}}]"
            ),
            what="that the topics do not fit",
        )
        with StreamsMember(server.bootstrap, group, Topology(1, [joined])) as bob:
            assert statuses(bob.join())[STALE_TOPOLOGY] == (
                "The member's topology epoch 1 is behind the group's topology epoch 2."
            )
        with StreamsMember(server.bootstrap, group, Topology(3, [joined])) as carol:
            answer = carol.join()
            assert (code_of(answer), answer.error_message) == (
                "INVALID_REQUEST",
                "Topology updates are not supported yet.",
            )


def test_the_first_assignment_waits(client: WireClient, server: Server, lines: str) -> None:
    group = new_group(client)
    set_group_config(client, group, streams_initial_rebalance_delay_ms="1000")
    with StreamsMember(server.bootstrap, group, plain(lines)) as alice:
        assert ASSIGNMENT_DELAYED in statuses(alice.join())
        assert not alice.active
        settle(alice)
        assert alice.active == {"0": [0, 1]}


def test_all_are_told_to_end(server: Server, lines: str, group: str) -> None:
    with (
        StreamsMember(server.bootstrap, group, plain(lines)) as alice,
        StreamsMember(server.bootstrap, group, plain(lines)) as bob,
    ):
        alice.join()
        bob.join()
        bob.leave(shutdown_application=True)
        assert statuses(alice.heartbeat())[SHUTDOWN_APPLICATION].startswith(
            f"Streams group member {bob.member_id} encountered a fatal error"
        )


BAD_HEARTBEATS: dict[str, tuple[dict[str, Any], str]] = {
    "no group": ({"group_id": " "}, "GroupId can't be empty."),
    "no member": ({"member_id": ""}, "MemberId can't be empty."),
    "a blank rack": ({"rack_id": ""}, "RackId can't be empty."),
    "no time to rebalance": (
        {"rebalance_timeout_ms": -1},
        "RebalanceTimeoutMs must be provided in first request.",
    ),
    "no topology": ({"topology": None}, "Topology must be non-null when (re-)joining."),
    "tasks from the start": (
        {"active_tasks": [TaskIds("0", [0])]},
        "ActiveTasks must be empty when (re-)joining.",
    ),
    "no standbys": ({"standby_tasks": None}, "StandbyTasks must be empty when (re-)joining."),
    "a static member": ({"instance_id": "i"}, "Static membership is not yet supported."),
    "offsets": ({"task_offsets": [TaskOffset("0", 0, 0)]}, "TaskOffsets are not supported yet."),
    "warm-ups": ({"warmup_tasks": [TaskIds("0", [0])]}, "WarmupTasks are not supported yet."),
    "a strange epoch": (
        {"member_epoch": -3},
        "MemberEpoch is -3, but must be greater than or equal to -2.",
    ),
    "a late topology": ({"member_epoch": 1}, "Topology can only be provided when (re-)joining."),
    "a regular expression": (
        {"topology": Topology(0, [Subtopology("0", source_topic_regex=["a.*"])])},
        "Regular expressions for source topics are not supported yet.",
    ),
}


@pytest.mark.parametrize("name", BAD_HEARTBEATS)
def test_bad_heartbeats(server: Server, lines: str, group: str, name: str) -> None:
    changes, message = BAD_HEARTBEATS[name]
    with StreamsMember(server.bootstrap, group, plain(lines)) as alice:
        answer = alice.join(**changes)
    assert (code_of(answer), answer.error_message) == ("INVALID_REQUEST", message)


BAD_TOPOLOGIES = {
    "an internal topic": (
        [Subtopology("0", ["__consumer_offsets"])],
        "Use of Kafka internal topics __consumer_offsets in a Kafka Streams topology is prohibited.",
    ),
    "no name of a topic": (
        [Subtopology("0", ["a/b", ".."])],
        "Topic names a/b,.. are not valid topic names.",
    ),
    "a changelog with partitions": (
        [Subtopology("0", ["a"], state_changelog_topics=[TopicInfo("c", 3)])],
        "Changelog topic c must have an undefined partition count, but it is set to 3.",
    ),
    "a topic from nowhere": (
        [Subtopology("0", repartition_source_topics=[TopicInfo("a")])],
        "Failed to compute number of partitions for all repartition topics, because a repartition source topic "
        "is never used as a sink topic.",
    ),
    "a loop": (
        [Subtopology("0", repartition_source_topics=[TopicInfo("a")], repartition_sink_topics=["a"])],
        "Failed to compute number of partitions for all repartition topics. There may be loops in the topology "
        "that cannot be resolved.",
    ),
}


@pytest.mark.parametrize("name", BAD_TOPOLOGIES)
def test_bad_topologies(server: Server, group: str, name: str) -> None:
    subtopologies, message = BAD_TOPOLOGIES[name]
    with StreamsMember(server.bootstrap, group, Topology(0, subtopologies)) as alice:
        answer = alice.join()
    assert (code_of(answer), answer.error_message) == ("STREAMS_INVALID_TOPOLOGY", message)


def test_epochs_are_checked(server: Server, lines: str, group: str) -> None:
    with StreamsMember(server.bootstrap, group, plain(lines)) as alice:
        assert code_of(alice.heartbeat(member_epoch=1)) == "GROUP_ID_NOT_FOUND"
        assert code_of(alice.leave()) == "GROUP_ID_NOT_FOUND"
        alice.join()
        settle(alice)
        assert code_of(alice.heartbeat(member_id="nobody")) == "UNKNOWN_MEMBER_ID"
        assert code_of(alice.heartbeat(member_epoch=alice.epoch + 1)) == "FENCED_MEMBER_EPOCH"
        answer = alice.heartbeat(active_tasks=[TaskIds("7", [0])])
        assert answer.error_message == "Subtopology 7 does not exist in the topology."
        answer = alice.heartbeat(active_tasks=[TaskIds("0", [2])])
        assert (
            answer.error_message
            == "Task 2 for subtopology 0 is invalid. Number of tasks for this subtopology: 2"
        )


# offsets


def test_members_commit_in_their_epoch(client: WireClient, server: Server, lines: str, group: str) -> None:
    with StreamsMember(server.bootstrap, group, plain(lines)) as alice:
        alice.join()
        settle(alice)

        def commit_at(epoch: int, member_id: str = alice.member_id, version: int = 9) -> str:
            who = {"member_id": member_id, "generation_id_or_member_epoch": epoch}
            return ErrorCode(commit(client, group, lines, 5, version=version, **who)).name

        assert commit_at(alice.epoch) == "NONE"
        assert commit_at(alice.epoch + 1) == "STALE_MEMBER_EPOCH"
        assert commit_at(0) == "STALE_MEMBER_EPOCH"
        assert commit_at(alice.epoch, "nobody") == "UNKNOWN_MEMBER_ID"
        assert commit_at(alice.epoch, version=8) == "UNSUPPORTED_VERSION"
        assert commit_at(-1, "") == "UNKNOWN_MEMBER_ID"
        stale = fetch_group(client, group, {lines: [0]}, member_id=alice.member_id, member_epoch=99)
        assert code_of(stale) == "STALE_MEMBER_EPOCH"
        assert committed(client, group, lines) == 5
        assert _deletion(client, group, lines) == "GROUP_SUBSCRIBED_TO_TOPIC"
        alice.leave()
    assert _deletion(client, group, lines) == "NONE"


def _deletion(client: WireClient, group: str, topic: str) -> str:
    ((answer,),) = [each.partitions for each in delete_offset(client, group, topic).topics]
    return code_of(answer)


# other groups


def test_groups_of_another_kind(client: WireClient, server: Server, lines: str, group: str) -> None:
    with StreamsMember(server.bootstrap, group, plain(lines)) as alice:
        alice.join()
        (described,) = client.send(ConsumerGroupDescribeRequest([group])).groups
        assert code_of(described) == "GROUP_ID_NOT_FOUND"
        assert described.error_message == f"Group {group} is not a consumer group."
        (described,) = client.send(ShareGroupDescribeRequest([group])).groups
        assert described.error_message == f"Group {group} is not a share group."
        (described,) = client.send(DescribeGroupsRequest([group])).groups
        assert described.error_message == f"Group {group} is not a classic group."
        as_consumer = ConsumerGroupHeartbeatRequest(
            group, "consumer", subscribed_topic_names=[lines], rebalance_timeout_ms=1000, topic_partitions=[]
        )
        assert code_of(client.send(as_consumer)) == "GROUP_ID_NOT_FOUND"
        assert client.send(ShareGroupHeartbeatRequest(group, "sharer", 0, None, [lines])).error_message == (
            f"Group {group} is not a share group."
        )
        with Member(server.bootstrap, group) as classic:
            assert code_of(classic.join()) == "INCONSISTENT_GROUP_PROTOCOL"
        (deleted,) = client.send(DeleteGroupsRequest([group])).results
        assert code_of(deleted) == "NON_EMPTY_GROUP"


def test_empty_groups_change_their_kind(client: WireClient, server: Server, lines: str, group: str) -> None:
    assert commit(client, group, lines, 3) == 0
    with StreamsMember(server.bootstrap, group, plain(lines)) as alice:
        alice.join()
        settle(alice)
        alice.leave()
    with Member(server.bootstrap, group) as classic:
        join_all(classic)
        assert code_of(describe(client, group)) == "GROUP_ID_NOT_FOUND"
        with StreamsMember(server.bootstrap, group, plain(lines)) as alice:
            answer = alice.join()
        assert (code_of(answer), answer.error_message) == (
            "GROUP_ID_NOT_FOUND",
            f"Group {group} is not a streams group.",
        )


# settings


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "streams.session.timeout.ms",
            "1000",
            "streams.session.timeout.ms must be greater than or equal to group.streams.min.session.timeout.ms",
        ),
        (
            "streams.heartbeat.interval.ms",
            "20000",
            "streams.heartbeat.interval.ms must be less than or equal to group.streams.max.heartbeat.interval.ms",
        ),
        (
            "streams.num.standby.replicas",
            "3",
            "streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas",
        ),
    ],
)
def test_a_group_sets_no_more_than_the_broker_allows(
    client: WireClient, group: str, name: str, value: str, message: str
) -> None:
    resource = AlterConfigsResource(GROUP_RESOURCE, group, [AlterableConfig(name, SET, value)])
    (answer,) = client.send(IncrementalAlterConfigsRequest(resources=[resource])).responses
    assert (code_of(answer), answer.error_message) == ("INVALID_CONFIG", message)


def test_settings_of_a_group_are_obeyed(client: WireClient, server: Server, lines: str, group: str) -> None:
    set_group_config(client, group, streams_heartbeat_interval_ms="7000")
    with StreamsMember(server.bootstrap, group, counting(group, lines)) as alice:
        assert alice.join().heartbeat_interval_ms == 7000
        epoch = settle(alice).group_epoch
        set_group_config(client, group, streams_num_standby_replicas="1")
        assert settle(alice).group_epoch == epoch + 1


def test_it_can_be_switched_off(lines: str) -> None:
    with InProcessBroker() as broker, WireClient(broker.bootstrap_servers) as client:
        off = FeatureUpdateKey("streams.version", 0, upgrade_type=UNSAFE_DOWNGRADE)
        answer = client.send(UpdateFeaturesRequest(timeout_ms=10_000, feature_updates=[off]))
        assert code_of(answer) == "NONE", answer
        with StreamsMember(broker.bootstrap_servers, "g", plain(lines)) as alice:
            assert code_of(alice.join()) == "UNSUPPORTED_VERSION"
        assert code_of(describe(client, "g")) == "UNSUPPORTED_VERSION"
