"""A seed is the same story whenever it is told."""

from __future__ import annotations

import pytest

from tests.simulation.deliberate_bugs import forget_the_high_watermark_on_restart
from tests.simulation.run import main, replay_command, run_some

SEEDS = (4, 8, 9)


def test_a_seed_is_always_the_same() -> None:
    first, second = run_some(SEEDS), run_some(tuple(reversed(SEEDS)))
    assert first == second[::-1]
    assert len({report.digest for report in first}) == len(SEEDS)
    assert all(report.acknowledged and report.faults for report in first)


def test_a_failing_seed_says_how_to_replay_it(capsys: pytest.CaptureFixture[str]) -> None:
    with forget_the_high_watermark_on_restart():
        assert main(["--seeds", "5", "--workers", "1"]) == 1
    told = capsys.readouterr().out
    seed = int(told.partition("seed ")[2].partition(":")[0])
    assert replay_command(seed) in told

    with forget_the_high_watermark_on_restart():
        assert main(["--seed", str(seed)]) == 1
    story = capsys.readouterr().out
    assert "is the controller, epoch 1" in story
    assert "Broken" in story
