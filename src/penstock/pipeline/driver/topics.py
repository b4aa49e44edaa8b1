"""Both ends of a topology under test."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from penstock.errors import PenstockError
from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.task import Produced
from penstock.pipeline.plan.serdes import Serde


class EmptyTopicError(PenstockError):
    """A test reads a record that is not there."""


class TestRecord(NamedTuple):
    key: Any
    value: Any
    timestamp: int
    headers: Headers = ()


TestRecord.__test__ = False  # type: ignore[attr-defined]  # for pytest, which would collect it
Pipe = Callable[[str, bytes | None, bytes | None, int, Headers], None]


class TestInputTopic:
    """Made by `TopologyTestDriver.create_input_topic`; a record has gone through when the call returns."""

    __test__ = False

    def __init__(
        self, pipe: Pipe, topic: str, key_serde: Serde, value_serde: Serde, start_ms: int, advance_ms: int
    ) -> None:
        self._pipe, self.topic = pipe, topic
        self._key_serde, self._value_serde = key_serde, value_serde
        self._time_ms, self._advance_ms = start_ms, advance_ms

    def pipe_input(
        self, key: Any, value: Any, timestamp_ms: int | None = None, headers: Headers = ()
    ) -> None:
        """Without a timestamp it is the topic's own time, which moves on by what it was told."""
        if timestamp_ms is None:
            timestamp_ms = self._time_ms
            self._time_ms += self._advance_ms
        data = self._key_serde.encode(self.topic, key), self._value_serde.encode(self.topic, value)
        self._pipe(self.topic, *data, timestamp_ms, headers)

    def pipe_values(self, values: Iterable[Any]) -> None:
        for value in values:
            self.pipe_input(None, value)

    def pipe_key_values(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        for key, value in pairs:
            self.pipe_input(key, value)

    def pipe_records(self, records: Iterable[TestRecord]) -> None:
        for record in records:
            self.pipe_input(record.key, record.value, record.timestamp, record.headers)

    def advance_time(self, by_ms: int) -> None:
        self._time_ms += by_ms


class TestOutputTopic:
    """Made by `TopologyTestDriver.create_output_topic`; what is read is gone."""

    __test__ = False

    def __init__(self, records: deque[Produced], topic: str, key_serde: Serde, value_serde: Serde) -> None:
        self._records, self.topic = records, topic
        self._key_serde, self._value_serde = key_serde, value_serde

    @property
    def is_empty(self) -> bool:
        return not self._records

    @property
    def queue_size(self) -> int:
        return len(self._records)

    def read_record(self) -> TestRecord:
        if not self._records:
            raise EmptyTopicError(f"topic {self.topic} has no record left to read")
        produced = self._records.popleft()
        key = self._key_serde.decode(self.topic, produced.key)
        value = self._value_serde.decode(self.topic, produced.value)
        return TestRecord(key, value, produced.timestamp, produced.headers)

    def read_value(self) -> Any:
        return self.read_record().value

    def read_key_value(self) -> tuple[Any, Any]:
        record = self.read_record()
        return record.key, record.value

    def read_records_to_list(self) -> list[TestRecord]:
        return [self.read_record() for _ in range(len(self._records))]

    def read_values_to_list(self) -> list[Any]:
        return [record.value for record in self.read_records_to_list()]

    def read_key_values_to_list(self) -> list[tuple[Any, Any]]:
        return [(record.key, record.value) for record in self.read_records_to_list()]

    def read_key_values_to_map(self) -> dict[Any, Any]:
        """The latest value of each key."""
        return dict(self.read_key_values_to_list())
