"""Regular expressions that somebody else wrote, matched in a time that can be told.

Python's engine takes exponential time for `^(a+)+$` and holds the interpreter's lock all the while, so that neither a
thread nor a timer helps. RE2 takes linear time, but knows neither lookaround nor references back. What it does not
take goes to Python's engine, if its form shows that it cannot run away: the ways in which it may match a short text are
multiplied, and there may not be too many. The rest is refused when it is to be matched; as text it does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from math import prod
from re import _constants, _parser  # type: ignore[attr-defined]  # as stable as `re` itself
from typing import Any, Protocol

import re2

LONGEST_PATTERN = 10_000
LONGEST_TEXT = 250
MOST_WAYS = LONGEST_TEXT**2
"""Both for Python's engine: so that it takes a fraction of a second, wherever in the text it begins."""
RE2_BYTES = 256 * 1024
MOST_DOUBLINGS = 32
_REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}


class UnboundedPattern(ValueError):
    """It could take too long to match."""


class Pattern(Protocol):
    def search(self, text: str) -> object | None: ...


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = RE2_BYTES
    return options


_OPTIONS = _options()


class _Linear:
    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern

    def search(self, text: str) -> object | None:
        try:
            found: object | None = self._pattern.search(text)
        except UnicodeEncodeError:  # half a surrogate pair, which fits what any strange character fits
            found = self._pattern.search(text.encode(errors="replace").decode())
        return found


class _Square:
    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    def search(self, text: str) -> object | None:
        if len(text) > LONGEST_TEXT:
            raise UnboundedPattern(
                f"a pattern with lookaround or references back is matched against at most {LONGEST_TEXT} characters"
            )
        return self._pattern.search(text)


@lru_cache(maxsize=1024)
def bounded_pattern(pattern: str, python_pattern: re.Pattern[str] | None = None) -> Pattern:
    """`re.error` if it is none; `UnboundedPattern`. `python_pattern`: the same in Python's words, if those differ."""
    if len(pattern) > LONGEST_PATTERN:
        raise UnboundedPattern(f"a pattern has at most {LONGEST_PATTERN} characters to be matched")
    try:
        return _Linear(re2.compile(pattern, _OPTIONS))
    except (re2.error, UnicodeEncodeError):
        pass
    own = re.compile(pattern) if python_pattern is None else python_pattern
    _refuse_runaway(own)
    return _Square(own)


def _refuse_runaway(pattern: re.Pattern[str]) -> None:
    if _ways(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)) > MOST_WAYS:
        shown = pattern.pattern if len(pattern.pattern) <= 80 else f"{pattern.pattern[:80]}..."
        raise UnboundedPattern(
            f"{shown!r} could take too long to match: RE2 does not take it, and it may match in too many ways"
        )


def _ways(parsed: Any) -> int:
    """In how many ways it may match a text, at most; beyond `MOST_WAYS` one number is as good as another."""
    ways = 1
    for operation, body in parsed:
        ways = min(ways * _ways_of(operation, body), MOST_WAYS + 1)
    return ways


def _ways_of(operation: Any, body: Any) -> int:
    if operation is _constants.BRANCH:
        return sum(_ways(each) for each in body[1])
    if operation not in _REPEATS:
        return prod(_ways(each) for each in _inside(body))
    least: int = body[0]
    most: int = min(body[1], LONGEST_TEXT)
    repeated = _ways(body[2])
    lengths = max(1, most - min(least, most) + 1)
    most_ways: int = lengths * repeated ** min(most, MOST_DOUBLINGS)
    return min(most_ways, MOST_WAYS + 1)


def _inside(body: Any) -> Iterator[Any]:
    if isinstance(body, _parser.SubPattern):
        yield body
    elif isinstance(body, tuple | list):
        for each in body:
            yield from _inside(each)
