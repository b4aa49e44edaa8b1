"""What a classic group says to others: which offsets are in use, when they expire, how old records are read."""

import gc
import struct

import pytest

from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_group import ClassicGroup, State, ensure_classic_group
from penstock.group.classic_member import protocols_of
from penstock.group.classic_subscription import decode_subscribed_topics
from penstock.group.shard import GroupShard
from penstock.machine import Outcome
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.join_group import JoinGroupRequestProtocol
from penstock.wire.stored.group import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from penstock.wire.stored_records import decode_value, encode_value
from tests.scripts.words.classic import Words
from tests.scripts.world import World

COMMITTED_AT_MS, EMPTY_SINCE_MS = 1_000, 5_000


def subscription(*topics: str, version: int = 0) -> bytes:
    out = struct.pack(">hi", version, len(topics))
    for topic in topics:
        out += struct.pack(">h", len(topic)) + topic.encode()
    return out + struct.pack(">i", -1)


def group_of(
    *metadata: bytes, protocol_type: str = "consumer", since_ms: int = EMPTY_SINCE_MS
) -> ClassicGroup:
    """A group as it is after a load, with a member for each metadata."""
    members = [
        MemberMetadata(f"m{index}", session_timeout=10_000, subscription=one)
        for index, one in enumerate(metadata)
    ]
    group = ClassicGroup("g")
    protocol, leader = ("range", "m0") if members else (None, None)
    group.adopt(GroupMetadataValue(protocol_type, 3, protocol, leader, since_ms, members))
    return group


# subscriptions


@pytest.mark.parametrize("version", range(4))
def test_topics_of_a_subscription(version: int) -> None:
    assert decode_subscribed_topics(subscription("a", "b", version=version)) == frozenset("ab")
    assert decode_subscribed_topics(subscription(version=version)) == frozenset()


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\0",
        b"\0\0\0\0",
        struct.pack(">hi", 0, -1),
        struct.pack(">hi", 0, 2**31 - 1),
        struct.pack(">hih", 0, 1, -1),
        struct.pack(">hih", 0, 1, 5) + b"abc",
        struct.pack(">hih", 0, 1, 1) + b"\xff",
        subscription("a")[:-5],
    ],
)
def test_metadata_that_is_no_subscription(metadata: bytes) -> None:
    assert decode_subscribed_topics(metadata) is None


def test_who_is_subscribed_to_what() -> None:
    consumers = group_of(subscription("a"), subscription("b"))
    assert [consumers.is_subscribed_to(topic) for topic in "abc"] == [True, True, False]
    unreadable = group_of(subscription("a"), b"?")
    assert unreadable.is_subscribed_to("c"), "nobody knows, so the offsets must stay"
    assert not group_of(b"?", protocol_type="connect").is_subscribed_to("a")
    assert not group_of().is_subscribed_to("a")


# offsets


def test_offsets_in_use_do_not_expire() -> None:
    consumers = group_of(subscription("a"))
    assert consumers.offsets_expire_from_ms("a", COMMITTED_AT_MS) is None
    assert consumers.offsets_expire_from_ms("b", COMMITTED_AT_MS) == COMMITTED_AT_MS
    consumers.become(State.PREPARING_REBALANCE, EMPTY_SINCE_MS)
    assert consumers.offsets_expire_from_ms("b", COMMITTED_AT_MS) is None
    assert group_of(b"?").offsets_expire_from_ms("b", COMMITTED_AT_MS) is None
    assert group_of(b"?", protocol_type="connect").offsets_expire_from_ms("b", COMMITTED_AT_MS) is None


def test_offsets_of_an_empty_group_expire_from_when_it_became_empty() -> None:
    assert group_of().offsets_expire_from_ms("a", COMMITTED_AT_MS) == EMPTY_SINCE_MS
    assert group_of(protocol_type="connect").offsets_expire_from_ms("a", COMMITTED_AT_MS) == EMPTY_SINCE_MS
    assert group_of(since_ms=-1).offsets_expire_from_ms("a", COMMITTED_AT_MS) == COMMITTED_AT_MS


def test_offsets_of_a_group_that_never_had_members_expire_from_their_commit() -> None:
    assert group_of(protocol_type="").offsets_expire_from_ms("a", COMMITTED_AT_MS) == COMMITTED_AT_MS


def test_deletion_of_offsets() -> None:
    group_of(subscription("a")).check_offset_delete()
    group_of().check_offset_delete()
    with pytest.raises(ApiError) as refused:
        group_of(b"?", protocol_type="connect").check_offset_delete()
    assert refused.value.code is ErrorCode.NON_EMPTY_GROUP


