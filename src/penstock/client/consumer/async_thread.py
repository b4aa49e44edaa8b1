"""The thread of an asynchronous consumer: it alone touches the consumer, one call after the other.

librdkafka's consumer blocks, and may be used by one thread at a time. So each call of the event loop becomes a job for
one thread. Two things need care:

- A listener may be a coroutine, which the event loop runs while the thread waits in the middle of a `poll`; and the
  coroutine may call the consumer. So the thread, while it waits, goes on doing jobs.
- Whoever awaits a `poll` may be cancelled when the records are on their way. They are taken back: by the thread, if it
  hears of it in time, or by the next job, if they had left. The lock makes it one of the two.
"""

import asyncio
import inspect
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


class Job(Generic[T]):
    """One call; its outcome is for the event loop, unless that has lost interest."""

    def __init__(self, loop: asyncio.AbstractEventLoop, function: Callable[[], T]) -> None:
        self._loop = loop
        self._function = function
        self._lock = threading.Lock()
        self._is_abandoned = False
        self._result: list[T] = []
        self.future: asyncio.Future[T] = loop.create_future()

    @property
    def is_abandoned(self) -> bool:
        return self._is_abandoned

    def run(self, take_back: Callable[[T], object] | None = None) -> None:
        if self.is_abandoned:
            return
        try:
            result = self._function()
        except BaseException as error:
            self._tell(_set_exception, self.future, error)
            return
        with self._lock:
            if self._is_abandoned:
                if take_back is not None:
                    take_back(result)
                return
            self._result.append(result)
        self._tell(_set_result, self.future, result)

    def abandon(self) -> list[T]:
        """Nobody waits any more; returns the result if it is here already."""
        with self._lock:
            self._is_abandoned = True
            return self._result

    def _tell(self, function: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop is closed
            pass


def _set_result(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _set_exception(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))


class ConsumerThread:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="penstock-consumer", daemon=True)
        self._thread.start()

    def submit(self, job: Job[T], take_back: Callable[[T], object] | None = None) -> None:
        self._jobs.put(lambda: job.run(take_back))

    def end(self) -> None:
        """After the jobs that are there."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (work := self._jobs.get()) is not None:
            work()

    def call_in_loop(self, function: Callable[..., object], *arguments: object) -> object:
        """From within a job: calls a function that may be a coroutine function, and does other jobs meanwhile."""
        if not inspect.iscoroutinefunction(inspect.unwrap(getattr(function, "__func__", function))):
            return function(*arguments)
        outcome: list[asyncio.Future[Any]] = []

        def start() -> None:
            task: asyncio.Future[Any] = asyncio.ensure_future(cast(Awaitable[Any], function(*arguments)))
            outcome.append(task)
            task.add_done_callback(lambda done: self._jobs.put(lambda: None))

        self._loop.call_soon_threadsafe(start)
        while not outcome or not outcome[0].done():
            work = self._jobs.get()
            if work is not None:
                work()
        return outcome[0].result()
