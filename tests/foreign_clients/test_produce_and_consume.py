"""What a client sent is what a client gets: every codec, every acknowledgement, every kind of record."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.drivers.registry import every_client, every_client_and_codec
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER, numbered_records, varied_records

TEN_MEGABYTES = 10 * 1024 * 1024


def the_one_that_reads(client: Client, reader: Client) -> Client:
    return client if "consume" in client.operations() else reader


@every_client_and_codec("produce", "create_topic")
def test_records_come_back_as_they_were_sent(client: Client, codec: str, reader: Client, topic: str) -> None:
    client.create_topic(topic, configs=KEEP_FOR_EVER)
    records = varied_records(client.null_headers)
    sent = client.produce(topic, records, codec=codec)
    assert [each.offset for each in sent] == list(range(len(records)))
    consumed = the_one_that_reads(client, reader).consume(topic, len(records))
    assert [each.record for each in consumed] == records
    assert [each.offset for each in consumed] == list(range(len(records)))
    assert {each.timestamp_type for each in consumed} <= {"CreateTime", None}


@pytest.mark.parametrize("acks", ["0", "1", "all"])
@every_client("produce")
def test_acks(client: Client, acks: str, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    records = numbered_records(10)
    sent = client.produce(topic, records, acks=acks)
    if acks != "0":
        assert [each.offset for each in sent] == list(range(10))
    assert [each.record for each in reader.consume(topic, 10)] == records


@every_client("produce")
def test_idempotent_producer(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    for _ in range(2):  # each time another producer, with another id
        client.produce(topic, numbered_records(50), idempotent=True)
    consumed = the_one_that_reads(client, reader).consume(topic, 100)
    assert [each.record for each in consumed] == numbered_records(50) * 2
    assert reader.offsets(topic).end == 100


@every_client("produce")
def test_partition_of_a_record(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, partitions=3, configs=KEEP_FOR_EVER)
    records = [Record(f"{i}".encode(), None, (), BASE_TIMESTAMP, i % 3) for i in range(9)]
    client.produce(topic, records)
    for partition in range(3):
        consumed = the_one_that_reads(client, reader).consume(topic, 3, partition=partition)
        assert [each.record for each in consumed] == records[partition::3]


@every_client("produce")
def test_log_append_time(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs={"message.timestamp.type": "LogAppendTime"})
    before = int(time.time() * 1000)
    client.produce(topic, numbered_records(3), codec="gzip")
    after = int(time.time() * 1000)
    for each in the_one_that_reads(client, reader).consume(topic, 3):
        assert each.timestamp_type in ("LogAppendTime", None)
        assert each.record.timestamp is not None
        assert before <= each.record.timestamp <= after


@every_client("produce")
def test_create_time_of_the_producers_clock(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic)
    before = int(time.time() * 1000)
    client.produce(topic, [Record(b"now")])
    after = int(time.time() * 1000)
    [each] = the_one_that_reads(client, reader).consume(topic, 1)
    assert each.record.timestamp is not None
    assert before <= each.record.timestamp <= after


@every_client("produce")
def test_ten_megabytes_in_one_record(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs={"max.message.bytes": str(TEN_MEGABYTES + 4096), **KEEP_FOR_EVER})
    large = Record(random.Random(7).randbytes(TEN_MEGABYTES), b"large", (), BASE_TIMESTAMP)
    small = Record(b"small", b"after", (), BASE_TIMESTAMP)
    client.produce(topic, [large])
    client.produce(topic, [small])
    consumed = the_one_that_reads(client, reader).consume(topic, 2)
    assert [each.record for each in consumed] == [large, small]


@every_client("produce", "consume")
def test_many_fetches(client: Client, reader: Client, topic: str) -> None:
    """More than one fetch can hold, over several segments."""
    reader.create_topic(topic, configs={"segment.bytes": "1048576", **KEEP_FOR_EVER})
    records = numbered_records(4_000, size=1_000)
    for start in range(0, 4_000, 500):
        client.produce(topic, records[start : start + 500])
    consumed = client.consume(topic, 4_000)
    assert [each.offset for each in consumed] == list(range(4_000))
    assert [each.record for each in consumed] == records


@every_client("consume")
def test_consumer_waits_for_what_is_not_there_yet(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.consume, topic, 2)
        for record in numbered_records(2):
            reader.produce(topic, [record])
        assert [each.record for each in waiting.result()] == numbered_records(2)


@every_client("consume_partitions")
def test_one_consumer_of_many_partitions(client: Client, reader: Client, topic: str) -> None:
    """Most partitions are idle most of the time; what comes, to any of them, arrives once and in order."""
    partitions, rounds = range(12), 5
    reader.create_topic(topic, partitions=len(partitions), configs=KEEP_FOR_EVER)
    records = [
        Record(f"{turn}".encode(), None, (), BASE_TIMESTAMP + turn, (turn * 5 + each) % 12)
        for turn in range(rounds)
        for each in (0, 4, 7)
    ]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.consume_partitions, topic, partitions, len(records))
        for turn in range(rounds):
            reader.produce(topic, records[turn * 3 : turn * 3 + 3])
        consumed = [each.record for each in waiting.result()]
    for partition in partitions:
        expected = [record for record in records if record.partition == partition]
        assert [record for record in consumed if record.partition == partition] == expected