# records


def test_a_group_for_offsets_alone() -> None:
    settings = BrokerSettings()
    world: World[GroupShard] = World(lambda world: GroupShard(world.image, lambda: settings, world.new_id))
    context = world.machine.context
    group = ensure_classic_group(context, "g")
    assert ensure_classic_group(context, "g") is group is context.groups["g"]
    assert (group.KIND, group.state_name, group.protocol_type) == ("classic", "Empty", "")
    group.check_offset_commit("", None, -1, is_transactional=False, version=9)
    outcome = Outcome()
    group.write_tombstones(outcome)
    assert [(record.key, record.value) for record in outcome.records] == [(GroupMetadataKey("g"), None)]


@pytest.mark.parametrize("version", range(5))
def test_records_of_every_version_are_read(version: int) -> None:
    member = MemberMetadata("m", "A", "client", "/host", 20_000, 10_000, subscription("a"), b"all")
    written = GroupMetadataValue("consumer", 7, "range", "m", 1234, [member])
    types = GroupShard.RECORD_TYPES
    value = decode_value(types, GroupMetadataKey.RECORD_TYPE, encode_value(written, version))
    assert isinstance(value, GroupMetadataValue)
    group = ClassicGroup("g")
    group.adopt(value)
    restored = group.members["m"]
    assert (group.state, group.generation, group.leader) == (State.STABLE, 7, "m")
    assert restored.terms.session_timeout_ms == 10_000
    assert restored.terms.rebalance_timeout_ms == (20_000 if version >= 1 else 10_000)
    assert group.state_since_ms == (1234 if version >= 2 else None)
    assert restored.group_instance_id == ("A" if version >= 3 else None)
    assert (restored.terms.protocols, restored.assignment) == ({"range": subscription("a")}, b"all")
    again = group.record({"m": restored.assignment})
    if version >= 3:
        assert encode_value(again, 3) == encode_value(written, 3)


@pytest.mark.parametrize(("protocol", "topic"), [("roundrobin", "a"), ("range", "b")])
def test_a_later_record_of_a_member_counts_at_a_load(protocol: str, topic: str) -> None:
    """It had joined again with another protocol, or another subscription."""
    group = group_of(subscription("a"))
    again = MemberMetadata("m0", session_timeout=10_000, subscription=subscription(topic))
    group.adopt(GroupMetadataValue("consumer", 4, protocol, "m0", EMPTY_SINCE_MS, [again]))
    assert group.members["m0"].terms.protocols == {protocol: subscription(topic)}
    assert group.subscribed_topics == {topic}


def test_a_record_as_kafka_writes_it() -> None:
    """The bytes of a GroupMetadata record of version 3, field by field."""
    group = group_of(b"sub")
    group.members["m0"].client_id, group.members["m0"].client_host = "c", "/h"
    expected = b"".join(
        (
            struct.pack(">h", 3),
            struct.pack(">h8s", 8, b"consumer"),
            struct.pack(">i", 3),
            struct.pack(">h5s", 5, b"range"),
            struct.pack(">h2s", 2, b"m0"),
            struct.pack(">q", EMPTY_SINCE_MS),
            struct.pack(">i", 1),
            struct.pack(">h2s", 2, b"m0"),
            struct.pack(">h", -1),
            struct.pack(">h1s", 1, b"c"),
            struct.pack(">h2s", 2, b"/h"),
            struct.pack(">ii", 10_000, 10_000),
            struct.pack(">i3s", 3, b"sub"),
            struct.pack(">i1s", 1, b"x"),
        )
    )
    assert encode_value(group.record({"m0": b"x"}), 3) == expected


def test_the_first_of_two_protocols_of_one_name_counts() -> None:
    twice = [JoinGroupRequestProtocol("range", b"1"), JoinGroupRequestProtocol("range", b"2")]
    assert protocols_of(twice) == {"range": b"1"}


# cost


def test_rebalances_leave_nothing_for_the_garbage_collector() -> None:
    words = Words()
    words.do_set(**{"group.initial.rebalance.delay.ms": "0"})
    words.do_join("alice", version="3")
    words.do_advance("0")
    rounds = 50
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            words.do_sync("alice", "alice:all")
            words.do_heartbeat("alice")
            words.do_join("alice")  # the leader's wish for a rebalance
        found = gc.collect()
    finally:
        gc.enable()
    assert words.generations["alice"] == rounds + 1
    assert found < rounds
