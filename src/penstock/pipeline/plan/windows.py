"""Windows as values, and how records are put into them."""

from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from penstock.errors import ConfigError

K = TypeVar("K")


class Window(NamedTuple):
    """From `start_ms` on; `end_ms` is outside of a time window and inside of a session or a sliding window."""

    start_ms: int
    end_ms: int


class Windowed(NamedTuple, Generic[K]):
    """A key in one of its windows, which is the key of a windowed table."""

    key: K
    window: Window

    def __str__(self) -> str:
        return f"[{self.key}@{self.window.start_ms}/{self.window.end_ms}]"


def _at_least(least: int, what: str, given: int) -> None:
    if given < least:
        raise ConfigError(f"{what}: got {given}; takes at least {least}")


@dataclass(frozen=True)
class TimeWindows:
    """Tumbling windows of one size; with `advance_by_ms` less than the size they hop and overlap.

    >>> from penstock.streams import TimeWindows
    >>> TimeWindows.of_size_and_grace(60_000, grace_ms=5_000).advance_by(20_000).advance_ms
    20000
    """

    size_ms: int
    grace_ms: int
    advance_ms: int

    def __post_init__(self) -> None:
        _at_least(1, "the size of a window", self.size_ms)
        _at_least(0, "grace", self.grace_ms)
        _at_least(1, "the advance of hopping windows", self.advance_ms)
        if self.advance_ms > self.size_ms:
            raise ConfigError(
                f"the advance of hopping windows: got {self.advance_ms}; takes at most their size {self.size_ms}"
            )

    @classmethod
    def of_size_with_no_grace(cls, size_ms: int) -> "TimeWindows":
        return cls(size_ms, 0, size_ms)

    @classmethod
    def of_size_and_grace(cls, size_ms: int, grace_ms: int) -> "TimeWindows":
        return cls(size_ms, grace_ms, size_ms)

    def advance_by(self, advance_ms: int) -> "TimeWindows":
        return replace(self, advance_ms=advance_ms)

    def starts_for(self, timestamp: int) -> range:
        first = max(0, timestamp - self.size_ms + self.advance_ms) // self.advance_ms * self.advance_ms
        return range(first, timestamp + 1, self.advance_ms)


@dataclass(frozen=True)
class SlidingWindows:
    """A window for each set of records of a key that lie within the time difference of each other; both ends inside."""

    time_difference_ms: int
    grace_ms: int

    def __post_init__(self) -> None:
        _at_least(0, "the time difference of sliding windows", self.time_difference_ms)
        _at_least(0, "grace", self.grace_ms)

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference_ms: int) -> "SlidingWindows":
        return cls(time_difference_ms, 0)

    @classmethod
    def of_time_difference_and_grace(cls, time_difference_ms: int, grace_ms: int) -> "SlidingWindows":
        return cls(time_difference_ms, grace_ms)


@dataclass(frozen=True)
class SessionWindows:
    """Windows that records open and extend, until none comes for the length of the gap."""

    inactivity_gap_ms: int
    grace_ms: int

    def __post_init__(self) -> None:
        _at_least(1, "the inactivity gap of sessions", self.inactivity_gap_ms)
        _at_least(0, "grace", self.grace_ms)

    @classmethod
    def of_inactivity_gap_with_no_grace(cls, inactivity_gap_ms: int) -> "SessionWindows":
        return cls(inactivity_gap_ms, 0)

    @classmethod
    def of_inactivity_gap_and_grace(cls, inactivity_gap_ms: int, grace_ms: int) -> "SessionWindows":
        return cls(inactivity_gap_ms, grace_ms)


@dataclass(frozen=True)
class JoinWindows:
    """How far the records of the other stream may lie before and after one of this stream to be joined with it."""

    before_ms: int
    after_ms: int
    grace_ms: int

    def __post_init__(self) -> None:
        _at_least(0, "grace", self.grace_ms)
        _at_least(0, "the sum of before and after of a join", self.before_ms + self.after_ms)

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference_ms: int) -> "JoinWindows":
        return cls(time_difference_ms, time_difference_ms, 0)

    @classmethod
    def of_time_difference_and_grace(cls, time_difference_ms: int, grace_ms: int) -> "JoinWindows":
        return cls(time_difference_ms, time_difference_ms, grace_ms)

    def before(self, before_ms: int) -> "JoinWindows":
        return replace(self, before_ms=before_ms)

    def after(self, after_ms: int) -> "JoinWindows":
        return replace(self, after_ms=after_ms)

    @property
    def size_ms(self) -> int:
        return self.before_ms + self.after_ms
