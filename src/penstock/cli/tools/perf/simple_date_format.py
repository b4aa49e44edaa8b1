"""Times in the patterns of Java's SimpleDateFormat, as far as English month and day names go."""

import re
import time
from collections.abc import Callable

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PIECE = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letter>[a-zA-Z])(?P=letter)*|[^a-zA-Z']+")

Part = Callable[[time.struct_time, int, int], str]


def _number(of: Callable[[time.struct_time, int], int]) -> Part:
    return lambda moment, ms, width: str(of(moment, ms)).rjust(width, "0")


def _year(moment: time.struct_time, ms: int, width: int) -> str:
    return f"{moment.tm_year % 100:02d}" if width == 2 else str(moment.tm_year).rjust(width, "0")


def _month(moment: time.struct_time, ms: int, width: int) -> str:
    name = MONTHS[moment.tm_mon - 1]
    return name if width > 3 else name[:3] if width == 3 else str(moment.tm_mon).rjust(width, "0")


def _day_name(moment: time.struct_time, ms: int, width: int) -> str:
    name = DAYS[moment.tm_wday]
    return name if width > 3 else name[:3]


def _rfc822_offset(moment: time.struct_time, ms: int, width: int) -> str:
    hours, minutes = divmod(abs(moment.tm_gmtoff) // 60, 60)
    return f"{'-' if moment.tm_gmtoff < 0 else '+'}{hours:02d}{minutes:02d}"


def _iso8601_offset(moment: time.struct_time, ms: int, width: int) -> str:
    if not moment.tm_gmtoff:
        return "Z"
    whole = _rfc822_offset(moment, ms, width)
    return {1: whole[:3], 2: whole}.get(width, f"{whole[:3]}:{whole[3:]}")


PARTS: dict[str, Part] = {
    "G": lambda moment, ms, width: "AD",
    "y": _year,
    "Y": _year,
    "M": _month,
    "L": _month,
    "d": _number(lambda moment, ms: moment.tm_mday),
    "D": _number(lambda moment, ms: moment.tm_yday),
    "E": _day_name,
    "u": _number(lambda moment, ms: moment.tm_wday + 1),
    "a": lambda moment, ms, width: "AM" if moment.tm_hour < 12 else "PM",
    "H": _number(lambda moment, ms: moment.tm_hour),
    "k": _number(lambda moment, ms: moment.tm_hour or 24),
    "K": _number(lambda moment, ms: moment.tm_hour % 12),
    "h": _number(lambda moment, ms: moment.tm_hour % 12 or 12),
    "m": _number(lambda moment, ms: moment.tm_min),
    "s": _number(lambda moment, ms: moment.tm_sec),
    "S": _number(lambda moment, ms: ms),
    "z": lambda moment, ms, width: moment.tm_zone,
    "Z": _rfc822_offset,
    "X": _iso8601_offset,
}


class SimpleDateFormat:
    def __init__(self, pattern: str) -> None:
        """ValueError with Java's words for a pattern that it does not take."""
        self._parts: list[str | tuple[Part, int]] = []
        position = 0
        while position < len(pattern):
            piece = PIECE.match(pattern, position)
            if piece is None:
                raise ValueError("Unterminated quote")
            self._add(piece)
            position = piece.end()

    def _add(self, piece: re.Match[str]) -> None:
        letter = piece["letter"]
        if letter is None:
            self._parts.append(_unquoted(piece))
        elif letter in PARTS:
            self._parts.append((PARTS[letter], len(piece[0])))
        else:
            raise ValueError(f"Illegal pattern character '{letter}'")

    def format(self, time_ms: int) -> str:
        seconds, ms = divmod(time_ms, 1000)
        moment = time.localtime(seconds)
        return "".join(
            part if isinstance(part, str) else part[0](moment, ms, part[1]) for part in self._parts
        )


def _unquoted(piece: re.Match[str]) -> str:
    quoted = piece["quoted"]
    if quoted is None:
        return piece[0]
    return quoted.replace("''", "'") or "'"
