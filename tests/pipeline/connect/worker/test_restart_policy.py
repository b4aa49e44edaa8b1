"""When what failed starts again by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.worker.restart_policy import RestartPolicy, Restarts

SETTINGS = ConnectSettings()


def test_waits_double_up_to_the_longest_and_end() -> None:
    policy = RestartPolicy(max_retries=5, backoff_ms=5_000, backoff_max_ms=30_000)
    assert [policy.wait_ms(attempt) for attempt in range(6)] == [5_000, 10_000, 20_000, 30_000, 30_000, None]


@given(st.integers(0, 10_000), st.integers(0, 10**6), st.integers(0, 10**6))
def test_without_end_there_is_always_a_next_one(attempt: int, backoff_ms: int, most_ms: int) -> None:
    wait_ms = RestartPolicy(-1, backoff_ms, most_ms).wait_ms(attempt)
    assert wait_ms is not None
    assert 0 <= wait_ms <= most_ms


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        ({}, RestartPolicy(5, 5_000, 300_000)),
        ({"task.restart.max.retries": "0"}, RestartPolicy(0, 5_000, 300_000)),
        ({"task.restart.backoff.ms": "7", "task.restart.backoff.max.ms": "9"}, RestartPolicy(5, 7, 9)),
        ({"task.restart.max.retries": "many"}, RestartPolicy(5, 5_000, 300_000)),
    ],
)
def test_a_connector_has_its_own_word(configs: dict[str, str], expected: RestartPolicy) -> None:
    assert RestartPolicy.of(SETTINGS, configs) == expected


def test_the_count_begins_anew_after_a_long_good_time() -> None:
    restarts = Restarts(RestartPolicy(1, 10, 1_000))
    restarts.on_failure(0)
    assert (restarts.is_due(9), restarts.is_due(10)) == (False, True)
    restarts.restart()
    restarts.on_success(20)
    restarts.on_failure(500)
    assert restarts.next_at_ms is None
    assert restarts.described() == {"attempts": 1, "max_retries": 1}
    restarts.restart_by_hand()
    assert restarts.described() == {}
    restarts.on_failure(600)
    restarts.restart()
    restarts.on_success(700)
    restarts.on_failure(1_700)
    assert restarts.next_at_ms == 1_710
