"""Subscriptions by regular expression, in RE2's syntax and with RE2's promise: time linear in what is matched.

The expression comes from a client and is matched against every topic by the broker, on its event loop, so one that
takes exponential time must not exist. That rules out `re`. Linear in the program that it becomes, too, which a few
characters such as `(x{0,1000})` can make a large one; so its memory has a bound, beyond which it is refused.
"""

from collections.abc import Iterable

import re2

from penstock.errors import ApiError, ErrorCode
from penstock.group.subscriptions import ResolvedRegex

MAX_PROGRAM_BYTES = 128 * 1024
"""Room for an alternation of several hundred names."""
MATCHES_AT_ONCE = 5_000
"""Of a regular expression with a topic, each of which takes from 1 to 25 us, before others are served."""


def _options() -> re2.Options:
    options = re2.Options()
    options.max_mem = MAX_PROGRAM_BYTES
    options.log_errors = False
    options.never_capture = True
    return options


_OPTIONS = _options()


def check_regex(regex: str) -> None:
    try:
        re2.compile(regex, _OPTIONS)
    except re2.error as error:
        raise ApiError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {_description(error)}.",
        ) from error


def resolve_some(
    found: dict[str, ResolvedRegex], regexes: Iterable[str], topics: Iterable[str], version: int, now_ms: int
) -> bool:
    """Adds to what is found what takes some moments to find; True when that is all, for this version of the topics."""
    names = list(topics)
    missing = [regex for regex in regexes if regex not in found or found[regex].version != version]
    at_once = max(1, MATCHES_AT_ONCE // max(1, len(names)))
    for regex in missing[:at_once]:
        found[regex] = ResolvedRegex(_matches(regex, names), version, now_ms)
    return len(missing) <= at_once


def _matches(regex: str, names: list[str]) -> frozenset[str]:
    try:
        pattern = re2.compile(regex, _OPTIONS)
    except re2.error:
        return frozenset()
    return frozenset(name for name in names if pattern.fullmatch(name))


def _description(error: Exception) -> str:
    """RE2 says `missing ): (`, the expression after the colon; only the first half is news."""
    text = error.args[0] if error.args else b""
    return (text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)).partition(":")[0]
