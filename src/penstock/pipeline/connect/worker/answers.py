"""What REST is told of connectors, out of what the topics say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from penstock.pipeline.connect.storage.config_state import KnownConnector
from penstock.pipeline.connect.storage.status_state import (
    FAILED,
    PAUSED,
    RESTARTING,
    STOPPED,
    UNASSIGNED,
    Status,
)
from penstock.pipeline.connect.worker.interface import (
    ConnectorInfo,
    ConnectorState,
    ConnectorStateInfo,
    ConnectorType,
    RestartInfo,
    State,
    TaskInfo,
    TaskState,
)


def connector_info(name: str, known: KnownConnector, type_: ConnectorType) -> ConnectorInfo:
    tasks = range(len(known.tasks))
    return {
        "name": name,
        "config": dict(known.config),
        "tasks": [{"connector": name, "task": task} for task in tasks],
        "type": type_,
    }


def task_infos(name: str, known: KnownConnector) -> list[TaskInfo]:
    return [
        {"id": {"connector": name, "task": task}, "config": dict(config)}
        for task, config in enumerate(known.tasks)
    ]


def status_info(name: str, own: Status, tasks: dict[int, Status], type_: ConnectorType) -> ConnectorStateInfo:
    return {
        "name": name,
        "connector": _connector_state(own),
        "tasks": [task_state(task, status) for task, status in sorted(tasks.items())],
        "type": type_,
    }


def current(status: Status, known: KnownConnector | None, *, is_of_earlier_life: bool = False) -> Status:
    """A state that was reached with an earlier configuration says nothing of the one that is to run now, and what
    a worker said of a connector before it was killed nothing of now."""
    is_old = is_of_earlier_life and status.state not in (PAUSED, STOPPED)
    is_as_configured = known is None or status.config_offset in (None, known.config_offset)
    if is_as_configured and not is_old:
        return status
    return Status(UNASSIGNED, status.worker_id, status.generation, version=status.version)


def _connector_state(status: Status) -> ConnectorState:
    shown: ConnectorState = {"state": cast(State, status.state), "worker_id": status.worker_id}
    if status.trace:
        shown["trace"] = status.trace
    if status.version:
        shown["version"] = status.version
    if status.restart:
        shown["restart"] = cast(RestartInfo, dict(status.restart))
    return shown


def task_state(task: int, status: Status) -> TaskState:
    return {"id": task, **_connector_state(status)}


def restarting(status: Status, *, only_failed: bool) -> Status:
    """As it will be once the restart has begun."""
    if only_failed and status.state != FAILED:
        return status
    return replace(status, state=RESTARTING, trace=None, restart={})


def invalid_config(errors: Iterable[str]) -> str:
    """Connect's words."""
    found = list(errors)
    return "\n".join(
        [
            f"Connector configuration is invalid and contains the following {len(found)} error(s):",
            *found,
            "You can also find the above list of errors at the endpoint "
            "`/connector-plugins/{connectorType}/config/validate`",
        ]
    )
