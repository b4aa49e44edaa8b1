"""Types, lists of types, fixed values, schemas that are booleans, and what is said about a schema."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from tests.registry.formats.json_schema.cases import (
    DRAFT_4,
    INTEGER,
    MODERN,
    NUMBER,
    SINCE_6,
    STRING,
    Case,
    check,
    each_way,
    obj,
)

TYPES = ("array", "boolean", "null", "object", "string", "integer")


def one_of(*types: str, **more: Any) -> dict[str, Any]:
    return {"type": list(types), **more}


def _changes(old: str, new: str) -> Case:
    changed = ["!TYPE_CHANGED #/"]
    return Case(f"{old} becomes {new}", {"type": old}, {"type": new}, changed, changed)


CHANGED_TYPES = [_changes(old, new) for old, new in combinations(TYPES, 2)]

TYPE_LISTS = [
    Case(
        "a type is added to one",
        STRING,
        one_of("string", "null"),
        ["SUM_TYPE_EXTENDED #/"],
        ["!TYPE_CHANGED #/"],
    ),
    Case(
        "an integer becomes one of other types",
        INTEGER,
        one_of("string", "null"),
        ["!TYPE_CHANGED #/"],
        ["!TYPE_CHANGED #/"],
    ),
    Case(
        "an integer becomes a number or null",
        INTEGER,
        one_of("number", "null"),
        ["TYPE_EXTENDED #/", "SUM_TYPE_EXTENDED #/"],
        ["!TYPE_CHANGED #/"],
    ),
    Case("a list of one type is that type", STRING, one_of("string"), [], []),
    Case(
        "a type is added to a list",
        one_of("string", "null"),
        one_of("string", "integer", "null"),
        ["SUM_TYPE_EXTENDED #/"],
        ["!SUM_TYPE_NARROWED #/"],
    ),
    Case("the order of types does not matter", one_of("string", "null"), one_of("null", "string"), [], []),
    Case(
        "a type of a list takes the place of another",
        one_of("string", "null"),
        one_of("boolean", "null"),
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
    ),
    Case(
        "a type of a list is widened",
        one_of("integer", "null"),
        one_of("number", "null"),
        ["TYPE_EXTENDED #/anyOf/0"],
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
    ),
    Case(
        "a limit belongs to its type of the list",
        one_of("string", "null", maxLength=3),
        one_of("string", "null", maxLength=4),
        ["MAX_LENGTH_INCREASED #/anyOf/0/maxLength"],
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
    ),
    Case(
        "a list of types is an anyOf",
        one_of("string", "null"),
        {"anyOf": [STRING, {"type": "null"}]},
        [],
        [],
    ),
    Case(
        "a list of types becomes a oneOf",
        one_of("string", "null"),
        {"oneOf": [STRING, {"type": "null"}]},
        ["!COMBINED_TYPE_CHANGED #/"],
        ["COMBINED_TYPE_EXTENDED #/"],
    ),
    Case(
        "a property becomes nullable",
        obj(a=STRING),
        obj(a=one_of("string", "null")),
        ["SUM_TYPE_EXTENDED #/properties/a"],
        ["!TYPE_CHANGED #/properties/a"],
    ),
    Case(
        "a type and its own keywords are one thing",
        {"type": "object"},
        {"type": "object", "properties": {}},
        [],
        [],
    ),
    Case(
        "keywords of two types need no type",
        {"maxLength": 3, "maximum": 3},
        {"maxLength": 4, "maximum": 4},
        ["MAXIMUM_INCREASED #/allOf/0/maximum", "MAX_LENGTH_INCREASED #/allOf/1/maxLength"],
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
    ),
]

FIXED_VALUES = [
    Case("the same values in another order", {"enum": ["a", "b"]}, {"enum": ["b", "a"]}, [], []),
    Case(
        "a value is added",
        {"enum": ["a"]},
        {"enum": ["a", "b"]},
        ["ENUM_ARRAY_EXTENDED #/enum"],
        ["!ENUM_ARRAY_NARROWED #/enum"],
    ),
    Case(
        "a value takes the place of another",
        {"enum": ["a", "b"]},
        {"enum": ["a", "c"]},
        ["!ENUM_ARRAY_CHANGED #/enum"],
        ["!ENUM_ARRAY_CHANGED #/enum"],
    ),
    Case("1 and 1.0 are one number", {"enum": [1]}, {"enum": [1.0]}, [], []),
    Case(
        "1 and true are not one value",
        {"enum": [1]},
        {"enum": [True]},
        ["!ENUM_ARRAY_CHANGED #/enum"],
        ["!ENUM_ARRAY_CHANGED #/enum"],
    ),
    Case(
        "values may be of any kind",
        {"enum": [None, {"a": 1, "b": 2}]},
        {"enum": [{"b": 2, "a": 1}, None, [1]]},
        ["ENUM_ARRAY_EXTENDED #/enum"],
        ["!ENUM_ARRAY_NARROWED #/enum"],
    ),
    Case(
        "values with a type: a value is added",
        {**STRING, "enum": ["a"]},
        {**STRING, "enum": ["a", "b"]},
        ["ENUM_ARRAY_EXTENDED #/allOf/0/enum"],
        ["!COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"],
    ),
    Case(
        "a string becomes one of some",
        STRING,
        {**STRING, "enum": ["a"]},
        ["!TYPE_CHANGED #/"],
        ["PRODUCT_TYPE_NARROWED #/"],
    ),
    Case(
        "strings become values without a type",
        STRING,
        {"enum": ["a"]},
        ["!TYPE_CHANGED #/"],
        ["!TYPE_CHANGED #/"],
    ),
    Case(
        "another constant",
        {"const": "a"},
        {"const": "b"},
        ["!ENUM_ARRAY_CHANGED #/const"],
        ["!ENUM_ARRAY_CHANGED #/const"],
        SINCE_6,
    ),
    Case("null is a constant", {"const": None}, {"const": None}, [], [], SINCE_6),
    Case("an equal constant", {"const": {"a": [1, 2.50]}}, {"const": {"a": [1.0, 2.5]}}, [], [], SINCE_6),
    Case(
        "a constant becomes a value of an enum",
        {"const": "a"},
        {"enum": ["a", "b"]},
        ["!TYPE_CHANGED #/"],
        ["!TYPE_CHANGED #/"],
        SINCE_6,
    ),
    Case("const is no keyword in draft 4", {**STRING, "const": "a"}, STRING, [], [], (DRAFT_4,)),
    Case(
        "a constant of a type loses it",
        {**STRING, "const": "a"},
        STRING,
        ["PRODUCT_TYPE_NARROWED #/"],
        ["!TYPE_CHANGED #/"],
        SINCE_6,
    ),
]

ANYTHING_AND_NOTHING = [
    Case("everything can be read as anything", obj(a=STRING), {}, [], ["!TYPE_CHANGED #/"]),
    Case("a string can be read as anything", STRING, {}, [], ["!TYPE_CHANGED #/"]),
    Case("a list of types can be read as anything", one_of("string", "null"), {}, [], ["!TYPE_CHANGED #/"]),
    Case("a property becomes anything", obj(a=STRING), obj(a={}), [], ["!TYPE_CHANGED #/properties/a"]),
    Case(
        "a property becomes anything (true)",
        obj(a=STRING),
        obj(a=True),
        [],
        ["!TYPE_CHANGED #/properties/a"],
        SINCE_6,
    ),
    Case("{} and true are the same", obj(a={}), obj(a=True), [], [], SINCE_6),
    Case(
        "what could not be becomes a string",
        obj(a=False),
        obj(a=STRING),
        [],
        ["!TYPE_CHANGED #/properties/a"],
        SINCE_6,
    ),
    Case(
        "what could not be becomes anything",
        obj(a=False),
        obj(a=True),
        [],
        ["!TYPE_CHANGED #/properties/a"],
        SINCE_6,
    ),
    Case("true stays true", True, True, [], [], SINCE_6),
    Case("false stays false", False, False, [], [], SINCE_6),
    Case("false becomes true", False, True, [], ["!TYPE_CHANGED #/"], SINCE_6),
    Case("the whole may be anything", STRING, True, [], ["!TYPE_CHANGED #/"], SINCE_6),
]

CONNECT_BYTES = {**STRING, "connect.type": "bytes"}

ABOUT_SCHEMAS = [
    Case(
        "another title",
        {**STRING, "title": "A"},
        {**STRING, "title": "B"},
        ["TITLE_CHANGED #/"],
        ["TITLE_CHANGED #/"],
    ),
    Case("a title", STRING, {**STRING, "title": "B"}, ["TITLE_CHANGED #/"], ["TITLE_CHANGED #/"]),
    Case(
        "another description",
        {**STRING, "description": "A"},
        {**STRING, "description": "B"},
        ["DESCRIPTION_CHANGED #/"],
        ["DESCRIPTION_CHANGED #/"],
    ),
    Case(
        "another default",
        {**STRING, "default": "A"},
        {**STRING, "default": "B"},
        ["DEFAULT_CHANGED #/"],
        ["DEFAULT_CHANGED #/"],
    ),
    Case(
        "a default of null is not none",
        {},
        {"default": None},
        ["DEFAULT_CHANGED #/"],
        ["DEFAULT_CHANGED #/"],
    ),
    Case("an equal default", {**NUMBER, "default": 1}, {**NUMBER, "default": 1.0}, [], []),
    Case("another $id", {"$id": "urn:a"}, {"$id": "urn:b"}, ["ID_CHANGED #/"], ["ID_CHANGED #/"], SINCE_6),
    Case("another id", {"id": "urn:a"}, {"id": "urn:b"}, ["ID_CHANGED #/"], ["ID_CHANGED #/"], (DRAFT_4,)),
    Case("id is no keyword since draft 6", {"id": "urn:a"}, {"id": "urn:b"}, [], [], SINCE_6),
    Case(
        "examples, comments and unknown keywords", {"$comment": "x"}, {"examples": [1], "x-unit": "m"}, [], []
    ),
    Case(
        "access and deprecation", {"readOnly": True}, {"writeOnly": True, "deprecated": True}, [], [], MODERN
    ),
    Case(
        "Connect's bytes are bytes, whatever their type",
        CONNECT_BYTES,
        {**NUMBER, "connect.type": "bytes"},
        [],
        [],
    ),
    Case(
        "Connect's bytes become Connect's something else",
        CONNECT_BYTES,
        {**NUMBER, "connect.type": "float64"},
        ["!TYPE_CHANGED #/"],
        ["!TYPE_CHANGED #/"],
    ),
]


@each_way([*CHANGED_TYPES, *TYPE_LISTS])
def test_types(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)


@each_way([*FIXED_VALUES, *ANYTHING_AND_NOTHING])
def test_values(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)


@each_way(ABOUT_SCHEMAS)
def test_what_is_said_about_a_schema(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)
