"""Clusters of many seeds keep their promises. `make sim SEEDS=10000` runs more of them."""

from __future__ import annotations

import pytest

from tests.simulation.run import replay_command, run_some
from tests.support.examples import SHARE

SEEDS = 200 if SHARE == 1 else 10
SEEDS_AT_ONCE = 50


@pytest.mark.parametrize("first", range(0, SEEDS, SEEDS_AT_ONCE))
def test_seeds(first: int) -> None:
    seeds = range(first, min(first + SEEDS_AT_ONCE, SEEDS))
    failed = {report.seed: report.failure for report in run_some(seeds) if report.failure is not None}
    assert not failed, "\n".join(f"{replay_command(seed)}   # {failure}" for seed, failure in failed.items())
