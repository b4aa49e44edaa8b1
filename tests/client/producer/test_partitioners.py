"""Where records go: keys where Java's client puts them, priorities to their own partitions."""

import pytest

from penstock.client.producer.partitioners import (
    Outgoing,
    PriorityPartitioner,
    RoundRobinPartitioner,
    murmur2,
    partition_of_key,
    resolve_partitioner,
)
from penstock.errors import ConfigError

# From Kafka's own test of its hash (UtilsTest.testMurmur2), as unsigned numbers.
KAFKAS_HASHES = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


def outgoing(key: bytes | None = None, **more: object) -> Outgoing:
    fields = {"topic": "orders", "key": key, "value": b"2 cups", "headers": (), "key_bytes": key, **more}
    return Outgoing(**fields)


@pytest.mark.parametrize("key", KAFKAS_HASHES, ids=len)
def test_murmur2_is_kafkas(key: bytes) -> None:
    assert murmur2(key) == KAFKAS_HASHES[key] & 0xFFFFFFFF
    assert partition_of_key(key, 7) == (KAFKAS_HASHES[key] & 0x7FFFFFFF) % 7


def test_round_robin_goes_around_each_topic_by_itself() -> None:
    partitioner = RoundRobinPartitioner()
    assert [partitioner.partition(outgoing(b"same"), 3) for _ in range(4)] == [0, 1, 2, 0]
    assert partitioner.partition(outgoing(topic="payments"), 3) == 0


def test_priorities_have_partitions_of_their_own() -> None:
    partitioner = PriorityPartitioner({"high": [0], "low": range(1, 4)}, default="low")
    assert partitioner.partition(outgoing(headers=[("priority", b"high")]), 4) == 0
    assert partitioner.partition(outgoing(headers={"priority": "high"}), 4) == 0
    assert [partitioner.partition(outgoing(), 4) for _ in range(4)] == [1, 2, 3, 1]
    with_key = {partitioner.partition(outgoing(b"customer-7"), 4) for _ in range(4)}
    assert with_key == {1 + partition_of_key(b"customer-7", 3)}


def test_a_priority_by_function() -> None:
    by_value = PriorityPartitioner({1: [5], 2: [6]}, priority_of=lambda record: record.value["priority"])
    assert by_value.partition(outgoing(value={"priority": 2}), 7) == 6
    with pytest.raises(ValueError, match="the record's priority is 3; takes one of 1, 2"):
        by_value.partition(outgoing(value={"priority": 3}), 7)


def test_priorities_without_partitions_are_refused() -> None:
    with pytest.raises(ConfigError, match="a priority without partitions"):
        PriorityPartitioner({"high": [], "low": [1]})
    with pytest.raises(ConfigError, match="got default 'medium'; takes one of 'high'"):
        PriorityPartitioner({"high": [0]}, default="medium")


def test_how_partitioners_are_given() -> None:
    assert resolve_partitioner(None) is None
    assert resolve_partitioner("default") is None
    for name in (
        "round_robin",
        "org.apache.kafka.clients.producer.RoundRobinPartitioner",
        RoundRobinPartitioner,
    ):
        assert isinstance(resolve_partitioner(name), RoundRobinPartitioner)
    by_function = resolve_partitioner(lambda topic, key, value, partitions: partitions - 1)
    assert by_function is not None
    assert by_function.partition(outgoing(), 3) == 2
    for unknown in ("com.example.Mine", 7):
        with pytest.raises(ConfigError, match=r"^partitioner\.class: got "):
            resolve_partitioner(unknown)
