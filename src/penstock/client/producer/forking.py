"""Producers that a fork has taken along.

A fork copies memory, and of all threads only the one that called it. librdkafka's are left behind, so a producer in the
child would take records that nobody sends, and wait for answers that nobody reads. In the child every producer of the
parent is therefore closed, and says why; what is under way stays the parent's. librdkafka's own object is never freed
there: it would wait for its threads.
"""

import ctypes
import os
import weakref
from typing import Any, NoReturn, Protocol

from penstock.wire_client.errors import KafkaError

AFTER_FORK = (
    "this producer was made before os.fork(), and its threads are in the parent process only; "
    "make one in each process, after the fork"
)


class Forkable(Protocol):
    def _after_fork(self) -> None:
        """In the child."""


class ForkedNative:
    """In the place of librdkafka's producer."""

    def __init__(self, native: object) -> None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(native))

    def __len__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse


def refuse(*_arguments: object, **_keywords: object) -> NoReturn:
    raise KafkaError(AFTER_FORK)


_all: "weakref.WeakSet[Any]" = weakref.WeakSet()


def watch(producer: Forkable) -> None:
    _all.add(producer)


def _after_fork_in_child() -> None:
    for producer in list(_all):
        producer._after_fork()
    _all.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)
