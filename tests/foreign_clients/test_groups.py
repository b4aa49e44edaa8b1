"""A consumer in a group reads everything, commits, and goes on from there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.drivers.registry import every_client, every_client_and_protocol
from tests.foreign_clients.drivers.sessions import Committed, Member, Membership
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER, numbered_records, varied_records
from tests.support.processes import wait_for

COUNT = 10
Opened = Callable[[Member], Member]


@pytest.fixture
def filled(topic: str, reader: Client) -> str:
    """One partition with the records 0 to 9."""
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    reader.produce(topic, numbered_records(COUNT))
    return topic


def offsets_read(member: Member, count: int) -> list[int]:
    wait_for(
        lambda: len(member.records()) >= count, what=lambda: f"{count} of {len(member.records())} records"
    )
    return [each.offset for each in member.records()]


@every_client_and_protocol("open_member")
def test_everything_once_from_every_partition(
    client: Client, protocol: str, reader: Client, topic: str, opened: Opened
) -> None:
    reader.create_topic(topic, partitions=4, configs=KEEP_FOR_EVER)
    records = [Record(f"{i}".encode(), None, (), BASE_TIMESTAMP + i, i % 4) for i in range(40)]
    reader.produce(topic, records)
    member = opened(client.open_member(Membership(topic, (topic,), protocol=protocol)))
    wait_for(lambda: len(member.records()) >= 40, what="all records")
    assert member.assignment() == {(topic, partition) for partition in range(4)}
    read = [each.record for each in member.records()]
    for partition in range(4):
        assert [record for record in read if record.partition == partition] == records[partition::4]


@every_client("open_member")
def test_every_kind_of_record(client: Client, reader: Client, topic: str, opened: Opened) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    records = []
    for codec in client.codecs:
        records += (batch := varied_records(client.null_headers, codec))
        reader.produce(topic, batch, codec=codec)
    member = opened(client.open_member(Membership(topic, (topic,))))
    assert offsets_read(member, len(records)) == list(range(len(records)))
    assert [each.record for each in member.records()] == records


@every_client_and_protocol("open_member")
def test_a_group_goes_on_where_it_committed(
    client: Client, protocol: str, administrator: Client, filled: str, opened: Opened
) -> None:
    membership = Membership(filled, (filled,), protocol=protocol)
    first = opened(client.open_member(membership))
    assert offsets_read(first, COUNT) == list(range(COUNT))
    assert first.committed([(filled, 0)]) == {}
    first.commit({(filled, 0): Committed(4, "up to here")})
    assert first.committed([(filled, 0)])[filled, 0].offset == 4
    first.close()
    assert administrator.group_offsets(filled) == {
        (filled, 0): Committed(4, "up to here" + client.metadata_end)
    }
    second = opened(client.open_member(membership))
    assert offsets_read(second, COUNT - 4) == list(range(4, COUNT))


@every_client("open_member", "group_offsets", where=lambda kind: kind.tells_metadata)
def test_metadata_of_offsets_comes_back(client: Client, filled: str, opened: Opened) -> None:
    member = opened(client.open_member(Membership(filled, (filled,))))
    offsets_read(member, COUNT)
    for committed in (Committed(3, "grüße, 世界"), Committed(10, "")):
        member.commit({(filled, 0): committed})
        assert client.group_offsets(filled) == {(filled, 0): committed}


@every_client("open_member", where=lambda kind: kind.assigns)
def test_a_consumer_that_joins_no_group_has_offsets_too(
    client: Client, reader: Client, administrator: Client, filled: str, opened: Opened
) -> None:
    membership = Membership(filled, assigned=((filled, 0),))
    first = opened(client.open_member(membership))
    assert offsets_read(first, COUNT) == list(range(COUNT))
    first.commit({(filled, 0): Committed(7, "simple")})
    assert first.committed([(filled, 0)])[filled, 0].offset == 7
    assert administrator.group_offsets(filled) == {(filled, 0): Committed(7, "simple" + client.metadata_end)}
    assert reader.list_groups()[filled].state == "Empty"
    first.close()
    second = opened(client.open_member(membership))
    assert offsets_read(second, COUNT - 7) == [7, 8, 9]


@every_client("open_member", where=lambda kind: kind.assigns)
def test_a_group_that_never_committed_has_no_offsets(
    client: Client, administrator: Client, filled: str, opened: Opened
) -> None:
    member = opened(client.open_member(Membership(filled, assigned=((filled, 0),))))
    assert offsets_read(member, COUNT) == list(range(COUNT))
    assert member.committed([(filled, 0)]) == {}
    assert administrator.group_offsets(filled) == {}
