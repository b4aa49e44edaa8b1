"""Days since 1970 and the calendar of Java's GregorianCalendar: Julian before 15 October 1582, weeks as in the US."""

from __future__ import annotations

from typing import NamedTuple

_FIRST_GREGORIAN_DAY = -141_427
_JULIAN_OFFSET = 719_470
_GREGORIAN_OFFSET = 719_468
_DAYS_OF_400_YEARS = 146_097
_DAYS_OF_4_YEARS = 1_461


class Day(NamedTuple):
    year: int
    month: int
    day: int


def day_of(days: int) -> Day:
    """The years are counted from 1 March, so that the odd day is the last one."""
    if days >= _FIRST_GREGORIAN_DAY:
        era, rest = divmod(days + _GREGORIAN_OFFSET, _DAYS_OF_400_YEARS)
        year = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
        day_of_year = rest - (365 * year + year // 4 - year // 100)
        return _from_march(year + 400 * era, day_of_year)
    era, rest = divmod(days + _JULIAN_OFFSET, _DAYS_OF_4_YEARS)
    year = (rest - rest // 1460) // 365
    return _from_march(year + 4 * era, rest - 365 * year)


def _from_march(year: int, day_of_year: int) -> Day:
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return Day(year + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1)


def days_of(year: int, month: int, day: int) -> int:
    """Leniently, as Java: month 13 is January of the next year, day 0 the day before the first."""
    years, month_index = divmod(month - 1, 12)
    year += years
    shifted = (month_index - 2) % 12
    from_march = year - (month_index < 2)
    day_of_year = (153 * shifted + 2) // 5 + day - 1
    days = from_march * 365 + from_march // 4 - from_march // 100 + from_march // 400 + day_of_year
    if days - _GREGORIAN_OFFSET >= _FIRST_GREGORIAN_DAY:
        return days - _GREGORIAN_OFFSET
    return from_march * 365 + from_march // 4 + day_of_year - _JULIAN_OFFSET


def day_of_week(days: int) -> int:
    """0 for Sunday."""
    return (days + 4) % 7


def first_day_of_week_year(year: int) -> int:
    """The Sunday on or before 1 January."""
    new_year = days_of(year, 1, 1)
    return new_year - day_of_week(new_year)


def week_year_of(days: int) -> int:
    year = day_of(days).year
    return year + 1 if days >= first_day_of_week_year(year + 1) else year
