"""Ticks on a real driver: planned here, run in Python workers, reported here."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.spark.settings import EngineError
from penstock.pipeline.tick_calls import TickCalls
from tests.pipeline.spark import works
from tests.support.processes import wait_for

PATIENCE_S = 60.0


class Planner:
    """Plans the same works for some ticks, then nothing."""

    def __init__(self, planned: list[Any], ticks: int = 1) -> None:
        self.planned = planned
        self.ticks_left = ticks
        self.reports: list[list[Any]] = []
        self.failures: list[str] = []
        self.asked = 0
        self.asked_in_vain = Event()

    def plan(self, tick: int) -> list[Any]:
        self.asked += 1
        if not self.ticks_left:
            self.asked_in_vain.set()
            return []
        return self.planned

    def on_reports(self, tick: int, reports: list[Any]) -> None:
        self.ticks_left -= 1
        self.reports.append(reports)

    def run_on(self, engine: Engine, name: str, run: Any) -> Any:
        return engine.run_ticks(name, TickCalls(self.plan, run, self.on_reports, self.failures.append))


def test_each_part_of_a_plan_runs_in_its_own_worker_and_reports_in_order(engine: Engine) -> None:
    planner = Planner([1, 2, 3], ticks=3)
    query = planner.run_on(engine, "three parts", works.double)
    assert planner.asked_in_vain.wait(PATIENCE_S)
    assert [[answer for answer, _ in reports] for reports in planner.reports] == [[2, 4, 6]] * 3
    assert query.state == "RUNNING"
    assert query.progress()["ticks"] == 3
    assert query.progress()["last_tasks"] == 3
    query.stop()
    assert query.state == "STOPPED"


def test_an_empty_plan_waits_until_it_is_woken(engine: Engine) -> None:
    planner = Planner([5], ticks=0)
    query = planner.run_on(engine, "woken", works.double)
    assert planner.asked_in_vain.wait(PATIENCE_S)
    assert planner.asked == 1
    planner.ticks_left = 1
    query.wake()
    wait_for(lambda: planner.reports, PATIENCE_S, "a report after the wake-up")
    query.stop()
    assert planner.reports[0][0][0] == 10


def test_a_killed_worker_fails_its_tick_which_is_planned_again(engine: Engine, tmp_path: Path) -> None:
    planner = Planner([str(tmp_path / "died")])
    query = planner.run_on(engine, "killed", works.die_once)
    wait_for(lambda: planner.reports, PATIENCE_S, "a report after the failure")
    assert planner.reports == [["survived"]]
    assert len(planner.failures) == 1
    assert "Python worker exited unexpectedly" in planner.failures[0]
    assert query.progress()["failed_ticks"] == 1
    query.stop()


def test_a_failure_says_what_the_work_raised(engine: Engine) -> None:
    planner = Planner(["no more paper"])
    query = planner.run_on(engine, "refused", works.refuse)
    wait_for(lambda: len(planner.failures) > 1, PATIENCE_S, "two attempts")
    assert query.state == "FAILED"
    assert query.failure == "ValueError: no more paper"
    assert not planner.reports
    query.stop()


def test_a_planner_that_raises_is_asked_again(engine: Engine) -> None:
    planner = Planner([1])

    def plan(tick: int) -> list[Any]:
        if planner.asked < 2:
            planner.asked += 1
            raise OSError("the broker is away")
        return planner.plan(tick)

    calls = TickCalls(plan, works.double, planner.on_reports, planner.failures.append)
    query = engine.run_ticks("planless", calls)
    wait_for(lambda: planner.reports, PATIENCE_S, "a report")
    assert planner.failures == ["the broker is away"] * 2
    query.stop()


def test_stopping_cancels_a_tick_that_does_not_end(engine: Engine, tmp_path: Path) -> None:
    marker = tmp_path / "began"
    planner = Planner([str(marker)])
    query = planner.run_on(engine, "endless", works.wait_for_nothing)
    wait_for(marker.exists, PATIENCE_S, "the work to begin")
    query.stop(wait_ms=0)
    assert query.state == "STOPPED"
    assert not planner.reports
    assert not planner.failures
    tracker = engine.wait_until_ready().sparkContext.statusTracker()
    wait_for(lambda: not tracker.getActiveStageIds(), PATIENCE_S, "the stage to end")


def test_a_name_is_used_once_at_a_time(engine: Engine) -> None:
    for _ in range(2):
        planner = Planner([1])
        query = planner.run_on(engine, "again", works.double)
        assert planner.asked_in_vain.wait(PATIENCE_S)
        with pytest.raises(EngineError, match="a query named 'again' runs already"):
            planner.run_on(engine, "again", works.double)
        query.stop()


def test_the_metrics_tell_of_ticks(engine: Engine) -> None:
    planner = Planner([1, 2])
    query = planner.run_on(engine, 'a "quoted" name', works.double)
    assert planner.asked_in_vain.wait(PATIENCE_S)
    lines = engine.metrics_text().splitlines()
    assert r'penstock_query_state{query="a \"quoted\" name",state="RUNNING"} 1' in lines
    assert r'penstock_query_ticks_total{query="a \"quoted\" name"} 1' in lines
    assert r'penstock_query_tick_tasks{query="a \"quoted\" name"} 2' in lines
    query.stop()
    assert "quoted" not in engine.metrics_text()
