from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.tools.console.line_reader import Line, LineReader, split
from penstock.cli.tools.console.lines import read_lines
from penstock.wire_client.errors import KafkaError


def lines_of(pieces: list[bytes]) -> list[bytes]:
    left = iter([*(piece for piece in pieces if piece), b""])
    return [line for lines in read_lines(lambda: next(left)) for line in lines]


@given(st.lists(st.text(alphabet="ab\r\n", max_size=8).map(str.encode), max_size=8))
def test_lines_do_not_depend_on_how_the_bytes_come(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    expected = re.split(rb"\r\n|\r|\n", whole)
    if expected[-1] == b"":
        expected.pop()
    assert lines_of(pieces) == expected


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    reader = LineReader({"parse.key": "true", "key.separator": ":"})
    assert reader.parse(b"\xff\xfe:\x80") == Line(b"\xff\xfe", b"\x80", [])


def test_a_reader_of_values_need_not_parse() -> None:
    assert LineReader({}).takes_lines_as_values
    assert LineReader({"parse.key": "false"}).takes_lines_as_values
    assert not LineReader({"parse.key": "true"}).takes_lines_as_values
    assert not LineReader({"null.marker": "-"}).takes_lines_as_values


def test_line_numbers_count_all_lines() -> None:
    reader = LineReader({"parse.key": "true"})
    reader.parse(b"a\tb")
    reader.parse(b"\t")
    with pytest.raises(KafkaError, match="on line number 3: 'nothing'"):
        reader.parse(b"nothing")


@pytest.mark.parametrize(
    ("pattern", "text", "parts"),
    [
        (b",", b"a,b", [b"a", b"b"]),
        (b",", b"a,,b,,", [b"a", b"", b"b"]),
        (b",", b",a", [b"", b"a"]),
        (b",", b"", [b""]),
        (b"", b"abc", [b"a", b"b", b"c"]),
        (b"x*", b"axxb", [b"a", b"", b"b"]),
    ],
)
def test_splitting_as_java_does(pattern: bytes, text: bytes, parts: list[bytes]) -> None:
    assert split(re.compile(pattern), text) == parts


def test_a_separator_that_is_no_pattern() -> None:
    with pytest.raises(KafkaError, match=re.escape("headers.separator: got '('; takes a regular expression")):
        LineReader({"headers.separator": "("})
