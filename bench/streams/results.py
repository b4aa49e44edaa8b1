"""Whether what came out is right: the last count of each key and window, or each order once with its customer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import msgspec
from confluent_kafka import Consumer, Message, TopicPartition

from bench.streams.records import KEYS, PARTITIONS, WINDOW_MS, WINDOWS

ANSWER_SECONDS = 0.2
PATIENCE_SECONDS = 30.0
AT_ONCE = 10_000


class Wrong(Exception):
    """What came out is not what had to."""


def committed_messages(bootstrap: str, topic: str) -> Iterator[Message]:
    """Partition by partition; those of transactions that were aborted are not among them."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "results",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
        ends, heard = 0, time.monotonic()
        while ends < PARTITIONS:
            messages = consumer.consume(AT_ONCE, ANSWER_SECONDS)
            heard = time.monotonic() if messages else heard
            if time.monotonic() - heard > PATIENCE_SECONDS:
                raise Wrong(f"{topic} can't be read to its end")
            for message in messages:
                if message.error() is None:
                    yield message
                else:
                    ends += 1
    finally:
        consumer.close()


def require_counts(bootstrap: str, topic: str, records: int) -> None:
    decode = msgspec.json.Decoder().decode
    found: dict[tuple[bytes, int], int] = {}
    for message in committed_messages(bootstrap, topic):
        told = decode(message.value() or b"")
        found[message.key() or b"", told["start"]] = told["count"]
    first = min((start for _, start in found), default=0)
    relative = {(key, (start - first) // WINDOW_MS): number for (key, start), number in found.items()}
    expected = Counter(
        (b"key-%d" % (number % KEYS), number * WINDOWS * WINDOW_MS // records // WINDOW_MS)
        for number in range(records)
    )
    if relative != expected:
        wrong = [place for place in expected if relative.get(place) != expected[place]]
        some = [(place, relative.get(place), expected[place]) for place in wrong[:3]]
        raise Wrong(f"{topic}: {len(wrong)} of {len(expected)} counts are wrong, as {some}")


def require_joined(bootstrap: str, topic: str, records: int, *, exactly: bool) -> None:
    decode = msgspec.json.Decoder().decode
    ids: Counter[int] = Counter()
    for message in committed_messages(bootstrap, topic):
        joined = decode(message.value() or b"")
        ids[joined["id"]] += 1
        if joined["name"].split()[1].encode() != (message.key() or b"").split(b"-")[1]:
            raise Wrong(f"{topic}: {message.key()!r} has {joined}")
    if set(ids) != set(range(records)) or (exactly and max(ids.values()) != 1):
        raise Wrong(f"{topic}: {ids.total()} records of {len(ids)} orders in place of {records}")


def require_counted_on(bootstrap: str, topic: str, keys: int, events: int) -> None:
    """The first keys, of which the last of so many events came after the start."""
    found = {
        message.key(): int.from_bytes(message.value() or b"")
        for message in committed_messages(bootstrap, topic)
    }
    wrong = {key: found.get(key) for number in range(keys) if found.get(key := b"key-%d" % number) != events}
    if wrong:
        raise Wrong(f"{topic}: a store was not whole when it was used: {wrong}")
