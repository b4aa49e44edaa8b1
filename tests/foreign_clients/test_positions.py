"""Seek and rewind, by offset and by time; where a partition begins and ends."""

from __future__ import annotations

import pytest

from tests.foreign_clients.drivers.model import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    OFFSET_OUT_OF_RANGE,
    Client,
    ClientError,
    OffsetAt,
    Position,
    Record,
)
from tests.foreign_clients.drivers.registry import every_client
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER, numbered_records

COUNT = 30


@pytest.fixture
def filled(topic: str, reader: Client) -> str:
    """Three batches of ten records, a second apart, the middle one compressed."""
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    records = numbered_records(COUNT)
    for start, codec in ((0, "none"), (10, "lz4"), (20, "none")):
        reader.produce(topic, records[start : start + 10], codec=codec)
    return topic


@every_client("seek")
def test_seek_and_rewind(client: Client, filled: str) -> None:
    positions = [
        Position("offset", 17),
        Position("beginning"),
        Position("timestamp", BASE_TIMESTAMP + 12_500),
        Position("end"),
        Position("offset", 3),
        Position("offset", COUNT - 4),
        Position("timestamp", BASE_TIMESTAMP),
    ]
    assert client.seek(filled, positions, 4) == [
        [17, 18, 19, 20],
        [0, 1, 2, 3],
        [13, 14, 15, 16],
        [COUNT],
        [3, 4, 5, 6],
        [26, 27, 28, 29],
        [0, 1, 2, 3],
    ]


@every_client("consume", where=lambda kind: "lz4" in kind.codecs)
def test_reading_starts_inside_a_compressed_batch(client: Client, filled: str) -> None:
    consumed = client.consume(filled, 5, offset=14)
    assert [each.offset for each in consumed] == [14, 15, 16, 17, 18]
    assert [each.record for each in consumed] == numbered_records(COUNT)[14:19]


@every_client("offsets")
def test_beginning_end_and_times(client: Client, filled: str) -> None:
    times = [0, BASE_TIMESTAMP, BASE_TIMESTAMP + 1, BASE_TIMESTAMP + 15_000, BASE_TIMESTAMP + 29_000]
    found = client.offsets(filled, times)
    assert (found.beginning, found.end) == (0, COUNT)
    assert [each.offset for each in found.for_times] == [0, 0, 1, 15, 29]
    for each in found.for_times:
        assert each.timestamp in (None, BASE_TIMESTAMP + each.offset * 1000)


@every_client("offsets", where=lambda kind: kind.name not in ("kafkajs", "franz-go"))
def test_time_after_the_last_record(client: Client, filled: str) -> None:
    """kafkajs and franz-go ask again, and give the end instead."""
    assert client.offsets(filled, [BASE_TIMESTAMP + 29_001]).for_times[0].offset == -1


@every_client("offsets")
def test_an_empty_partition_begins_and_ends_at_zero(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic)
    found = client.offsets(topic)
    assert (found.beginning, found.end) == (0, 0)


@every_client("list_offsets")
def test_admin_lists_offsets(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    for timestamp in (5, 90, 7, 60):
        reader.produce(topic, [Record(b"x", None, (), BASE_TIMESTAMP + timestamp)])
    found = client.list_offsets(topic, [EARLIEST, LATEST, MAX_TIMESTAMP, BASE_TIMESTAMP + 8])
    assert [each.offset for each in found] == [0, 4, 1, 1]
    assert found[2].timestamp == BASE_TIMESTAMP + 90
    assert found[3].timestamp == BASE_TIMESTAMP + 90


@every_client("list_offsets", where=lambda kind: kind.name != "confluent-kafka")
def test_admin_lists_offsets_of_tiers(client: Client, filled: str) -> None:
    assert [each.offset for each in client.list_offsets(filled, [EARLIEST_LOCAL, LATEST_TIERED])] == [0, -1]


@every_client("list_offsets")
def test_max_timestamp_inside_a_batch(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    stamps = (10, 30, 20)
    reader.produce(topic, [Record(b"x", None, (), BASE_TIMESTAMP + each) for each in stamps], codec="zstd")
    assert client.list_offsets(topic, [MAX_TIMESTAMP]) == [OffsetAt(1, BASE_TIMESTAMP + 30)]


@every_client("consume", where=lambda kind: kind.assigns)
def test_an_offset_that_was_never_there(client: Client, filled: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.consume(filled, 1, offset=COUNT + 1000)
    assert raised.value.code == OFFSET_OUT_OF_RANGE
