"""A simulation that finds nothing is worth as much as what it would find."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tests.simulation.deliberate_bugs import BUGS
from tests.simulation.simulation import simulate
from tests.support.examples import SHARE

MOST_SEEDS = 1000
HARD_TO_FIND = {"ignore_a_stale_epoch"}
"""They take some hundred seeds, for which `make quick` has no time."""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_bug_is_found(bug: Callable[[], AbstractContextManager[None]]) -> None:
    if SHARE > 1 and bug.__name__ in HARD_TO_FIND:
        pytest.skip("takes too long for make quick")
    with bug():
        found = any(simulate(seed).failure is not None for seed in range(MOST_SEEDS))
    assert found, f"{MOST_SEEDS} seeds have not found it"
