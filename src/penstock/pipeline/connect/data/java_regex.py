r"""Regular expressions as java.util.regex has them, on Python's `re`.

What is spelled otherwise is translated: named groups, `\Q...\E`, `\p{...}` of ASCII and of the common categories, `\z`,
`\h`, `\R`. `\d`, `\w` and `\s` are of ASCII, as in Java. Intersections in brackets (`[a-z&&[^b]]`) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_CLASSES: Final = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0b\f\r",
}
_UNICODE: Final = {
    "L": lambda: _ranges(str.isalpha),
    "IsAlphabetic": lambda: _ranges(str.isalpha),
    "Lu": lambda: _ranges(str.isupper),
    "IsUppercase": lambda: _ranges(str.isupper),
    "Ll": lambda: _ranges(str.islower),
    "IsLowercase": lambda: _ranges(str.islower),
    "N": lambda: _ranges(str.isnumeric),
    "Nd": lambda: _ranges(str.isdecimal),
    "IsDigit": lambda: _ranges(str.isdecimal),
}
_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)"
    r"|\\(?P<sign>[pP])(?:\{(?P<class>\w+)\}|(?P<letter>[A-Z]))"
    r"|\(\?<(?P<group>[A-Za-z]\w*)>"
    r"|\\k<(?P<reference>[A-Za-z]\w*)>"
    r"|\\(?P<escape>[zZhReE])"
    r"|(?P<intersection>&&)"
    r"|\\.|.",
    re.DOTALL,
)
_ESCAPES: Final = {
    "z": r"\Z",
    "Z": r"(?=\n?\Z)",
    "h": r"[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]",
    "R": r"(?:\r\n|[\n\x0b\f\r\x85\u2028\u2029])",
    "e": r"\x1b",
    "E": "",
}


class PatternError(ValueError):
    pass


def _ranges(is_in: Callable[[str], bool]) -> str:
    """The characters of the basic plane for which it says yes, as the inside of brackets."""
    found: list[str] = []
    start: int | None = None
    for code in range(0x10000 + 1):
        inside = code < 0x10000 and not 0xD800 <= code < 0xE000 and is_in(chr(code))
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            found.append(f"\\u{start:04x}-\\u{code - 1:04x}")
            start = None
    return "".join(found)


def _class(found: re.Match[str], in_brackets: bool) -> str:
    name = found["class"] or found["letter"]
    inner = _CLASSES.get(name) or (_UNICODE[name]() if name in _UNICODE else None)
    if inner is None:
        raise PatternError(f"Unknown character property name {{{name}}}")
    if found["sign"] == "P":
        if in_brackets:
            raise PatternError(f"\\P{{{name}}} within brackets is not supported")
        return f"[^{inner}]"
    return inner if in_brackets else f"[{inner}]"


def _translated(pattern: str) -> str:
    parts: list[str] = []
    in_brackets = False
    for found in _TOKEN.finditer(pattern):
        text = found[0]
        if found["quoted"] is not None:
            text = re.escape(found["quoted"])
        elif found["sign"]:
            text = _class(found, in_brackets)
        elif found["group"]:
            text = text if in_brackets else f"(?P<{found['group']}>"
        elif found["reference"]:
            text = f"(?P={found['reference']})"
        elif found["escape"]:
            text = _ESCAPES[found["escape"]]
        elif found["intersection"] and in_brackets:
            raise PatternError("intersections of character classes (&&) are not supported")
        elif text == "[":
            text = r"\[" if in_brackets else text
            in_brackets = True
        elif text == "]":
            in_brackets = False
        parts.append(text)
    return "".join(parts)


def compile_java(pattern: str) -> re.Pattern[str]:
    """`PatternError` says what is wrong with it."""
    try:
        return re.compile(_translated(pattern), re.ASCII)
    except re.error as error:
        at = "" if error.pos is None else f" near index {error.pos}"
        raise PatternError(f"{error.msg}{at}\n{pattern}") from None


_REPLACEMENT = re.compile(r"\\(.)|\$\{([A-Za-z]\w*)\}|\$(\d)|(\\|\$)", re.ASCII | re.DOTALL)


def expand(template: str, found: re.Match[str]) -> str:
    r"""`template` with `$1` and `${name}` filled in as Java does: as many digits as there are such groups."""
    parts: list[str] = []
    at = 0
    while at < len(template):
        token = _REPLACEMENT.match(template, at)
        if token is None:
            parts.append(template[at])
            at += 1
            continue
        text, at = _reference(template, token, found)
        parts.append(text)
    return "".join(parts)


def _reference(template: str, token: re.Match[str], found: re.Match[str]) -> tuple[str, int]:
    if token[1] is not None:
        return token[1], token.end()
    if token[4] is not None:
        raise PatternError(
            "character to be escaped is missing" if token[4] == "\\" else "Illegal group reference"
        )
    if token[2] is not None:
        if token[2] not in found.re.groupindex:
            raise PatternError(f"No group with name {{{token[2]}}}")
        return found[token[2]] or "", token.end()
    number, end = int(token[3]), token.end()
    if number > found.re.groups:
        raise PatternError(f"No group {number}")
    while end < len(template) and template[end] in "0123456789":
        longer = number * 10 + int(template[end])
        if longer > found.re.groups:
            break
        number, end = longer, end + 1
    return found[number] or "", end
