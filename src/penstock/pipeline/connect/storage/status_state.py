"""What the status topic says: the state of each connector and task, and the topics that each connector uses.

A worker that lost a task may say so later than the one that got it says that it runs: an UNASSIGNED of the same or an
older generation does not replace RUNNING, unless it is of a later configuration. How failed tasks are restarted
(`restart`) and of which of the connector's configurations a state is (`config_offset`) are fields that Kafka Connect
does not know and does not mind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.pipeline.connect.storage.json_records import decode_object, encode, split_task_key

CONNECTOR_STATUS = "status-connector-"
TASK_STATUS = "status-task-"
TOPIC_STATUS = "status-topic-"
TOPIC_SEPARATOR = ":connector-"

UNASSIGNED, RUNNING, PAUSED, FAILED = "UNASSIGNED", "RUNNING", "PAUSED", "FAILED"
DESTROYED, RESTARTING, STOPPED = "DESTROYED", "RESTARTING", "STOPPED"
STATES = (UNASSIGNED, RUNNING, PAUSED, FAILED, DESTROYED, RESTARTING, STOPPED)


@dataclass(frozen=True, slots=True)
class Status:
    state: str
    worker_id: str
    generation: int
    trace: str | None = None
    version: str | None = None
    restart: Mapping[str, int] = field(default_factory=dict)
    config_offset: int | None = None
    """Of the connector's configuration, in the config topic; None if that is not known."""

    def encoded(self) -> bytes:
        known: dict[str, object] = {
            "state": self.state,
            "trace": self.trace,
            "worker_id": self.worker_id,
            "generation": self.generation,
            "version": self.version,
        }
        if self.restart:
            known["restart"] = dict(self.restart)
        if self.config_offset is not None:
            known["config_offset"] = self.config_offset
        return encode(known)


@dataclass(frozen=True, slots=True)
class TopicStatus:
    topic: str
    connector: str
    task: int
    discover_timestamp: int

    def encoded(self) -> bytes:
        names = {"name": self.topic, "connector": self.connector, "task": self.task}
        return encode({"topic": {**names, "discoverTimestamp": self.discover_timestamp}})


def connector_key(name: str) -> bytes:
    return f"{CONNECTOR_STATUS}{name}".encode()


def task_key(name: str, task: int) -> bytes:
    return f"{TASK_STATUS}{name}-{task}".encode()


def topic_key(topic: str, name: str) -> bytes:
    return f"{TOPIC_STATUS}{topic}{TOPIC_SEPARATOR}{name}".encode()


class StatusState:
    def __init__(self) -> None:
        self.connectors: dict[str, Status] = {}
        self.tasks: dict[str, dict[int, Status]] = {}
        self.topics: dict[str, dict[str, TopicStatus]] = {}

    def replay(self, key: bytes | None, value: bytes | None) -> str | None:
        """Why a record says nothing to us, if so."""
        try:
            text = (key or b"").decode()
        except UnicodeDecodeError:
            return f"the key {key!r} is no text"
        for prefix, replay in _BY_PREFIX.items():
            if text.startswith(prefix):
                return replay(self, text.removeprefix(prefix), value)
        return f"unknown key {text!r}"

    def _replay_connector(self, name: str, value: bytes | None) -> str | None:
        if value is None:
            self.connectors.pop(name, None)
            self.tasks.pop(name, None)
            return None
        status = decode_status(value)
        if status is None or not name:
            return f"the status of connector {name!r} is {value!r}"
        self.connectors[name] = status
        return None

    def _replay_task(self, text: str, value: bytes | None) -> str | None:
        place = split_task_key(text)
        if place is None:
            return f"unknown task {text!r}"
        name, task = place
        if value is None:
            self.tasks.get(name, {}).pop(task, None)
            return None
        status = decode_status(value)
        if status is None:
            return f"the status of task {text!r} is {value!r}"
        if not _is_stale(status, self.tasks.get(name, {}).get(task)):
            self.tasks.setdefault(name, {})[task] = status
        return None

    def _replay_topic(self, text: str, value: bytes | None) -> str | None:
        topic, separator, name = text.partition(TOPIC_SEPARATOR)
        if not topic or not separator or not name:
            return f"unknown topic {text!r}"
        if value is None:
            self.topics.get(name, {}).pop(topic, None)
            return None
        status = _decode_topic(value)
        if status is None:
            return f"the status of topic {text!r} is {value!r}"
        self.topics.setdefault(name, {})[topic] = status
        return None


_BY_PREFIX = {
    CONNECTOR_STATUS: StatusState._replay_connector,
    TASK_STATUS: StatusState._replay_task,
    TOPIC_STATUS: StatusState._replay_topic,
}


def _is_stale(status: Status, known: Status | None) -> bool:
    return (
        status.state == UNASSIGNED
        and known is not None
        and known.state == RUNNING
        and known.generation >= status.generation
        and not _is_of_later_config(status, known)
    )


def _is_of_later_config(status: Status, known: Status) -> bool:
    later, earlier = status.config_offset, known.config_offset
    return later is not None and earlier is not None and later > earlier


def decode_status(data: bytes) -> Status | None:
    value = decode_object(data) or {}
    state, worker_id, generation = (value.get(name) for name in ("state", "worker_id", "generation"))
    if state not in STATES or not isinstance(worker_id, str) or not isinstance(generation, int):
        return None
    restart, config_offset = value.get("restart"), value.get("config_offset")
    return Status(
        str(state),
        worker_id,
        generation,
        _optional_text(value.get("trace")),
        _optional_text(value.get("version")),
        _numbers(restart) if isinstance(restart, dict) else {},
        config_offset if isinstance(config_offset, int) else None,
    )


def _decode_topic(data: bytes) -> TopicStatus | None:
    value = (decode_object(data) or {}).get("topic")
    if not isinstance(value, dict):
        return None
    name, connector, task, at = (value.get(key) for key in ("name", "connector", "task", "discoverTimestamp"))
    if not (isinstance(name, str) and isinstance(connector, str)):
        return None
    if not (isinstance(task, int) and isinstance(at, int)):
        return None
    return TopicStatus(name, connector, task, at)


def _optional_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _numbers(value: Mapping[str, Any]) -> dict[str, int]:
    return {key: number for key, number in value.items() if isinstance(number, int)}
