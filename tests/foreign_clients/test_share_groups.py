"""Share groups: records handed out one by one, acknowledged, released and handed out again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from tests.foreign_clients.drivers.model import (
    GROUP_ID_NOT_FOUND,
    NON_EMPTY_GROUP,
    Change,
    Client,
    ClientError,
    Record,
)
from tests.foreign_clients.drivers.registry import every_client
from tests.foreign_clients.drivers.sessions import Shared, ShareMember
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER
from tests.support.processes import wait_for

Opened = Callable[[ShareMember], ShareMember]


@pytest.fixture
def created(topic: str, reader: Client) -> str:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    return topic


@pytest.fixture
def shared(created: str, clients: Callable[[str], Client]) -> str:
    """The topic, with a share group of the same name that starts at the earliest record."""
    settings = [Change("SET", "share.auto.offset.reset", "earliest")]
    clients("java").incremental_alter_configs("GROUP", created, settings)
    return created


def texts(*values: str) -> list[Record]:
    return [Record(value.encode(), None, (), BASE_TIMESTAMP) for value in values]


def polled(member: ShareMember, count: int, how: str | None = None) -> list[Shared]:
    """Polls until there are as many; each is acknowledged, if it is said how, before the next poll."""
    found: list[Shared] = []

    def enough() -> bool:
        for record in member.poll():
            found.append(record)
            if how is not None:
                member.acknowledge(record, how)
        return len(found) >= count

    wait_for(enough, 60, lambda: f"{count} records, got {found}")
    return found


def summary(records: list[Shared]) -> list[tuple[int, bytes | None, int]]:
    return sorted((each.offset, each.value, each.delivery_count) for each in records)


@every_client("open_share_member")
def test_two_share_one_partition(client: Client, reader: Client, shared: str, opened: Opened) -> None:
    for start in range(0, 200, 5):  # many small batches, since one batch may go to one consumer as a whole
        reader.produce(shared, texts(*(f"{start + i}" for i in range(5))))
    members = [
        opened(client.open_share_member(shared, shared, explicit=False, max_records=5)) for _ in range(2)
    ]
    taken: list[list[Shared]] = [[], []]

    def all_taken() -> bool:
        for member, records in zip(members, taken, strict=True):
            records += member.poll()
        return sum(map(len, taken)) >= 200

    wait_for(all_taken, 60, lambda: f"200 records, got {[len(records) for records in taken]}")
    together = summary(taken[0] + taken[1])
    assert together == [(i, f"{i}".encode(), 1) for i in range(200)]
    assert all(taken), "one consumer took it all"


@every_client("open_share_member")
def test_accept_release_reject(client: Client, reader: Client, shared: str, opened: Opened) -> None:
    reader.produce(shared, texts("accepted", "released", "rejected"))
    member = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    first = polled(member, 3)
    assert summary(first) == [(0, b"accepted", 1), (1, b"released", 1), (2, b"rejected", 1)]
    for record, how in zip(
        sorted(first, key=lambda each: each.offset), ("accept", "release", "reject"), strict=True
    ):
        member.acknowledge(record, how)
    member.commit()
    [again] = polled(member, 1)
    assert summary([again]) == [(1, b"released", 2)]
    member.acknowledge(again, "accept")
    member.commit()
    reader.produce(shared, texts("new"))
    assert summary(polled(member, 1, "accept")) == [(3, b"new", 1)]


@every_client("open_share_member")
def test_what_is_accepted_does_not_come_back(
    client: Client, reader: Client, shared: str, opened: Opened
) -> None:
    """The next consumer of the group gets what is left."""
    reader.produce(shared, texts("one", "two"))
    first = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    polled(first, 2, "accept")
    first.commit()
    first.close()
    reader.produce(shared, texts("three"))
    second = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    assert summary(polled(second, 1, "accept")) == [(2, b"three", 1)]


@every_client("open_share_member")
def test_a_consumer_that_goes_gives_back(client: Client, reader: Client, shared: str, opened: Opened) -> None:
    reader.produce(shared, texts("one", "two", "three"))
    first = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    assert len(polled(first, 3)) == 3
    first.close()
    second = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    found = summary(polled(second, 3, "accept"))
    assert [(offset, value) for offset, value, _ in found] == [(0, b"one"), (1, b"two"), (2, b"three")]
    assert {count for _, _, count in found} == {2}


@every_client("open_share_member")
def test_a_consumer_that_takes_too_long_loses_its_records(
    client: Client, clients: Callable[[str], Client], reader: Client, shared: str, opened: Opened
) -> None:
    settings = [Change("SET", "share.record.lock.duration.ms", "1000")]
    clients("java").incremental_alter_configs("GROUP", shared, settings)
    reader.produce(shared, texts("slow"))
    slow = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    assert summary(polled(slow, 1)) == [(0, b"slow", 1)]
    other = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    assert summary(polled(other, 1, "accept")) == [(0, b"slow", 2)]
    other.commit()


@every_client("open_share_member", "open_transactional_producer")
def test_a_group_that_reads_only_what_was_committed(
    client: Client, clients: Callable[[str], Client], shared: str, opened: Opened
) -> None:
    settings = [Change("SET", "share.isolation.level", "read_committed")]
    clients("java").incremental_alter_configs("GROUP", shared, settings)
    with closing(client.open_transactional_producer(shared)) as producer:
        for value in ("thrown away", "kept"):
            producer.begin()
            producer.send(shared, texts(value))
            if value == "kept":
                producer.commit()
            else:
                producer.abort()
    member = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    assert summary(polled(member, 1, "accept")) == [(2, b"kept", 1)]


@every_client("open_share_member")
def test_what_is_always_released_is_given_up(
    client: Client, reader: Client, shared: str, opened: Opened
) -> None:
    """After five deliveries."""
    reader.produce(shared, texts("poison"))
    member = opened(client.open_share_member(shared, shared, explicit=True, max_records=10))
    counts = []
    for _ in range(5):
        [record] = polled(member, 1, "release")
        member.commit()
        counts.append(record.delivery_count)
    assert counts == [1, 2, 3, 4, 5]
    reader.produce(shared, texts("fine"))
    assert summary(polled(member, 1, "accept")) == [(1, b"fine", 1)]


@every_client("open_share_member")
def test_a_new_group_starts_with_what_comes_next(
    client: Client, reader: Client, created: str, opened: Opened
) -> None:
    reader.produce(created, texts("old"))
    member = opened(client.open_share_member(created, created, explicit=False, max_records=10))
    found: list[Shared] = []

    def produced_and_found() -> bool:
        reader.produce(created, texts("new"))
        found.extend(member.poll())
        return bool(found)

    wait_for(produced_and_found, 60, "a record")
    assert {each.value for each in found} == {b"new"}


@every_client("open_share_member", "describe_share_group", "delete_share_group")
def test_an_administrator_looks_at_a_share_group(
    client: Client, reader: Client, shared: str, opened: Opened
) -> None:
    reader.produce(shared, texts("one"))
    member = opened(client.open_share_member(shared, shared, explicit=False, max_records=10))
    polled(member, 1)
    assert client.list_groups(kinds=["share"])[shared].state == "Stable"
    assert shared not in client.list_groups(kinds=["classic", "consumer"])
    described = client.describe_share_group(shared)
    assert described.state == "Stable"
    [seen] = described.members
    assert (seen.host, seen.assignment) == ("/127.0.0.1", {(shared, 0)})
    with pytest.raises(ClientError) as raised:
        client.delete_share_group(shared)
    assert raised.value.code == NON_EMPTY_GROUP
    member.close()
    wait_for(lambda: client.describe_share_group(shared).state == "Empty", what="an empty group")
    client.delete_share_group(shared)
    assert shared not in client.list_groups()
    with pytest.raises(ClientError) as raised:
        client.describe_share_group(shared)
    assert raised.value.code == GROUP_ID_NOT_FOUND


@pytest.fixture
def consumers(clients: Callable[[str], Client], shared: str) -> Iterator[list[ShareMember]]:
    names = ("confluent-kafka", "franz-go", "java")
    members = [
        clients(name).open_share_member(shared, shared, explicit=False, max_records=2) for name in names
    ]
    yield members
    for member in members:
        member.close()


def test_different_clients_share(consumers: list[ShareMember], reader: Client, shared: str) -> None:
    seen: list[Shared] = []

    def all_seen() -> bool:
        for member in consumers:
            seen.extend(member.poll())
        return len(seen) >= 30

    for start in range(0, 30, 2):
        reader.produce(shared, texts(f"{start}", f"{start + 1}"))
    wait_for(all_seen, 60, "all records")
    assert summary(seen) == [(i, f"{i}".encode(), 1) for i in range(30)]
