"""Sub-topologies as tasks of their own, with topics between them, make what one task of all of them makes."""

from collections.abc import Iterable
from typing import Any

from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.task import Task
from tests.pipeline.streams.beside_java.kinds import NAMES
from tests.pipeline.streams.beside_java.runs import built, events_of, inputs_of, ours
from tests.support.kafka_streams import Advance, Piped
from tests.support.rows import each_row

TELLS_STREAM_TIME = {"process_values_counted"}
"""Each task has its own."""
APPLICATION = "test-app"


class SeparateTasks:
    def __init__(self, name: str) -> None:
        topology = built(name)
        groups = topology.sub_topologies
        self.globals = [Task(topology, group.nodes, APPLICATION) for group in groups if group.is_global]
        stores: dict[str, Any] = {name: store for task in self.globals for name, store in task.stores.items()}
        self.tasks = [
            Task(topology, group.nodes, APPLICATION, emit_interval_ms=0, global_stores=stores)
            for group in groups
            if not group.is_global
        ]
        self.now = 0
        self.offsets: dict[str, int] = {}
        self.produced: dict[str, list[Piped]] = {}

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
        return self.produced

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
