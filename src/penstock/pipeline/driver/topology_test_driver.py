"""A topology in memory, record by record."""

from __future__ import annotations

import re
from collections import deque
from typing import Any, Self, TypeVar

from penstock.errors import ConfigError
from penstock.pipeline.driver.topics import TestInputTopic, TestOutputTopic
from penstock.pipeline.formats.serdes import SerdeSpec, serde_of
from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.stores.key_value import KeyValueStore
from penstock.pipeline.operators.stores.session import SessionStore
from penstock.pipeline.operators.stores.window import WindowStore
from penstock.pipeline.operators.task import Produced, Task
from penstock.pipeline.plan.nodes import Source
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.topology import Topology

StoreT = TypeVar("StoreT", KeyValueStore, WindowStore, SessionStore)


class TopologyTestDriver:
    """Runs a topology in memory: what is piped into its topics comes out of its others before the call returns.

    All topics have one partition. Keys and values go through their serdes, as they would on the way over a broker.
    Time is what records say; wall-clock time stands still until `advance_wall_clock_time`. What closed windows let out
    comes at once, unless there is to be an interval between.

    >>> from penstock.streams import Consumed, Produced, StreamsBuilder, TopologyTestDriver
    >>> builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    >>> words = builder.stream("lines").flat_map_values(str.split).group_by(lambda key, word: word)
    >>> words.count().to_stream().to("counts", Produced("string", "long"))
    >>> with TopologyTestDriver(builder.build()) as driver:
    ...     lines = driver.create_input_topic("lines", "string", "string")
    ...     counts = driver.create_output_topic("counts", "string", "long")
    ...     lines.pipe_input(None, "to be or not to be")
    ...     counts.read_key_values_to_map()
    {'to': 2, 'be': 2, 'or': 1, 'not': 1}
    """

    def __init__(
        self,
        topology: Topology,
        *,
        application_id: str = "test-app",
        initial_wall_clock_time_ms: int = 0,
        emit_interval_ms: int = 0,
    ) -> None:
        self._topology, self._now_ms = topology, initial_wall_clock_time_ms
        groups = topology.sub_topologies
        self._global_tasks = [
            Task(topology, group.nodes, application_id, now_ms=self._now_ms)
            for group in groups
            if group.is_global
        ]
        self._global_stores = {
            name: store for task in self._global_tasks for name, store in task.stores.items()
        }
        is_global = {node.name for group in groups if group.is_global for node in group.nodes}
        nodes = [node for node in topology.nodes.values() if node.name not in is_global]
        self._patterns = [node.pattern for node in nodes if isinstance(node, Source) and node.pattern]
        self._task = Task(
            topology,
            nodes,
            application_id,
            now_ms=self._now_ms,
            emit_interval_ms=emit_interval_ms,
            global_stores=self._global_stores,
        )
        for task in (*self._global_tasks, self._task):
            task.start()
        self._offsets: dict[str, int] = {}
        self._produced: dict[str, deque[Produced]] = {}
        self._settle()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the processors."""
        self._task.close()

    # --- topics

    def create_input_topic(
        self,
        topic: str,
        key_serde: SerdeSpec,
        value_serde: SerdeSpec,
        *,
        start_timestamp_ms: int | None = None,
        auto_advance_ms: int = 0,
    ) -> TestInputTopic:
        start = self._now_ms if start_timestamp_ms is None else start_timestamp_ms
        serdes = _serdes(key_serde, value_serde)
        return TestInputTopic(self._pipe, topic, *serdes, start, auto_advance_ms)

    def create_output_topic(
        self, topic: str, key_serde: SerdeSpec, value_serde: SerdeSpec
    ) -> TestOutputTopic:
        records = self._produced.setdefault(topic, deque())
        return TestOutputTopic(records, topic, *_serdes(key_serde, value_serde))

    @property
    def produced_topic_names(self) -> set[str]:
        """Internal ones among them."""
        return {topic for topic, records in self._produced.items() if records}

    # --- time and records

    def advance_wall_clock_time(self, by_ms: int) -> None:
        """Runs the punctuators that are due then."""
        self._now_ms += by_ms
        self._task.punctuate(self._now_ms)
        self._settle()

    def _pipe(
        self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers
    ) -> None:
        if not self._add(topic, key, value, timestamp, headers):
            known = sorted(
                {*self._task.topics, *(each for task in self._global_tasks for each in task.topics)}
            )
            raise ConfigError(f"topic {topic!r} is none that the topology reads: {', '.join(known)}")
        self._settle()

    def _add(
        self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers
    ) -> bool:
        """Whether somebody reads it."""
        offset = self._offsets.get(topic, 0)
        readers = [task for task in self._global_tasks if topic in task.topics]
        for task in readers:
            task.add(topic, offset, key, value, timestamp, headers)
            while task.has_records:
                task.process_next(self._now_ms)
        if is_read := self._reads(topic):
            self._task.add(topic, offset, key, value, timestamp, headers)
        self._offsets[topic] = offset + 1
        return is_read or bool(readers)

    def _reads(self, topic: str) -> bool:
        if topic not in self._task.topics:
            for pattern in self._patterns:
                if re.fullmatch(pattern, topic):
                    self._task.read_pattern(pattern, topic)
        return topic in self._task.topics

    def _settle(self) -> None:
        """Until nothing waits any more; what goes into a topic that is read comes back in."""
        self._capture()
        while self._task.has_records:
            self._task.process_next(self._now_ms)
            self._capture()

    def _capture(self) -> None:
        for produced in self._task.take_produced():
            self._produced.setdefault(produced.topic, deque()).append(produced)
            self._add(produced.topic, produced.key, produced.value, produced.timestamp, produced.headers)

    # --- what there is inside

    def get_state_store(self, name: str) -> Any:
        stores = {**self._global_stores, **self._task.stores}
        if name not in stores:
            raise ConfigError(f"there is no store {name!r}; stores: {', '.join(sorted(stores)) or 'none'}")
        return stores[name]

    def get_key_value_store(self, name: str) -> KeyValueStore:
        return self._store(name, KeyValueStore)

    def get_window_store(self, name: str) -> WindowStore:
        return self._store(name, WindowStore)

    def get_session_store(self, name: str) -> SessionStore:
        return self._store(name, SessionStore)

    def _store(self, name: str, kind: type[StoreT]) -> StoreT:
        store = self.get_state_store(name)
        if not isinstance(store, kind):
            raise ConfigError(f"store {name!r} is no {kind.__name__} but a {type(store).__name__}")
        return store

    @property
    def dropped_records(self) -> dict[str, int]:
        """How many were dropped, for null keys or for being late, by the processor that did."""
        tasks = [self._task, *self._global_tasks]
        return {name: count for task in tasks for name, count in task.dropped.items()}


def _serdes(key: SerdeSpec, value: SerdeSpec) -> tuple[Serde, Serde]:
    serdes = serde_of(key, "key"), serde_of(value, "value")
    assert serdes[0] is not None
    assert serdes[1] is not None, "a topic of a test needs both serdes"
    return serdes[0], serdes[1]
