"""ShareFetch and ShareAcknowledge over the socket; with `PENSTOCK_TEST_PEER=apache` the same holds for Apache Kafka."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from penstock.testing import InProcessBroker
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.broker.asking import batch_of, new_topic, produced, topic_id, unique_topic
from tests.broker.committing import new_group
from tests.broker.conftest import Server, only_penstock
from tests.broker.share_members import (
    ACCEPT,
    FINAL,
    GAP,
    INITIAL,
    RECORD_LIMIT,
    REJECT,
    RELEASE,
    RENEW,
    Part,
    ShareMember,
    acquired,
    begin_at,
    code_of,
    offsets_of,
    set_group_config,
    values,
)
from tests.broker.test_cold_reads import drop_from_memory
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

NewMember = Callable[..., ShareMember]
UNKNOWN_TOPIC = b"\x07" * 16


@pytest.fixture
def group(client: WireClient, topic: str) -> str:
    """A group that begins at the start of the topic."""
    group_id = new_group(client)
    begin_at(client, group_id, topic, 0)
    return group_id


@pytest.fixture
def part(client: WireClient, topic: str) -> Part:
    return Part(topic_id(client, topic))


@pytest.fixture
def new_member(server: Server, group: str, part: Part) -> Iterator[NewMember]:
    with ExitStack() as stack:
        yield lambda *parts: stack.enter_context(ShareMember(server.bootstrap, group, *(parts or [part])))


def write(client: WireClient, topic: str, *counts: int, first: int = 0) -> None:
    """Batches of so many records each; the values are their numbers."""
    for count in counts:
        produced(client, topic, batch_of(*(b"%d" % number for number in range(first, first + count))))
        first += count


# delivery


@pytest.mark.parametrize("version", [1, 2])
def test_records_are_delivered_and_accepted(
    client: WireClient, new_member: NewMember, topic: str, group: str, version: int
) -> None:
    write(client, topic, 3, 2)
    alice = new_member()
    answer = alice.fetch(version)
    ((data,),) = [one.partitions for one in answer.responses]
    assert answer.acquisition_lock_timeout_ms == 30_000
    assert acquired(data) == [(0, 4, 1)]
    assert values(data) == [b"0", b"1", b"2", b"3", b"4"]
    assert offsets_of(client, group)[topic, 0] == (0, 5)
    assert alice.acknowledge((0, 4, [ACCEPT])) == "NONE"
    assert offsets_of(client, group)[topic, 0] == (0, 0)
    alice.fetch_nothing()


def test_members_share_the_records(client: WireClient, new_member: NewMember, topic: str) -> None:
    write(client, topic, 2, 2)
    alice, bob = new_member(), new_member()
    first = alice.fetch_one(max_records=2)
    second = bob.fetch_one()
    assert (values(first), values(second)) == ([b"0", b"1"], [b"2", b"3"])
    alice.fetch_nothing()
    bob.fetch_nothing()


def test_what_is_given_back_is_delivered_again(client: WireClient, new_member: NewMember, topic: str) -> None:
    write(client, topic, 5)
    alice, bob = new_member(), new_member()
    alice.fetch_one()
    assert alice.acknowledge((0, 4, [ACCEPT, RELEASE, REJECT, GAP, RELEASE])) == "NONE"
    data = bob.fetch_one()
    assert acquired(data) == [(1, 1, 2), (4, 4, 2)]
    assert values(data) == [b"1", b"4"]


def test_acknowledgements_come_along_with_a_fetch(
    client: WireClient, new_member: NewMember, part: Part, topic: str, group: str
) -> None:
    write(client, topic, 2)
    alice = new_member()
    alice.fetch_one()
    write(client, topic, 1, first=2)
    data = alice.fetch_one(said={part: [(0, 1, [ACCEPT])]})
    assert (data.acknowledge_error_code, acquired(data)) == (0, [(2, 2, 1)])
    data = alice.fetch_one(said={part: [(0, 1, [ACCEPT])]}, max_wait_ms=100)
    assert data.error_code == 0
    assert offsets_of(client, group)[topic, 0][1] == 1


def test_a_fetch_waits_for_records(client: WireClient, new_member: NewMember, topic: str) -> None:
    alice = new_member()
    request = alice.post_fetch(max_wait_ms=20_000)
    write(client, topic, 1)
    ((data,),) = [one.partitions for one in alice.client.receive(request).responses]
    assert values(data) == [b"0"]


def test_a_fetch_waits_for_records_to_come_back(
    client: WireClient, new_member: NewMember, topic: str
) -> None:
    write(client, topic, 2)
    alice, bob = new_member(), new_member()
    alice.fetch_one()
    request = bob.post_fetch(max_wait_ms=20_000)
    assert alice.acknowledge((0, 1, [RELEASE])) == "NONE"
    ((data,),) = [one.partitions for one in bob.client.receive(request).responses]
    assert acquired(data) == [(0, 1, 2)]


def test_a_fetch_ends_when_its_time_is_up(new_member: NewMember) -> None:
    alice = new_member()
    first = alice.fetch(max_wait_ms=100)
    assert code_of(first) == "NONE"
    assert not any(data.acquired_records for one in first.responses for data in one.partitions)
    assert alice.fetch(max_wait_ms=0).responses == [] or code_of(alice.fetch(max_wait_ms=0)) == "NONE"


def test_a_group_may_begin_where_nothing_is_yet(
    client: WireClient, server: Server, topic: str, part: Part
) -> None:
    group_id = new_group(client)
    begin_at(client, group_id, topic, 4)
    write(client, topic, 3)
    with ShareMember(server.bootstrap, group_id, part) as alice:
        alice.fetch_nothing()
        write(client, topic, 3, first=3)
        assert values(alice.fetch_one(max_wait_ms=20_000)) == [b"4", b"5"]


# limits


def test_a_limit_is_exceeded_to_the_end_of_a_batch(
    client: WireClient, new_member: NewMember, topic: str
) -> None:
    write(client, topic, 3, 3, 3)
    assert acquired(new_member().fetch_one(max_records=4)) == [(0, 5, 1)]


def test_a_strict_limit_is_not_exceeded(client: WireClient, new_member: NewMember, topic: str) -> None:
    write(client, topic, 3, 3, 3)
    alice, bob = new_member(), new_member()
    assert acquired(alice.fetch_one(max_records=4, share_acquire_mode=RECORD_LIMIT)) == [(0, 3, 1)]
    assert acquired(bob.fetch_one(max_records=1, share_acquire_mode=RECORD_LIMIT)) == [(4, 4, 1)]


def test_records_come_in_pieces_of_the_batch_size(
    client: WireClient, new_member: NewMember, topic: str
) -> None:
    write(client, topic, 2, 2, 2, 2)
    assert acquired(new_member().fetch_one(batch_size=3)) == [(0, 3, 1), (4, 7, 1)]


def test_only_so_many_records_are_in_flight(
    client: WireClient, new_member: NewMember, topic: str, group: str
) -> None:
    set_group_config(client, group, share_partition_max_record_locks="100")
    write(client, topic, 60, 60, 60)
    alice = new_member()
    assert acquired(alice.fetch_one()) == [(0, 119, 1)], "to the end of the batch"
    alice.fetch_nothing()
    assert alice.acknowledge((0, 59, [ACCEPT])) == "NONE"
    assert acquired(alice.fetch_one()) == [(120, 179, 1)]


def test_a_record_is_delivered_only_so_often(
    client: WireClient, new_member: NewMember, topic: str, group: str
) -> None:
    set_group_config(client, group, share_delivery_count_limit="2")
    write(client, topic, 1)
    alice = new_member()
    for count in (1, 2):
        assert acquired(alice.fetch_one()) == [(0, 0, count)]
        assert alice.acknowledge((0, 0, [RELEASE])) == "NONE"
    alice.fetch_nothing()
    assert offsets_of(client, group)[topic, 0][1] == 0


# ends


def test_closing_the_session_gives_back(client: WireClient, new_member: NewMember, topic: str) -> None:
    write(client, topic, 3)
    alice, bob = new_member(), new_member()
    alice.fetch_one()
    bob.fetch_nothing()
    alice.close_session()
    assert acquired(bob.fetch_one()) == [(0, 2, 2)]


def test_a_last_fetch_acknowledges_and_closes(
    client: WireClient, new_member: NewMember, part: Part, topic: str
) -> None:
    write(client, topic, 3)
    alice, bob = new_member(), new_member()
    alice.fetch_one()
    bob.fetch_nothing()
    data = alice.fetch_one(epoch=FINAL, said={part: [(0, 0, [ACCEPT])]})
    assert (data.error_code, data.acknowledge_error_code) == (0, 0)
    assert code_of(alice.fetch(epoch=1)) == "SHARE_SESSION_NOT_FOUND"
    assert acquired(bob.fetch_one()) == [(1, 2, 2)]


def test_a_lost_connection_gives_back(client: WireClient, new_member: NewMember, topic: str) -> None:
    write(client, topic, 3)
    alice, bob = new_member(), new_member()
    alice.fetch_one()
    bob.fetch_nothing()
    alice.client.close()
    assert acquired(bob.fetch_one()) == [(0, 2, 2)]


def test_a_lock_ends(client: WireClient, new_member: NewMember, topic: str, group: str) -> None:
    set_group_config(client, group, share_record_lock_duration_ms="1000")
    write(client, topic, 2)
    alice, bob = new_member(), new_member()
    assert alice.fetch().acquisition_lock_timeout_ms == 1000
    assert acquired(bob.fetch_one(max_wait_ms=20_000)) == [(0, 1, 2)]
    assert alice.acknowledge((0, 1, [ACCEPT])) == "INVALID_RECORD_STATE"


def test_a_lock_is_renewed(client: WireClient, new_member: NewMember, topic: str, part: Part) -> None:
    write(client, topic, 2)
    alice = new_member()
    alice.fetch_one()
    assert alice.acknowledge((0, 1, [RENEW])) == "INVALID_REQUEST", "version 1 knows no renewal"
    assert alice.acknowledge((0, 1, [RENEW]), is_renewal=True) == "NONE"
    nothing = {"max_bytes": 0, "min_bytes": 0, "max_records": 0, "max_wait_ms": 0}
    data = alice.fetch_one(said={part: [(0, 0, [RENEW])]}, is_renew_ack=True, **nothing)
    assert (data.acknowledge_error_code, data.acquired_records) == (0, [])
    assert code_of(alice.fetch(said={part: [(0, 0, [RENEW])]}, is_renew_ack=True)) == "INVALID_REQUEST"


def test_renewal_may_be_switched_off(
    client: WireClient, new_member: NewMember, topic: str, group: str
) -> None:
    set_group_config(client, group, share_renew_acknowledge_enable="false")
    write(client, topic, 1)
    alice = new_member()
    alice.fetch_one()
    assert alice.acknowledge((0, 0, [RENEW]), is_renewal=True) == "INVALID_RECORD_STATE"


def test_deleted_records_are_skipped(client: WireClient, new_member: NewMember, topic: str) -> None:
    write(client, topic, 3, 3)
    alice = new_member()
    alice.fetch_one(max_records=3)
    deletion = DeleteRecordsTopic(topic, [DeleteRecordsPartition(0, 5)])
    client.send(DeleteRecordsRequest([deletion], 30_000))
    data = wait_for(lambda: [one for topic in alice.fetch().responses for one in topic.partitions])
    ((first, last, count),) = acquired(data[0])
    assert (last, count) == (5, 1)
    assert first in (3, 5), "Kafka gives the whole batch that the log begins in"
    assert alice.acknowledge((0, 2, [ACCEPT])) == "NONE", "what is gone is no error"


# sessions


def test_what_does_not_fit_the_session_is_refused(
    client: WireClient, new_member: NewMember, topic: str, part: Part
) -> None:
    write(client, topic, 2)
    alice = new_member()
    assert code_of(alice.fetch(epoch=1)) == "SHARE_SESSION_NOT_FOUND"
    assert code_of(alice.fetch(epoch=FINAL)) == "SHARE_SESSION_NOT_FOUND"
    assert code_of(alice.fetch(said={part: [(0, 0, [ACCEPT])]})) == "INVALID_REQUEST"
    alice.fetch_one()
    assert code_of(alice.fetch(epoch=7)) == "INVALID_SHARE_SESSION_EPOCH"
    for epoch in (INITIAL, 7):
        answer = alice.client.send(alice.acknowledge_request({part: [(0, 0, [ACCEPT])]}, epoch))
        assert code_of(answer) == "INVALID_SHARE_SESSION_EPOCH"
    assert alice.acknowledge((0, 1, [ACCEPT])) == "NONE", "the session is as it was"


def test_who_asks_must_say_so(new_member: NewMember) -> None:
    alice = new_member()
    for member_id in ("", None, "x" * 37):
        request = alice.fetch_request()
        request.member_id = member_id
        assert code_of(alice.client.send(request)) == "INVALID_REQUEST"
    request = alice.fetch_request()
    request.group_id = None
    assert code_of(alice.client.send(request)) == "INVALID_REQUEST"


def test_a_partition_may_be_forgotten_and_added(
    client: WireClient, new_member: NewMember, group: str, part: Part, topic: str
) -> None:
    other_topic = unique_topic(client)
    begin_at(client, group, other_topic, 0)
    other = Part(topic_id(client, other_topic))
    alice = new_member()
    alice.fetch(max_wait_ms=0)
    write(client, topic, 1)
    write(client, other_topic, 1)
    answer = alice.fetch(said={other: []}, forgotten=[part])
    assert [one.topic_id for one in answer.responses] == [other.topic_id]


def test_a_new_session_takes_the_place_of_the_old_one(
    client: WireClient, new_member: NewMember, topic: str
) -> None:
    write(client, topic, 1)
    alice = new_member()
    alice.fetch_one()
    alice.epoch = INITIAL
    alice.fetch(max_wait_ms=0)
    assert code_of(alice.fetch(epoch=2)) == "INVALID_SHARE_SESSION_EPOCH"
    assert alice.acknowledge((0, 0, [ACCEPT])) == "NONE", "what it has stays its own"


# bad acknowledgements


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ((0, 9, [ACCEPT]), "INVALID_REQUEST"),
        ((7, 9, [ACCEPT]), "INVALID_REQUEST"),
        ((2, 0, [ACCEPT]), "INVALID_REQUEST"),
        ((0, 2, []), "INVALID_REQUEST"),
        ((0, 2, [ACCEPT, ACCEPT]), "INVALID_REQUEST"),
        ((0, 0, [9]), "INVALID_REQUEST"),
        ((0, 0, [-1]), "INVALID_REQUEST"),
    ],
)
def test_a_bad_acknowledgement_changes_nothing(
    client: WireClient, new_member: NewMember, topic: str, said: tuple[int, int, list[int]], error: str
) -> None:
    write(client, topic, 3)
    alice = new_member()
    alice.fetch_one()
    assert alice.acknowledge(said) == error
    assert alice.acknowledge((0, 2, [ACCEPT])) == "NONE"


def test_the_records_of_another_member(client: WireClient, new_member: NewMember, topic: str) -> None:
    write(client, topic, 3)
    alice, bob = new_member(), new_member()
    alice.fetch_one()
    bob.fetch_nothing()
    assert bob.acknowledge((0, 2, [ACCEPT])) == "INVALID_RECORD_STATE"
    assert alice.acknowledge((0, 2, [ACCEPT])) == "NONE"


def errors_in(answer: Any) -> dict[Part, str]:
    return {
        Part(topic.topic_id, one.partition_index): code_of(one)
        for topic in answer.responses
        for one in topic.partitions
        if one.error_code
    }


def test_a_partition_that_is_not_there(client: WireClient, new_member: NewMember, part: Part) -> None:
    missing = Part(part.topic_id, 5)
    alice = new_member(part, missing)
    assert errors_in(alice.fetch(max_wait_ms=500)) == {missing: "UNKNOWN_TOPIC_OR_PARTITION"}
    assert alice.acknowledge((0, 0, [ACCEPT]), part=missing) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert alice.acknowledge((0, 0, [ACCEPT]), part=Part(UNKNOWN_TOPIC)) == "UNKNOWN_TOPIC_ID"


@only_penstock
def test_a_topic_that_is_not_there(client: WireClient, new_member: NewMember, part: Part) -> None:
    """Apache Kafka 4.3 stumbles, and answers UNKNOWN_SERVER_ERROR."""
    alice = new_member(part, Part(UNKNOWN_TOPIC))
    assert errors_in(alice.fetch(max_wait_ms=500)) == {Part(UNKNOWN_TOPIC): "UNKNOWN_TOPIC_ID"}


def test_a_group_whose_state_was_never_made(server: Server, client: WireClient, part: Part) -> None:
    with ShareMember(server.bootstrap, new_group(client), part) as stranger:
        data = stranger.fetch_one(max_wait_ms=1000)
        assert code_of(data) == "UNKNOWN_SERVER_ERROR"


# restarts


def test_what_was_acknowledged_lasts(broker: InProcessBroker) -> None:
    """And what a member still had when the broker stopped has come back."""
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "t")
        group_id = new_group(client)
        begin_at(client, group_id, topic, 0)
        write(client, topic, 6)
        part = Part(topic_id(client, topic))
        with ShareMember(broker.bootstrap_servers, group_id, part) as alice:
            alice.fetch_one()
            kinds = [ACCEPT, RELEASE, REJECT, ACCEPT, ACCEPT, RENEW]
            assert alice.acknowledge((0, 5, kinds), is_renewal=True) == "NONE"
            broker.restart()
    with ShareMember(broker.bootstrap_servers, group_id, part) as bob:
        assert acquired(bob.fetch_one()) == [(1, 1, 2), (5, 5, 2)]


def test_a_broker_has_room_for_so_many_sessions() -> None:
    with (
        InProcessBroker({"group.share.max.share.sessions": "1"}) as broker,
        WireClient(broker.bootstrap_servers) as client,
    ):
        topic = new_topic(client, "t")
        group_id = new_group(client)
        begin_at(client, group_id, topic, 0)
        part = Part(topic_id(client, topic))
        with (
            ShareMember(broker.bootstrap_servers, group_id, part) as alice,
            ShareMember(broker.bootstrap_servers, group_id, part) as bob,
        ):
            assert code_of(alice.fetch(max_wait_ms=0)) == "NONE"
            assert code_of(bob.fetch(max_wait_ms=0)) == "SHARE_SESSION_LIMIT_REACHED"
            alice.epoch = INITIAL
            assert code_of(alice.fetch(max_wait_ms=0)) == "NONE", "its own place"
            alice.close_session()
            assert code_of(bob.fetch(max_wait_ms=0)) == "NONE"


def test_a_state_that_is_made_anew_fences_the_old_one(broker: InProcessBroker) -> None:
    """Nobody is a member, so the offsets may be altered, although a session is open."""
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "t")
        group_id = new_group(client)
        begin_at(client, group_id, topic, 0)
        write(client, topic, 6)
        part = Part(topic_id(client, topic))
        with ShareMember(broker.bootstrap_servers, group_id, part) as alice:
            alice.fetch_one()
            alice.heartbeat(0, [topic])
            alice.heartbeat(-1)
            begin_at(client, group_id, topic, 4)
            assert alice.acknowledge((0, 5, [ACCEPT])) in (
                "NOT_LEADER_OR_FOLLOWER",
                "UNKNOWN_TOPIC_OR_PARTITION",
            )
            data = alice.fetch_one()
            assert acquired(data) == [(4, 5, 1)]


def test_a_deleted_topic_is_told_to_those_who_wait(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "t")
        group_id = new_group(client)
        begin_at(client, group_id, topic, 0)
        with ShareMember(broker.bootstrap_servers, group_id, Part(topic_id(client, topic))) as alice:
            alice.fetch(max_wait_ms=0)
            request = alice.post_fetch(max_wait_ms=30_000)
            client.send(DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=30_000))
            ((data,),) = [one.partitions for one in alice.client.receive(request).responses]
            assert code_of(data) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_cold_records_come_from_the_disk(tmp_path: Path) -> None:
    with InProcessBroker(log_dirs=[tmp_path]) as broker, WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "t")
        group_id = new_group(client)
        begin_at(client, group_id, topic, 0)
        record = os.urandom(100_000)
        for _ in range(20):
            produced(client, topic, batch_of(record))
        with ShareMember(broker.bootstrap_servers, group_id, Part(topic_id(client, topic))) as alice:
            for number in range(4):
                drop_from_memory(tmp_path)
                data = alice.fetch_one(max_records=5, max_bytes=10 << 20)
                assert acquired(data) == [(5 * number, 5 * number + 4, 1)]
                assert values(data) == [record] * 5
