"""Regular expressions as schemas have them (ECMA 262's, or Java's), for Python's engine.

Python's has other words for a few things. Classes of Unicode categories (`\\p{L}`) it has not at all: they count as
letters, digits and underscores, which is near enough to say which properties a pattern is about.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

_OTHER_WORDS = re.compile(
    r"""
    \\Q(?P<quoted>.*?)(?:\\E|$)
    | \\[pP](?:\{[^}]*\}|[A-Z])
    | \\[ux]\{(?P<code>[0-9a-fA-F]{1,6})\}
    | \\c(?P<control>[A-Za-z])
    | \\.
    | \(\?(?P<flags>[a-zA-Z]+)\)
    | \(\?<(?![=!])
    """,
    re.DOTALL | re.VERBOSE,
)
_SINGLE = {"\\z": r"\Z", "\\h": r"\s", "\\H": r"\S", "(?<": "(?P<"}
_KNOWN_FLAGS = "imsx"
_LAST_CODE = 0x10FFFF


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """`re.error` says why it cannot be."""
    flags = {flag for found in _OTHER_WORDS.finditer(pattern) for flag in found["flags"] or ""}
    prefix = "".join(sorted(flags & set(_KNOWN_FLAGS)))
    words = _OTHER_WORDS.sub(_python_word, pattern)
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # of sets inside of sets
            return re.compile(f"(?{prefix}){words}" if prefix else words)
    except (OverflowError, RecursionError) as error:
        raise re.error(str(error)) from error


def _python_word(found: re.Match[str]) -> str:
    word = found[0]
    if found["quoted"] is not None:
        return re.escape(found["quoted"])
    if found["code"]:
        return re.escape(chr(min(int(found["code"], 16), _LAST_CODE)))
    if found["control"]:
        return re.escape(chr(ord(found["control"].upper()) - 64))
    if found["flags"]:
        return ""
    if word[:2] in ("\\p", "\\P"):
        return r"\w" if word[1] == "p" else r"\W"
    return _SINGLE.get(word, word)
