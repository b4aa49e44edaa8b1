"""What the worker offers to connectors and tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from penstock.pipeline.connect.data import SinkRecord, SourceRecord

TopicPartition = tuple[str, int]


class ConnectorContext(Protocol):
    connector_name: str

    def request_task_reconfiguration(self) -> None: ...
    def raise_error(self, error: Exception) -> None:
        """Fails the connector, from any thread."""


class OffsetReader(Protocol):
    """The offsets that the connector's tasks stored with their records."""

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None: ...
    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]: ...


class TransactionContext(Protocol):
    """With `transaction.boundary=connector`: the task says where a transaction ends, behind the records that the
    `poll` under way returns, or behind one of them. What was aborted is not seen, but its offsets are stored."""

    def commit_transaction(self, record: SourceRecord | None = None) -> None: ...
    def abort_transaction(self, record: SourceRecord | None = None) -> None: ...


class SourceTaskContext(Protocol):
    configs: Mapping[str, str]
    offsets: OffsetReader
    transaction: TransactionContext | None
    waits_for: str | None
    """What a task that is well but has nothing to read waits for, if it is more than time: its status says so."""

    def is_stopping(self) -> bool:
        """Whether a long poll should give back what it has; polls are bounded in time."""


class SinkTaskContext(Protocol):
    configs: Mapping[str, str]
    assignment: set[TopicPartition]

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Go on reading from there, whatever was committed: for a sink that remembers its own positions."""

    def pause(self, *partitions: TopicPartition) -> None: ...
    def resume(self, *partitions: TopicPartition) -> None: ...
    def timeout(self, milliseconds: int) -> None:
        """How long to wait before the same records are put again after a RetriableConnectError."""

    def request_commit(self) -> None: ...

    report: Callable[[SinkRecord, Exception], None] | None
    """Hands a record that the sink cannot take to the dead-letter queue; None where errors are not tolerated."""
