"""An iteration, while others ask the same consumer how far it is, or for more."""

from __future__ import annotations

import gc

import pytest

from penstock.client.records import ConsumerRecord
from penstock.types import TopicPartition
from tests.client.consumer.conftest import MakeConsumer, Produce
from tests.client.consumer.reading import numbers, values

DESERIALIZERS = [{}, {"value_deserializer": "bytes", "key_deserializer": "string"}]
"""Bytes are handed out in another way than what is decoded."""


@pytest.mark.parametrize("settings", DESERIALIZERS, ids=["bytes", "decoded"])
def test_positions_are_exact_at_each_record(
    consumer: MakeConsumer, topic: str, produce: Produce, settings: dict[str, str]
) -> None:
    produce(topic, numbers(100))
    here = TopicPartition(topic, 0)
    one = consumer(consumer_timeout_ms=30_000, **settings)
    one.assign([here])
    for record in one:
        assert one.position(here) == record.offset + 1
        assert one.positions()[here].offset == record.offset + 1
        if record.offset == 99:
            break


@pytest.mark.parametrize("settings", DESERIALIZERS, ids=["bytes", "decoded"])
def test_two_iterations_and_poll_share_the_records(
    consumer: MakeConsumer, topic: str, produce: Produce, settings: dict[str, str]
) -> None:
    produce(topic, numbers(60))
    one = consumer(**settings)
    one.assign([TopicPartition(topic, 0)])
    first, second = iter(one), iter(one)
    seen: list[object] = []
    while len(seen) < 60:
        seen.append(next(first).value)
        seen.append(next(second).value)
        seen.extend(values(one.poll(30, max_records=1)))
    assert seen == numbers(60)


def test_what_is_fetched_is_a_consumer_record(consumer: MakeConsumer, topic: str, produce: Produce) -> None:
    produce(topic, numbers(2))
    plain, decoding = consumer(), consumer(value_deserializer="string")
    for one in (plain, decoding):
        one.assign([TopicPartition(topic, 0)])
        record = next(iter(one))
        assert isinstance(record, ConsumerRecord)
        with pytest.raises(TypeError, match="unhashable"):
            hash(record)
        assert gc.is_tracked(record) is (one is decoding)
        assert next(iter(one)) != record
