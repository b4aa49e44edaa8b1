"""How much work a request may make of comparing schemas, in pairs of types, so that the answer is always the same.

Two unions of 2,000 records each are four million pairs, which took more than a minute and gigabytes of reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from penstock.errors import PenstockError

MOST_PAIRS = 100_000
"""A second or two."""

_left: ContextVar[list[int] | None] = ContextVar("pairs left", default=None)


class TooMuchEffort(PenstockError):
    def __init__(self) -> None:
        super().__init__(f"it takes more than {MOST_PAIRS} comparisons of types")


@contextmanager
def limited_effort() -> Iterator[None]:
    """All that is compared within shares one limit."""
    before = _left.set([MOST_PAIRS])
    try:
        yield
    finally:
        _left.reset(before)


def count_pair() -> None:
    left = _left.get()
    if left is None:
        return
    if not left[0]:
        raise TooMuchEffort
    left[0] -= 1
