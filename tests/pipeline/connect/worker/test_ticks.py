"""What tasks are planned to do, and which states their reports give them."""

from __future__ import annotations

from typing import Literal

import pytest

from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork
from penstock.pipeline.connect.worker.restart_policy import RestartPolicy
from penstock.pipeline.connect.worker.ticks import FIRST_RUN_MS, ConnectorTasks

TICK_MS = 3_000
NOW_MS = 1_000_000
NEVER_AGAIN = RestartPolicy(max_retries=0, backoff_ms=1_000, backoff_max_ms=1_000)


def tasks_of(kind: Literal["source", "sink"], count: int) -> ConnectorTasks:
    return ConnectorTasks.of_configs(
        [{}] * count,
        NEVER_AGAIN,
        connector="some",
        kind=kind,
        task_class="SomeTask",
        connector_configs={},
        worker_configs={},
        run_ms=TICK_MS,
        generation=1,
    )


def planned(tasks: ConnectorTasks) -> list[TaskWork]:
    return tasks.plan_source(NOW_MS, [], {})


def well(*numbers: int) -> list[TaskReport]:
    return [TaskReport("some", number, 1) for number in numbers]


def failed(number: int) -> TaskReport:
    return TaskReport("some", number, 1, "FAILED", "no", "Traceback: no")


def states(tasks: ConnectorTasks) -> list[str]:
    return [task.state for task in tasks.tasks]


def test_tasks_run_when_they_have_said_so() -> None:
    tasks = tasks_of("source", 2)
    assert [work.run_ms for work in planned(tasks)] == [FIRST_RUN_MS] * 2
    assert states(tasks) == ["UNASSIGNED", "UNASSIGNED"]
    tasks.on_reports(well(0, 1), NOW_MS)
    assert states(tasks) == ["RUNNING", "RUNNING"]
    assert [work.run_ms for work in planned(tasks)] == [TICK_MS] * 2
    assert states(tasks) == ["RUNNING", "RUNNING"]


def test_a_task_that_cannot_start_never_runs_and_holds_up_no_other() -> None:
    tasks = tasks_of("source", 2)
    planned(tasks)
    tasks.on_reports([failed(0), *well(1)], NOW_MS)
    assert states(tasks) == ["FAILED", "RUNNING"]
    assert [(work.task, work.run_ms) for work in planned(tasks)] == [(1, TICK_MS)]


def test_one_that_is_restarted_makes_the_tick_short() -> None:
    tasks = tasks_of("source", 2)
    planned(tasks)
    tasks.on_reports([failed(0), *well(1)], NOW_MS)
    tasks.tasks[0].restart_by_hand()
    assert [work.run_ms for work in planned(tasks)] == [FIRST_RUN_MS] * 2
    assert states(tasks) == ["RESTARTING", "RUNNING"]
    tasks.on_reports(well(0, 1), NOW_MS)
    assert states(tasks) == ["RUNNING", "RUNNING"]


def test_a_tick_that_failed_is_not_forgotten_before_the_next_one_is_heard_of() -> None:
    tasks = tasks_of("source", 1)
    planned(tasks)
    tasks.on_tick_failure("the executor was lost", NOW_MS)
    assert [work.run_ms for work in planned(tasks)] == [FIRST_RUN_MS]
    assert (states(tasks), tasks.tasks[0].trace) == (["FAILED"], "the executor was lost")
    tasks.on_reports(well(0), NOW_MS)
    assert (states(tasks), tasks.tasks[0].trace) == (["RUNNING"], None)


def test_one_that_cannot_reach_kafka_is_tried_again() -> None:
    tasks = tasks_of("source", 1)
    planned(tasks)
    tasks.on_reports([TaskReport("some", 0, 1, "FAILED", "away", is_retriable=True)], NOW_MS)
    assert (states(tasks), planned(tasks)) == (["UNASSIGNED"], [])
    assert len(tasks.plan_source(NOW_MS + 5_000, [], {})) == 1


@pytest.mark.parametrize("partitions", [0, 1])
def test_a_sink_task_without_partitions_is_well(partitions: int) -> None:
    tasks = tasks_of("sink", 2)
    tasks.partitions = [("orders", number) for number in range(partitions)]
    assert [work.run_ms for work in tasks.plan_sink(NOW_MS)] == [FIRST_RUN_MS] * partitions
    assert states(tasks) == ["UNASSIGNED"] * partitions + ["RUNNING"] * (2 - partitions)


def test_a_tick_is_never_longer_than_the_setting() -> None:
    tasks = tasks_of("source", 1)
    tasks.run_ms = 20
    assert [work.run_ms for work in planned(tasks)] == [20]


def test_a_task_that_is_well_may_say_what_it_waits_for() -> None:
    tasks = tasks_of("source", 1)
    planned(tasks)
    tasks.on_reports([TaskReport("some", 0, 1, "RUNNING", "there is no file")], NOW_MS)
    assert [(task.state, task.trace) for task in tasks.tasks] == [("RUNNING", "there is no file")]
    tasks.on_reports(well(0), NOW_MS)
    assert [(task.state, task.trace) for task in tasks.tasks] == [("RUNNING", None)]
