import uuid
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.broker.asking import new_topic, topic_id, unique_topic
from tests.broker.committing import (
    all_committed,
    commit,
    committed,
    delete_offset,
    fetch_group,
    fetch_group_as_before,
    find_coordinator,
    new_group,
)
from tests.broker.platform import Platform
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

NOTHING = (-1, -1, "", ErrorCode.NONE)


@pytest.fixture
def group(client: WireClient) -> str:
    return new_group(client)


@pytest.mark.parametrize("version", range(2, 10))
def test_anybody_commits_to_a_group_without_members(
    client: WireClient, topic: str, group: str, version: int
) -> None:
    assert commit(client, group, topic, 41, version=version, metadata="half way") == 0
    assert commit(client, group, topic, 42, version=version, metadata="there") == 0
    (found,) = fetch_group(client, group, {topic: [0, 1]}).topics
    assert [
        (one.partition_index, one.committed_offset, one.committed_leader_epoch, one.metadata)
        for one in found.partitions
    ] == [(0, 42, -1, "there"), (1, -1, -1, "")]
    assert all_committed(client, group) == {(topic, 0): 42}


@pytest.mark.parametrize("retention_ms", [2**63 - 1, 2**63 - 2, -(2**63)])
def test_the_longest_and_the_shortest_retention(
    client: WireClient, topic: str, group: str, retention_ms: int
) -> None:
    partition = OffsetCommitRequestPartition(0, 42)
    asked = OffsetCommitRequest(
        group,
        retention_time_ms=retention_ms,
        topics=[OffsetCommitRequestTopic(topic, partitions=[partition])],
    )
    (answered,) = client.send(asked, 4).topics
    assert [one.error_code for one in answered.partitions] == [0]


def test_topics_are_named_by_id(client: WireClient, topic: str, group: str) -> None:
    own_id, other_id = topic_id(client, topic), uuid.uuid4().bytes
    assert commit(client, group, "", 7, version=10, topic_id=own_id, leader_epoch=3) == 0
    assert commit(client, group, "", 7, version=10, topic_id=other_id) == ErrorCode.UNKNOWN_TOPIC_ID
    assert commit(client, group, "", 7, version=10) == ErrorCode.UNKNOWN_TOPIC_ID
    wanted = [
        OffsetFetchRequestTopics(topic_id=own_id, partition_indexes=[0]),
        OffsetFetchRequestTopics(topic_id=other_id, partition_indexes=[0]),
    ]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=wanted)])
    (answer,) = client.send(request, 10).groups
    assert answer.error_code == 0
    assert {
        one.topic_id: (p.committed_offset, p.committed_leader_epoch, p.error_code)
        for one in answer.topics
        for p in one.partitions
    } == {own_id: (7, 3, ErrorCode.NONE), other_id: (-1, -1, ErrorCode.UNKNOWN_TOPIC_ID)}
    everything = fetch_group(client, group, None, version=10).topics
    assert [(one.topic_id, one.partitions[0].committed_offset) for one in everything] == [(own_id, 7)]


@pytest.mark.parametrize("version", range(1, 8))
def test_one_group_is_fetched_as_before(client: WireClient, topic: str, group: str, version: int) -> None:
    assert commit(client, group, topic, 5, metadata="note", leader_epoch=2) == 0
    response = fetch_group_as_before(client, group, {topic: [0, 9]}, version)
    (found,) = response.topics
    assert response.error_code == 0
    assert [
        (one.committed_offset, one.committed_leader_epoch, one.metadata, one.error_code)
        for one in found.partitions
    ] == [(5, 2 if version >= 5 else -1, "note", ErrorCode.NONE), NOTHING]
    if version >= 2:
        (everything,) = fetch_group_as_before(client, group, None, version).topics
        assert (everything.name, everything.partitions[0].committed_offset) == (topic, 5)


def test_several_groups_are_fetched_at_once(client: WireClient, topic: str) -> None:
    groups = [new_group(client) for _ in range(4)]
    for offset, group in enumerate(groups):
        assert commit(client, group, topic, offset) == 0
    wanted = [
        OffsetFetchRequestGroup(
            group_id=group,
            topics=[OffsetFetchRequestTopics(topic, partition_indexes=[0])],
        )
        for group in groups
    ]
    answers = client.send(OffsetFetchRequest(groups=wanted), 9).groups
    assert [(one.group_id, one.topics[0].partitions[0].committed_offset) for one in answers] == [
        (group, offset) for offset, group in enumerate(groups)
    ]
    assert client.send(OffsetFetchRequest(groups=[]), 9).groups == []


def test_a_group_that_is_not_there_has_committed_nothing(client: WireClient, topic: str, group: str) -> None:
    (found,) = fetch_group(client, group, {topic: [0]}).topics
    (one,) = found.partitions
    assert (one.committed_offset, one.committed_leader_epoch, one.metadata, one.error_code) == NOTHING
    answer = fetch_group(client, group, None)
    assert (answer.error_code, answer.topics) == (0, [])


