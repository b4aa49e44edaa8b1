"""Makes a run the same whenever it is made: time, chance and threads are the simulation's while it lasts."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

from penstock.broker import replication
from tests.simulation.virtual_loop import VirtualLoop


class NoThreads:
    """In the place of `ThreadPoolExecutor`, where it is used as a whole: one after the other."""

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def map(self, function: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
        return [function(value) for value in values]

    def shutdown(self, **_: object) -> None:
        pass


@contextmanager
def one_world(loop: VirtualLoop, chance: random.Random) -> Iterator[None]:
    state = random.getstate()
    random.seed(chance.random())
    try:
        with (
            patch.object(uuid, "uuid4", lambda: uuid.UUID(int=chance.getrandbits(128), version=4)),
            patch.object(time, "perf_counter", loop.time),
            patch("penstock.broker.controller.CLEAR_CHANGES_SECONDS", 0.5),
            patch("penstock.broker.controller.KEPT_CHANGES", 4),
            patch("penstock.broker.log_directories.ThreadPoolExecutor", NoThreads),
            patch("penstock.broker.long_batches.ThreadPoolExecutor", NoThreads),
        ):
            yield
    finally:
        replication._checkpoints.clear()  # of brokers that were killed
        random.setstate(state)
