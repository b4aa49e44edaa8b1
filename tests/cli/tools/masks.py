"""What may differ between two runs of the same tool, replaced by its name before the two are compared.

A mask is a pattern and what stands for it. Those that a test wants are given to `both(..., masks=[...])`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Mask(NamedTuple):
    pattern: re.Pattern[str]
    replacement: str


def mask(pattern: str, replacement: str) -> Mask:
    return Mask(re.compile(pattern, re.MULTILINE), replacement)


MILLISECONDS = mask(r"\b1[6-9]\d{11}\b", "<milliseconds>")  # a time of these years, since 1970
DATE_TIME = mask(r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,:]?\d*(Z|[+-]\d\d:?\d\d)?", "<time>")
UUID = mask(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>")
TOPIC_ID = mask(r"(?<=TopicId: )[A-Za-z0-9_-]{22}", "<topic id>")
LOOPBACK_PORT = mask(r"(?<=127\.0\.0\.1[:/])\d+|(?<=localhost:)\d+", "<port>")
DECIMALS = mask(r"\b\d+\.\d+\b", "<decimal>")
# Ours say what was waited for, and why in vain.
TIMEOUT = mask(r"(?<=org\.apache\.kafka\.common\.errors\.TimeoutException: ).*", "<what timed out>")
# For tables in which something masked decides how wide a column is.
COLUMN_WIDTHS = mask(r"[ \t]+", " ")

# What Java prints of an exception that a tool shows with where it was thrown; ours say one line and no more.
STACK_TRACE = mask(
    r'^(?:Exception in thread "[^"]*" )?(?:[a-z]\w*\.)+[A-Z][\w$]*(?::.*)?\n'  # the exception, its message
    r"(?:(?!(?:[a-z]\w*\.)+[A-Z])[^\t\n].*\n){0,5}?"  # more lines of the message
    r"(?:\tat .*\n|\t\.\.\. \d+ more\n|Caused by: .*\n|\tSuppressed: .*\n)+\n?",
    "",
)

# What our clients warn of, on the standard error of a tool.
OUR_WARNING = mask(
    r"^(?:\S+:\d+(?: \(bootstrap\.servers\)|, the address of node ).* cannot be reached: .*"
    r"|node \d+ is not in the cluster)\n",
    "",
)


def masked(text: str, masks: Sequence[Mask]) -> str:
    for pattern, replacement in masks:
        text = pattern.sub(replacement, text)
    return text
