"""The records of the config topic, as Kafka Connect writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from penstock.pipeline.connect.storage.json_records import encode

TARGET_STATE = "target-state-"
CONNECTOR = "connector-"
TASK = "task-"
COMMIT_TASKS = "commit-"
TASK_COUNT = "tasks-fencing-"
RESTART = "restart-connector-"
LOGGER_CLUSTER = "logger-cluster-"
SESSION_KEY = "session-key"

STARTED, PAUSED, STOPPED = "STARTED", "PAUSED", "STOPPED"
TARGET_STATES = (STARTED, PAUSED, STOPPED)

Record = tuple[bytes, bytes | None]


def connector_config(name: str, config: Mapping[str, str]) -> Record:
    return f"{CONNECTOR}{name}".encode(), encode({"properties": dict(config)})


def target_state(name: str, state: str) -> Record:
    """Workers of old versions know no STOPPED, and take it for PAUSED."""
    old = PAUSED if state == STOPPED else state
    return f"{TARGET_STATE}{name}".encode(), encode({"state": old, "state.v2": state})


def removal(name: str) -> list[Record]:
    return [(f"{CONNECTOR}{name}".encode(), None), (f"{TARGET_STATE}{name}".encode(), None)]


def task_configs(name: str, configs: Sequence[Mapping[str, str]]) -> Iterator[Record]:
    """They take effect with the last record, which says how many there are."""
    for number, config in enumerate(configs):
        yield f"{TASK}{name}-{number}".encode(), encode({"properties": dict(config)})
    yield f"{COMMIT_TASKS}{name}".encode(), encode({"tasks": len(configs)})


def restart_request(name: str, *, include_tasks: bool, only_failed: bool) -> Record:
    value = encode({"include-tasks": include_tasks, "only-failed": only_failed})
    return f"{RESTART}{name}".encode(), value


def logger_level(namespace: str, level: str) -> Record:
    return f"{LOGGER_CLUSTER}{namespace}".encode(), encode({"level": level})
