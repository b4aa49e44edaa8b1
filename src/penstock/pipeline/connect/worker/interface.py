"""What the REST API asks of a worker. Results are dictionaries in the shape of Connect's JSON.

All methods raise subclasses of `ConnectError` (`worker.errors.status_of` gives the HTTP status): `NotFoundError`
for an unknown connector or task, `RequestTargetError` (`NotLeaderError`, `NotAssignedError`) when another worker has
to be asked, whose address is its `url`, `RebalanceNeededError` while workers agree on who does what,
`BadRequestError` for what makes no sense. They are called in the worker's event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

from penstock.pipeline.connect.settings import ConnectSettings

TargetState = Literal["STARTED", "PAUSED", "STOPPED"]
State = Literal["UNASSIGNED", "RUNNING", "PAUSED", "FAILED", "DESTROYED", "RESTARTING", "STOPPED"]
ConnectorType = Literal["source", "sink", "unknown"]


class TaskId(TypedDict):
    connector: str
    task: int


class ConnectorInfo(TypedDict):
    """GET /connectors/{c}"""

    name: str
    config: dict[str, str]
    tasks: list[TaskId]
    type: ConnectorType


class TaskInfo(TypedDict):
    """An element of GET /connectors/{c}/tasks"""

    id: TaskId
    config: dict[str, str]


class RestartInfo(TypedDict, total=False):
    """How often what failed was restarted by itself, and when (milliseconds since 1970) it will be again."""

    attempts: int
    max_retries: int
    next_restart_at_ms: int


class ConnectorState(TypedDict, total=False):
    """`trace` only where there is one; `version` only where it is known; `restart` only after a failure."""

    state: State
    worker_id: str
    trace: str
    version: str
    restart: RestartInfo


class TaskState(TypedDict, total=False):
    """As a connector's."""

    id: int
    state: State
    worker_id: str
    trace: str
    version: str
    restart: RestartInfo


class ConnectorStateInfo(TypedDict):
    """GET /connectors/{c}/status"""

    name: str
    connector: ConnectorState
    tasks: list[TaskState]
    type: ConnectorType


class ConnectorOffset(TypedDict):
    partition: dict[str, Any]
    offset: dict[str, Any] | None


class ConnectorOffsets(TypedDict):
    """GET /connectors/{c}/offsets"""

    offsets: list[ConnectorOffset]


class LoggerLevel(TypedDict):
    level: str
    last_modified: int | None


class Put(NamedTuple):
    is_new: bool
    """Whether the answer is 201 instead of 200."""
    info: ConnectorInfo


class Health(NamedTuple):
    """GET /health: `status` is healthy, starting or unhealthy, with 200, 503 and 500."""

    status: Literal["healthy", "starting", "unhealthy"]
    message: str


CheckConfig = Callable[[Mapping[str, str]], Sequence[str]]
"""All errors of a connector's configuration, in words; what PUT /connector-plugins/{p}/config/validate finds. It may
take its time: a worker calls it in a thread."""


class Worker(Protocol):
    settings: ConnectSettings

    # the cluster

    def kafka_cluster_id(self) -> str: ...
    def health(self) -> Health: ...
    def leader_url(self) -> str | None:
        """Where the leader is reached; None while there is none."""

    def owner_url(self, name: str) -> str | None:
        """Where the worker is reached that runs a connector; None if none does just now."""

    # connectors

    async def connectors(self) -> list[str]: ...
    async def connector_info(self, name: str) -> ConnectorInfo: ...
    async def create(
        self, name: str, config: Mapping[str, str], initial_state: TargetState | None = None
    ) -> ConnectorInfo:
        """POST /connectors; AlreadyExistsError, or BadRequestError with every error of the configuration."""

    async def put_config(self, name: str, config: Mapping[str, str]) -> Put: ...
    async def patch_config(self, name: str, patch: Mapping[str, str | None]) -> ConnectorInfo:
        """None removes a key."""

    async def delete(self, name: str) -> None: ...

    # tasks and states

    async def tasks(self, name: str) -> list[TaskInfo]: ...
    async def status(self, name: str) -> ConnectorStateInfo: ...
    async def task_status(self, name: str, task: int) -> TaskState: ...
    async def pause(self, name: str) -> None: ...
    async def resume(self, name: str) -> None: ...
    async def stop(self, name: str) -> None: ...
    async def restart(
        self, name: str, include_tasks: bool = False, only_failed: bool = False
    ) -> ConnectorStateInfo | None:
        """None (204) for a plain restart; with either flag (202) the status, RESTARTING where it will restart."""

    async def restart_task(self, name: str, task: int) -> None: ...

    # offsets and topics

    async def offsets(self, name: str) -> ConnectorOffsets: ...
    async def alter_offsets(self, name: str, offsets: Sequence[ConnectorOffset]) -> str:
        """The message to answer with; BadRequestError unless the connector is STOPPED."""

    async def reset_offsets(self, name: str) -> str: ...
    async def topics(self, name: str) -> dict[str, dict[str, list[str]]]:
        """`{name: {"topics": [...]}}`"""

    async def reset_topics(self, name: str) -> None: ...

    # logging

    def loggers(self) -> dict[str, LoggerLevel]: ...
    def logger(self, name: str) -> LoggerLevel:
        """NotFoundError if nobody logs by that name."""

    def set_logger_level(self, namespace: str, level: str) -> list[str]:
        """On this worker, for the namespace and what is below it; the names of the changed loggers."""

    async def set_cluster_logger_level(self, namespace: str, level: str) -> None:
        """On every worker (?scope=cluster)."""
