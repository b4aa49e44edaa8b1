"""SimpleDateFormat beside Java's own: random patterns, moments and texts."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from penstock.pipeline.connect.data.simple_date_format import ParseError, PatternError, SimpleDateFormat
from tests.pipeline.connect.oracle.oracle import Java
from tests.support.slices import cases, sweep
from tools.suite.processes import starts_processes

pytestmark = sweep

LETTERS = "GyYMLwWDdFEuaHkKhmsSzZb"
BETWEEN = ("", "", "-", "/", " ", "'T'", ":", "''", ".", ", ")
MOMENTS = (0, 1, -1, 1234567890123, 951_782_400_000, -13_000_000_000_000, 253_402_300_799_999)
SETS = cases(200)


@pytest.fixture(scope="module")
@starts_processes
def java() -> Iterator[Java]:
    oracle = Java()
    yield oracle
    oracle.close()


def draw_pattern(source: random.Random) -> str:
    parts = (source.choice(LETTERS) * source.choice((1, 1, 2, 2, 3, 4)) for _ in range(source.randint(1, 5)))
    return "".join(part + source.choice(BETWEEN) for part in parts)


@pytest.mark.parametrize("millis", [-12_219_292_800_000, -12_219_292_800_001])
def test_the_calendar_changes_in_october_1582(java: Java, millis: int) -> None:
    theirs = java.ask(op="format", pattern="G yyyy-MM-dd EEE D XXX", millis=millis)
    assert theirs == {"text": SimpleDateFormat("G yyyy-MM-dd EEE D XXX").format(millis)}


@pytest.mark.parametrize("seed", range(3))
def test_moments_are_written_alike(java: Java, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(SETS):
        pattern = draw_pattern(source)
        millis = source.choice((*MOMENTS, source.randrange(-6 * 10**13, 10**14)))
        theirs = java.ask(op="format", pattern=pattern, millis=millis)
        try:
            ours = SimpleDateFormat(pattern).format(millis)
        except PatternError as error:
            ours = str(error)
        assert theirs.get("text", theirs.get("error")) == ours, (pattern, millis, theirs)


READ_ALIKE = "yMdDHhkKmsSaEXZzY"
COUNTS = {"X": (1, 2, 3), "y": (2, 4), "Y": (2, 4)}
"""A year of one digit before a day of the year is some day before 1582, where the two calendars meet otherwise."""


@pytest.mark.parametrize("seed", range(3))
def test_texts_are_read_alike(java: Java, seed: int) -> None:
    source = random.Random(seed)
    read = 0
    for _ in range(SETS):
        letters = source.sample(READ_ALIKE, source.randint(1, 6))
        pattern = "".join(
            letter * source.choice(COUNTS.get(letter, (1, 2, 3, 4))) + source.choice(BETWEEN)
            for letter in letters
        )
        written = draw_pattern(source) if source.random() < 0.2 else pattern
        try:
            text = SimpleDateFormat(written).format(source.choice((*MOMENTS[:5], 1_600_000_000_000)))
        except PatternError:
            continue
        theirs = java.ask(op="read", pattern=pattern, text=text)
        try:
            ours: int | None = SimpleDateFormat(pattern).parse(text)
        except ParseError:
            ours = None
        assert theirs.get("millis") == ours, (pattern, text, theirs)
        read += ours is not None
    assert read > SETS / 3
