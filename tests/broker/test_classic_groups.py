"""Classic groups over the socket; with `PENSTOCK_TEST_PEER=apache` the same holds for Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from penstock.broker.internal_topics import partition_for
from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.stored.group import RECORD_TYPES, GroupMetadataKey, GroupMetadataValue
from penstock.wire.stored_records import decode_key, decode_value, encode_key, encode_value
from tests.broker.asking import metadata, read_all
from tests.broker.classic_members import Member, code_of, describe, join_all, settle
from tests.broker.committing import new_group
from tests.broker.conftest import Server
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

OFFSETS_TOPIC = "__consumer_offsets"
NewMember = Callable[..., Member]


@pytest.fixture
def group(client: WireClient) -> str:
    return new_group(client)


@pytest.fixture
def new_member(server: Server, group: str) -> Iterator[NewMember]:
    with ExitStack() as stack:
        yield lambda instance=None: stack.enter_context(Member(server.bootstrap, group, instance))


# one member


@pytest.mark.parametrize("version", range(10))
def test_join_in_every_version(new_member: NewMember, version: int) -> None:
    alice = new_member()
    if version >= 4:
        first = alice.join(version)
        assert code_of(first) == "MEMBER_ID_REQUIRED"
        assert first.generation_id == -1
        assert first.protocol_name == ("" if version < 7 else None)
        assert first.member_id.startswith("test-")
    answer = alice.join(version)
    assert code_of(answer) == "NONE"
    assert (answer.generation_id, answer.protocol_name, answer.leader) == (1, "range", answer.member_id)
    assert answer.protocol_type == ("consumer" if version >= 7 else None)
    assert [(one.member_id, one.metadata) for one in answer.members] == [(answer.member_id, b"meta")]


@pytest.mark.parametrize("version", range(6))
def test_sync_in_every_version(new_member: NewMember, version: int) -> None:
    alice = new_member()
    alice.join_with_new_id()
    alice.join()
    answer = alice.sync({alice.member_id: b"all"}, version)
    assert (code_of(answer), answer.assignment) == ("NONE", b"all")
    assert answer.protocol_name == ("range" if version >= 5 else None)


def test_heartbeat_in_every_version(new_member: NewMember) -> None:
    alice = new_member()
    settle(alice)
    assert [alice.heartbeat(version) for version in range(5)] == ["NONE"] * 5


@pytest.mark.parametrize("version", range(6))
def test_leave_in_every_version(new_member: NewMember, client: WireClient, version: int) -> None:
    alice = new_member()
    settle(alice)
    answer = alice.leave(version)
    assert code_of(answer) == "NONE"
    assert [one.error_code for one in answer.members] == ([0] if version >= 3 else [])
    assert alice.heartbeat() == "UNKNOWN_MEMBER_ID"
    assert describe(client, alice.group_id).group_state == "Empty"
    again = alice.leave(version)
    code = again.members[0].error_code if version >= 3 else again.error_code
    assert ErrorCode(code) is ErrorCode.UNKNOWN_MEMBER_ID


def test_describe_in_every_version(new_member: NewMember, client: WireClient) -> None:
    alice = new_member("A")
    settle(alice)
    for version in range(7):
        described = describe(client, alice.group_id, version)
        assert (described.group_state, described.protocol_type, described.protocol_data) == (
            "Stable",
            "consumer",
            "range",
        )
        (member,) = described.members
        assert (member.client_id, member.client_host) == ("test", "/127.0.0.1")
        assert (member.member_metadata, member.member_assignment) == (b"meta", b"0")
        assert member.group_instance_id == ("A" if version >= 4 else None)
        assert described.authorized_operations == -(2**31)


def test_what_a_client_may_do_with_a_group(client: WireClient, new_member: NewMember) -> None:
    alice = new_member()
    settle(alice)
    request = DescribeGroupsRequest(groups=[alice.group_id], include_authorized_operations=True)
    assert client.send(request).groups[0].authorized_operations == sum(1 << one for one in (3, 6, 8, 10, 11))


def test_a_group_that_there_is_not(client: WireClient, group: str) -> None:
    missing = describe(client, group)
    assert code_of(missing) == "GROUP_ID_NOT_FOUND"
    assert (missing.group_state, missing.error_message) == ("Dead", f"Group {group} not found.")
    assert missing.authorized_operations == -(2**31)
    before = describe(client, group, version=5)
    assert (code_of(before), before.group_state) == ("NONE", "Dead")


# several members


def test_a_rebalance_waits_for_all(new_member: NewMember, client: WireClient) -> None:
    alice, bob = new_member(), new_member()
    settle(alice)
    bob.join_with_new_id()
    bob.post_join()
    wait_for(alice.is_to_rejoin, what="the rebalance")
    assert describe(client, alice.group_id).group_state == "PreparingRebalance"
    assert code_of(alice.sync()) == "REBALANCE_IN_PROGRESS"
    bob.client.expect_silence()
    joined = alice.join()
    other = bob.receive_join()
    assert joined.generation_id == other.generation_id == 2
    assert {one.member_id for one in joined.members} == {alice.member_id, bob.member_id}
    assert other.members == []
    assert other.leader == joined.leader == alice.member_id
    bob.post_sync()
    bob.client.expect_silence()
    assert describe(client, alice.group_id).group_state == "CompletingRebalance"
    assert alice.sync({alice.member_id: b"t0", bob.member_id: b"t1"}).assignment == b"t0"
    assert bob.receive_sync().assignment == b"t1"
    alice.leave()
    assert bob.heartbeat() == "REBALANCE_IN_PROGRESS"
    assert bob.join().leader == bob.member_id


def test_a_member_that_vanishes_is_put_out(new_member: NewMember) -> None:
    alice, bob = new_member(), new_member()
    bob.session_timeout_ms = 500
    settle(alice, bob)
    bob.client.close()
    wait_for(alice.is_to_rejoin, what="the end of bob's session")
    assert [one.member_id for one in alice.join().members] == [alice.member_id]


def test_a_member_that_is_too_slow_is_put_out(new_member: NewMember) -> None:
    alice, bob = new_member(), new_member()
    alice.rebalance_timeout_ms = bob.rebalance_timeout_ms = 1000
    settle(alice, bob)
    generation = bob.generation
    assert alice.join().generation_id == generation + 1
    assert bob.heartbeat() == "UNKNOWN_MEMBER_ID"


def test_a_member_that_never_syncs_is_put_out(new_member: NewMember) -> None:
    alice, bob = new_member(), new_member()
    alice.rebalance_timeout_ms = bob.rebalance_timeout_ms = 1000
    join_all(alice, bob)
    assert code_of(alice.sync({alice.member_id: b"all"})) == "NONE"
    wait_for(alice.is_to_rejoin, what="the end of the sync phase")
    assert bob.heartbeat() == "UNKNOWN_MEMBER_ID"


def test_members_vote_for_a_protocol(new_member: NewMember) -> None:
    alice, bob = new_member(), new_member()
    alice.protocols = [("range", b"a"), ("sticky", b"a")]
    bob.protocols = [("sticky", b"b")]
    alice.join_with_new_id()
    alice.join()
    bob.join_with_new_id()
    bob.post_join()
    wait_for(alice.is_to_rejoin, what="the rebalance")
    assert alice.join().protocol_name == "sticky"
    assert bob.receive_join().protocol_name == "sticky"
    carol = new_member()
    assert code_of(carol.join()) == "INCONSISTENT_GROUP_PROTOCOL"
    carol.protocols, carol.protocol_type = [("sticky", b"c")], "connect"
    assert code_of(carol.join()) == "INCONSISTENT_GROUP_PROTOCOL"


# static members


def test_a_static_member_restarts_without_a_rebalance(new_member: NewMember) -> None:
    alice, bob = new_member("A"), new_member("B")
    settle(alice, bob)
    again = new_member("B")
    answer = again.join()
    assert (answer.generation_id, answer.leader) == (alice.generation, alice.member_id)
    assert not answer.skip_assignment
    assert again.sync().assignment == b"1"
    assert alice.heartbeat() == "NONE"
    assert bob.heartbeat() == "FENCED_INSTANCE_ID"
    assert code_of(bob.sync()) == "FENCED_INSTANCE_ID"
    assert code_of(bob.join()) == "FENCED_INSTANCE_ID"
    assert code_of(bob.leave().members[0]) == "FENCED_INSTANCE_ID"


def test_a_static_leader_is_told_to_skip_the_assignment(new_member: NewMember) -> None:
    alice = new_member("A")
    settle(alice)
    again = new_member("A")
    answer = again.join(9)
    assert answer.skip_assignment
    assert answer.leader == answer.member_id == answer.members[0].member_id
    older = new_member("A")
    answer = older.join(8)
    assert (answer.leader, answer.members) == (again.member_id, [])
    assert answer.member_id.startswith("A-")
    assert older.sync().assignment == b"0"


def test_an_administrator_removes_static_members(new_member: NewMember, client: WireClient) -> None:
    alice, bob = new_member("A"), new_member("B")
    settle(alice, bob)
    identities = [MemberIdentity("", "A"), MemberIdentity("", "C"), MemberIdentity("ghost", None)]
    answer = client.send(LeaveGroupRequest(alice.group_id, "", identities))
    assert [
        (one.member_id, one.group_instance_id, ErrorCode(one.error_code).name) for one in answer.members
    ] == [
        ("", "A", "NONE"),
        ("", "C", "UNKNOWN_MEMBER_ID"),
        ("ghost", None, "UNKNOWN_MEMBER_ID"),
    ]
    assert bob.heartbeat() == "REBALANCE_IN_PROGRESS"
    assert alice.heartbeat() == "UNKNOWN_MEMBER_ID"


# bad requests


def test_join_refused(new_member: NewMember, client: WireClient) -> None:
    def code(**changes: Any) -> str:
        with ExitStack() as stack:
            member = stack.enter_context(new_member())
            for name, value in changes.items():
                setattr(member, name, value)
            return code_of(member.join())

    assert code(session_timeout_ms=499) == "INVALID_SESSION_TIMEOUT"
    assert code(session_timeout_ms=1_800_001) == "INVALID_SESSION_TIMEOUT"
    assert code(group_id="") == "INVALID_GROUP_ID"
    assert code(member_id="ghost") == "UNKNOWN_MEMBER_ID"
    assert code(member_id="ghost", instance="A") == "UNKNOWN_MEMBER_ID"
    assert code(protocol_type="") == "INCONSISTENT_GROUP_PROTOCOL"
    assert code(protocols=[]) == "INCONSISTENT_GROUP_PROTOCOL"


def test_stale_generations_and_strangers(new_member: NewMember) -> None:
    alice, stranger = new_member(), new_member()
    settle(alice)
    for generation in (alice.generation - 1, alice.generation + 1):
        stranger.member_id, stranger.generation = alice.member_id, generation
        assert stranger.heartbeat() == "ILLEGAL_GENERATION"
        assert code_of(stranger.sync()) == "ILLEGAL_GENERATION"
    stranger.member_id, stranger.generation = "ghost", alice.generation
    assert stranger.heartbeat() == "UNKNOWN_MEMBER_ID"
    assert code_of(stranger.sync()) == "UNKNOWN_MEMBER_ID"
    stranger.member_id, stranger.instance = alice.member_id, "A"
    assert stranger.heartbeat() == "UNKNOWN_MEMBER_ID"
    stranger.instance, stranger.protocols = None, [("sticky", b"")]
    assert code_of(stranger.sync()) == "INCONSISTENT_GROUP_PROTOCOL"
    assert alice.heartbeat() == "NONE"


def test_requests_to_no_group(client: WireClient, new_member: NewMember) -> None:
    alice = new_member()
    alice.member_id, alice.generation = "ghost", 1
    assert alice.heartbeat() == "UNKNOWN_MEMBER_ID"
    assert code_of(alice.sync()) == "UNKNOWN_MEMBER_ID"
    left = alice.leave()
    assert (code_of(left), code_of(left.members[0])) == ("NONE", "UNKNOWN_MEMBER_ID")
    assert code_of(alice.leave(version=2)) == "UNKNOWN_MEMBER_ID"
    assert code_of(client.send(HeartbeatRequest("", 1, "ghost"))) == "INVALID_GROUP_ID"


# administrators


def listed(client: WireClient, version: int = 5, **filters: Any) -> dict[str, tuple[str, str, str]]:
    answer = client.send(ListGroupsRequest(**filters), version)
    assert code_of(answer) == "NONE"
    return {one.group_id: (one.protocol_type, one.group_state, one.group_type) for one in answer.groups}


def test_list_groups(client: WireClient, new_member: NewMember) -> None:
    alice = new_member()
    settle(alice)
    assert listed(client)[alice.group_id] == ("consumer", "Stable", "classic")
    assert listed(client, 4)[alice.group_id] == ("consumer", "Stable", "")
    assert listed(client, 0)[alice.group_id] == ("consumer", "", "")
    for states in (["stable"], [" STABLE ", "Empty"]):
        assert alice.group_id in listed(client, states_filter=states)
    assert alice.group_id in listed(client, types_filter=["Classic"])
    assert alice.group_id not in listed(client, states_filter=["Empty"])
    for type_ in ("consumer", "nonsense"):
        assert alice.group_id not in listed(client, types_filter=[type_])
    alice.leave()
    assert alice.group_id in listed(client, states_filter=["Empty", "Dead"])


def test_delete_groups(client: WireClient, new_member: NewMember) -> None:
    alice = new_member()
    settle(alice)
    group = alice.group_id

    def codes(*names: str, version: int = 2) -> dict[str, str]:
        answer = client.send(DeleteGroupsRequest(names), version)
        return {one.group_id: ErrorCode(one.error_code).name for one in answer.results}

    assert codes(group, "ghost") == {group: "NON_EMPTY_GROUP", "ghost": "GROUP_ID_NOT_FOUND"}
    alice.leave()
    assert codes(group, group, version=1) == {group: "NONE"}
    assert codes(group, version=0) == {group: "GROUP_ID_NOT_FOUND"}
    assert group not in listed(client)


# the log


def _values_of(group_id: str, records: Any) -> list[GroupMetadataValue]:
    values = []
    for record in records:
        key = decode_key(RECORD_TYPES, record.key)
        if not isinstance(key, GroupMetadataKey) or key.group != group_id:
            continue
        assert encode_key(key) == record.key
        value = decode_value(RECORD_TYPES, key.RECORD_TYPE, record.value)
        assert isinstance(value, GroupMetadataValue)
        assert encode_value(value, 3) == record.value
        values.append(value)
    return values


def test_what_is_written(client: WireClient, new_member: NewMember) -> None:
    alice = new_member("A")
    settle(alice)
    alice.leave()
    count = len(metadata(client, OFFSETS_TOPIC).topics[0].partitions)
    records = read_all(client, OFFSETS_TOPIC, partition_for(alice.group_id, count))
    born, stable, empty = _values_of(alice.group_id, records)
    assert (born.protocol_type, born.generation, born.protocol, born.leader) == ("", 0, None, None)
    assert (stable.protocol_type, stable.generation, stable.protocol) == ("consumer", 1, "range")
    assert stable.leader == alice.member_id
    (member,) = stable.members
    assert (member.member_id, member.group_instance_id) == (alice.member_id, "A")
    assert (member.client_id, member.client_host) == ("test", "/127.0.0.1")
    assert (member.session_timeout, member.rebalance_timeout) == (30_000, 30_000)
    assert (member.subscription, member.assignment) == (b"meta", b"0")
    assert (empty.protocol_type, empty.generation, empty.protocol, empty.leader) == (
        "consumer",
        2,
        None,
        None,
    )
    assert (list(born.members), list(empty.members)) == ([], [])
    assert 0 < born.current_state_timestamp <= stable.current_state_timestamp <= empty.current_state_timestamp


def test_a_group_survives_a_restart() -> None:
    with InProcessBroker({"group.initial.rebalance.delay.ms": "0"}) as broker:
        with WireClient(broker.bootstrap_servers) as client:
            group = new_group(client)
        with Member(broker.bootstrap_servers, group) as alice:
            settle(alice)
            broker.restart()
            with Member(broker.bootstrap_servers, group) as again:
                again.member_id, again.generation = alice.member_id, alice.generation
                wait_for(lambda: code_of(again.sync()) == "NONE", what="the group")
                assert again.sync().assignment == b"0"
                assert again.heartbeat() == "NONE"
                assert describe(again.client, group).group_state == "Stable"


def test_assignments_that_are_too_large() -> None:
    settings = {"group.initial.rebalance.delay.ms": "0", "message.max.bytes": "1000000"}
    with InProcessBroker(settings) as broker:
        with WireClient(broker.bootstrap_servers) as client:
            group = new_group(client)
        with Member(broker.bootstrap_servers, group) as alice:
            alice.join_with_new_id()
            alice.join()
            assert code_of(alice.sync({alice.member_id: bytes(2_000_000)})) == "UNKNOWN_SERVER_ERROR"
            assert alice.heartbeat() == "REBALANCE_IN_PROGRESS"
            assert alice.join().generation_id == 2
            assert code_of(alice.sync({alice.member_id: b"less"})) == "NONE"
