"""What a task is given for one tick, and what it says when the tick is over. Both travel as pickles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TopicPartition = tuple[str, int]
TaskKind = Literal["source", "sink"]
TaskState = Literal["RUNNING", "FAILED"]


@dataclass(frozen=True, slots=True)
class TaskWork:
    """One task's part of a tick.

    `task_class` is "package.module:Class". A source gets its connector's known offsets, keys and values as they are in
    the offsets topic, and the position by partition where reading that topic goes on (a partition that is not named is
    read from its beginning). A sink gets its partitions, each with the next offset to read (None: as
    `auto.offset.reset` says). Worker configs are those of worker.properties that tasks need: `bootstrap.servers` and
    security, `group.id`, `offset.storage.topic`, converters, `plugin.path`, `producer.` `consumer.` `admin.` prefixes.
    """

    connector: str
    task: int
    kind: TaskKind
    task_class: str
    task_configs: Mapping[str, str]
    connector_configs: Mapping[str, str]
    worker_configs: Mapping[str, str]
    run_ms: int
    offsets: list[tuple[bytes, bytes | None]] = field(default_factory=list)
    offsets_position: Mapping[int, int] = field(default_factory=dict)
    positions: Mapping[TopicPartition, int | None] = field(default_factory=dict)
    generation: int = 0

    @property
    def name(self) -> str:
        return f"{self.connector}-{self.task}"


@dataclass(frozen=True, slots=True)
class TaskReport:
    """How a tick went for one task.

    `positions` are a sink's offsets that may be committed now, also when it failed later in the tick. `is_fenced` says
    that another attempt of the same task took over: not the connector's fault, and nothing is lost. `is_retriable`
    says that Kafka could not be reached or was too slow, so that the same work may succeed later.
    """

    connector: str
    task: int
    generation: int
    state: TaskState = "RUNNING"
    error_message: str | None = None
    trace: str | None = None
    is_fenced: bool = False
    is_retriable: bool = False
    positions: Mapping[TopicPartition, int] = field(default_factory=dict)
    topics: frozenset[str] = frozenset()
    polled: int = 0
    records: int = 0
    bytes: int = 0
    skipped: int = 0
    dead_lettered: int = 0
    failures: int = 0
    retries: int = 0
    transactions: int = 0
    run_ms: int = 0
