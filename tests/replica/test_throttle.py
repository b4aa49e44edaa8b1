"""Rates over the last seconds."""

import pytest

from penstock.replica.throttle import Throttle

SECOND = 1000


def throttle() -> Throttle:
    return Throttle(windows=11, window_ms=SECOND)


def test_nothing_passed() -> None:
    assert not throttle().is_exceeded(0, 5)


def test_a_burst_is_made_up_for() -> None:
    held = throttle()
    held.record(5000, 0)
    assert held.bytes_per_second(0) == 5000
    assert held.is_exceeded(1000, 4 * SECOND)
    assert not held.is_exceeded(1000, 5 * SECOND)


def test_what_passed_long_ago_is_forgotten() -> None:
    held = throttle()
    held.record(1_000_000, 0)
    assert held.is_exceeded(1000, 11 * SECOND)
    assert held.bytes_per_second(11 * SECOND + 1) == 0


def test_several_windows() -> None:
    held = throttle()
    for now_ms in range(0, 4 * SECOND, 250):
        held.record(100, now_ms)
    assert held.bytes_per_second(4 * SECOND) == pytest.approx(400)


@pytest.mark.parametrize("burst", [100, 1000, 5000])
def test_who_sends_whenever_it_may_comes_near_the_limit(burst: int) -> None:
    limit, seconds = 1000, 120
    held, total = throttle(), 0
    for now_ms in range(0, seconds * SECOND, 50):
        if not held.is_exceeded(limit, now_ms):
            held.record(burst, now_ms)
            total += burst
    assert total / seconds == pytest.approx(limit, rel=0.15)
