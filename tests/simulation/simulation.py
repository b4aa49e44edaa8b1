"""One seed: a cluster, what befalls it, and whether it keeps its promises."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any

from penstock.broker.router import load_handlers
from penstock.testing.memory_fs import Crash
from tests.simulation.cluster import Cluster
from tests.simulation.faults import Faults
from tests.simulation.one_world import one_world
from tests.simulation.virtual_loop import VirtualLoop

MOST_STEPS = 100_000
"""Of which a seed takes some thousands: more mean that somebody does the same again and again."""


@dataclass
class Report:
    seed: int
    failure: str | None
    """In one line."""
    traceback: str
    faults: list[str]
    acknowledged: int
    elections: int
    seconds: float
    digest: str
    """Of all that is committed, and when."""


class Complaints(logging.Handler):
    """What the product says of itself that nobody should ever read: tracebacks."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and not isinstance(record.exc_info[1], Crash | type(None)):
            self.first = self.first or record.exc_info[1]


class Simulation:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = Random(seed)
        self.loop = VirtualLoop(self.chance)
        self.loop.set_exception_handler(self._on_exception)
        self.failure: BaseException | None = None
        self.complaints = Complaints()
        self.on_fault: Callable[[str], None] = lambda what: None

    def _on_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, Crash):
            self._fail(error or AssertionError(context["message"]))

    def _fail(self, error: BaseException) -> None:
        self.failure = self.failure or error
        self.loop.stop()

    def run(self) -> Report:
        logger = logging.getLogger("penstock")
        propagates, logger.propagate = (
            logger.propagate,
            False,
        )  # whoever keeps a record keeps what it is about
        logger.addHandler(self.complaints)
        try:
            with one_world(self.loop, self.chance):
                return self._run()
        finally:
            logger.removeHandler(self.complaints)
            logger.propagate = propagates
            self.failure = self.complaints.first = None
            self.loop.throw_away()

    def _run(self) -> Report:
        cluster = Cluster(self.loop, self.chance)
        faults = Faults(cluster, self.chance, self.on_fault)
        self.loop.after_step = lambda: self._check(cluster)
        story = self.loop.create_task(self._tell(cluster, faults))
        story.add_done_callback(self._on_told)
        self.loop.run_forever()
        histories = cluster.promises.histories.values()
        told = repr([(h.committed, h.committed_in) for h in histories]) + repr(
            (self.loop.time(), self.loop.steps)
        )
        return Report(
            self.seed,
            None
            if self.failure is None
            else f"{type(self.failure).__name__}: {self.failure}".splitlines()[0],
            "".join(traceback.format_exception(self.failure)) if self.failure is not None else "",
            faults.told,
            sum(producer.acknowledged for producer in cluster.producers),
            sum(len(h.leaders) for h in histories),
            self.loop.time(),
            sha256(told.encode()).hexdigest(),
        )

    def _check(self, cluster: Cluster) -> None:
        try:
            cluster.promises.look()
        except Exception as error:  # whatever it is, it belongs to the seed
            self._fail(error)
        if self.loop.steps > MOST_STEPS:
            self._fail(AssertionError(f"{MOST_STEPS} steps, and no end"))
        if self.complaints.first is not None:
            self._fail(self.complaints.first)

    def _on_told(self, story: asyncio.Task[None]) -> None:
        if not story.cancelled() and story.exception() is not None:
            self._fail(story.exception())  # type: ignore[arg-type]
        self.loop.stop()

    async def _tell(self, cluster: Cluster, faults: Faults) -> None:
        await cluster.start()
        cluster.begin_work()
        await faults.happen()
        await faults.end()
        await cluster.end_work()
        await cluster.come_to_rest()


def simulate(*seeds: int) -> list[Report]:
    with nobody_tidies_up():
        return [Simulation(seed).run() for seed in seeds]


@contextmanager
def nobody_tidies_up() -> Iterator[None]:
    """Until it is over. Killed brokers leave tasks that are never to end, and none of them may do anything any more, as
    it would when the collector finds it in the midst of the next seed; nor is what they complain of then of interest.
    """
    load_handlers()
    is_first = not gc.get_freeze_count()
    gc.freeze()
    gc.disable()
    hook, sys.unraisablehook = sys.unraisablehook, lambda unraisable: None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "coroutine .* was never awaited")
            try:
                yield
            finally:
                _collect()
    finally:
        sys.unraisablehook = hook
        gc.enable()
        if is_first:
            gc.unfreeze()


def _collect() -> None:
    logging.disable()
    try:
        while gc.collect():
            """What is closed may let go of more."""
    finally:
        logging.disable(logging.NOTSET)
