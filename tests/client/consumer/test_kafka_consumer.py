"""What `poll` and iteration return, and what happens to records that cannot be read."""

from __future__ import annotations

import logging
import pickle
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from penstock.client.consumer.decode import RecordDeserializationError
from penstock.client.consumer.kafka_consumer import KafkaConsumer
from penstock.client.producer.kafka_producer import KafkaProducer
from penstock.client.records import ConsumerRecord, TimestampType
from penstock.errors import ConfigError
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError
from tests.client.consumer.conftest import MakeConsumer, Produce
from tests.client.consumer.reading import committed_offset, numbers, read, values
from tests.support.cluster_fixture import KafkaServer


def test_a_record_has_all_that_was_sent(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    headers = [("source", b"web"), ("source", b"shop"), ("empty", None)]
    produce(topic, [b"2 cups"], key=b"customer-7", headers=headers, timestamp=1_700_000_000_000)
    [record] = read(consumer(topic, group_id=group), 1)
    assert (record.topic, record.partition, record.offset) == (topic, 0, 0)
    assert (record.key, record.value) == (b"customer-7", b"2 cups")
    assert record.headers == tuple(headers)
    assert (record.header("source"), record.header("none")) == (b"shop", None)
    assert (record.timestamp_ms, record.timestamp_type) == (1_700_000_000_000, TimestampType.CREATE_TIME)
    assert record.leader_epoch == 0
    assert record.topic_partition == TopicPartition(topic, 0)


def test_records_can_be_compared_printed_and_pickled(
    consumer: MakeConsumer, topic: str, produce: Produce
) -> None:
    produce(topic, [b"2 cups"], key=b"7", timestamp=5)
    one = consumer()
    one.assign([TopicPartition(topic, 0)])
    [record] = read(one, 1)
    same = ConsumerRecord(topic, 0, 0, b"7", b"2 cups", (), 5, TimestampType.CREATE_TIME, 0)
    assert record == same
    assert repr(record) == f"ConsumerRecord({topic!r}, 0, 0, key=b'7', value=b'2 cups')"
    assert pickle.loads(pickle.dumps(record)) == record


def test_a_tombstone_has_no_value(consumer: MakeConsumer, topic: str, group: str, produce: Produce) -> None:
    produce(topic, [None], key=b"7")
    [record] = read(consumer(topic, group_id=group, value_deserializer="json", key_deserializer="string"), 1)
    assert (record.key, record.value) == ("7", None)


def test_poll_returns_at_most_so_many(consumer: MakeConsumer, topic: str, produce: Produce) -> None:
    produce(topic, numbers(10))
    one = consumer(max_poll_records=4)
    one.assign([TopicPartition(topic, 0)])
    assert len(one.poll(30, max_records=1)) == 1
    assert 1 <= len(one.poll(timeout_ms=30_000)) <= 4


def test_poll_returns_nothing_when_the_time_is_up(consumer: MakeConsumer, topic: str) -> None:
    one = consumer()
    one.assign([TopicPartition(topic, 0)])
    assert one.poll(0.05) == []
    assert one.poll(0) == []
    with pytest.raises(ValueError, match="both timeout and timeout_ms"):
        one.poll(1, timeout_ms=1)
    with pytest.raises(ValueError, match="takes 0 or more"):
        one.poll(-1)
    with pytest.raises(ValueError, match="max_records: got 0"):
        one.poll(1, max_records=0)


def test_iteration_returns_all_in_order(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(1_000))
    one = consumer(topic, group_id=group, consumer_timeout_ms=30_000)
    seen = []
    for record in one:
        seen.append(record.value)
        if len(seen) == 1_000:
            one.close()
    assert seen == numbers(1_000)


def test_an_iteration_that_was_left_goes_on_where_it_was(
    consumer: MakeConsumer, topic: str, produce: Produce
) -> None:
    produce(topic, numbers(6))
    one = consumer()
    one.assign([TopicPartition(topic, 0)])
    assert next(iter(one)).value == b"0"
    assert [next(iter(one)).value, next(iter(one)).value] == numbers(2, 1)
    assert values(read(one, 3)) == numbers(3, 3)


def test_an_iteration_ends_when_nothing_comes(consumer: MakeConsumer, topic: str, produce: Produce) -> None:
    produce(topic, numbers(3))
    one = consumer(consumer_timeout_ms=1_500)
    one.assign([TopicPartition(topic, 0)])
    assert values(one) == numbers(3)


@dataclass
class Order:
    cups: int


@pytest.mark.parametrize(
    ("deserializer", "data", "value"),
    [
        ("string", "café".encode(), "café"),
        ("bytes", b"raw", b"raw"),
        ("integer", b"\0\0\0*", 42),
        ("long", b"\0\0\0\0\0\0\0*", 42),
        ("double", b"?\xe0\0\0\0\0\0\0", 0.5),
        ("uuid", str(uuid.UUID(int=7)).encode(), uuid.UUID(int=7)),
        ("json", b'{"cups": 2}', {"cups": 2}),
        (Order, b'{"cups": 2}', Order(2)),
        (lambda data: data[::-1], b"abc", b"cba"),
    ],
)
def test_keys_and_values_are_deserialized(
    consumer: MakeConsumer, topic: str, produce: Produce, deserializer: object, data: bytes, value: object
) -> None:
    produce(topic, [data], key=data)
    one = consumer(key_deserializer=deserializer, value_deserializer=deserializer)
    one.assign([TopicPartition(topic, 0)])
    [record] = read(one, 1)
    assert (record.key, record.value) == (value, value)


# --- records that cannot be read

POISON = [b"1", b"2", b"poison", b"4", b"poison", b"6"]


def test_a_poison_record_says_where_it_is_and_the_consumer_goes_on_behind_it(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, POISON, key=b"key")
    one = consumer(topic, group_id=group, value_deserializer=int)
    assert values(read(one, 2)) == [1, 2]
    with pytest.raises(
        RecordDeserializationError, match=f"{topic}-0 at offset 2: int cannot read the value"
    ) as raised:
        read(one, 1)
    assert (raised.value.topic_partition, raised.value.offset) == (TopicPartition(topic, 0), 2)
    assert (raised.value.raw_record.key, raised.value.raw_record.value) == (b"key", b"poison")
    assert raised.value.field == "value"
    assert values(read(one, 1)) == [4]
    with pytest.raises(RecordDeserializationError, match="offset 4"):
        read(one, 1)
    assert values(read(one, 1)) == [6]


def test_a_poison_record_ends_an_iteration_and_the_next_one_goes_on(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, POISON)
    one = consumer(topic, group_id=group, value_deserializer=int, consumer_timeout_ms=2_000)
    seen: list[object] = []
    for _ in range(3):
        try:
            for record in one:
                seen.append(record.value)  # noqa: PERF401
        except RecordDeserializationError as error:
            seen.append(f"poison at {error.offset}")
    assert seen == [1, 2, "poison at 2", 4, "poison at 4", 6]


def test_a_poison_record_that_nobody_handled_is_not_committed(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, POISON)
    with (
        pytest.raises(RecordDeserializationError),
        consumer(topic, group_id=group, value_deserializer=int) as one,
    ):
        read(one, 6)
    assert committed_offset(consumer(group_id=group), topic) == 2


def test_poison_records_can_be_skipped(
    consumer: MakeConsumer, topic: str, produce: Produce, caplog: pytest.LogCaptureFixture
) -> None:
    produce(topic, POISON)
    one = consumer(value_deserializer=int, on_deserialization_error="skip")
    one.assign([TopicPartition(topic, 0)])
    with caplog.at_level(logging.WARNING, "penstock.client"):
        assert values(read(one, 4)) == [1, 2, 4, 6]
    assert [line for line in caplog.messages if f"skipped {topic}-0 at offset 2" in line]


def test_poison_records_can_go_to_a_function(consumer: MakeConsumer, topic: str, produce: Produce) -> None:
    produce(topic, POISON)
    dead: list[bytes] = []
    one = consumer(
        key_deserializer="string",
        value_deserializer=int,
        on_deserialization_error=lambda error: dead.append(error.raw_record.value),
    )
    one.assign([TopicPartition(topic, 0)])
    assert values(read(one, 4)) == [1, 2, 4, 6]
    assert dead == [b"poison", b"poison"]


def test_only_poison_does_not_look_like_the_end(consumer: MakeConsumer, topic: str, produce: Produce) -> None:
    produce(topic, [b"poison", b"poison"])
    one = consumer(value_deserializer=int, on_deserialization_error="skip")
    one.assign([TopicPartition(topic, 0)])
    assert one.poll(2) == []
    assert one.position(TopicPartition(topic, 0)) == 2


# --- how it is made


def test_topics_and_config_come_in_the_ways_people_expect(kafka: KafkaServer, group: str) -> None:
    config = {"bootstrap.servers": kafka.bootstrap, "group.id": group}
    ways: list[Callable[[], KafkaConsumer]] = [
        lambda: KafkaConsumer("a", "b", bootstrap_servers=kafka.bootstrap, group_id=group),
        lambda: KafkaConsumer(["a", "b"], config),
        lambda: KafkaConsumer("a", "b", config),
        lambda: KafkaConsumer(["a", "b"], config, client_id="billing"),
    ]
    for way in ways:
        with way() as made:
            assert made.subscription() == ["a", "b"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KafkaConsumer("a", group_id="g"), "bootstrap.servers: missing"),
        (lambda: KafkaConsumer(bootstrap_servers="h:1", gruop_id="g"), "did you mean group_id"),
        (lambda: KafkaConsumer("^a", "b", bootstrap_servers="h:1"), "takes one of the two"),
        (
            lambda: KafkaConsumer(bootstrap_servers="h:1", on_deserialization_error="ignore"),
            "on_deserialization_error: got 'ignore'; takes raise, skip or a function",
        ),
        (lambda: KafkaConsumer(bootstrap_servers="h:1", value_deserializer="jason"), "did you mean json"),
        (lambda: KafkaConsumer(bootstrap_servers="h:1", broker_address_family="v5"), "broker.address.family"),
    ],
)
def test_what_makes_no_consumer(make: Callable[[], KafkaConsumer], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def test_without_a_group_there_is_nothing_to_join_or_to_commit(consumer: MakeConsumer, topic: str) -> None:
    one = consumer()
    with pytest.raises(KafkaError, match=r"group.id is missing; set it, or use assign\(\)"):
        one.subscribe(topic)
    with pytest.raises(KafkaError, match=r"group\.id is missing"):
        one.commit({TopicPartition(topic, 0): 1})
    with pytest.raises(KafkaError, match=r"group\.id is missing"):
        one.committed([TopicPartition(topic, 0)])


def test_a_closed_consumer_says_so(consumer: MakeConsumer, topic: str, group: str) -> None:
    one = consumer(topic, group_id=group)
    one.close()
    one.close()
    with pytest.raises(KafkaError, match="the consumer is closed"):
        one.poll(0)
    assert list(one) == []


def test_a_consumer_that_was_dropped_warns(kafka: KafkaServer) -> None:
    with pytest.warns(ResourceWarning, match="was never closed"):
        KafkaConsumer(bootstrap_servers=kafka.bootstrap)


# --- columns


def test_poll_batch_has_the_same_records_as_columns(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(3), key=b"7", timestamp=5)
    with consumer(topic, group_id=group) as one:
        batch = one.poll_batch(30)
        while len(batch) < 3:
            one.seek(TopicPartition(topic, 0), 0)
            batch = one.poll_batch(30)
        assert (batch.values, batch.keys, batch.offsets) == (numbers(3), [b"7"] * 3, [0, 1, 2])
        assert batch.partitions == [TopicPartition(topic, 0)] * 3
        assert batch.timestamps_ms == [5, 5, 5]
        assert [record.value for record in batch.records()] == numbers(3)
    assert committed_offset(consumer(group_id=group), topic) == 3


def test_poll_batch_deserializes(consumer: MakeConsumer, topic: str, produce: Produce) -> None:
    produce(topic, [b"1"], key=b"k")
    one = consumer(value_deserializer=int, key_deserializer="string")
    one.assign([TopicPartition(topic, 0)])
    batch = one.poll_batch(30)
    assert (batch.values, batch.keys) == ([1], ["k"])
    assert [record.value for record in batch.records()] == [1]


def test_a_record_has_its_timestamp_under_both_names(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers) as producer:
        producer.send(topic, b"", timestamp_ms=1_700_000_000_123).result(30)
    with KafkaConsumer(
        topic, bootstrap_servers=servers, group_id=topic, auto_offset_reset="earliest"
    ) as consumer:
        record = next(iter(consumer))
    assert record.timestamp == record.timestamp_ms == 1_700_000_000_123
