"""What the config topic says: connectors, their configs and target states, and the configs of their tasks.

It is a fold: `replay` is the only way in. Task configs take effect with their commit record, which says how many there
should be. If compaction has removed one of them, the connector is `inconsistent` until its tasks are written anew.
What asks for something to be done once (a restart, a log level) is not state; `replay` returns it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.pipeline.connect.storage.config_records import (
    COMMIT_TASKS,
    CONNECTOR,
    LOGGER_CLUSTER,
    RESTART,
    SESSION_KEY,
    STARTED,
    TARGET_STATE,
    TARGET_STATES,
    TASK,
    TASK_COUNT,
)
from penstock.pipeline.connect.storage.json_records import decode_object, split_task_key


@dataclass(frozen=True, slots=True)
class RestartRequest:
    connector: str
    include_tasks: bool
    only_failed: bool


@dataclass(frozen=True, slots=True)
class LoggerRequest:
    namespace: str
    level: str


@dataclass(frozen=True, slots=True)
class ConnectorChanged:
    """A connector came, went, or has another config, target state or other tasks."""

    connector: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that says nothing to us; `reason` in one line."""

    reason: str


Said = RestartRequest | LoggerRequest | ConnectorChanged | Unreadable | None


@dataclass(slots=True)
class KnownConnector:
    config: dict[str, str]
    config_offset: int
    """Where the topic says so: another word for which of the connector's configurations it is."""
    target_state: str = STARTED
    tasks: list[dict[str, str]] = field(default_factory=list)
    tasks_of_config: dict[str, str] | None = None
    """The connector's config that its tasks' were made of; None if none were."""
    is_inconsistent: bool = False


class ConfigState:
    def __init__(self) -> None:
        self.connectors: dict[str, KnownConnector] = {}
        self._offset = -1
        self._target_states: dict[str, str] = {}
        self._deferred: dict[str, dict[int, dict[str, str]]] = {}

    def replay(self, key: bytes | None, value: bytes | None, offset: int) -> Said:
        self._offset = offset
        try:
            text = (key or b"").decode()
        except UnicodeDecodeError:
            return Unreadable(f"the key {key!r} is no text")
        for prefix, replay in _BY_PREFIX.items():
            if text.startswith(prefix):
                return replay(self, text.removeprefix(prefix), value)
        return None if text == SESSION_KEY else Unreadable(f"unknown key {text!r}")

    def _replay_target_state(self, name: str, value: bytes | None) -> Said:
        if value is None:
            self._target_states.pop(name, None)
        else:
            state = _target_state(decode_object(value))
            if state is None:
                return Unreadable(f"the target state of connector {name!r} is {value!r}")
            self._target_states[name] = state
        if (known := self.connectors.get(name)) is None:
            return None
        known.target_state = self._target_states.get(name, STARTED)
        return ConnectorChanged(name)

    def _replay_connector(self, name: str, value: bytes | None) -> Said:
        if value is None:
            self._deferred.pop(name, None)
            return ConnectorChanged(name) if self.connectors.pop(name, None) else None
        config = _properties(decode_object(value))
        if config is None:
            return Unreadable(f"the config of connector {name!r} is {value!r}")
        if (known := self.connectors.get(name)) is not None:
            known.config, known.config_offset = config, self._offset
        else:
            state = self._target_states.get(name, STARTED)
            self.connectors[name] = KnownConnector(config, self._offset, state)
        return ConnectorChanged(name)

    def _replay_task(self, text: str, value: bytes | None) -> Said:
        place = split_task_key(text)
        config = None if value is None else _properties(decode_object(value))
        if place is None or config is None:
            return Unreadable(f"the config of task {text!r} is {value!r}")
        self._deferred.setdefault(place[0], {})[place[1]] = config
        return None

    def _replay_commit(self, name: str, value: bytes | None) -> Said:
        deferred = self._deferred.pop(name, {})
        known = self.connectors.get(name)
        if known is None:
            return None  # it was deleted, and compaction has removed what told of it
        count = _number(decode_object(value or b""), "tasks")
        if count is None:
            return Unreadable(f"the number of tasks of connector {name!r} is {value!r}")
        if set(deferred) >= set(range(count)):
            known.tasks = [deferred[number] for number in range(count)]
            known.tasks_of_config = dict(known.config)
            known.is_inconsistent = False
        else:
            known.is_inconsistent = True
        return ConnectorChanged(name)

    def _replay_task_count(self, name: str, value: bytes | None) -> Said:
        return None

    def _replay_restart(self, name: str, value: bytes | None) -> Said:
        asked = decode_object(value or b"")
        if asked is None:
            return Unreadable(f"the request to restart connector {name!r} is {value!r}")
        return RestartRequest(name, asked.get("include-tasks") is True, asked.get("only-failed") is True)

    def _replay_logger(self, namespace: str, value: bytes | None) -> Said:
        level = (decode_object(value or b"") or {}).get("level")
        if not isinstance(level, str):
            return Unreadable(f"the level of logger {namespace!r} is {value!r}")
        return LoggerRequest(namespace, level)


_BY_PREFIX = {
    TARGET_STATE: ConfigState._replay_target_state,
    CONNECTOR: ConfigState._replay_connector,
    TASK_COUNT: ConfigState._replay_task_count,
    TASK: ConfigState._replay_task,
    COMMIT_TASKS: ConfigState._replay_commit,
    RESTART: ConfigState._replay_restart,
    LOGGER_CLUSTER: ConfigState._replay_logger,
}


def _properties(value: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Keys without a value are left out: a config that lacks a key and one that has none for it are the same."""
    properties = (value or {}).get("properties")
    if not isinstance(properties, dict):
        return None
    return {key: _text(each) for key, each in properties.items() if each is not None}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _target_state(value: Mapping[str, Any] | None) -> str | None:
    states = [(value or {}).get(field) for field in ("state.v2", "state")]
    found = next((state for state in states if isinstance(state, str)), None)
    return found if found in TARGET_STATES else None


def _number(value: Mapping[str, Any] | None, field: str) -> int | None:
    number = (value or {}).get(field)
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else None