def test_topics_and_partitions_that_do_not_exist(client: WireClient, topic: str, group: str) -> None:
    assert commit(client, group, "no-such-topic", 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(client, group, topic, 1, 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(client, group, topic, 1, -1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert all_committed(client, group) == {}


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ("x" * 4096, ErrorCode.NONE),
        ("x" * 4097, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("\N{SNOWMAN}" * 4096, ErrorCode.NONE),
        ("\N{PILE OF POO}" * 2048, ErrorCode.NONE),
        ("\N{PILE OF POO}" * 2049, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        (None, ErrorCode.NONE),
    ],
)
def test_metadata_is_measured(
    client: WireClient, topic: str, group: str, metadata: str | None, code: ErrorCode
) -> None:
    assert commit(client, group, topic, 1, metadata=metadata) == code
    (found,) = fetch_group(client, group, {topic: [0]}).topics
    assert found.partitions[0].metadata == ("" if code else metadata or "")


@pytest.mark.parametrize(
    ("version", "code"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_a_member_of_a_group_that_is_not_there(
    client: WireClient, topic: str, group: str, version: int, code: ErrorCode
) -> None:
    who: dict[str, Any] = {"generation_id_or_member_epoch": 1, "member_id": "somebody"}
    assert commit(client, group, topic, 1, version=version, **who) == code
    assert commit(client, group, "no-such-topic", 1, version=version, **who) == 3
    assert all_committed(client, group) == {}


def test_a_stranger_in_a_group_without_members(client: WireClient, topic: str, group: str) -> None:
    assert commit(client, group, topic, 1) == 0
    stranger: dict[str, Any] = {"generation_id_or_member_epoch": 1, "member_id": "somebody"}
    assert commit(client, group, topic, 2, **stranger) == ErrorCode.UNKNOWN_MEMBER_ID
    assert committed(client, group, topic) == 1


def test_the_group_without_a_name(client: WireClient, topic: str) -> None:
    new_group(client)
    assert commit(client, "", topic, 11) == 0
    assert committed(client, "", topic) == 11
    assert delete_offset(client, "", topic).error_code == ErrorCode.INVALID_GROUP_ID


def test_offsets_are_deleted(client: WireClient, group: str) -> None:
    topic = unique_topic(client, 2)
    assert commit(client, group, topic, 1, 0) == commit(client, group, topic, 2, 1) == 0
    for partition, code in ((0, 0), (0, 0), (2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)):
        answer = delete_offset(client, group, topic, partition)
        assert (answer.error_code, answer.topics[0].partitions[0].error_code) == (0, code)
    answer = delete_offset(client, group, "no-such-topic")
    assert answer.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert all_committed(client, group) == {(topic, 1): 2}


def test_offsets_of_a_group_that_is_not_there_are_not_deleted(
    client: WireClient, topic: str, group: str
) -> None:
    answer = delete_offset(client, group, topic)
    assert (answer.error_code, answer.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])


def test_a_deleted_topic_takes_its_offsets_along(client: WireClient, group: str) -> None:
    gone, kept = unique_topic(client), unique_topic(client)
    assert commit(client, group, gone, 1) == commit(client, group, kept, 2) == 0
    state = DeleteTopicState(name=gone)
    (deleted,) = client.send(DeleteTopicsRequest(topics=[state], timeout_ms=30_000)).responses
    assert deleted.error_code == 0
    wait_for(lambda: all_committed(client, group) == {(kept, 0): 2}, what="the offsets to go")
    new_topic(client, gone)
    assert committed(client, group, gone) == -1


@pytest.mark.processes
def test_offsets_survive_a_crash(tmp_path: Path) -> None:
    groups = [f"group-{number}" for number in range(20)]
    with Platform(tmp_path, {"offsets.topic.num.partitions": "3"}) as platform:
        with WireClient(platform.bootstrap) as client:
            topic = unique_topic(client, 2)
            for number, group in enumerate(groups):
                find_coordinator(client, group)
                assert commit(client, group, topic, number, metadata=group) == 0
                assert commit(client, group, topic, number, 1) == 0
                assert delete_offset(client, group, topic, 1).error_code == 0
        platform.restart_broker(kill=True)
        with WireClient(platform.bootstrap) as client:
            for number, group in enumerate(groups):
                find_coordinator(client, group)
                assert all_committed(client, group) == {(topic, 0): number}
                (found,) = fetch_group(client, group, {topic: [0]}).topics
                assert found.partitions[0].metadata == group


def test_offsets_and_groups_expire() -> None:
    with (
        InProcessBroker({"offsets.retention.check.interval.ms": "100"}) as broker,
        WireClient(broker.bootstrap_servers) as client,
    ):
        topic, group = unique_topic(client, 2), new_group(client)
        assert commit(client, group, topic, 1, 1) == 0
        assert commit(client, group, topic, 1, version=4, retention_time_ms=1) == 0
        wait_for(lambda: all_committed(client, group) == {(topic, 1): 1}, what="one offset to expire")
        assert groups_listed(client) == [group]
        assert commit(client, group, topic, 1, 1, version=4, retention_time_ms=1) == 0
        wait_for(lambda: groups_listed(client) == [], what="the group to go with its last offset")
        assert all_committed(client, group) == {}


def groups_listed(client: WireClient) -> list[str]:
    return [one.group_id for one in client.send(ListGroupsRequest()).groups]
