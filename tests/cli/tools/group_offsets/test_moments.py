"""`--to-datetime` and `--by-duration`."""

from __future__ import annotations

import pytest

from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.group_offsets.moments import moment_before, moment_of_datetime

MOMENT = 1_600_000_000_123  # 2020-09-13T12:26:40.123Z


@pytest.mark.parametrize(
    "text",
    [
        "2020-09-13T12:26:40.123",
        "2020-09-13T12:26:40.123Z",
        "2020-9-13T12:26:40.123",
        "2020-09-13T14:26:40.123+02:00",
        "2020-09-13T14:26:40.123+0200",
        "2020-09-13T14:26:40.123+02",
        "2020-09-13T17:56:40.123+0530",
        "2020-09-13T07:26:40.123-05:00",
    ],
)
def test_datetimes(text: str) -> None:
    assert moment_of_datetime(text) == MOMENT


def test_what_comes_after_the_point_is_milliseconds() -> None:
    assert moment_of_datetime("2020-09-13T12:26:40.5") == MOMENT - 123 + 5


@pytest.mark.parametrize(
    "text",
    [
        *("2020-09-13", "2020-09-13T", "2020-09-13 12:26:40.123", "2020-09-13T12:26:40"),
        *("2020-13-13T12:26:40.123", "2020-09-13T25:26:40.123", "2020-09-13T12:26:40.1234", "T1", ""),
    ],
)
def test_what_is_no_datetime(text: str) -> None:
    with pytest.raises(CommandFailure, match=r"java\.text\.ParseException: "):
        moment_of_datetime(text)


@pytest.mark.parametrize(
    ("text", "length_ms"),
    [
        ("PT1S", 1000),
        ("pt0.5s", 500),
        ("P1DT2H3M4.005S", 93_784_005),
        ("PT-1H", -3_600_000),
        ("-PT1H", -3_600_000),
        ("-PT-0.25S", 250),
        ("PT1M-1S", 59_000),
    ],
)
def test_durations(text: str, length_ms: int) -> None:
    assert moment_before(text, MOMENT) == MOMENT - length_ms


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1D", "PT1D", "P1W", "P1H", "PT1S2M"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(CommandFailure, match="Text cannot be parsed to a Duration"):
        moment_before(text, MOMENT)
