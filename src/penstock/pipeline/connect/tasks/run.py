"""`run_task`: one task for one tick, on an executor. Nothing it does raises: what goes wrong is in the report.

The task runs in a thread of its own, so that one that hangs in somebody's library does not hold its slot for good: when
its time is long over it is abandoned, which its writer notices before it would commit anything, and the report says
where it hangs.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import traceback
from typing import Final

from penstock.errors import ErrorCode
from penstock.pipeline.connect.errors import RetriableConnectError
from penstock.pipeline.connect.tasks.clock import TickClock
from penstock.pipeline.connect.tasks.sink_run import SinkRun
from penstock.pipeline.connect.tasks.source_run import run_source
from penstock.pipeline.connect.tasks.tally import Tally
from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork, TopicPartition
from penstock.wire_client.errors import KafkaError, RetriableError

log = logging.getLogger("penstock.connect.tasks")

OVERTIME_SECONDS: Final = 90.0
"""Beyond the tick: waiting for Kafka, retries and the ends of transactions have their own, shorter limits."""
COLLECT_GARBAGE_AFTER: Final = (50_000, 20, 50)
"""Tasks hold thousands of records for an instant. Python would look for cycles among them after every 700, in vain, and
take a quarter of the time for it."""
_FENCED: Final = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH})


class _Attempt:
    def __init__(self, work: TaskWork) -> None:
        self._work = work
        self._tally = Tally()
        self._clock = TickClock(work.run_ms)
        self._sink = SinkRun(work, self._tally, self._clock) if work.kind == "sink" else None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"task-{work.name}", daemon=True)

    def report(self) -> TaskReport:
        self._thread.start()
        self._thread.join(self._work.run_ms / 1000 + OVERTIME_SECONDS)
        if self._thread.is_alive():
            self._clock.abandon()
            return self._reported(
                f"the task has not come back {OVERTIME_SECONDS:g} s after its tick", self._where_it_hangs()
            )
        if self._error is None:
            return self._reported(None, None)
        return self._reported(str(self._error), "".join(traceback.format_exception(self._error)))

    def _run(self) -> None:
        try:
            if self._sink is not None:
                self._sink.run()
            else:
                run_source(self._work, self._tally, self._clock)
        except BaseException as error:
            self._error = error

    def _where_it_hangs(self) -> str:
        frame = sys._current_frames().get(self._thread.ident or 0)
        return "".join(traceback.format_stack(frame)) if frame is not None else ""

    def _reported(self, message: str | None, trace: str | None) -> TaskReport:
        work, tally = self._work, self._tally
        return TaskReport(
            connector=work.connector,
            task=work.task,
            generation=work.generation,
            state="RUNNING" if trace is None else "FAILED",
            error_message=message or tally.trouble,
            trace=trace,
            is_fenced=_is_fenced(self._error),
            is_retriable=isinstance(self._error, RetriableError | RetriableConnectError),
            positions=self._positions(),
            topics=frozenset(tally.topics),
            polled=tally.polled,
            records=tally.records,
            bytes=tally.bytes,
            skipped=tally.skipped,
            dead_lettered=tally.dead_lettered,
            failures=tally.failures,
            retries=tally.retries,
            transactions=tally.transactions,
            run_ms=self._clock.run_ms(),
        )

    def _positions(self) -> dict[TopicPartition, int]:
        return {} if self._sink is None else dict(self._sink.positions)


def _is_fenced(error: BaseException | None) -> bool:
    return isinstance(error, KafkaError) and error.code in _FENCED


def run_task(work: TaskWork) -> TaskReport:
    gc.set_threshold(*COLLECT_GARBAGE_AFTER)
    try:
        return _Attempt(work).report()
    except Exception as error:  # of what is wrong before the task has begun, such as its settings
        trace = "".join(traceback.format_exception(error))
        return TaskReport(
            work.connector, work.task, work.generation, state="FAILED", error_message=str(error), trace=trace
        )
