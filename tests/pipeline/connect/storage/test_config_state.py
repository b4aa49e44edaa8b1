"""The fold of the config topic: Connect's records in, connectors out."""

from __future__ import annotations

import json
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.storage import config_records
from penstock.pipeline.connect.storage.config_state import (
    ConfigState,
    ConnectorChanged,
    LoggerRequest,
    RestartRequest,
    Unreadable,
)

Record = tuple[bytes, bytes | None]
CONFIG = {"connector.class": "FileStreamSource", "topic": "lines"}


def replayed(records: Iterable[Record]) -> ConfigState:
    return replayed_at((offset, *record) for offset, record in enumerate(records))


def replayed_at(records: Iterable[tuple[int, bytes, bytes | None]]) -> ConfigState:
    state = ConfigState()
    for offset, key, value in records:
        state.replay(key, value, offset)
    return state


def test_records_as_kafka_connect_writes_them() -> None:
    """Taken from a config topic of Kafka Connect 4.3."""
    state = replayed(
        [
            (
                b"session-key",
                b'{"key":"c2VjcmV0","algorithm":"HmacSHA256","creation-timestamp":1700000000000}',
            ),
            (b"target-state-my-source", b'{"state":"PAUSED","state.v2":"STOPPED"}'),
            (b"connector-my-source", b'{"properties":{"topic":"lines","file":null,"name":"my-source"}}'),
            (b"task-my-source-0", b'{"properties":{"task.class":"T","file":"a"}}'),
            (b"task-my-source-1", b'{"properties":{"task.class":"T","file":"b"}}'),
            (b"commit-my-source", b'{"tasks":2}'),
            (b"tasks-fencing-my-source", b'{"task-count":2}'),
        ]
    )
    known = state.connectors["my-source"]
    assert known.config == {"topic": "lines", "name": "my-source"}
    assert known.target_state == "STOPPED"
    assert [task["file"] for task in known.tasks] == ["a", "b"]
    assert known.tasks_of_config == known.config


def test_a_worker_of_an_old_version_knows_no_stopped() -> None:
    _, value = config_records.target_state("c", "STOPPED")
    assert json.loads(value or b"") == {"state": "PAUSED", "state.v2": "STOPPED"}
    state = replayed(
        [config_records.connector_config("c", CONFIG), (b"target-state-c", b'{"state":"PAUSED"}')]
    )
    assert state.connectors["c"].target_state == "PAUSED"


def test_tasks_wait_for_their_commit() -> None:
    records = [config_records.connector_config("c", CONFIG), *config_records.task_configs("c", [{"n": "0"}])]
    assert replayed(records[:-1]).connectors["c"].tasks == []
    assert replayed(records).connectors["c"].tasks == [{"n": "0"}]


def test_a_compacted_task_makes_the_connector_inconsistent_until_it_is_written_anew() -> None:
    first = [*config_records.task_configs("c", [{"n": "0"}, {"n": "1"}])]
    state = replayed([config_records.connector_config("c", CONFIG), *first[1:]])
    assert state.connectors["c"].is_inconsistent
    for key, value in config_records.task_configs("c", [{"n": "2"}]):
        state.replay(key, value, 9)
    assert not state.connectors["c"].is_inconsistent
    assert state.connectors["c"].tasks == [{"n": "2"}]


def test_a_removed_connector_is_gone_and_starts_afresh_when_it_comes_back() -> None:
    records = [
        config_records.target_state("c", "PAUSED"),
        config_records.connector_config("c", CONFIG),
        *config_records.task_configs("c", [{}]),
        *config_records.removal("c"),
    ]
    state = replayed(records)
    assert state.connectors == {}
    state.replay(*config_records.connector_config("c", CONFIG), 17)
    assert (state.connectors["c"].target_state, state.connectors["c"].tasks) == ("STARTED", [])
    assert state.connectors["c"].config_offset == 17


def test_a_configuration_is_known_by_its_offset() -> None:
    state = replayed([(b"connector-c", b'{"properties":{}}'), config_records.target_state("c", "PAUSED")])
    assert state.connectors["c"].config_offset == 0
    state.replay(*config_records.connector_config("c", {}), 5)
    assert state.connectors["c"].config_offset == 5


def test_what_is_asked_for_once_is_said_and_not_kept() -> None:
    state = ConfigState()
    asked = config_records.restart_request("c", include_tasks=True, only_failed=False)
    assert state.replay(*asked, 0) == RestartRequest("c", include_tasks=True, only_failed=False)
    assert state.replay(*config_records.logger_level("root", "DEBUG"), 0) == LoggerRequest("root", "DEBUG")
    assert state.replay(*config_records.connector_config("c", CONFIG), 0) == ConnectorChanged("c")


JUNK = st.one_of(
    st.none(),
    st.binary(max_size=12),
    st.sampled_from([b"{}", b"[]", b"1", b'{"properties":1}', b'{"tasks":-1}']),
)
KEYS = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [
            b"connector-c",
            b"task-c-0",
            b"task-c-x",
            b"task-",
            b"commit-c",
            b"target-state-c",
            b"logger-cluster-a",
        ]
    ),
)


@given(st.lists(st.tuples(KEYS, JUNK), max_size=20))
def test_no_record_breaks_the_fold(records: list[Record]) -> None:
    state = ConfigState()
    for key, value in records:
        said = state.replay(key, value, 0)
        if isinstance(said, Unreadable):
            assert "\n" not in said.reason


NAMES = st.sampled_from(["a", "a-b", "a-1"])
CHANGES = st.lists(
    st.one_of(
        st.builds(
            lambda name, at: [config_records.connector_config(name, {"at": at})], NAMES, st.text(max_size=3)
        ),
        st.builds(
            lambda name, state: [config_records.target_state(name, state)],
            NAMES,
            st.sampled_from(config_records.TARGET_STATES),
        ),
        st.builds(
            lambda name, count: [
                *config_records.task_configs(name, [{"n": str(each)} for each in range(count)])
            ],
            NAMES,
            st.integers(0, 3),
        ),
        st.builds(config_records.removal, NAMES),
    ),
    max_size=15,
)


def compacted(records: list[Record]) -> list[tuple[int, bytes, bytes | None]]:
    """The last record of each key, at its offset; tombstones are removed too."""
    last = {key: number for number, (key, _) in enumerate(records)}
    return [
        (number, key, value)
        for number, (key, value) in enumerate(records)
        if last[key] == number and value is not None
    ]


@given(CHANGES)
def test_compaction_loses_no_connector_config_or_target_state(changes: list[list[Record]]) -> None:
    records = [record for change in changes for record in change]
    whole, less = replayed(records), replayed_at(compacted(records))
    assert less.connectors.keys() == whole.connectors.keys()
    for name, known in whole.connectors.items():
        assert less.connectors[name].config == known.config
        assert less.connectors[name].config_offset == known.config_offset
        assert less.connectors[name].target_state == known.target_state
