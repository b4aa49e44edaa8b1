"""Many values at once become just what each of them becomes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from penstock.pipeline.connect.api.converter import Converter
from penstock.pipeline.connect.converters.json_converter import JsonConverter
from penstock.pipeline.connect.converters.plain import ByteArrayConverter, StringConverter
from penstock.pipeline.connect.data import Schema, Type
from penstock.pipeline.connect.data.schema import BYTES, STRING

NAMED = Schema(Type.STRING, name="org.apache.kafka.connect.data.Date")
DESCRIBED = Schema(Type.STRING, optional=True, version=2, doc='a "title"', default="x", has_default=True)
SURROGATES = "half \ud83d of a pair"


def configured(converter: Converter, **configs: str) -> Converter:
    converter.configure({name.replace("_", "."): value for name, value in configs.items()}, is_key=False)
    return converter


CONVERTERS = {
    "text": configured(StringConverter()),
    "latin": configured(StringConverter(), converter_encoding="ISO-8859-1"),
    "bytes": configured(ByteArrayConverter()),
    "enveloped": configured(JsonConverter()),
    "plain": configured(JsonConverter(), schemas_enable="false"),
}
TEXTS = some.text(some.characters(exclude_categories=["Cs"]))


def as_bytes(values: Any) -> list[bytes | None] | None:
    return None if values is None else [each.encode() if isinstance(each, str) else each for each in values]


def one_by_one(converter: Converter, schema: Schema | None, values: list[Any]) -> list[bytes | None]:
    return [converter.from_connect("t", schema, each) for each in values]


@pytest.mark.parametrize("schema", [None, STRING, DESCRIBED], ids=["none", "string", "described"])
@pytest.mark.parametrize("name", ["text", "enveloped", "plain"])
@given(values=some.lists(TEXTS, min_size=1))
def test_text_is_taken_as_a_whole(name: str, schema: Schema | None, values: list[str]) -> None:
    converter = CONVERTERS[name]
    found = converter.from_connect_batch("t", schema, values)
    assert as_bytes(found) == one_by_one(converter, schema, values)


@given(values=some.lists(some.none() | some.binary()))
def test_bytes_are_taken_as_a_whole(values: list[bytes | None]) -> None:
    converter = CONVERTERS["bytes"]
    for schema in (None, BYTES):
        assert converter.from_connect_batch("t", schema, values) == one_by_one(converter, schema, values)


ODD = some.text() | some.none() | some.integers() | some.booleans() | some.just(SURROGATES)


@pytest.mark.parametrize("name", CONVERTERS)
@given(values=some.lists(ODD, min_size=1))
def test_what_is_not_left_to_others_is_right(name: str, values: list[Any]) -> None:
    converter = CONVERTERS[name]
    found = converter.from_connect_batch("t", None, values)
    assert found is None or as_bytes(found) == one_by_one(converter, None, values)


@pytest.mark.parametrize(
    ("name", "schema", "values"),
    [
        ("text", STRING, ["a", SURROGATES]),
        ("text", STRING, ["a", None]),
        ("text", None, ["a", 1]),
        ("latin", STRING, ["ü"]),
        ("bytes", STRING, [b"a"]),
        ("bytes", None, [b"a", "b"]),
        ("bytes", None, [bytearray(b"a")]),
        ("enveloped", STRING, ["a", SURROGATES]),
        ("enveloped", STRING, ["a", None]),
        ("enveloped", BYTES, ["a"]),
        ("enveloped", NAMED, ["a"]),
        ("plain", None, ["a", {"b": 1}]),
    ],
)
def test_what_needs_a_look_at_each(name: str, schema: Schema | None, values: list[Any]) -> None:
    assert CONVERTERS[name].from_connect_batch("t", schema, values) is None
