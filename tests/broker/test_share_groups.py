"""Share groups and their coordinators over the socket; `PENSTOCK_TEST_PEER=apache` shows that Kafka does the same."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from penstock.testing import InProcessBroker
from penstock.wire.messages import alter_share_group_offsets as alter
from penstock.wire.messages import delete_share_group_offsets as delete_offsets
from penstock.wire.messages import delete_share_group_state as delete_state
from penstock.wire.messages import describe_share_group_offsets as describe_offsets
from penstock.wire.messages import initialize_share_group_state as initialize
from penstock.wire.messages import read_share_group_state as read
from penstock.wire.messages import read_share_group_state_summary as summary
from penstock.wire.messages import write_share_group_state as write
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.share_group_describe import ShareGroupDescribeRequest
from penstock.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.broker.asking import batch_of, new_topic, produced, topic_id, unique_topic
from tests.broker.committing import new_group
from tests.broker.conftest import Server
from tests.broker.share_members import (
    ACCEPT,
    Part,
    ShareMember,
    acquired,
    begin_at,
    code_of,
    offsets_of,
    set_group_config,
    values,
)
from tests.broker.transacting import Transactor
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

SHARE = 2


@pytest.fixture
def group(client: WireClient) -> str:
    return new_group(client)


def describe(client: WireClient, group_id: str) -> Any:
    return client.send(ShareGroupDescribeRequest([group_id])).groups[0]


def join(member: ShareMember, *topics: str) -> Any:
    """Joins, and heartbeats until something is assigned; the answer that says so."""
    epoch = 0

    def assigned() -> Any:
        nonlocal epoch
        answer = member.heartbeat(epoch, None if epoch else topics)
        assert code_of(answer) == "NONE", answer
        epoch = answer.member_epoch
        return answer if answer.assignment is not None and answer.assignment.topic_partitions else None

    return wait_for(assigned, what="an assignment", interval=0.1)


# members


def test_a_member_joins_reads_and_leaves(client: WireClient, server: Server, topic: str, group: str) -> None:
    set_group_config(client, group, share_auto_offset_reset="earliest")
    produced(client, topic, batch_of(b"one", b"two"))
    part = Part(topic_id(client, topic))
    with ShareMember(server.bootstrap, group, part) as alice:
        answer = join(alice, topic)
        assert answer.heartbeat_interval_ms == 5000
        ((assigned),) = answer.assignment.topic_partitions
        assert (assigned.topic_id, list(assigned.partitions)) == (part.topic_id, [0])
        described = describe(client, group)
        assert (described.group_state, described.assignor_name) == ("Stable", "simple")
        ((member),) = described.members
        assert (member.member_id, member.client_id, member.subscribed_topic_names) == (
            alice.member_id,
            "test",
            [topic],
        )
        assert member.client_host == "/127.0.0.1"
        ((shown),) = member.assignment.topic_partitions
        assert (shown.topic_name, list(shown.partitions)) == (topic, [0])
        assert values(alice.fetch_one()) == [b"one", b"two"]
        assert code_of(client.send(DeleteGroupsRequest([group])).results[0]) == "NON_EMPTY_GROUP"
        assert alice.heartbeat(-1).member_epoch == -1
    assert describe(client, group).group_state == "Empty"
    (listed,) = [
        one for one in client.send(ListGroupsRequest(types_filter=["share"])).groups if one.group_id == group
    ]
    assert (listed.protocol_type, listed.group_type, listed.group_state) == ("share", "share", "Empty")


def test_bad_heartbeats(client: WireClient, server: Server, topic: str, group: str) -> None:
    with ShareMember(server.bootstrap, group) as alice:
        assert code_of(alice.heartbeat(0)) == "INVALID_REQUEST"
        assert code_of(alice.heartbeat(3)) == "GROUP_ID_NOT_FOUND"
        assert code_of(alice.heartbeat(-1)) == "GROUP_ID_NOT_FOUND"
        assert code_of(alice.heartbeat(-2)) == "INVALID_REQUEST"
        assert code_of(alice.heartbeat(0, [topic])) == "NONE"
        fenced = alice.heartbeat(99)
        assert code_of(fenced) == "FENCED_MEMBER_EPOCH"
        assert "greater member epoch (99)" in fenced.error_message
        with ShareMember(server.bootstrap, group) as bob:
            assert code_of(bob.heartbeat(2)) == "UNKNOWN_MEMBER_ID"
            assert code_of(bob.heartbeat(-1)) == "UNKNOWN_MEMBER_ID"


def test_groups_of_another_kind_are_not_found(client: WireClient, group: str) -> None:
    described = describe(client, group)
    assert code_of(described) == "GROUP_ID_NOT_FOUND"
    assert group in described.error_message


# where a group begins


@pytest.mark.parametrize(
    ("reset", "expected"),
    [("latest", [b"new"]), ("earliest", [b"old", b"new"]), ("by_duration:PT1H", [b"recent", b"new"])],
)
def test_where_a_group_begins(
    client: WireClient, server: Server, group: str, reset: str, expected: list[bytes]
) -> None:
    topic = unique_topic(client)
    set_group_config(client, group, share_auto_offset_reset=reset)
    before = b"recent" if reset.startswith("by_duration") else b"old"
    if before == b"recent":
        produced(client, topic, batch_of(b"ancient", timestamp=1_000_000))
    produced(client, topic, batch_of(before))
    with ShareMember(server.bootstrap, group, Part(topic_id(client, topic))) as alice:
        join(alice, topic)
        wait_for(lambda: _has_begun(client, group, topic, alice), what="the share partition")
        produced(client, topic, batch_of(b"new"))
        found: list[bytes | None] = list(alice.seen)
        while len(found) < len(expected):
            found += values(alice.fetch_one())
        assert found == expected


def _has_begun(client: WireClient, group: str, topic: str, alice: ShareMember) -> bool:
    """Whether a fetch has made it to the log; what it brought is kept in `seen`."""
    answer = alice.fetch(max_wait_ms=200)
    data = [one for each in answer.responses for one in each.partitions]
    alice.seen += [value for one in data for value in values(one)]
    return all(one.error_code == 0 for one in data)


def test_aborted_records_are_kept_from_those_who_want_committed_ones(
    client: WireClient, server: Server, topic: str, group: str
) -> None:
    begin_at(client, group, topic, 0)
    set_group_config(client, group, share_isolation_level="read_committed")
    transactor = Transactor(client)
    transactor.init()
    transactor.sent(topic, b"aborted", b"too")
    transactor.abort()
    transactor.sent(topic, b"committed")
    with ShareMember(server.bootstrap, group, Part(topic_id(client, topic))) as alice:
        found: list[bytes | None] = []

        def fetch() -> list[bytes | None]:
            answer = alice.fetch(max_wait_ms=300)
            found.extend(
                value for one in answer.responses for data in one.partitions for value in values(data)
            )
            return found

        assert fetch() == [], "the transaction is not decided"
        transactor.commit()
        assert wait_for(fetch, what="what was committed") == [b"committed"]


# offsets


def test_offsets_are_altered_and_deleted(client: WireClient, server: Server, topic: str, group: str) -> None:
    produced(client, topic, batch_of(b"0", b"1", b"2"))
    begin_at(client, group, topic, 0)
    assert offsets_of(client, group) == {(topic, 0): (0, 3)}
    part = Part(topic_id(client, topic))
    with ShareMember(server.bootstrap, group, part) as alice:
        alice.fetch_one()
        assert alice.acknowledge((0, 0, [ACCEPT])) == "NONE"
        assert offsets_of(client, group) == {(topic, 0): (0, 2)}
    begin_at(client, group, topic, 2)
    assert offsets_of(client, group) == {(topic, 0): (2, 1)}
    with ShareMember(server.bootstrap, group, part) as bob:
        assert acquired(bob.fetch_one()) == [(2, 2, 1)]
    topics = [delete_offsets.DeleteShareGroupOffsetsRequestTopic(name) for name in (topic, "nothing")]
    answer = client.send(delete_offsets.DeleteShareGroupOffsetsRequest(group, topics))
    errors = {one.topic_name: code_of(one) for one in answer.responses}
    assert errors == {topic: "NONE", "nothing": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert offsets_of(client, group) == {}


def test_bad_requests_for_offsets(client: WireClient, server: Server, topic: str, group: str) -> None:
    asked = [
        alter.AlterShareGroupOffsetsRequestTopic(topic, [alter.AlterShareGroupOffsetsRequestPartition(0, 1)])
    ]
    wrong = [
        alter.AlterShareGroupOffsetsRequestTopic(name, [alter.AlterShareGroupOffsetsRequestPartition(7, 1)])
        for name in (topic, "nothing")
    ]
    deletion = delete_offsets.DeleteShareGroupOffsetsRequest(
        group, [delete_offsets.DeleteShareGroupOffsetsRequestTopic(topic)]
    )
    assert code_of(client.send(deletion)) == "GROUP_ID_NOT_FOUND"
    answer = client.send(alter.AlterShareGroupOffsetsRequest(group, wrong))
    codes = {one.topic_name: code_of(one.partitions[0]) for one in answer.responses}
    assert codes == {topic: "UNKNOWN_TOPIC_OR_PARTITION", "nothing": "UNKNOWN_TOPIC_OR_PARTITION"}
    with ShareMember(server.bootstrap, group) as alice:
        alice.heartbeat(0, [topic])
        assert code_of(client.send(alter.AlterShareGroupOffsetsRequest(group, asked))) == "NON_EMPTY_GROUP"
        assert code_of(client.send(deletion)) == "NON_EMPTY_GROUP"
        alice.heartbeat(-1)
    assert code_of(client.send(alter.AlterShareGroupOffsetsRequest("", asked))) == "INVALID_GROUP_ID"


@pytest.mark.parametrize("offset", [-1, -2, -(2**63)])
def test_a_group_begins_at_no_negative_offset(
    client: WireClient, topic: str, group: str, offset: int
) -> None:
    begin_at(client, group, topic, 0)
    asked = alter.AlterShareGroupOffsetsRequestTopic(
        topic, [alter.AlterShareGroupOffsetsRequestPartition(0, offset)]
    )
    (answer,) = client.send(alter.AlterShareGroupOffsetsRequest(group, [asked])).responses
    assert [code_of(one) for one in answer.partitions] == ["INVALID_REQUEST"]
    assert offsets_of(client, group) == {(topic, 0): (0, 0)}


def test_offsets_of_what_is_not_there(client: WireClient, topic: str, group: str) -> None:
    topics = [
        describe_offsets.DescribeShareGroupOffsetsRequestTopic(name, [0]) for name in (topic, "nothing")
    ]
    asked = describe_offsets.DescribeShareGroupOffsetsRequestGroup(group, topics)
    (answer,) = client.send(describe_offsets.DescribeShareGroupOffsetsRequest([asked])).groups
    found = {
        one.topic_name: (data.error_code, data.start_offset)
        for one in answer.topics
        for data in one.partitions
    }
    assert found == {topic: (0, -1), "nothing": (0, -1)}


def test_a_deleted_group_begins_anew(client: WireClient, server: Server, topic: str, group: str) -> None:
    begin_at(client, group, topic, 0)
    with ShareMember(server.bootstrap, group) as alice:
        join(alice, topic)
        alice.heartbeat(-1)
    assert code_of(client.send(DeleteGroupsRequest([group])).results[0]) == "NONE"
    assert code_of(describe(client, group)) == "GROUP_ID_NOT_FOUND"
    begin_at(client, group, topic, 0)
    assert offsets_of(client, group) == {(topic, 0): (0, 0)}


# the share coordinator


def test_the_coordinator_of_a_share_partition(client: WireClient, topic: str, group: str) -> None:
    text = base64.urlsafe_b64encode(topic_id(client, topic)).rstrip(b"=").decode()

    def ask(key: str, version: int = 6) -> str:
        (found,) = client.send(
            FindCoordinatorRequest(key_type=SHARE, coordinator_keys=[key]), version
        ).coordinators
        return code_of(found)

    wait_for(lambda: ask(f"{group}:{text}:0") == "NONE", what="the coordinator")
    for wrong in ("", "x", f"{group}:{text}", f"{group}:{text}:x", f"{group}:?:0", f":{text}:0"):
        assert ask(wrong) == "INVALID_REQUEST", wrong
    assert ask(f"{group}:{text}:0", version=5) == "INVALID_REQUEST"


def test_states_are_kept_for_other_brokers(client: WireClient, topic: str, group: str) -> None:
    begin_at(client, group, topic, 5)
    where = topic_id(client, topic)

    def first(answer: Any) -> Any:
        return answer.results[0].partitions[0]

    def do_read(leader_epoch: int) -> Any:
        data = read.ReadStateData(where, [read.PartitionData(0, leader_epoch)])
        return first(client.send(read.ReadShareGroupStateRequest(group, [data])))

    def do_write(*batches: write.StateBatch, state_epoch: int = -1, leader_epoch: int = -1) -> str:
        data = write.PartitionData(0, state_epoch, leader_epoch, 5, 2, batches)
        request = write.WriteShareGroupStateRequest(group, [write.WriteStateData(where, [data])])
        return code_of(first(client.send(request)))

    def do_initialize(state_epoch: int) -> str:
        data = initialize.InitializeStateData(where, [initialize.PartitionData(0, state_epoch, 9)])
        return code_of(first(client.send(initialize.InitializeShareGroupStateRequest(group, [data]))))

    def do_summary() -> Any:
        data = summary.ReadStateSummaryData(where, [summary.PartitionData(0, -1)])
        return first(client.send(summary.ReadShareGroupStateSummaryRequest(group, [data])))

    assert do_write(write.StateBatch(6, 7, 2, 1)) == "NONE"
    state = do_read(leader_epoch=3)
    assert (state.error_code, state.start_offset) == (0, 5)
    (batch,) = state.state_batches
    assert (batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count) == (6, 7, 2, 1)
    assert code_of(do_read(leader_epoch=2)) == "FENCED_LEADER_EPOCH"
    assert do_write(leader_epoch=2) == "FENCED_LEADER_EPOCH"
    assert do_initialize(state_epoch=7) == "NONE"
    assert do_initialize(state_epoch=6) == "FENCED_STATE_EPOCH"
    assert do_write(state_epoch=6, leader_epoch=3) == "FENCED_STATE_EPOCH"
    found = do_summary()
    assert (found.start_offset, found.state_epoch, found.delivery_complete_count) == (9, 7, 0)
    gone = delete_state.DeleteStateData(where, [delete_state.PartitionData(0)])
    for _ in range(2):
        assert code_of(first(client.send(delete_state.DeleteShareGroupStateRequest(group, [gone])))) == "NONE"
    assert do_summary().start_offset == -1
    assert code_of(do_read(leader_epoch=3)) == "INVALID_REQUEST"
    assert do_write(leader_epoch=3) == "INVALID_REQUEST"


def test_nothing_asked_nothing_answered(client: WireClient, topic: str, group: str) -> None:
    begin_at(client, group, topic, 0)
    where = topic_id(client, topic)
    assert client.send(read.ReadShareGroupStateRequest(group, [])).results == []
    assert client.send(read.ReadShareGroupStateRequest(group, [read.ReadStateData(where, [])])).results == []
    data = read.ReadStateData(where, [read.PartitionData(0, -1)])
    assert client.send(read.ReadShareGroupStateRequest("", [data])).results == []


# switched off


def test_without_the_feature_nothing_is_served(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "t")
        group = new_group(client)
        off = FeatureUpdateKey("share.version", 0, upgrade_type=2)
        answer = client.send(UpdateFeaturesRequest(timeout_ms=10_000, feature_updates=[off]))
        assert code_of(answer) == "NONE", answer
        with ShareMember(broker.bootstrap_servers, group, Part(topic_id(client, topic))) as alice:
            assert code_of(alice.heartbeat(0, [topic])) == "UNSUPPORTED_VERSION"
            assert code_of(alice.fetch()) == "UNSUPPORTED_VERSION"
            acknowledgement = alice.acknowledge_request({}, 1)
            assert code_of(alice.client.send(acknowledgement)) == "UNSUPPORTED_VERSION"
        assert code_of(describe(client, group)) == "UNSUPPORTED_VERSION"
        asked = describe_offsets.DescribeShareGroupOffsetsRequestGroup(group, topics=None)
        (found,) = client.send(describe_offsets.DescribeShareGroupOffsetsRequest([asked])).groups
        assert code_of(found) == "UNSUPPORTED_VERSION"
        assert code_of(client.send(alter.AlterShareGroupOffsetsRequest(group, []))) == "UNSUPPORTED_VERSION"
        deletion = delete_offsets.DeleteShareGroupOffsetsRequest(group, [])
        assert code_of(client.send(deletion)) == "UNSUPPORTED_VERSION"
