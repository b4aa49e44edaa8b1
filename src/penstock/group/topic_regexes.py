"""Subscriptions by regular expression, in RE2's syntax and with RE2's promise: time linear in what is matched.

The expression comes from a client and is matched against every topic by the broker, on its event loop, so one that
takes exponential time must not exist. That rules out `re`. Linear in the program that it becomes, too, which a few
characters such as `(x{0,1000})` can make a large one; so its memory has a bound, beyond which it is refused.

Linear is not little: `(.?){400}z` is looked for in a long name for a millisecond. A group's expressions are matched a
turn at a time, with a turn measured by what RE2 may do at worst, size of program times length of name.
"""

from collections.abc import Collection, Iterable, Mapping

import re2

from penstock.bounded_patterns import takes_long_to_read
from penstock.errors import ApiError, ErrorCode
from penstock.group.subscriptions import ResolvedRegex

MAX_PROGRAM_BYTES = 128 * 1024
"""Room for an alternation of several hundred names."""
MAX_REPETITIONS = 10_000
"""All counts in braces together, more of which don't fit into the program."""
COST_AT_ONCE = 2_000_000
"""Before others are served, in steps of RE2: 1 to 2 ms, as one takes at most a nanosecond."""
COST_OF_A_MATCH = 1_000
"""Apart from its steps."""
COST_OF_AN_EXPRESSION = 100
"""For each step of its program, to compile it."""


def _options() -> re2.Options:
    options = re2.Options()
    options.max_mem = MAX_PROGRAM_BYTES
    options.log_errors = False
    options.never_capture = True
    return options


_OPTIONS = _options()


def check_regex(regex: str) -> None:
    if takes_long_to_read(regex, MAX_REPETITIONS):
        raise _refusal(regex, "pattern too large")
    try:
        re2.compile(regex, _OPTIONS)
    except re2.error as error:
        raise _refusal(regex, _description(error)) from error


def _refusal(regex: str, why: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {why}.",
    )


class _Progress:
    __slots__ = ("fitting", "position")

    def __init__(self) -> None:
        self.position = 0
        """In the names, up to which they are matched."""
        self.fitting: list[str] = []


class Matching:
    """The expressions of a group are matched with all topics, a turn at a time.

    A topic that comes meanwhile is matched as well, one that goes is left out at the end: what is done is not done
    again, so that it ends however often topics change.
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._known: set[str] = set()
        self._version: int | None = None
        self._progress: dict[str, _Progress] = {}

    def take_turn(self, regexes: Iterable[str], topics: Collection[str], version: int) -> bool:
        """Does as much as others can wait for, at least one match; True when that is all."""
        if version != self._version:
            self._version = version
            self._names += [name for name in topics if name not in self._known]
            self._known.update(topics)
        left = COST_AT_ONCE
        for regex in regexes:
            progress = self._progress.setdefault(regex, _Progress())
            if progress.position == len(self._names):
                continue
            if left <= 0:
                return False
            left = self._match(regex, progress, left)
            if progress.position < len(self._names):
                return False
        return True

    def _match(self, regex: str, progress: _Progress, left: int) -> int:
        """Returns what is left to spend."""
        try:
            pattern = re2.compile(regex, _OPTIONS)
        except re2.error:
            progress.position = len(self._names)
            return left
        size = pattern.programsize
        if not progress.position:
            left -= size * COST_OF_AN_EXPRESSION
        for position in range(progress.position, len(self._names)):
            name = self._names[position]
            left -= COST_OF_A_MATCH + size * len(name)
            if pattern.fullmatch(name):
                progress.fitting.append(name)
            if left <= 0:
                break
        progress.position = position + 1
        return left

    def resolved(
        self, regexes: Iterable[str], topics: Collection[str], version: int, now_ms: int
    ) -> Mapping[str, ResolvedRegex]:
        """What they match, once all turns are taken."""
        return {
            regex: ResolvedRegex(
                frozenset(name for name in self._progress[regex].fitting if name in topics), version, now_ms
            )
            for regex in regexes
        }


def _description(error: Exception) -> str:
    """RE2 says `missing ): (`, the expression after the colon; only the first half is news."""
    text = error.args[0] if error.args else b""
    return (text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)).partition(":")[0]
