"""A simulation that finds nothing is worth as much as what it would find."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tests.simulation.deliberate_bugs import BUGS
from tests.simulation.simulation import simulate

MOST_SEEDS = 1000


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_bug_is_found(bug: Callable[[], AbstractContextManager[None]]) -> None:
    with bug():
        found = any(report.failure is not None for seed in range(MOST_SEEDS) for report in simulate(seed))
    assert found, f"{MOST_SEEDS} seeds have not found it"
