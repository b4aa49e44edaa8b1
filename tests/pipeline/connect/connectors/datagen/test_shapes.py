"""Values that an Avro schema with arg.properties describes."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest

from penstock.pipeline.connect.connectors.datagen.quickstarts import QUICKSTARTS
from penstock.pipeline.connect.connectors.datagen.regex_text import text_of
from penstock.pipeline.connect.connectors.datagen.shapes import read_shape
from penstock.pipeline.connect.data.schema import Type
from penstock.pipeline.connect.errors import ConnectError


def record_of(kind: Any, **arguments: Any) -> str:
    described = {"type": kind, "arg.properties": arguments} if arguments else kind
    return json.dumps({"type": "record", "name": "r", "fields": [{"name": "f", "type": described}]})


def made(text: str, count: int = 50) -> list[Any]:
    shape, random = read_shape(text), Random(7)
    structs = [shape.make(random, number) for number in range(count)]
    for struct in structs:
        struct.validate()
    return [struct["f"] for struct in structs]


@pytest.mark.parametrize(
    "pattern",
    [
        "Item_[1-9][0-9]{0,2}",
        r"\d{3}-\w+\.[a-c]?",
        "(red|green|(?:dark )?blue)*",
        "[^a-z]{2,4}x{3}",
        r"[\d_-]{2,}.",
        "^plain$",
        "",
    ],
)
def test_text_matches_its_expression(pattern: str) -> None:
    piece, random = text_of(pattern), Random(1)
    texts = [piece(random) for _ in range(200)]
    assert [text for text in texts if not re.fullmatch(pattern, text)] == []
    assert len(set(texts)) > 1 or pattern in ("^plain$", "")


@pytest.mark.parametrize("pattern", ["(a", "a)", "*a", "[z-a]", "a{x}", "a{3,1}", r"\b", "[ab", "a{2"])
def test_an_expression_that_is_none(pattern: str) -> None:
    with pytest.raises(ConnectError, match="regex: "):
        text_of(pattern)


@pytest.mark.parametrize("name", QUICKSTARTS)
def test_quickstarts_fit_their_schemas(name: str) -> None:
    quickstart = QUICKSTARTS[name]
    shape, random = read_shape(quickstart.schema), Random(3)
    assert shape.schema.name == f"ksql.{name}"
    assert shape.schema.field(quickstart.key_field) is not None
    for number in range(100):
        shape.make(random, number).validate()


def test_iterations_count_and_start_again() -> None:
    assert made(record_of("int", iteration={"start": 5}), 3) == [5, 6, 7]
    assert made(record_of("long", iteration={"start": 0, "step": 4, "restart": 10}), 5) == [0, 4, 8, 0, 4]
    assert made(record_of("int", iteration={"start": 2, "restart": 0}), 4) == [2, 1, 2, 1]
    assert made(record_of("double", iteration={"start": 0.5, "step": 0.25}), 3) == [0.5, 0.75, 1.0]


def test_ranges_options_and_lengths() -> None:
    assert set(made(record_of("int", range={"min": 1, "max": 4}))) == {1, 2, 3}
    assert all(2 <= value < 3 for value in made(record_of("double", range={"min": 2, "max": 3})))
    assert set(made(record_of("string", options=["a", "b"]))) == {"a", "b"}
    assert {len(value) for value in made(record_of("string", length=5))} == {5}
    assert {len(value) for value in made(record_of({"type": "fixed", "name": "x", "size": 3}))} == {3}
    assert set(made(record_of({"type": "enum", "name": "e", "symbols": ["X", "Y"]}))) == {"X", "Y"}
    arrays = made(record_of({"type": "array", "items": "int", "arg.properties": {"length": 2}}))
    assert {len(value) for value in arrays} == {2}
    assert {type(value) for value in made(record_of(["null", "long"]))} == {int, type(None)}
    assert all(isinstance(value, dict) for value in made(record_of({"type": "map", "values": "boolean"})))


def test_logical_types() -> None:
    shape = read_shape(record_of({"type": "long", "logicalType": "timestamp-millis"}, iteration={"start": 0}))
    field = shape.schema.field("f")
    assert field is not None
    assert field.schema.type is Type.INT64
    shape = read_shape(QUICKSTARTS["pricing"].schema)
    assert shape.make(Random(1), 4)["time"].timestamp() == 1_700_000_001


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ('"string"', "not a record's"),
        (record_of("text"), "got type 'text'; takes record"),
        (record_of("int", colour="red"), "takes iteration, options"),
        (record_of("int", range={"min": 3, "max": 3}), "takes min and max"),
        (record_of("int", range={"min": "a"}), "arg.properties"),
        (record_of("int", options=["many"]), "invalid literal"),
        (record_of("int", iteration={"start": 1, "step": -1, "restart": 5}), "a step that leads"),
        (record_of(["int", "string"]), "union of 2"),
        (record_of("string", options=[]), "takes a list of values"),
    ],
)
def test_what_is_wrong_with_a_schema(text: str, message: str) -> None:
    with pytest.raises(ConnectError, match=re.escape(message)):
        read_shape(text)
