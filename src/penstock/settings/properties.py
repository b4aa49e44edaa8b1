"""Java's .properties files.

Blank lines and lines that begin with `#` or `!` are skipped. A line that ends in an odd number of backslashes
goes on in the next, whose leading blanks are dropped. The key ends at the first unescaped `=`, `:` or blank.
`\\t \\n \\r \\f \\uXXXX` are escapes, and a backslash before anything else is dropped. The last of equal keys wins.
"""

from collections.abc import Iterator
from pathlib import Path

from penstock.errors import ConfigError

_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not a text file in UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
    return parse_properties(text, str(path))


def parse_properties(text: str, source: str = "properties") -> dict[str, str]:
    properties: dict[str, str] = {}
    for number, line in _logical_lines(text):
        raw_key, raw_value = _split(line)
        where = f"{source}, line {number}"
        properties[_unescape(raw_key, where)] = _unescape(raw_value, where)
    return properties


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations joined, each with the number it starts at."""
    joined, start = "", 0
    for number, natural in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = natural.lstrip(_BLANK)
        if not joined:
            if not line or line[0] in "#!":
                continue
            start = number
        if _goes_on(line):
            joined += line[:-1]
            continue
        if joined or line:
            yield start, joined + line
        joined = ""
    if joined:
        yield start, joined


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    end = _end_of_key(line)
    rest = line[end:].lstrip(_BLANK)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return line[:end], rest


def _end_of_key(line: str) -> int:
    position = 0
    while position < len(line):
        if line[position] == "\\":
            position += 1
        elif line[position] in "=:" + _BLANK:
            break
        position += 1
    return min(position, len(line))


def _unescape(raw: str, where: str) -> str:
    if "\\" not in raw:
        return raw
    parts: list[str] = []
    position = 0
    while position < len(raw):
        character = raw[position]
        position += 1
        if character == "\\" and position < len(raw):
            character, position = _escaped(raw, position, where)
        parts.append(character)
    return "".join(parts)


def _escaped(raw: str, position: int, where: str) -> tuple[str, int]:
    character = raw[position]
    if character != "u":
        return _ESCAPES.get(character, character), position + 1
    digits = raw[position + 1 : position + 5]
    if len(digits) < 4 or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
        raise ConfigError(f"{where}: got '\\u{digits}'; takes four hexadecimal digits after \\u")
    return chr(int(digits, 16)), position + 5
