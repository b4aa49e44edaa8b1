"""Regular expressions that somebody else wrote, matched in a time that can be told.

Python's engine takes exponential time for `^(a+)+$` and holds the interpreter's lock all the while, so that neither a
thread nor a timer helps. RE2 takes linear time, but knows neither lookaround nor references back. Linear in the
length of the text times that of its program: `(.?){400}z` takes a second for 200,000 characters, so that whoever must
not wait asks `seconds` before; but it lets other threads run meanwhile. What RE2 does not
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
SECONDS_OF_A_STEP = 2e-9
"""At worst, of one part of RE2's program for one byte of text; measured: 1 to 1.9 ns."""
MOST_SECONDS = 10.0
"""That RE2 may take for one text."""
MOST_REPETITIONS = 20_000
"""All counts in braces together. More don't fit into RE2's program, which it finds out too slowly: 0.4 s for 30 KB."""
MOST_CHARACTER_CLASSES = 200
"""Of Unicode (`\\p{L}`), each of which RE2 takes up to 0.1 ms to read."""
_REPETITION = re.compile(r"\{(\d{1,4})(?:,(\d{0,4}))?\}")
_CHARACTER_CLASS = re.compile(r"\\[pP]")
MOST_DOUBLINGS = 32
_REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}


class UnboundedPattern(ValueError):
    """It could take too long to match."""


class Pattern(Protocol):
    def search(self, text: str) -> object | None: ...

    def seconds(self, text: str) -> float:
        """That searching it takes at most."""
        ...


def takes_long_to_read(pattern: str, most_repetitions: int = MOST_REPETITIONS) -> bool:
    """RE2 would refuse it too, after it has tried for long."""
    repetitions = sum(int(most or least) for least, most in _REPETITION.findall(pattern))
    return repetitions > most_repetitions or len(_CHARACTER_CLASS.findall(pattern)) > MOST_CHARACTER_CLASSES


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
        self._seconds_of_a_byte: float = pattern.programsize * SECONDS_OF_A_STEP

    def seconds(self, text: str) -> float:
        return (len(text) if text.isascii() else 4 * len(text)) * self._seconds_of_a_byte

    def search(self, text: str) -> object | None:
        if self.seconds(text) > MOST_SECONDS:
            raise UnboundedPattern(
                f"a pattern that becomes a program of {self._pattern.programsize} steps could take more than"
                f" {MOST_SECONDS:g} seconds to match {len(text)} characters"
            )
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

    def seconds(self, text: str) -> float:
        return 0.0


@lru_cache(maxsize=1024)
def bounded_pattern(pattern: str, python_pattern: re.Pattern[str] | None = None) -> Pattern:
    """`re.error` if it is none; `UnboundedPattern`. `python_pattern`: the same in Python's words, if those differ."""
    if len(pattern) > LONGEST_PATTERN:
        raise UnboundedPattern(f"a pattern has at most {LONGEST_PATTERN} characters to be matched")
    if takes_long_to_read(pattern):
        raise UnboundedPattern(f"{_shown(pattern)} is too large to be matched")
    try:
        return _Linear(re2.compile(pattern, _OPTIONS))
    except (re2.error, UnicodeEncodeError):
        pass
    own = re.compile(pattern) if python_pattern is None else python_pattern
    _refuse_runaway(own)
    return _Square(own)


def _refuse_runaway(pattern: re.Pattern[str]) -> None:
    if _ways(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)) > MOST_WAYS:
        raise UnboundedPattern(
            f"{_shown(pattern.pattern)} could take too long to match: RE2 does not take it,"
            " and it may match in too many ways"
        )


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 80 else f"{pattern[:80]}...")


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
