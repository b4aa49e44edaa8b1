"""What Avro's rules of resolution say of pairs of schemas, and what is said of a text that is no schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from penstock.registry.formats import avro
from penstock.registry.formats.schema_format import InvalidSchema
from tests.support.rows import each_row

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
READS = {
    ("long", "int"),
    ("float", "int"),
    ("float", "long"),
    ("double", "int"),
    ("double", "long"),
    ("double", "float"),
    ("bytes", "string"),
    ("string", "bytes"),
    *((each, each) for each in PRIMITIVES),
}
"""Reader and writer, by the promotions of the specification."""


def record(*fields: dict[str, Any], name: str = "Order", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "Colour", "symbols": list(symbols), **more}


def fixed(size: int, name: str = "Hash") -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def mapping(values: Any) -> dict[str, Any]:
    return {"type": "map", "values": values}


FORMS: dict[str, Callable[[Any], Any]] = {"bare": lambda each: each, "array": array, "map": mapping}


def reasons(reader: Any, writer: Any) -> list[tuple[str, str]]:
    told = avro.parse(json.dumps(reader), {}).incompatibilities_with(avro.parse(json.dumps(writer), {}))
    return [(each.kind, each.path) for each in told]


@each_row("writer", PRIMITIVES)
@each_row("reader", PRIMITIVES)
@each_row("form", FORMS)
def test_primitives(reader: str, writer: str, form: str) -> None:
    wrap = FORMS[form]
    assert (not reasons(wrap(reader), wrap(writer))) == ((reader, writer) in READS)


@each_row("writer", PRIMITIVES)
@each_row("reader", PRIMITIVES)
def test_primitives_in_unions(reader: str, writer: str) -> None:
    """A union reads what one of its branches reads; a union is read by who reads all of its branches."""
    can = (reader, writer) in READS
    other = "boolean" if "boolean" not in (reader, writer) else "int"
    assert (not reasons([reader], writer)) == can
    assert (not reasons(reader, [writer])) == can
    if other not in (reader, writer):
        assert not can or not reasons([other, reader], [writer, other])


MISSING = "READER_FIELD_MISSING_DEFAULT_VALUE"
RULES: dict[str, tuple[Any, Any, list[tuple[str, str]]]] = {
    "a field was added without a default": (
        record(field("a", "int"), field("b", "int")),
        record(field("a", "int")),
        [(MISSING, "/fields/1")],
    ),
    "a field was added with a default": (
        record(field("a", "int"), field("b", "int", default=1)),
        record(field("a", "int")),
        [],
    ),
    "a field was added whose default is null": (
        record(field("b", ["null", "int"], default=None)),
        record(),
        [],
    ),
    "a field was removed": (record(), record(field("a", "int")), []),
    "two fields are missing": (
        record(field("a", "int"), field("b", "int")),
        record(),
        [(MISSING, "/fields/0"), (MISSING, "/fields/1")],
    ),
    "a field was renamed": (record(field("b", "int")), record(field("a", "int")), [(MISSING, "/fields/0")]),
    "a field was renamed, with an alias": (
        record(field("b", "int", aliases=["a"])),
        record(field("a", "int")),
        [],
    ),
    "the order of fields changed": (
        record(field("a", "int"), field("b", "string")),
        record(field("b", "string"), field("a", "int")),
        [],
    ),
    "a field's type was narrowed": (
        record(field("a", "int")),
        record(field("a", "long")),
        [("TYPE_MISMATCH", "/fields/0/type")],
    ),
    "a field became optional": (record(field("a", ["null", "int"])), record(field("a", "int")), []),
    "a field became required": (
        record(field("a", "int")),
        record(field("a", ["null", "int"])),
        [("TYPE_MISMATCH", "/fields/0/type/0")],
    ),
    "the record was renamed": (record(name="Bill"), record(), [("NAME_MISMATCH", "/name")]),
    "the record was renamed, with an alias": (record(name="Bill", aliases=["Order"]), record(), []),
    "the namespace changed": (record(namespace="a"), record(namespace="b"), []),
    "inside a nested record": (
        record(field("a", record(field("x", "int"), name="Inner"))),
        record(field("a", record(name="Inner"))),
        [(MISSING, "/fields/0/type/fields/0")],
    ),
    "a record inside itself": (
        record(field("next", ["null", "Order"]), field("b", "int")),
        record(field("next", ["null", "Order"])),
        [(MISSING, "/fields/1")],
    ),
    "a record inside itself that is the same": (
        record(field("next", ["null", "Order"])),
        record(field("next", ["null", "Order"])),
        [],
    ),
    "a symbol was added": (enum("A", "B"), enum("A"), []),
    "a symbol was removed": (enum("A"), enum("A", "B"), [("MISSING_ENUM_SYMBOLS", "/symbols")]),
    "a symbol was removed, with a default": (enum("A", default="A"), enum("A", "B"), []),
    "the order of symbols changed": (enum("A", "B"), enum("B", "A"), []),
    "another enum": (
        enum("A"),
        {"type": "enum", "name": "Shade", "symbols": ["A"]},
        [("NAME_MISMATCH", "/name")],
    ),
    "another size": (fixed(4), fixed(8), [("FIXED_SIZE_MISMATCH", "/size")]),
    "another name": (fixed(4, "A"), fixed(4, "B"), [("NAME_MISMATCH", "/name")]),
    "another name and size": (
        fixed(4, "A"),
        fixed(8, "B"),
        [("NAME_MISMATCH", "/name"), ("FIXED_SIZE_MISMATCH", "/size")],
    ),
    "fixed for bytes": (fixed(4), "bytes", [("TYPE_MISMATCH", "/")]),
    "an array for a map": (array("int"), mapping("int"), [("TYPE_MISMATCH", "/")]),
    "elements that do not fit": (array("int"), array("string"), [("TYPE_MISMATCH", "/items")]),
    "values that do not fit": (mapping("int"), mapping("string"), [("TYPE_MISMATCH", "/values")]),
    "a record for a map": (record(), mapping("int"), [("TYPE_MISMATCH", "/")]),
    "a branch was added": (["int", "string"], ["int"], []),
    "a branch was removed": (["int"], ["int", "string"], [("MISSING_UNION_BRANCH", "/1")]),
    "branches in another order": (["string", "int"], ["int", "string"], []),
    "a branch that is wider": (["long", "string"], ["int", "string"], []),
    "a branch that is narrower": (["int", "string"], ["long", "string"], [("MISSING_UNION_BRANCH", "/0")]),
    "a record in a union lost a field's default": (
        ["null", record(field("a", "int"))],
        ["null", record()],
        [("MISSING_UNION_BRANCH", "/1")],
    ),
    "documentation and attributes do not matter": (
        record(field("a", "int", doc="x", p=1), doc="y", q=2),
        record(field("a", {"type": "int", "logicalType": "date"})),
        [],
    ),
    "a logical type does not matter": (
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 0},
        [],
    ),
}


@each_row("case", RULES)
def test_rules(case: str) -> None:
    reader, writer, expected = RULES[case]
    assert reasons(reader, writer) == expected


BAD_TEXTS: dict[str, str] = {
    "": "line 1, column 1",
    '{"type": "record"': "line 1, column 18",
    '{"name": "x"}': "No type",
    '"planet"': '"planet" is not a defined name (at /)',
    "17": "a schema is a name, an object or an array, not 17",
    '{"type": "record", "name": "A"}': "Record has no fields",
    '{"type": "record", "fields": []}': "No name in schema",
    '{"type": "record", "name": "1A", "fields": []}': "Illegal initial character: 1A (at /name)",
    '{"type": "record", "name": "A-B", "fields": []}': "Illegal character in: A-B (at /name)",
    '{"type": "record", "name": "A", "fields": [{"type": "int"}]}': "No field name: {",
    '{"type": "record", "name": "A", "fields": [{"name": "a"}]}': "No field type",
    '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "int"}, {"name": "a", "type": "int"}]}': (
        "Duplicate field a in record A (at /fields/1)"
    ),
    '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "int", "default": "x"}]}': (
        'Invalid default for field a: "x" not a int (at /fields/0/default)'
    ),
    '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "int", "order": "up"}]}': (
        'got "up", takes ascending, descending, ignore (at /fields/0/order)'
    ),
    '{"type": "enum", "name": "E"}': "Enum has no symbols",
    '{"type": "enum", "name": "E", "symbols": ["A", "A"]}': "Duplicate enum symbol: A (at /symbols/1)",
    '{"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}': "is not in the enum symbol set",
    '{"type": "fixed", "name": "F"}': "Invalid or no size",
    '{"type": "array"}': "Array has no items type",
    '{"type": "map"}': "Map has no values type",
    '["int", ["string"]]': "Nested union (at /1)",
    '["int", "int"]': "Duplicate in union: int (at /1)",
    '[{"type": "fixed", "name": "F", "size": 1}, {"type": "enum", "name": "F", "symbols": []}]': (
        "Can't redefine: F (at /1)"
    ),
    '{"type": "fixed", "name": "int", "size": 1}': "may not be named after primitives",
    "[" * 100_000: "nested too deeply",
}


@each_row("text", BAD_TEXTS, lambda text: text[:60])
def test_what_is_no_schema(text: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        avro.parse(text, {})
    assert BAD_TEXTS[text] in str(caught.value)


def test_what_was_registered_long_ago_may_have_any_default() -> None:
    text = json.dumps(record(field("a", "int", default="x")))
    assert avro.parse(text, {}, is_new=False).canonical()


def test_normalized() -> None:
    one = record(
        field("a", {"type": "bytes", "z": 1, "scale": 2, "precision": 9, "logicalType": "decimal"}), y=1, b=2
    )
    other = record(
        field("a", {"logicalType": "decimal", "type": "bytes", "precision": 9, "scale": 2, "z": 1}), b=2, y=1
    )
    other["doc"] = ""
    texts = [avro.parse(json.dumps(each), {}) for each in (one, other)]
    assert texts[0].canonical() != texts[1].canonical()
    assert len({text.normalized().canonical() for text in texts}) == 1
