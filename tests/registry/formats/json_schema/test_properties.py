"""What holds for all schemas."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.registry.formats.json_schema import JsonSchema, parse
from penstock.registry.formats.json_schema.matching import largest_matching
from penstock.registry.formats.schema_format import InvalidSchema
from tests.registry.formats.json_schema.cases import ALL_DRAFTS, schema
from tests.registry.formats.json_schema.strategies import SCHEMAS, values, widenings
from tests.registry.formats.json_schema.test_checks import KEYWORDS, VALUES
from tests.support.examples import examples

SETTINGS = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SAMPLES = values()

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ODD_REFERENCES: list[Any] = [
    *(
        {"$ref": ref}
        for ref in ("#", "#/properties/a", "#/not/0", "other", "other#/items", "http://[", "//:x#", "%zz#/a")
    ),
    *({"$id": own} for own in ("a", "http://[", "urn:x", "#a", "//[::1/")),
    {"patternProperties": {"(": {}, "a": False}, "properties": {"a": {}}},
]
NEARLY_SCHEMAS = st.recursive(
    st.sampled_from(VALUES) | st.sampled_from(ODD_REFERENCES),
    lambda inner: (
        st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4)
        | st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=10,
)


def is_readable(reader: Any, writer: Any) -> bool:
    return not schema(reader).incompatibilities_with(schema(writer))


def valid_samples(of: dict[str, Any]) -> list[Any]:
    validator = jsonschema.Draft7Validator(of)
    return [value for value in SAMPLES if validator.is_valid(value)]


@given(SCHEMAS)
@SETTINGS
def test_a_schema_reads_what_it_wrote(one: dict[str, Any]) -> None:
    again = json.loads(json.dumps(one))
    assert is_readable(again, one)


@given(SCHEMAS)
@SETTINGS
def test_anything_reads_everything(one: dict[str, Any]) -> None:
    assert is_readable({}, one)
    assert is_readable(True, one)
    assert is_readable(one, False)


@given(SCHEMAS, st.data())
@SETTINGS
def test_a_wider_schema_reads_what_was_written_but_is_not_read(
    one: dict[str, Any], data: st.DataObject
) -> None:
    closed = {"type": "object", "properties": {"a": one}, "additionalProperties": False}
    wider = data.draw(st.sampled_from(list(widenings(closed))))
    assert is_readable(wider, closed)
    assert not is_readable(closed, wider)


@given(SCHEMAS, SCHEMAS)
@SETTINGS
def test_an_optional_property_is_added_to_a_closed_model(one: dict[str, Any], other: dict[str, Any]) -> None:
    closed = {"type": "object", "properties": {"a": one}, "additionalProperties": False}
    more = {**closed, "properties": {"a": one, "new": other}}
    assert is_readable(more, closed)
    assert not is_readable({**more, "required": ["new"]}, closed)
    assert not is_readable(closed, more)


@given(SCHEMAS, st.data())
@SETTINGS
def test_values_of_the_writer_are_values_of_a_reader_that_was_widened(
    one: dict[str, Any], data: st.DataObject
) -> None:
    wider = one
    for _ in range(data.draw(st.integers(1, 4))):
        wider = data.draw(st.sampled_from([wider, *widenings(wider)]))
    if is_readable(wider, one):
        validator = jsonschema.Draft7Validator(wider)
        assert all(validator.is_valid(value) for value in valid_samples(one))


@given(SCHEMAS, SCHEMAS)
@settings(SETTINGS, max_examples=examples(100))
def test_values_of_the_writer_are_values_of_any_reader_that_is_said_to_read_them(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    for writer, reader in (
        (one, other),
        (other, one),
        (one, {"anyOf": [other, one]}),
        ({"allOf": [one, other]}, one),
    ):
        if is_readable(reader, writer):
            validator = jsonschema.Draft7Validator(reader)
            assert all(validator.is_valid(value) for value in valid_samples(writer)), (writer, reader)


def parsed(text: str, is_new: bool) -> JsonSchema | None:
    try:
        return parse(text, {"other": '{"items": {"$ref": "#"}}'}, is_new=is_new)
    except InvalidSchema:
        return None


@given(JSON_VALUES | NEARLY_SCHEMAS, st.sampled_from([None, *ALL_DRAFTS]), st.booleans())
@settings(SETTINGS, max_examples=examples(300))
def test_any_json_is_a_schema_or_an_invalid_one(value: Any, draft: str | None, is_new: bool) -> None:
    if draft is not None and isinstance(value, dict):
        value = {"$schema": draft, **value}
    one, other = (parsed(json.dumps(value), is_new) for _ in range(2))
    if one is None or other is None:
        return
    assert json.loads(one.canonical()) == value
    assert json.loads(one.normalized().canonical()) == value
    assert one.incompatibilities_with(other) == []


@given(st.text(max_size=30) | st.text(alphabet='{}[]",:01e-.ntfu\\ ', max_size=12), st.booleans())
@settings(SETTINGS, max_examples=examples(300))
def test_any_text_is_a_schema_or_an_invalid_one(text: str, is_new: bool) -> None:
    parsed(text, is_new)


@given(st.lists(st.sets(st.integers(0, 5)), max_size=6))
@SETTINGS
def test_a_matching_is_one_and_the_largest(choices: list[set[int]]) -> None:
    pairs = largest_matching([sorted(one) for one in choices])
    assert all(right in choices[left] for left, right in pairs.items())
    assert len(set(pairs.values())) == len(pairs)
    assert len(pairs) == _most_pairs(choices, frozenset())


def _most_pairs(choices: list[set[int]], taken: frozenset[int]) -> int:
    if not choices:
        return 0
    first, *rest = choices
    free = [1 + _most_pairs(rest, taken | {right}) for right in first - taken]
    return max([_most_pairs(rest, taken), *free])


@pytest.mark.parametrize("of", [{"type": "string"}, {"type": "object"}, {"type": "array"}, {"enum": [1, 6]}])
def test_the_samples_are_worth_something(of: dict[str, Any]) -> None:
    assert 0 < len(valid_samples(of)) < len(SAMPLES)
