"""java.text.SimpleDateFormat, as Connect's transforms use it: in UTC, in English, lenient.

A pattern becomes a list of texts and fields. A field writes what it says of a moment, and reads from a text. Reading
gathers numbers by name and makes a moment of them at the end, leniently: month 14 is February of the next year. A run
of number fields without anything between them has as many digits each as it has letters.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from penstock.pipeline.connect.data.gregorian import (
    Day,
    day_of,
    day_of_week,
    days_of,
    first_day_of_week_year,
    week_year_of,
)

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
ZONES: Final = {
    "UTC": 0,
    "GMT": 0,
    "Z": 0,
    "Coordinated Universal Time": 0,
    "Greenwich Mean Time": 0,
    "EST": -300,
    "EDT": -240,
    "CST": -360,
    "CDT": -300,
    "MST": -420,
    "MDT": -360,
    "PST": -480,
    "PDT": -420,
}
"""Minutes east of Greenwich."""

MILLIS_PER_DAY: Final = 86_400_000
YEARS_BEFORE_NOW: Final = 80
"""A year of two digits lies in the hundred years that began then."""


class PatternError(ValueError):
    pass


class ParseError(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class _Moment:
    days: int
    millis: int
    day: Day

    @classmethod
    def of(cls, millis: int) -> _Moment:
        days, rest = divmod(millis, MILLIS_PER_DAY)
        return cls(days, rest, day_of(days))

    @property
    def hour(self) -> int:
        return self.millis // 3_600_000


@dataclass(slots=True)
class _Read:
    """What was read so far: numbers by the letter of their field."""

    numbers: dict[str, int] = field(default_factory=dict)
    is_ambiguous: bool = False


# --- writing


def _number(count: int, value: int) -> str:
    return f"-{-value:0{count}d}" if value < 0 else f"{value:0{count}d}"


def _write_year(moment: _Moment, count: int, year: int) -> str:
    shown = year if year > 0 else 1 - year
    return f"{shown % 100:02d}" if count == 2 else _number(count, shown)


def _write_month(moment: _Moment, count: int) -> str:
    if count <= 2:
        return _number(count, moment.day.month)
    name = MONTHS[moment.day.month - 1]
    return name if count > 3 else name[:3]


def _write_weekday(moment: _Moment, count: int) -> str:
    name = WEEKDAYS[day_of_week(moment.days)]
    return name if count > 3 else name[:3]


def _day_in_year(moment: _Moment) -> int:
    return moment.days - days_of(moment.day.year, 1, 1) + 1


def _week_in_year(moment: _Moment) -> int:
    return (moment.days - first_day_of_week_year(week_year_of(moment.days))) // 7 + 1


def _week_in_month(moment: _Moment) -> int:
    first = days_of(moment.day.year, moment.day.month, 1)
    return (moment.day.day - 1 + day_of_week(first)) // 7 + 1


_WRITERS: Final[dict[str, Callable[[_Moment, int], str]]] = {
    "G": lambda moment, count: "AD" if moment.day.year > 0 else "BC",
    "y": lambda moment, count: _write_year(moment, count, moment.day.year),
    "Y": lambda moment, count: _write_year(moment, count, week_year_of(moment.days)),
    "M": _write_month,
    "L": _write_month,
    "w": lambda moment, count: _number(count, _week_in_year(moment)),
    "W": lambda moment, count: _number(count, _week_in_month(moment)),
    "D": lambda moment, count: _number(count, _day_in_year(moment)),
    "d": lambda moment, count: _number(count, moment.day.day),
    "F": lambda moment, count: _number(count, (moment.day.day - 1) // 7 + 1),
    "E": _write_weekday,
    "u": lambda moment, count: _number(count, (day_of_week(moment.days) - 1) % 7 + 1),
    "a": lambda moment, count: "AM" if moment.hour < 12 else "PM",
    "H": lambda moment, count: _number(count, moment.hour),
    "k": lambda moment, count: _number(count, moment.hour or 24),
    "K": lambda moment, count: _number(count, moment.hour % 12),
    "h": lambda moment, count: _number(count, moment.hour % 12 or 12),
    "m": lambda moment, count: _number(count, moment.millis // 60_000 % 60),
    "s": lambda moment, count: _number(count, moment.millis // 1000 % 60),
    "S": lambda moment, count: _number(count, moment.millis % 1000),
    "z": lambda moment, count: "UTC" if count < 4 else "Coordinated Universal Time",
    "Z": lambda moment, count: "+0000",
    "X": lambda moment, count: "Z",
}

# --- reading: each gives back where the next field begins

_DIGITS = re.compile(r"-?\d+")
_OFFSET_OF_COUNT = {
    1: re.compile(r"([+-])(\d\d)"),
    2: re.compile(r"([+-])(\d\d)(\d\d)"),
    3: re.compile(r"([+-])(\d\d):(\d\d)"),
}
_RFC_822 = re.compile(r"([+-])(\d\d):?(\d\d)")
_AFTER_GMT = re.compile(r"([+-])(\d\d?):(\d\d)")


def _read_name(names: tuple[str, ...], text: str, start: int) -> tuple[int, int]:
    """Index of the name and its end; in full or three letters, in any case."""
    for length in (None, 3):
        for index, name in enumerate(names):
            wanted = name[:length].lower()
            if text[start : start + len(wanted)].lower() == wanted:
                return index, start + len(wanted)
    raise ParseError


def _read_number(text: str, start: int, limit: int) -> tuple[int, int]:
    if limit > len(text):
        raise ParseError
    found = _DIGITS.match(text, start, limit)
    if found is None:
        raise ParseError
    return int(found[0]), found.end()


def _minutes(found: re.Match[str]) -> int:
    hours, minutes = int(found[2]), int(found[3]) if found.lastindex == 3 else 0
    if hours > 23 or minutes > 59:
        raise ParseError
    return (hours * 60 + minutes) * (-1 if found[1] == "-" else 1)


def _read_zone(text: str, start: int) -> tuple[int, int]:
    if found := _RFC_822.match(text, start):
        return _minutes(found), found.end()
    if text[start : start + 3].upper() == "GMT" and (found := _AFTER_GMT.match(text, start + 3)):
        return _minutes(found), found.end()
    for name in sorted(ZONES, key=len, reverse=True):
        if name != "Z" and text[start : start + len(name)].lower() == name.lower():
            return ZONES[name], start + len(name)
    raise ParseError


def _read_iso_zone(text: str, start: int, count: int) -> tuple[int, int]:
    if text[start] == "Z":
        return 0, start + 1
    found = _OFFSET_OF_COUNT[count].match(text, start)
    if found is None:
        raise ParseError
    return _minutes(found), found.end()


@dataclass(frozen=True, slots=True)
class _Text:
    text: str

    is_number: bool = False

    def write(self, moment: _Moment) -> str:
        return self.text

    def read(self, text: str, start: int, abuts: bool, read: _Read) -> int:
        if not text.startswith(self.text, start):
            raise ParseError
        return start + len(self.text)


@dataclass(frozen=True, slots=True)
class _Field:
    letter: str
    count: int

    @property
    def is_number(self) -> bool:
        return self.letter not in "GEaXzZ" and not (self.letter in "ML" and self.count > 2)

    def write(self, moment: _Moment) -> str:
        return _WRITERS[self.letter](moment, self.count)

    def read(self, text: str, start: int, abuts: bool, read: _Read) -> int:
        limit = start + self.count if abuts else len(text)  # blanks before a number count for its width
        while start < len(text) and text[start] in " \t":
            start += 1
        if start >= len(text):
            raise ParseError
        if not self.is_number:
            return self._read_word(text, start, read)
        value, end = _read_number(text, start, limit)
        if self.letter in "yY" and self.count <= 2 and end - start == 2 and text[start:end].isdigit():
            value, read.is_ambiguous = _full_year(value)
        self._keep(read, value)
        return end

    def _read_word(self, text: str, start: int, read: _Read) -> int:
        if self.letter == "G":
            value, end = _read_name(("BC", "AD"), text, start)
        elif self.letter == "E":
            value, end = _read_name(WEEKDAYS, text, start)
        elif self.letter == "a":
            value, end = _read_name(("AM", "PM"), text, start)
        elif self.letter in "ML":
            value, end = _read_name(MONTHS, text, start)
            value += 1
        elif self.letter == "X":
            value, end = _read_iso_zone(text, start, self.count)
        else:
            value, end = _read_zone(text, start)
        self._keep(read, value)
        return end

    def _keep(self, read: _Read, value: int) -> None:
        name = _SAME_AS.get(self.letter, self.letter)
        read.numbers.pop(name, None)  # the last one counts, and the order of what was read
        read.numbers[name] = _WRAPPED.get(self.letter, _as_it_is)(value)


def _as_it_is(value: int) -> int:
    return value


_SAME_AS: Final = {"L": "M", "X": "zone", "z": "zone", "Z": "zone", "k": "H", "h": "K", "u": "E"}
_WRAPPED: Final[dict[str, Callable[[int], int]]] = {
    "k": lambda value: 0 if value == 24 else value,
    "h": lambda value: 0 if value == 12 else value,
    "u": lambda value: value % 7,
}


def _century_start() -> tuple[int, int]:
    """Its first millisecond, eighty years ago, and the year of it."""
    millis = time.time_ns() // 1_000_000
    days, rest = divmod(millis, MILLIS_PER_DAY)
    now = day_of(days)
    start = days_of(now.year - YEARS_BEFORE_NOW, now.month, now.day)
    return start * MILLIS_PER_DAY + rest, now.year - YEARS_BEFORE_NOW


def _full_year(two_digits: int) -> tuple[int, bool]:
    _, first = _century_start()
    year = first // 100 * 100 + two_digits + (100 if two_digits < first % 100 else 0)
    return year, two_digits == first % 100


def _days(numbers: dict[str, int]) -> int:
    order = list(numbers)
    if "Y" in numbers and ("y" not in numbers or order.index("Y") > order.index("y")):
        week = numbers.get("w", 1) - 1
        return first_day_of_week_year(numbers["Y"]) + 7 * week + numbers.get("E", 0)
    year = numbers.get("y", 1970)
    if numbers.get("G", 1) == 0:
        year = 1 - year
    if "D" in numbers and ("d" not in numbers or order.index("D") > order.index("d")):
        return days_of(year, 1, numbers["D"])
    if "E" in numbers and "d" not in numbers:
        first = days_of(year, numbers.get("M", 1), 1)
        return first + (numbers["E"] - day_of_week(first)) % 7
    return days_of(year, numbers.get("M", 1), numbers.get("d", 1))


def _millis(numbers: dict[str, int]) -> int:
    order = list(numbers)
    has_both = "K" in numbers and "a" in numbers
    if "H" in numbers and not (has_both and order.index("H") < max(order.index("K"), order.index("a"))):
        hours = numbers["H"]
    else:
        hours = numbers.get("K", 0) + 12 * numbers.get("a", 0)
    minutes = hours * 60 + numbers.get("m", 0) - numbers.get("zone", 0)
    return (minutes * 60 + numbers.get("s", 0)) * 1000 + numbers.get("S", 0)


# --- the pattern


def _compiled(pattern: str) -> list[_Text | _Field]:
    parts: list[_Text | _Field] = []
    for found in re.finditer(r"'((?:[^']|'')+)'|''|'|([A-Za-z])\2*|[^A-Za-z']+", pattern):
        text = found[0]
        if found[2] is not None:
            if text[0] not in _WRITERS:
                raise PatternError(f"Illegal pattern character '{text[0]}'")
            if text[0] == "X" and len(text) > max(_OFFSET_OF_COUNT):
                raise PatternError(f"invalid ISO 8601 format: length={len(text)}")
            parts.append(_Field(text[0], len(text)))
        elif text == "'":
            raise PatternError("Unterminated quote")
        elif found[1] is not None:
            parts.append(_Text(found[1].replace("''", "'")))
        else:
            parts.append(_Text("'" if text == "''" else text))
    return parts


class SimpleDateFormat:
    """`PatternError` in Java's words if the pattern is none; moments are milliseconds since 1970."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._parts = _compiled(pattern)

    def format(self, millis: int) -> str:
        moment = _Moment.of(millis)
        return "".join(part.write(moment) for part in self._parts)

    def parse(self, text: str) -> int:
        """What stands behind the end of the pattern does not count."""
        read = _Read()
        start = 0
        for part, following in zip(self._parts, [*self._parts[1:], None], strict=True):
            abuts = part.is_number and following is not None and following.is_number
            start = part.read(text, start, abuts, read)
        millis = _days(read.numbers) * MILLIS_PER_DAY + _millis(read.numbers)
        if read.is_ambiguous and millis < _century_start()[0]:
            read.numbers["y"] += 100
            millis = _days(read.numbers) * MILLIS_PER_DAY + _millis(read.numbers)
        return millis
