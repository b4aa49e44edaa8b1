"""Avro's JSON encoding, both ways, beside that of fastavro."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest

from penstock.client.registry.schemas import Schema
from penstock.client.registry.wire_format import SchemaId
from penstock.rest.schemas.avro import AvroCodec, make_codec
from penstock.rest.schemas.codec import Misfit
from tests.support.rows import each_row


def codec(schema: Any) -> AvroCodec:
    return make_codec(Schema(json.dumps(schema)), SchemaId(1, None), None)


def record(*fields: dict[str, Any], name: str = "shop.Order") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


SIZE = {"type": "enum", "name": "shop.Size", "symbols": ["SMALL", "LARGE"]}
HASH = {"type": "fixed", "name": "shop.Hash", "size": 2}
TREE = record(field("leaf", "int"), field("more", {"type": "array", "items": "shop.Tree"}), name="shop.Tree")
LIST = record(field("head", "string"), field("tail", ["null", "shop.List"]), name="shop.List")

CASES = [
    ("null", None),
    ("boolean", True),
    ("boolean", False),
    *(("int", number) for number in (0, -1, 63, 64, -65, 2**31 - 1, -(2**31))),
    *(("long", number) for number in (0, 2**63 - 1, -(2**63), 300)),
    ("float", 0.5),
    ("double", -1e300),
    ("double", 3),
    ("string", "żółw\u0000𝄞"),
    ("string", ""),
    (SIZE, "LARGE"),
    (HASH, "\u0000\u00ff"),
    ({"type": "array", "items": "long"}, [1, 2, 300]),
    ({"type": "array", "items": "long"}, []),
    ({"type": "array", "items": "null"}, [None, None]),
    ({"type": "map", "values": "string"}, {"a": "b", "ż": ""}),
    ({"type": "map", "values": {"type": "array", "items": "int"}}, {"a": [1], "b": []}),
    (["null", "string"], None),
    (["null", "string"], {"string": "Ada"}),
    (["int", "null", "double"], {"double": 0.5}),
    (["null", SIZE, HASH], {"shop.Size": "SMALL"}),
    (["null", SIZE, HASH], {"shop.Hash": "\u00e9\u00e8"}),
    (["null", {"type": "array", "items": ["null", "int"]}], {"array": [None, {"int": 5}]}),
    (["null", {"type": "map", "values": "bytes"}], {"map": {"a": "\u0001\u00ff"}}),
    (record(field("id", "long"), field("note", ["null", "string"])), {"id": 7, "note": {"string": "fast"}}),
    (record(), {}),
    (["null", record(field("id", "int"))], {"shop.Order": {"id": 3}}),
    (
        record(field("a", record(field("x", "int"), name="Inner")), field("b", ["null", "shop.Inner"])),
        {"a": {"x": 1}, "b": {"shop.Inner": {"x": 2}}},
    ),
    (TREE, {"leaf": 1, "more": [{"leaf": 2, "more": []}, {"leaf": 3, "more": []}]}),
    (LIST, {"head": "a", "tail": {"shop.List": {"head": "b", "tail": None}}}),
    (record(field("day", {"type": "int", "logicalType": "date"})), {"day": 18_000}),
    (record(field("day", ["null", {"type": "int", "logicalType": "date"}])), {"day": {"int": 18_000}}),
    (record(field("b", "bytes")), {"b": "\u0000\u007f\u0080\u00ff"}),
]


def without_logical_types(schema: Any) -> Any:
    """fastavro makes objects of these."""
    if isinstance(schema, list):
        return [without_logical_types(each) for each in schema]
    if isinstance(schema, dict):
        return {name: without_logical_types(each) for name, each in schema.items() if name != "logicalType"}
    return schema


def bytes_of_fastavro(schema: Any, data: Any) -> bytes:
    parsed = fastavro.parse_schema(without_logical_types(schema))
    if schema == TREE:  # which fastavro's reader of JSON does not end with
        value = data
    elif isinstance(schema, list) or isinstance(data, dict | list):
        [value] = fastavro.json_reader(io.StringIO(json.dumps(data)), parsed)
    else:
        value = data.encode("latin-1") if schema == HASH else data
    out = io.BytesIO()
    fastavro.schemaless_writer(out, parsed, value)
    return out.getvalue()


@each_row(("schema", "data"), CASES)
def test_there_and_back(schema: Any, data: Any) -> None:
    written = codec(schema).encode(data)
    assert written == bytes_of_fastavro(schema, data)
    assert codec(schema).decode(b"....." + written, 5) == data


def test_bytes_alone_have_no_length_before_them() -> None:
    assert codec("bytes").encode("a\u00ff") == b"a\xff"
    assert codec("bytes").decode(b".a\xff", 1) == "a\u00ff"


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("kind", ["float", "double"])
def test_numbers_that_are_none(kind: str, word: str) -> None:
    assert codec(kind).decode(codec(kind).encode(word), 0) == word


DEFAULTS = [
    ("string", "none", "none"),
    (["null", "string"], None, None),
    (["string", "null"], "x", {"string": "x"}),
    (["null", "int"], 5, {"int": 5}),
    ({"type": "array", "items": ["null", "int"]}, [None, 1], [None, {"int": 1}]),
    (record(field("n", ["long", "null"]), name="In"), {"n": 4}, {"n": {"long": 4}}),
    (SIZE, "LARGE", "LARGE"),
]


@pytest.mark.parametrize(("kind", "default", "data"), DEFAULTS)
def test_a_missing_field_gets_its_default(kind: Any, default: Any, data: Any) -> None:
    both = codec(record(field("id", "int"), field("other", kind, default=default)))
    written = both.encode({"id": 1})
    assert both.decode(written, 0) == {"id": 1, "other": data}
    assert both.encode({"id": 1}) == written


ORDER = record(
    field("id", "int"),
    field("note", ["null", "string"], default=None),
    field("lines", {"type": "array", "items": record(field("cups", "long"), name="Line")}, default=[]),
    field("tags", {"type": "map", "values": HASH}, default={}),
)
MISFITS = [
    ("null", 0, ": got 0, takes null"),
    ("boolean", 1, ": got 1, takes true or false"),
    ("int", 2**31, ": got 2147483648, takes an integer of 32 bits"),
    ("int", 1.5, ": got 1.5, takes an integer of 32 bits"),
    ("int", True, ": got true, takes an integer of 32 bits"),
    ("long", 2**63, ": got 9223372036854775808, takes an integer of 64 bits"),
    ("float", "one", ": got 'one', takes a number"),
    ("float", 1e300, ": got 1e+300, takes a number that 4 bytes have room for"),
    ("double", 10**400, "takes a number that 8 bytes have room for"),
    ("string", 7, ": got 7, takes a string"),
    ("string", "\ud800", "takes characters that UTF-8 has"),
    ("bytes", "ż", "takes a string of characters up to U+00FF, one for each byte"),
    (HASH, "abc", ": got 'abc', takes a string of 2 characters, one for each byte"),
    (SIZE, "HUGE", ": got 'HUGE', takes one of SMALL, LARGE"),
    (SIZE, ["SMALL"], ": got an array, takes one of SMALL, LARGE"),
    (["null", "string"], "Ada", """: got 'Ada', takes null or {"string": ...}"""),
    (["null", "string"], {"int": 1}, """: got an object with 'int', takes null or {"string": ...}"""),
    (["int", "string"], None, """: got null, takes {"int": ...} or {"string": ...}"""),
    (["null", "string"], {"string": 1}, ".string: got 1, takes a string"),
    ({"type": "array", "items": "int"}, {}, ": got an object, takes an array"),
    ({"type": "array", "items": "int"}, [1, "a"], "[1]: got 'a', takes an integer of 32 bits"),
    ({"type": "map", "values": "int"}, [], ": got an array, takes an object"),
    (ORDER, [], ": got an array, takes an object: shop.Order"),
    (ORDER, {}, ".id: is missing, and has no default"),
    (ORDER, {"id": 1, "nota": None}, ".nota: shop.Order has no such field"),
    (
        ORDER,
        {"id": 1, "lines": [{"cups": 1}, {"cups": "two"}]},
        ".lines[1].cups: got 'two', takes an integer",
    ),
    (ORDER, {"id": 1, "tags": {"a": "abc"}}, ".tags.a: got 'abc', takes a string of 2"),
]


@each_row(("schema", "data", "message"), MISFITS)
def test_what_does_not_fit_is_named(schema: Any, data: Any, message: str) -> None:
    with pytest.raises(Misfit) as caught:
        codec(schema).encode(data)
    assert message in caught.value.text("value")


def test_a_list_that_is_too_deep() -> None:
    data: Any = None
    for _ in range(100_000):
        data = {"shop.List": {"head": "", "tail": data}}
    with pytest.raises(Misfit, match="nested too deeply"):
        codec(LIST).encode(data["shop.List"])


BROKEN = [
    ("string", b"\x0aab", "ends before"),
    ("string", b"\x01", "a length is -1"),
    ("string", b"\x02\xff", "utf-8"),
    ("int", b"", "ends before"),
    ("long", b"\xff" * 11, "more bytes than any"),
    ("double", b"1234", "ends before"),
    (HASH, b"a", "ends before"),
    (SIZE, b"\x04", "shop.Size has no symbol 2"),
    (["null", "int"], b"\x04", "a union has no branch 2"),
    ({"type": "array", "items": "null"}, b"\xfe\xff\xff\xff\x0f\x00", "more than there are bytes"),
    ("int", b"\x02\x02", "1 bytes are left behind"),
    (LIST, b"\x00\x02" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("schema", "data", "message"), BROKEN, ids=lambda each: str(each)[:40])
def test_bytes_that_are_no_such_record(schema: Any, data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        codec(schema).decode(data, 0)


def test_blocks_that_say_their_size_are_read() -> None:
    data = b"\x03\x04\x02\x04\x02\x06\x00"  # two items in two bytes; one more; the end
    assert codec({"type": "array", "items": "int"}).decode(data, 0) == [1, 2, 3]
