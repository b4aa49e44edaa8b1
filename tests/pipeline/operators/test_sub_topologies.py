"""Sub-topologies as tasks of their own, with topics between them, make what one task of all of them makes; also when
tasks are made anew in between, out of their changelogs and notes.
"""

import json
from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.task import Task
from penstock.pipeline.plan.nodes import SubTopology
from tests.pipeline.streams.beside_java.kinds import NAMES
from tests.pipeline.streams.beside_java.runs import built, events_of, inputs_of, ours
from tests.support.examples import examples
from tests.support.kafka_streams import Advance, Piped
from tests.support.rows import each_row

TELLS_STREAM_TIME = {"process_values_counted"}
"""Each task has its own."""
REMEMBERS_MORE = {*TELLS_STREAM_TIME, "punctuate_stream_time", "punctuate_wall_clock"}
"""Outside its stores."""
APPLICATION = "test-app"


class SeparateTasks:
    def __init__(self, name: str) -> None:
        topology = built(name)
        groups = topology.sub_topologies
        self.topology = topology
        self.globals = [Task(topology, group.nodes, APPLICATION) for group in groups if group.is_global]
        self.global_stores: dict[str, Any] = {
            name: store for task in self.globals for name, store in task.stores.items()
        }
        self.now = 0
        self.groups = [group for group in groups if not group.is_global]
        self.tasks = [self.made(group) for group in self.groups]
        for task in (*self.globals, *self.tasks):
            task.start()
        self.offsets: dict[str, int] = {}
        self.produced: dict[str, list[Piped]] = {}

    def made(self, group: SubTopology) -> Task:
        return Task(
            self.topology,
            group.nodes,
            APPLICATION,
            now_ms=self.now,
            emit_interval_ms=0,
            global_stores=self.global_stores,
        )

    def run(self, events: Iterable[Piped | Advance]) -> dict[str, list[Piped]]:
        self._settle()
        for event in events:
            if isinstance(event, Advance):
                self.now += event.by_ms
                for task in self.tasks:
                    task.punctuate(self.now)
            else:
                self._add(event.topic, event.key, event.value, event.timestamp, event.headers)
            self._settle()
            self.after_event()
        return self.produced

    def after_event(self) -> None:
        pass

    def _add(
        self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers
    ) -> None:
        offset = self.offsets.get(topic, 0)
        self.offsets[topic] = offset + 1
        for task in (*self.globals, *self.tasks):
            if topic in task.topics:
                task.add(topic, offset, key, value, timestamp, headers)
        for task in self.globals:
            while task.has_records:
                task.process_next(self.now)

    def _settle(self) -> None:
        while True:
            for task in self.tasks:
                for made in task.take_produced():
                    record = Piped(made.topic, made.timestamp, made.key, made.value, made.headers)
                    self.produced.setdefault(made.topic, []).append(record)
                    self._add(made.topic, made.key, made.value, made.timestamp, made.headers)
            if not (ready := [task for task in self.tasks if task.has_records]):
                return
            ready[0].process_next(self.now)


@each_row("name", [name for name in NAMES if name not in TELLS_STREAM_TIME], str)
def test_separate_tasks_make_the_same(name: str) -> None:
    events = list(events_of(1, inputs_of(name)))
    assert SeparateTasks(name).run(events) == ours(name, events, 0).produced


class TasksMadeAnew(SeparateTasks):
    """Now and then a task goes, as with its process, and the next one has what is in topics."""

    def __init__(self, name: str, seed: int, leaves: str) -> None:
        self.random = Random(seed)
        self.leaves = leaves
        super().__init__(name)

    def after_event(self) -> None:
        for number, group in enumerate(self.groups):
            if self.random.random() < 0.1:
                notes = json.dumps(self.tasks[number].notes())
                self.tasks[number].close()
                self.tasks[number] = task = self.made(group)
                for name, store in task.stores.items():
                    for record in self.changelog(name):
                        store.restore(record.key, record.value, record.timestamp)
                task.recall(json.loads(notes))
                task.start()

    def changelog(self, store: str) -> list[Piped]:
        """All of it; or the last record of each key in a transaction, of those that are random here; or what compaction
        leaves: the last record of each key, and some of those before."""
        records = self.produced.get(f"{APPLICATION}-{self.topology.stores[store].changelog}", [])
        if self.leaves == "whole":
            return records
        if self.leaves == "transactions":
            transactions: list[dict[bytes | None, Piped]] = [{}]
            for record in records:
                if self.random.random() < 0.2:
                    transactions.append({})
                transactions[-1].pop(record.key, None)
                transactions[-1][record.key] = record
            return [record for each in transactions for record in each.values()]
        clean = self.random.randint(0, len(records))
        last = {record.key: place for place, record in enumerate(records)}
        return [record for place, record in enumerate(records) if place >= clean or last[record.key] == place]


@pytest.mark.parametrize("leaves", ["whole", "transactions", "compacted"])
@each_row("name", [name for name in NAMES if name not in REMEMBERS_MORE], str)
def test_tasks_that_are_made_anew_go_on(name: str, leaves: str) -> None:
    for seed in range(examples(2)):
        events = list(events_of(seed, inputs_of(name)))
        assert TasksMadeAnew(name, seed, leaves).run(events) == ours(name, events, 0).produced
