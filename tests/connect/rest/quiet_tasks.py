"""Tasks that run and copy nothing: for requests that ask about everything but data."""

from __future__ import annotations

from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork


def run_quietly(work: TaskWork) -> TaskReport:
    return TaskReport(work.connector, work.task, work.generation)
