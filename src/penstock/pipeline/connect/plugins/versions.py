"""Versions and ranges of them, as Maven compares them: `1.2`, `[1.0,2.0)`, `(,1.0],[1.2,)`, `latest`.

A version by itself means exactly that one, as Connect takes it. Numbers compare as numbers, `1.0` is `1`, and
qualifiers stand in the order alpha, beta, milestone, rc, snapshot, none, sp, others by their letters.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from penstock.errors import ConfigError

LATEST = "latest"
QUALIFIERS = {"alpha": 0, "beta": 1, "milestone": 2, "rc": 3, "cr": 3, "snapshot": 4}
RELEASES = ("", "ga", "final", "release")
RELEASE, SERVICE_PACK, OTHER, NUMBER = 5, 6, 7, 8
Part = tuple[int, int, str]
NOTHING: Part = (RELEASE, 0, "")


@functools.total_ordering
class Version:
    def __init__(self, text: str) -> None:
        self.text = text
        parts = [_part(each) for each in re.findall(r"\d+|[a-z]+", text.lower())]
        while parts and parts[-1] in (NOTHING, (NUMBER, 0, "")):
            parts.pop()
        self._parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(tuple(self._parts))

    def __lt__(self, other: Version) -> bool:
        length = max(len(self._parts), len(other._parts))
        return self._padded(length) < other._padded(length)

    def _padded(self, length: int) -> list[Part]:
        return self._parts + [NOTHING] * (length - len(self._parts))


def _part(word: str) -> Part:
    if word.isdecimal():
        return (NUMBER, int(word), "")
    if word in RELEASES:
        return NOTHING
    if word == "sp":
        return (SERVICE_PACK, 0, "")
    rank = QUALIFIERS.get(word)
    return (OTHER, 0, word) if rank is None else (rank, 0, "")


@dataclass(frozen=True, slots=True)
class Interval:
    low: Version | None
    high: Version | None
    low_is_in: bool
    high_is_in: bool

    def __str__(self) -> str:
        low, high = (each.text if each is not None else "" for each in (self.low, self.high))
        return f"{'[' if self.low_is_in else '('}{low},{high}{']' if self.high_is_in else ')'}"

    def __contains__(self, version: Version) -> bool:
        if self.low is not None and (version < self.low or (version == self.low and not self.low_is_in)):
            return False
        return self.high is None or version < self.high or (version == self.high and self.high_is_in)


@dataclass(frozen=True, slots=True)
class VersionRange:
    intervals: tuple[Interval, ...]

    def __contains__(self, version: Version) -> bool:
        return any(version in interval for interval in self.intervals)

    def __str__(self) -> str:
        return ",".join(map(str, self.intervals))


def parse_range(text: str | None) -> VersionRange | None:
    """None is any version: the latest is taken."""
    if text is None or text == LATEST:
        return None
    spec = text.strip()
    if not spec.startswith(("[", "(")):
        spec = f"[{spec}]"
    if not re.fullmatch(r"[\[(][^\[\]()]*[\])](\s*,\s*[\[(][^\[\]()]*[\])])*", spec):
        raise _not_a_range(text)
    return VersionRange(tuple(_interval(each, text) for each in re.findall(r"[\[(][^\[\]()]*[\])]", spec)))


def _interval(spec: str, text: str) -> Interval:
    bounds = [each.strip() for each in spec[1:-1].split(",")]
    closed = (spec[0] == "[", spec[-1] == "]")
    if len(bounds) == 1 and bounds[0] and closed == (True, True):
        return Interval(Version(bounds[0]), Version(bounds[0]), *closed)
    if len(bounds) != 2:
        raise _not_a_range(text)
    low, high = (Version(each) if each else None for each in bounds)
    if low is not None and high is not None and high < low:
        raise ConfigError(f"Range defies version ordering: {text}")
    return Interval(low, high, *closed)


def _not_a_range(text: str) -> ConfigError:
    return ConfigError(
        f"{text!r} is no version range; takes 1.2, [1.0,2.0), [1.0,), ranges of them, or latest"
    )
