"""Topologies on a broker and on Spark make what they make in memory, records, timestamps and order the same."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.tasks.program import ProgramFile
from penstock.testing import InProcessBroker
from tests.pipeline.streams.beside_java.kinds import NAMES
from tests.pipeline.streams.beside_java.runs import events_of, inputs_of, ours
from tests.pipeline.tasks.running import make_topics, pipe, produced, program_of, running
from tests.support.kafka_streams import Piped, kafka_streams
from tests.support.processes import wait_for

pytestmark = [pytest.mark.processes, pytest.mark.timeout(240)]

OF_ONE_INPUT = (
    *("branches", "count_by_value", "table_count", "count_of_counts", "tumbling_count", "hopping_reduce"),
    *("sliding_aggregate", "session_aggregate", "process_then_count", "tumbling_suppressed"),
)
"""Records may be late."""
OF_TWO_INPUTS = ("stream_join", "stream_table_join", "table_outer_join", "merge", "cogroup")
"""Their records are in the order of their times, which says how they meet."""
SECONDS = 60.0
BASE_MS = 1_000_000
"""librdkafka takes a time of 0 for none."""
assert {*OF_ONE_INPUT, *OF_TWO_INPUTS} <= {*NAMES}


def records_of(name: str) -> list[Piped]:
    records = [each for each in events_of(3, inputs_of(name)) if isinstance(each, Piped)]
    if name in OF_TWO_INPUTS:
        return [replace(each, timestamp=BASE_MS + 7 * number) for number, each in enumerate(records)]
    return [replace(each, timestamp=BASE_MS + each.timestamp) for each in records]


def expected_of(name: str, records: list[Piped]) -> dict[str, list[Piped]]:
    """By the topic, as it is called in the program that is named test-app."""
    return {
        topic: each
        for topic, each in ours(name, list(records), 0).produced.items()
        if topic.startswith("out")
    }


class Case:
    """A program; its topics have a prefix where others run on the same broker."""

    def __init__(self, name: str, prefix: str = "") -> None:
        self.name, self.prefix = name, prefix
        self.records = records_of(name)
        self.expected = expected_of(name, self.records)

    def file(self, folder: Path) -> ProgramFile:
        return program_of(self.name, f"{self.prefix}app", folder, self.prefix)

    def topics(self) -> dict[str, int]:
        named = {*inputs_of(self.name), *(each.topic for each in self.records), *self.expected, "out"}
        return {f"{self.prefix}{topic}": 1 for topic in named}

    def inputs(self) -> Iterator[Piped]:
        return (replace(each, topic=f"{self.prefix}{each.topic}") for each in self.records)

    def results(self, broker: InProcessBroker) -> dict[str, list[Piped]]:
        return {
            topic: [replace(each, topic=topic) for each in produced(broker, f"{self.prefix}{topic}")]
            for topic in self.expected
        }

    def is_done(self, broker: InProcessBroker) -> bool:
        found = self.results(broker)
        return all(len(found[topic]) >= len(records) for topic, records in self.expected.items())


def test_topologies_on_kafka_streams() -> None:
    """Kafka Streams itself makes the same of the same records, on our broker; each topology on one of its own, since it
    gives topics their names."""
    cases = [Case(name) for name in (*OF_ONE_INPUT, *OF_TWO_INPUTS)]
    with ExitStack() as stack:
        brokers = {case.name: stack.enter_context(InProcessBroker()) for case in cases}
        stack.callback(kafka_streams().stop)
        for case in cases:
            make_topics(brokers[case.name], case.topics())
            pipe(brokers[case.name], case.inputs())
            kafka_streams().start(case.name, brokers[case.name].bootstrap_servers)
        require_done({case: brokers[case.name] for case in cases})


def test_topologies_on_spark(streams_broker: InProcessBroker, engine: Engine, tmp_path: Path) -> None:
    cases = [Case(name, f"{name}-{uuid.uuid4().hex[:6]}-") for name in (*OF_ONE_INPUT, *OF_TWO_INPUTS)]
    for case in cases:
        make_topics(streams_broker, case.topics())
        pipe(streams_broker, case.inputs())
    with ExitStack() as stack:
        applications = [
            stack.enter_context(running(streams_broker, engine, case.file(tmp_path), packs=1, waits=False))
            for case in cases
        ]
        try:
            require_done(dict.fromkeys(cases, streams_broker))
        finally:
            failures = {each.id: each.failure for each in applications if each.failure is not None}
            assert not failures


def require_done(cases: Mapping[Case, InProcessBroker]) -> None:
    """That each comes to have made what it should, and nothing else."""
    with suppress(TimeoutError):  # the comparison says more
        wait_for(lambda: all(case.is_done(broker) for case, broker in cases.items()), SECONDS, "all results")
    found = {case: case.results(broker) for case, broker in cases.items()}
    differ = {
        case.name: (results, case.expected) for case, results in found.items() if results != case.expected
    }
    assert not differ, sorted(differ)
