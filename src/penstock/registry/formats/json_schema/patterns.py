"""Regular expressions as schemas have them (ECMA 262, or Java's), for Python's engine.

Python's has other words for a few things. Classes of Unicode categories (`\\p{L}`) it has not at all: they count as
letters, digits and underscores, which is near enough to say which properties a pattern is about.
"""

from __future__ import annotations

import re
from functools import lru_cache

_OTHER_WORDS = re.compile(
    r"\\(?:[pP](?:\{[^}]*\}|[A-Z])|u\{([0-9a-fA-F]{1,6})\}|c([A-Za-z])|[zZhH]|.)|\(\?<(?![=!])", re.DOTALL
)
_SINGLE = {"\\z": r"\Z", "\\Z": r"\Z", "\\h": r"\s", "\\H": r"\S", "(?<": "(?P<"}


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """`re.error` says why it cannot be."""
    try:
        return re.compile(_OTHER_WORDS.sub(_python_word, pattern))
    except (OverflowError, RecursionError) as error:
        raise re.error(str(error)) from error


def _python_word(found: re.Match[str]) -> str:
    word = found[0]
    if word[:2] in ("\\p", "\\P"):
        return r"\w" if word[1] == "p" else r"\W"
    if found[1]:
        code = int(found[1], 16)
        return re.escape(chr(code)) if code < 0x110000 else word
    if found[2]:
        return re.escape(chr(ord(found[2].upper()) - 64))
    return _SINGLE.get(word, word)
