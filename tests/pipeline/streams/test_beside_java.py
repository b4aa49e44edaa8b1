"""Each topology, in Kafka Streams' own TopologyTestDriver and in ours.

The description is the same text. Of the same random records come the same ones, topic by topic, with their timestamps,
headers and order, and as many are dropped. Records come out of order, late, without keys and without values, and
wall-clock time moves between them.
"""

from dataclasses import replace

import pytest

from penstock.pipeline.plan.stores import SuppressionBufferSpec
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
from tests.pipeline.streams.beside_java.runs import built, events_of, inputs_of, ours
from tests.support.kafka_streams import Outcome, Piped, kafka_streams
from tests.support.rows import each_row
from tests.support.slices import cases, sweep

pytestmark = [pytest.mark.processes, sweep]

SEEDS = cases(2)
LEAST_TOPOLOGIES = 170
HASHED = ("SUBSCRIPTION-", "-subscription-")
"""In the names of topics whose values have hashes in them, and ours another kind."""


def comparable(outcome: Outcome, without: set[str]) -> dict[str, list[Piped]]:
    """Without some changelogs, without headers in others and the times at which rows were deleted, without hashes."""
    kept = {topic: each for topic, each in outcome.produced.items() if topic not in without}
    for topic, records in kept.items():
        if any(part in topic for part in HASHED):
            kept[topic] = records = [replace(each, value=each.value and b"") for each in records]
        if topic.endswith("-changelog"):
            plain = [replace(each, headers=()) for each in records]
            kept[topic] = [replace(each, timestamp=0) if each.value is None else each for each in plain]
    return kept


def changelogs_to_come(name: str) -> set[str]:
    stores = built(name).stores.values()
    return {f"test-app-{each.changelog}" for each in stores if isinstance(each, SuppressionBufferSpec)}


def does_the_same(name: str) -> None:
    topics, to_come = inputs_of(name), changelogs_to_come(name)
    for seed in range(SEEDS):
        events, emit_interval_ms = list(events_of(seed, topics)), 1_000 if seed % 2 else 0
        theirs = kafka_streams().run(name, events, emit_interval_ms)
        our = ours(name, events, emit_interval_ms)
        assert our.description == theirs.description
        their_records, our_records = comparable(theirs, to_come), comparable(our, to_come)
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
