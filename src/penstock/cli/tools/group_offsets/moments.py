"""Moments as `--to-datetime` and `--by-duration` take them, in milliseconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from penstock.cli.tools.common.failures import CommandFailure

_DATETIME = re.compile(
    r"(?P<date>\d+-\d+-\d+)T(?P<time>\d+:\d+:\d+)\.(?P<millis>\d+)"
    r"(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?)"
)
_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?P<time>T(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?"
    r"(?:(?P<seconds>[-+]?\d+)(?:[.,](?P<fraction>\d{0,9}))?S)?)?",
    re.IGNORECASE,
)


def moment_of_datetime(text: str) -> int:
    """Of `YYYY-MM-DDThh:mm:ss.sss`, in UTC unless an offset follows. What comes after the point is milliseconds."""
    if "T" not in text.rstrip("T"):
        raise CommandFailure(
            "java.text.ParseException: Error parsing timestamp. "
            "It does not contain a 'T' according to ISO8601 format"
        )
    if not any(mark in text.split("T")[1] for mark in "+-Z"):
        text += "Z"
    found = _DATETIME.match(text)
    try:
        if found is not None:
            return _milliseconds(found)
    except ValueError:
        pass
    raise CommandFailure(f'java.text.ParseException: Unparseable date: "{text}"')


def _milliseconds(found: re.Match[str]) -> int:
    year, month, day = (int(part) for part in found["date"].split("-"))
    hour, minute, second = (int(part) for part in found["time"].split(":"))
    millis = int(found["millis"])
    if millis > 999:
        raise ValueError(f"{millis} milliseconds")
    zone = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    zone = -zone if found["sign"] == "-" else zone
    moment = datetime(year, month, day, hour, minute, second, millis * 1000, timezone(zone))
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def moment_before(duration: str, now_ms: int) -> int:
    """A duration as Java's `Duration.parse` takes it, `PnDTnHnMn.nS`, back from now."""
    found = _DURATION.fullmatch(duration)
    if found is None or found["time"] in ("T", "t") or not (found["days"] or found["time"]):
        raise CommandFailure("Text cannot be parsed to a Duration")
    return now_ms - _length_ms(found)


def _length_ms(found: re.Match[str]) -> int:
    seconds = found["seconds"] or "0"
    fraction_ns = int((found["fraction"] or "").ljust(9, "0"))
    length = timedelta(
        days=int(found["days"] or 0),
        hours=int(found["hours"] or 0),
        minutes=int(found["minutes"] or 0),
        seconds=int(seconds),
        microseconds=(-fraction_ns if seconds.startswith("-") else fraction_ns) // 1000,
    )
    return (-length if found["sign"] == "-" else length) // timedelta(milliseconds=1)
