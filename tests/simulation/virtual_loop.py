"""An asyncio event loop without sockets, whose time passes only when nobody has anything to do.

Many simulated processes share it. To which of them a callback belongs, its context says: a process's first task is
begun in a context that names the process, and asyncio hands that context on to all that follows from it, timers and
threads too. So a process can be killed, between two callbacks of it, and nothing of it ever runs again; no task is
cancelled, no `finally` tidies up. And it can be paused, as SIGSTOP does: what becomes due waits until it goes on.

What a program hands to a thread runs here too, a moment later, in one go.
"""

from __future__ import annotations

import asyncio
import heapq
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from enum import Enum
from itertools import count
from random import Random
from typing import Any

LONGEST_WAIT_FOR_A_THREAD_SECONDS = 0.004


class Life(Enum):
    RUNS = "runs"
    PAUSED = "paused"
    DEAD = "dead"


class Process:
    """What is killed and paused as a whole."""

    def __init__(self, loop: VirtualLoop, name: str) -> None:
        self.loop = loop
        self.name = name
        self.life = Life.RUNS
        self.held: deque[events.Handle] = deque()
        self.context = copy_context()
        self.context.run(PROCESS.set, self)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = self.loop.create_task(coroutine, context=self.context)
        task.add_done_callback(self._on_done, context=self.loop.outside)
        return task

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        if self.life is not Life.DEAD and not task.cancelled() and task.exception() is not None:
            self.loop.call_exception_handler(
                {"message": f"{self.name} failed", "exception": task.exception(), "task": task}
            )

    def call_at(self, when: float, callback: Callable[..., object], *args: object) -> events.TimerHandle:
        return self.loop.call_at(when, callback, *args, context=self.context)

    def kill(self) -> None:
        self.life = Life.DEAD

    def pause(self) -> None:
        if self.life is Life.RUNS:
            self.life = Life.PAUSED

    def go_on(self) -> None:
        if self.life is Life.PAUSED:
            self.life = Life.RUNS
            self.loop.ready_first(self.held)
            self.held.clear()


PROCESS: ContextVar[Process | None] = ContextVar("PROCESS", default=None)


class VirtualLoop(asyncio.BaseEventLoop):
    _ready: deque[events.Handle]
    _stopping: bool

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self._chance = chance
        self._now = 0.0
        self._timers: list[tuple[float, int, events.TimerHandle]] = []
        self._number = count()
        """Timers of the same moment keep their order."""
        self.outside = copy_context()
        """Of no process."""
        self.is_over = False
        self.steps = 0
        self._tasks: list[asyncio.Task[Any]] = []
        """All of them: none is to be tidied up, in the midst of others' work, because nobody knows it any more."""
        self.set_task_factory(self._make_task)
        self.ran: dict[Process, None] = {}
        """In the step that is just over."""
        self.after_step: Callable[[], None] = lambda: None

    def time(self) -> float:
        return self._now

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Any, context: Context | None = None
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=loop, context=context)
        self._tasks.append(task)
        return task

    # what takes the place of sockets and threads

    def _process_events(self, event_list: object) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody sleeps."""

    def call_soon(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> events.Handle:
        handle = events.Handle(callback, args, self, context)
        if not self.is_over:  # what tidies up when all is thrown away may ask for more
            self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> events.TimerHandle:
        timer = events.TimerHandle(when, callback, args, self, context)
        if not self.is_over:
            heapq.heappush(self._timers, (when, next(self._number), timer))
        return timer

    def run_in_executor(  # type: ignore[override]
        self, executor: object, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        done = self.create_future()

        def work() -> None:
            try:
                result = func(*args)
            except BaseException as error:
                if not done.cancelled():
                    done.set_exception(error)
            else:
                if not done.cancelled():
                    done.set_result(result)

        self.call_later(self._chance.random() * LONGEST_WAIT_FOR_A_THREAD_SECONDS, work)
        return done

    def ready_first(self, handles: deque[events.Handle]) -> None:
        self._ready.extendleft(reversed(handles))

    # a step

    def _run_once(self) -> None:
        ready, timers = self._ready, self._timers
        if not ready:
            while timers and timers[0][2]._cancelled:
                heapq.heappop(timers)
            assert timers, "nobody has anything to do any more"
            self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            ready.append(heapq.heappop(timers)[2])
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle._cancelled:
                continue
            process = handle._context.get(PROCESS)  # type: ignore[attr-defined]
            if process is None:
                handle._run()
            elif process.life is Life.RUNS:
                self.ran[process] = None
                handle._run()
            elif process.life is Life.PAUSED:
                process.held.append(handle)
        self.steps += 1
        self.after_step()
        self.ran.clear()

    def throw_away(self) -> None:
        """Whatever has not ended; nothing of it runs any more."""
        self.is_over = True
        for task in self._tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        self._tasks.clear()
        self.after_step = lambda: None
        self._ready.clear()
        self._timers.clear()
        self.close()
