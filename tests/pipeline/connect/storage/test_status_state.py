"""The fold of the status topic."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.storage.status_state import (
    Status,
    StatusState,
    TopicStatus,
    connector_key,
    task_key,
    topic_key,
)


def test_records_as_kafka_connect_writes_them() -> None:
    """Taken from a status topic of Kafka Connect 4.3."""
    state = StatusState()
    own = b'{"state":"RUNNING","trace":null,"worker_id":"10.0.0.1:8083","generation":3,"version":"4.3.1"}'
    task = b'{"state":"FAILED","trace":"java.lang.Error","worker_id":"10.0.0.1:8083","generation":3,"version":"4.3.1"}'
    topic = b'{"topic":{"name":"lines","connector":"a-b","task":0,"discoverTimestamp":1700000000000}}'
    assert state.replay(b"status-connector-a-b", own) is None
    assert state.replay(b"status-task-a-b-0", task) is None
    assert state.replay(b"status-topic-lines:connector-a-b", topic) is None
    assert state.connectors == {"a-b": Status("RUNNING", "10.0.0.1:8083", 3, version="4.3.1")}
    assert state.tasks == {"a-b": {0: Status("FAILED", "10.0.0.1:8083", 3, "java.lang.Error", "4.3.1")}}
    assert state.topics == {"a-b": {"lines": TopicStatus("lines", "a-b", 0, 1700000000000)}}


STATUSES = st.builds(
    Status,
    st.sampled_from(["RUNNING", "FAILED", "UNASSIGNED", "PAUSED", "STOPPED", "RESTARTING"]),
    st.text(),
    st.integers(0, 2**31 - 1),
    st.none() | st.text(),
    st.none() | st.text(),
    st.dictionaries(st.sampled_from(["attempts", "max_retries"]), st.integers(-1, 9)),
    st.none() | st.integers(0, 2**63 - 1),
)


@given(STATUSES)
def test_a_status_comes_back_as_it_was_written(status: Status) -> None:
    state = StatusState()
    assert state.replay(connector_key("c"), status.encoded()) is None
    assert state.replay(task_key("c-1", 2), status.encoded()) is None
    assert state.connectors["c"] == state.tasks["c-1"][2] == status


def test_kafka_connect_finds_its_own_fields_first() -> None:
    plain = json.loads(Status("RUNNING", "w", 1).encoded())
    assert list(plain) == ["state", "trace", "worker_id", "generation", "version"]


@pytest.mark.parametrize(("generation", "shown"), [(4, "RUNNING"), (5, "RUNNING"), (6, "UNASSIGNED")])
def test_who_lost_a_task_does_not_speak_for_who_has_it(generation: int, shown: str) -> None:
    state = StatusState()
    state.replay(task_key("c", 0), Status("RUNNING", "new", 5).encoded())
    state.replay(task_key("c", 0), Status("UNASSIGNED", "old", generation).encoded())
    assert state.tasks["c"][0].state == shown


@pytest.mark.parametrize(("config_offset", "shown"), [(8, "RUNNING"), (9, "RUNNING"), (10, "UNASSIGNED")])
def test_a_later_configuration_has_the_last_word(config_offset: int, shown: str) -> None:
    state = StatusState()
    state.replay(task_key("c", 0), Status("RUNNING", "w", 5, config_offset=9).encoded())
    state.replay(task_key("c", 0), Status("UNASSIGNED", "w", 5, config_offset=config_offset).encoded())
    assert state.tasks["c"][0].state == shown


def test_a_removed_connector_takes_its_tasks_along() -> None:
    state = StatusState()
    state.replay(connector_key("c"), Status("RUNNING", "w", 1).encoded())
    state.replay(task_key("c", 0), Status("RUNNING", "w", 1).encoded())
    state.replay(topic_key("t", "c"), TopicStatus("t", "c", 0, 1).encoded())
    state.replay(topic_key("t", "c"), None)
    state.replay(connector_key("c"), None)
    assert (state.connectors, state.tasks, state.topics) == ({}, {}, {"c": {}})


@given(
    st.binary(max_size=20) | st.sampled_from([b"status-task-c", b"status-topic-t"]),
    st.none() | st.binary(max_size=9),
)
def test_no_record_breaks_the_fold(key: bytes, value: bytes | None) -> None:
    state = StatusState()
    assert state.replay(key, value) is not None or value is None
