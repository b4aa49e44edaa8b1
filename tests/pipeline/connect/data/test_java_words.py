"""Texts, numbers and regular expressions as Java has them."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from penstock.pipeline.connect.data import SchemaBuilder, Type
from penstock.pipeline.connect.data.java_regex import PatternError, compile_java, expand
from penstock.pipeline.connect.data.java_text import class_name, double_text, float_text, java_text
from penstock.pipeline.connect.data.numbers import parse_decimal, parse_float, parse_whole, whole
from penstock.pipeline.connect.data.schema import INT8, INT64, STRING
from penstock.pipeline.connect.data.values import as_double, as_long, infer_schema
from penstock.pipeline.connect.errors import DataError

DOUBLES = [
    *((0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.1, "0.1"), (100.0, "100.0"), (1234567.0, "1234567.0")),
    *((1e7, "1.0E7"), (12345678.9, "1.23456789E7"), (0.001, "0.001"), (0.0001, "1.0E-4"), (1e300, "1.0E300")),
    *((math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, "NaN"), (-2.5e-7, "-2.5E-7")),
]


@pytest.mark.parametrize(("value", "text"), DOUBLES)
def test_doubles(value: float, text: str) -> None:
    assert double_text(value) == text


def test_floats_of_32_bits_have_their_own_digits() -> None:
    assert float_text(0.10000000149011612) == "0.1"
    assert float_text(16777216.0) == "1.6777216E7"


def test_classes_have_the_names_of_java() -> None:
    assert class_name(5) == "java.lang.Long"
    assert class_name(5, INT8) == "java.lang.Byte"
    assert class_name(None) == "null"
    assert java_text({"a": [1, None], "b": True}) == "{a=[1, null], b=true}"


@pytest.mark.parametrize(
    ("value", "bits", "expected"),
    [
        (1e30, 64, 2**63 - 1),
        (-1e30, 8, 0),
        (math.nan, 32, 0),
        (3.9, 8, 3),
        (Decimal("300.7"), 8, 44),
        (300.0, 8, 44),
    ],
)
def test_numbers_become_narrower(value: Any, bits: int, expected: int) -> None:
    assert whole(value, bits) == expected


@pytest.mark.parametrize("text", ["", "1_000", " 5", "0x10", "1.0", "128", "+-5"])
def test_texts_that_are_no_bytes(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_whole(text, 8)


@pytest.mark.parametrize("text", ["", "inf", "nan", "1_0", "e5", ".", "0x10", "1e", "--5"])
def test_texts_that_are_no_floats(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_float(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0x1p3", 8.0), (" 1.5f ", 1.5), ("-Infinity", -math.inf), ("1.", 1.0), ("1e400", math.inf)],
)
def test_texts_that_are_floats(text: str, value: float) -> None:
    assert parse_float(text) == value


def test_texts_as_numbers() -> None:
    assert as_long("1e3") == 1000
    assert as_long("9223372036854775808") == -(2**63)
    assert as_double("1.5") == 1.5
    assert parse_decimal("1.50").as_tuple().exponent == -2
    with pytest.raises(DataError, match=r"Unable to convert x \(class java\.lang\.String\) to a number"):
        as_long("x")


def test_schemas_are_inferred() -> None:
    assert infer_schema({"a": 1}) == SchemaBuilder.map(STRING, INT64).build()
    assert infer_schema([1, None]) == SchemaBuilder.array(INT64.as_optional()).build()
    assert infer_schema([]) is None
    assert infer_schema([1, "x"]) is None
    found = infer_schema(b"")
    assert found is not None
    assert found.type is Type.BYTES


MATCHES = [
    *((r"(?<year>\d{4})-\k<year>", "2020-2020", True), (r"\Qa.b\E", "a.b", True), (r"\Qa.b\E", "axb", False)),
    *((r"\p{Alpha}+\P{Alpha}", "ab1", True), (r"[\p{Upper}_]+", "A_B", True), (r"\d", "٣", False)),
    *((r"a\z", "a", True), (r"a++b", "aab", True), (r"(?i)ORDERS", "orders", True), (r"\p{L}+", "äß", True)),
    *((r"[a[b]]", "x", False), (r"\h", "\t", True)),
]


@pytest.mark.parametrize(("pattern", "text", "matches"), MATCHES)
def test_regular_expressions(pattern: str, text: str, matches: bool) -> None:
    assert (compile_java(pattern).fullmatch(text) is not None) is matches


@pytest.mark.parametrize("pattern", ["(", "[a-z&&[^b]]", r"\p{What}", "*"])
def test_patterns_that_are_none(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_java(pattern)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("$1-$2", "a-b"),
        ("$12", "a2"),
        ("${n}", "b"),
        (r"\$1", "$1"),
        (r"\\", "\\"),
        ("$0!", "ab!"),
        ("x", "x"),
    ],
)
def test_replacements(template: str, text: str) -> None:
    found = compile_java("(a)(?<n>b)").match("ab")
    assert found is not None
    assert expand(template, found) == text


@pytest.mark.parametrize("template", ["$", "$x", "\\", "${m}", "$3"])
def test_replacements_that_are_none(template: str) -> None:
    found = compile_java("(a)(?<n>b)").match("ab")
    assert found is not None
    with pytest.raises(PatternError):
        expand(template, found)
