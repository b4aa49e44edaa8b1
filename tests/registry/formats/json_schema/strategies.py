"""Random schemas, ways to widen one, and values to try them on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b")
SCALARS: tuple[Any, ...] = (None, True, False, -2, 0, 1, 2, 3, 6, 1.5, "", "a", "ab", "abcd")
Schema = dict[str, Any]


def values() -> list[Any]:
    """Of all types, small, with the names that the schemas have."""
    few: tuple[Any, ...] = (None, True, 1, 6, 1.5, "", "abcd")
    objects = [
        {name: value for name, value in zip((*NAMES, "x"), chosen, strict=True) if value != "absent"}
        for chosen in product(("absent", *few), ("absent", 1, "a"), ("absent", 0, "ab"))
    ]
    arrays = [list(chosen) for length in range(3) for chosen in product(few, repeat=length)]
    nested = [{"a": inner} for inner in ({"b": 1}, {"a": "a"}, [1], ["a", "a"], {})] + [[{"a": 1}], [[1]]]
    return [*SCALARS, *objects, *arrays, *nested, [1, 1, 1]]


def _some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[Schema]:
    return st.fixed_dictionaries({}, optional=keywords)


_SIZES = st.integers(0, 3)
_STRINGS = _some(maxLength=_SIZES, minLength=_SIZES, pattern=st.sampled_from(["^a", "b"])).map(
    lambda more: {"type": "string", **more}
)
_NUMBERS = st.builds(
    lambda name, more: {"type": name, **more},
    st.sampled_from(["number", "integer"]),
    _some(
        maximum=_SIZES,
        minimum=st.integers(-2, 2),
        exclusiveMaximum=_SIZES,
        exclusiveMinimum=_SIZES,
        multipleOf=st.sampled_from([0.5, 1, 2, 3, 6]),
    ),
)
_ENUMS = st.lists(st.sampled_from(SCALARS), min_size=1, max_size=4, unique_by=repr).map(
    lambda some: {"enum": some}
)
_TYPES = st.lists(
    st.sampled_from(["string", "null", "boolean", "integer", "array", "object"]),
    min_size=1,
    max_size=3,
    unique=True,
).map(lambda names: {"type": names})
LEAVES: st.SearchStrategy[Schema] = st.one_of(
    _STRINGS, _NUMBERS, _ENUMS, _TYPES, st.just({"type": "null"}), st.just({"type": "boolean"})
)


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    properties = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=2))
    required = [name for name in properties if draw(st.booleans())]
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    additional = draw(st.one_of(st.just(True), st.just(False), inner))
    if additional is not True:
        schema["additionalProperties"] = additional
    return {**schema, **draw(_some(maxProperties=_SIZES, minProperties=_SIZES))}


@st.composite
def _arrays(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    schema: Schema = {
        "type": "array",
        **draw(_some(maxItems=_SIZES, minItems=_SIZES, uniqueItems=st.booleans())),
    }
    form = draw(st.sampled_from(["list", "tuple", "any"]))
    if form == "list":
        schema["items"] = draw(inner)
    elif form == "tuple":
        schema["items"] = draw(st.lists(inner, min_size=1, max_size=2))
        additional = draw(st.one_of(st.just(True), st.just(False), inner))
        if additional is not True:
            schema["additionalItems"] = additional
    return schema


def _combined(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    parts = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        parts.map(lambda some: {"anyOf": some}),
        parts.map(lambda some: {"allOf": some}),
        inner.map(lambda one: {"not": one}),
    )


SCHEMAS: st.SearchStrategy[Schema] = st.recursive(
    LEAVES, lambda inner: st.one_of(_objects(inner), _arrays(inner), _combined(inner)), max_leaves=5
)
"""Of draft 7, with what the rules of compatibility look at."""


def _raise(keyword: str, by: float) -> Callable[[Schema], Schema]:
    return lambda schema: {**schema, keyword: schema[keyword] + by}


def _without(keyword: str) -> Callable[[Schema], Schema]:
    return lambda schema: {key: value for key, value in schema.items() if key != keyword}


def _with_property(schema: Schema) -> Schema:
    return {**schema, "properties": {**schema["properties"], "new": {"type": "string"}}}


def _with_value(schema: Schema) -> Schema:
    return {**schema, "enum": [*schema["enum"], "a new value"]}


_UPPER = ("maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties")
_LOWER = ("minimum", "exclusiveMinimum")
_REMOVABLE = (*_UPPER, *_LOWER, "minLength", "minItems", "minProperties", "pattern", "multipleOf", "required")


def widenings(schema: Schema) -> Iterator[Schema]:
    """Schemas that take all that this one takes, and more; here, or in a property or item."""
    yield from (_raise(keyword, 1)(schema) for keyword in _UPPER if keyword in schema)
    yield from (_raise(keyword, -1)(schema) for keyword in _LOWER if keyword in schema)
    yield from (_without(keyword)(schema) for keyword in _REMOVABLE if keyword in schema)
    if schema.get("uniqueItems"):
        yield _without("uniqueItems")(schema)
    if schema.get("type") == "integer":
        yield {**schema, "type": "number"}
    if "enum" in schema:
        yield _with_value(schema)
    if schema.get("additionalProperties") is False:
        yield _with_property(schema)
        yield _without("additionalProperties")(schema)
    if "type" in schema and isinstance(schema["type"], str):
        yield {"anyOf": [schema, {"enum": ["another"]}]}
    yield from _inner_widenings(schema)


def _inner_widenings(schema: Schema) -> Iterator[Schema]:
    for name, one in schema.get("properties", {}).items():
        for wider in widenings(one):
            yield {**schema, "properties": {**schema["properties"], name: wider}}
    if isinstance(schema.get("items"), dict):
        for wider in widenings(schema["items"]):
            yield {**schema, "items": wider}
