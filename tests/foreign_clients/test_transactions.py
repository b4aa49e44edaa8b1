"""What a transaction shows to whom, who may end it, and what it does to committed offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.foreign_clients.drivers.model import (
    INVALID_PRODUCER_EPOCH,
    PRODUCER_FENCED,
    TRANSACTIONAL_ID_NOT_FOUND,
    Client,
    ClientError,
    Record,
)
from tests.foreign_clients.drivers.registry import every_client
from tests.foreign_clients.drivers.sessions import Committed, Member, Membership
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER, numbered_records
from tests.support.processes import wait_for

T = TypeVar("T")
Opened = Callable[[T], T]
FENCED = {INVALID_PRODUCER_EPOCH, PRODUCER_FENCED}


@pytest.fixture
def created(topic: str, reader: Client) -> str:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    return topic


def texts(*values: str) -> list[Record]:
    return [Record(value.encode(), None, (), BASE_TIMESTAMP) for value in values]


def values_of(member: Member) -> list[str]:
    return [(each.record.value or b"").decode() for each in member.records()]


def open_reading(client: Client, topic: str, isolation: str) -> Member:
    """A consumer of the one partition, without a group where the library can."""
    group = f"{topic}-{isolation}"
    if client.assigns:
        return client.open_member(Membership(group, assigned=((topic, 0),), isolation=isolation))
    return client.open_member(Membership(group, (topic,), isolation=isolation))


def wait_for_last(value: str, *members: Member) -> None:
    for member in members:
        wait_for(lambda member=member: values_of(member)[-1:] == [value], what=lambda: f"{value} at last")


@every_client("open_transactional_producer", "open_member")
def test_committed_is_seen_and_aborted_is_not(client: Client, created: str, opened: Opened) -> None:
    producer = opened(client.open_transactional_producer(created))
    for values, commit in (
        (("a", "b"), True),
        (("c", "d"), False),
        (("e",), True),
        (("f",), False),
        (("g",), True),
    ):
        producer.begin()
        producer.send(created, texts(*values))
        if commit:
            producer.commit()
        else:
            producer.abort()
    committed = opened(open_reading(client, created, "read_committed"))
    uncommitted = opened(open_reading(client, created, "read_uncommitted"))
    wait_for_last("g", committed, uncommitted)
    assert values_of(committed) == ["a", "b", "e", "g"]
    assert values_of(uncommitted) == ["a", "b", "c", "d", "e", "f", "g"]
    assert [each.offset for each in uncommitted.records()] == [
        0,
        1,
        3,
        4,
        6,
        8,
        10,
    ]  # between them the markers


@every_client("open_transactional_producer")
def test_one_transaction_over_several_topics(
    client: Client, reader: Client, topic: str, opened: Opened
) -> None:
    topics = [f"{topic}-{name}" for name in "ab"]
    for name in topics:
        reader.create_topic(name, partitions=2, configs=KEEP_FOR_EVER)
    producer = opened(client.open_transactional_producer(topic))
    places = tuple((name, partition) for name in topics for partition in range(2))
    member = opened(reader.open_member(Membership(topic, assigned=places, isolation="read_committed")))
    for turn, commit in (("no", False), ("yes", True)):
        producer.begin()
        for name, partition in places:
            producer.send(name, [Record(f"{turn} {name} {partition}".encode(), None, (), None, partition)])
        if commit:
            producer.commit()
        else:
            producer.abort()
    wait_for(lambda: len(member.records()) >= 4, what="all four records")
    assert sorted(values_of(member)) == [f"yes {name} {partition}" for name, partition in places]


@every_client("open_transactional_producer", "open_member")
def test_read_committed_stops_at_the_last_stable_offset(
    client: Client, reader: Client, created: str, opened: Opened
) -> None:
    reader.produce(created, texts("before"))
    producer = opened(client.open_transactional_producer(created))
    producer.begin()
    producer.send(created, texts("inside"))
    reader.produce(created, texts("after"))
    committed = opened(open_reading(client, created, "read_committed"))
    uncommitted = opened(open_reading(client, created, "read_uncommitted"))
    wait_for_last("after", uncommitted)
    wait_for_last("before", committed)
    producer.commit()
    wait_for_last("after", committed)
    assert values_of(committed) == values_of(uncommitted) == ["before", "inside", "after"]


@every_client("open_transactional_producer")
def test_a_second_producer_fences_the_first(
    client: Client, reader: Client, created: str, opened: Opened
) -> None:
    first = opened(client.open_transactional_producer(created))
    first.begin()
    first.send(created, texts("of the first"))
    second = opened(client.open_transactional_producer(created))
    with pytest.raises(ClientError) as raised:
        first.commit()
    assert raised.value.code in FENCED
    second.begin()
    second.send(created, texts("of the second"))
    second.commit()
    committed = opened(open_reading(reader, created, "read_committed"))
    wait_for_last("of the second", committed)
    assert values_of(committed) == ["of the second"]


@every_client("open_transactional_producer")
def test_a_transaction_that_takes_too_long_is_aborted(
    client: Client, reader: Client, created: str, opened: Opened
) -> None:
    committed = opened(open_reading(reader, created, "read_committed"))
    producer = opened(client.open_transactional_producer(created, timeout_ms=1000))
    producer.begin()
    producer.send(created, texts("too late"))
    reader.produce(created, texts("after"))
    wait_for_last("after", committed)
    assert values_of(committed) == ["after"]
    with pytest.raises(ClientError):
        producer.commit()
    again = opened(client.open_transactional_producer(created))
    again.begin()
    again.send(created, texts("in time"))
    again.commit()
    wait_for_last("in time", committed)
    assert values_of(committed) == ["after", "in time"]


@pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
@every_client("transform")
def test_offsets_are_part_of_the_transaction(
    client: Client, commit: bool, reader: Client, created: str, opened: Opened
) -> None:
    target = f"{created}-target"
    reader.create_topic(target, configs=KEEP_FOR_EVER)
    reader.produce(created, numbered_records(10))
    client.transform(created, target, f"{created}-group", f"{created}-id", 6, commit=commit)
    reader.produce(target, texts("last"))
    committed = opened(open_reading(reader, target, "read_committed"))
    wait_for_last("last", committed)
    found = reader.group_offsets(f"{created}-group")
    if commit:
        assert [each.record for each in committed.records()[:-1]] == numbered_records(6)
        assert {place: at.offset for place, at in found.items()} == {(created, 0): 6}
    else:
        assert values_of(committed) == ["last"]
        assert found == {}


@every_client("open_transactional_producer", "open_member", where=lambda kind: kind.sends_offsets)
def test_offsets_of_an_open_transaction_are_not_seen(
    client: Client, reader: Client, administrator: Client, created: str, opened: Opened
) -> None:
    reader.produce(created, numbered_records(3))
    member = opened(client.open_member(Membership(created, (created,))))
    wait_for(lambda: len(member.records()) >= 3, what="the records")
    producer = opened(client.open_transactional_producer(created))
    place, before, after = (created, 0), Committed(1, "before"), Committed(3, "inside")
    member.commit({place: before})
    for commit in (False, True):
        producer.begin()
        producer.send_offsets({place: after}, member)
        assert administrator.group_offsets(created)[place].offset == 1
        if commit:
            producer.commit()
        else:
            producer.abort()
    found = {place: Committed(3, "inside" + client.metadata_end)}
    wait_for(lambda: administrator.group_offsets(created) == found, what="the committed offset")


@every_client("transform", where=lambda kind: "open_member" in kind.operations())
def test_read_process_write_goes_on_after_an_abort(
    client: Client, reader: Client, created: str, opened: Opened
) -> None:
    """Six are taken, given back, taken again; the rest follow: each arrives once."""
    target = f"{created}-target"
    reader.create_topic(target, configs=KEEP_FOR_EVER)
    reader.produce(created, numbered_records(10))
    for count, commit in ((6, False), (6, True), (4, True)):
        client.transform(created, target, f"{created}-group", f"{created}-id", count, commit=commit)
    reader.produce(target, texts("last"))
    committed = opened(open_reading(reader, target, "read_committed"))
    wait_for_last("last", committed)
    assert [each.record for each in committed.records()[:-1]] == numbered_records(10)


@every_client("describe_transaction", "list_transactions", "open_transactional_producer")
def test_an_administrator_looks_at_a_transaction(client: Client, created: str, opened: Opened) -> None:
    producer = opened(client.open_transactional_producer(created, timeout_ms=45_000))
    assert client.describe_transaction(created).state == "Empty"
    producer.begin()
    producer.send(created, texts("one"))
    ongoing = client.describe_transaction(created)
    assert ongoing.state == client.list_transactions()[created] == "Ongoing"
    assert ongoing.partitions == {(created, 0)}
    assert ongoing.timeout_ms == 45_000
    [active] = client.describe_producers(created)
    assert active.producer_id == ongoing.producer_id
    producer.commit()
    wait_for(lambda: client.describe_transaction(created).state == "CompleteCommit", what="the end")
    assert client.describe_transaction(created).partitions == frozenset()
    producer.begin()
    producer.send(created, texts("two"))
    producer.abort()
    wait_for(lambda: client.describe_transaction(created).state == "CompleteAbort", what="the end")
    assert client.list_transactions()[created] == "CompleteAbort"


@every_client("describe_transaction")
def test_a_transactional_id_that_nobody_used(client: Client, topic: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.describe_transaction(topic)
    assert raised.value.code == TRANSACTIONAL_ID_NOT_FOUND
    assert topic not in client.list_transactions()
