"""Each topology, in Kafka Streams' own TopologyTestDriver and in ours.

The description is the same text. Of the same random records come the same ones, topic by topic, with their timestamps,
headers and order, and as many are dropped. Records come out of order, late, without keys and without values, and
wall-clock time moves between them.
"""

from collections.abc import Iterator
from random import Random

import pytest

from penstock.streams import StreamsBuilder, TopologyTestDriver
from tests.pipeline.streams.beside_java import (
    TOPOLOGIES,
    aggregates,
    combined,
    joins,
    processors,
    stateless,
    tables,
    windows,
)
from tests.pipeline.streams.beside_java.kinds import names_of
from tests.support.kafka_streams import Advance, Outcome, Piped, kafka_streams
from tests.support.rows import each_row
from tests.support.slices import cases, sweep

pytestmark = [pytest.mark.processes, sweep]

EVENTS = 80
SEEDS = cases(2)
LEAST_TOPOLOGIES = 170
TOPICS = {"in": 10, "other": 6, "global": 3}
STEPS_MS = (0, 0, 1, 5, 20, 60, 150, 400, 2_500)
BACK_MS = (0, 0, 0, 0, 5, 60, 300, 700, 1_500, 6_000, 150_000)
LEAPS_MS = 100_000
HASHED = ("SUBSCRIPTION-RE", "-subscription-re")
"""In the names of topics whose values have hashes in them, and ours another kind."""


def events_of(seed: int, topics: dict[str, int]) -> Iterator[Piped | Advance]:
    random, now = Random(seed), 10_000 if seed % 3 else 0
    for _ in range(EVENTS):
        if random.random() < 0.12:
            yield Advance(random.choice((100, 500, 1_000, 5_000)))
        now += LEAPS_MS if random.random() < 0.02 else random.choice(STEPS_MS)
        value = None if random.random() < 0.12 else random.choice("0123456789")
        headers = (("h", random.choice((b"1", b"", None))),) if random.random() < 0.3 else ()
        (topic,) = random.choices(list(topics), list(topics.values()))
        keys = "aab01234" if topic == "global" else "aab" if seed % 2 else "abcd"
        key = None if random.random() < 0.05 else random.choice(keys)
        timestamp = max(0, now - random.choice(BACK_MS))
        yield Piped(topic, timestamp, key and key.encode(), value and value.encode(), headers)


def ours(name: str, events: list[Piped | Advance], emit_interval_ms: int) -> Outcome:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    TOPOLOGIES[name](builder)
    topology = builder.build()
    with TopologyTestDriver(topology, emit_interval_ms=emit_interval_ms) as driver:
        for event in events:
            if isinstance(event, Advance):
                driver.advance_wall_clock_time(event.by_ms)
            else:
                topic = driver.create_input_topic(event.topic, "bytes", "bytes")
                topic.pipe_input(event.key, event.value, event.timestamp, event.headers)
        outcome = Outcome(topology.describe(), dropped=sum(driver.dropped_records.values()))
        for name in driver.produced_topic_names:
            records = driver.create_output_topic(name, "bytes", "bytes").read_records_to_list()
            outcome.produced[name] = [
                Piped(name, each.timestamp, each.key, each.value, each.headers) for each in records
            ]
    return outcome


def inputs_of(name: str) -> dict[str, int]:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    TOPOLOGIES[name](builder)
    read = {topic for group in builder.build().sub_topologies for topic in group.source_topics}
    return {topic: weight for topic, weight in TOPICS.items() if topic in read}


def comparable(outcome: Outcome) -> dict[str, list[Piped]]:
    """Without changelogs, and without what has hashes in it."""
    kept = {topic: each for topic, each in outcome.produced.items() if not topic.endswith("-changelog")}
    for topic, records in kept.items():
        if any(part in topic for part in HASHED):
            kept[topic] = [Piped(topic, each.timestamp, each.key, None, each.headers) for each in records]
    return kept


def does_the_same(name: str) -> None:
    topics = inputs_of(name)
    for seed in range(SEEDS):
        events, emit_interval_ms = list(events_of(seed, topics)), 1_000 if seed % 2 else 0
        theirs = kafka_streams().run(name, events, emit_interval_ms)
        our = ours(name, events, emit_interval_ms)
        assert our.description == theirs.description
        their_records, our_records = comparable(theirs), comparable(our)
        assert set(our_records) == set(their_records), f"seed {seed}"
        for topic, records in their_records.items():
            for number, pair in enumerate(zip(our_records[topic], records, strict=False)):
                assert pair[0] == pair[1], f"seed {seed}, {topic} {number}"
            assert len(our_records[topic]) == len(records), f"seed {seed}, {topic}"
        assert our.dropped == theirs.dropped, f"seed {seed}"


@each_row("name", names_of(stateless), str)
def test_without_state(name: str) -> None:
    does_the_same(name)


@each_row("name", names_of(aggregates), str)
def test_aggregates(name: str) -> None:
    does_the_same(name)


@each_row("name", names_of(tables), str)
def test_tables(name: str) -> None:
    does_the_same(name)


@each_row("name", names_of(windows), str)
def test_windows(name: str) -> None:
    does_the_same(name)


@each_row("name", names_of(joins), str)
def test_joins(name: str) -> None:
    does_the_same(name)


@each_row("name", names_of(combined), str)
def test_steps_after_one_another(name: str) -> None:
    does_the_same(name)


@each_row("name", names_of(processors), str)
def test_processors(name: str) -> None:
    does_the_same(name)


def test_enough_topologies_are_compared() -> None:
    assert len(TOPOLOGIES) >= LEAST_TOPOLOGIES
