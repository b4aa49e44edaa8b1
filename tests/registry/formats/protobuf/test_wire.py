"""The protobuf library as judge: what is called compatible is read back, what is not would be read wrong."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message import DecodeError

from penstock.registry.formats.protobuf import ProtobufSchema, parse
from penstock.registry.formats.protobuf.option_values import message_of, pool_of
from tests.registry.formats.protobuf.cases import message, proto2, proto3
from tests.support.rows import each_row

INTEGERS = [f"{kind}{size}" for kind in ("int", "uint", "sint", "fixed", "sfixed") for size in (32, 64)]
SCALARS = [*INTEGERS, "bool", "float", "double", "string", "bytes", "E"]
ENUM = "enum E { ZERO = 0; ONE = 1; }"
VARINTS = ("int32", "int64", "uint32", "uint64", "bool", "E")
PAIRS = [
    (writer, reader)
    for writer in SCALARS
    for reader in SCALARS
    if reader != "bool" or writer in VARINTS  # a bool is true by whatever is not zero
]
TEXTS = {"string": "x", "bytes": b"x"}


def _new(schema: ProtobufSchema, name: str = "M") -> Any:
    return message_of(pool_of(schema.descriptors()), name)


def _carried(writer: ProtobufSchema, reader: ProtobufSchema, fill: dict[str, Any]) -> Any:
    """What the reader has after reading what the writer wrote; None if it cannot read it at all."""
    written = _new(writer)
    for name, value in fill.items():
        setattr(written, name, value) if not isinstance(value, list) else getattr(written, name).extend(value)
    read = _new(reader)
    try:
        read.ParseFromString(written.SerializeToString())
    except DecodeError:
        return None
    return read


def _is_one(value: Any) -> bool:
    return value in (1, "x", b"x")


@each_row(("writer_type", "reader_type"), PAIRS)
def test_a_value_arrives_if_and_only_if_compatible(writer_type: str, reader_type: str) -> None:
    writer = parse(proto3(ENUM, message(f"{writer_type} a = 1;")), {})
    reader = parse(proto3(ENUM, message(f"{reader_type} a = 1;")), {})
    read = _carried(writer, reader, {"a": TEXTS.get(writer_type, 1)})
    arrived = read is not None and _is_one(read.a)
    assert arrived == (reader.incompatibilities_with(writer) == [])


@each_row(("writer_type", "reader_type"), PAIRS)
def test_the_values_of_a_list_arrive_if_and_only_if_compatible(writer_type: str, reader_type: str) -> None:
    writer = parse(proto3(ENUM, message(f"repeated {writer_type} a = 1;")), {})
    reader = parse(proto3(ENUM, message(f"repeated {reader_type} a = 1;")), {})
    read = _carried(writer, reader, {"a": [TEXTS.get(writer_type, 1)] * 2})
    arrived = read is not None and [_is_one(each) for each in read.a] == [True, True]
    assert arrived == (reader.incompatibilities_with(writer) == [])


def test_a_required_field_that_was_added_is_missed() -> None:
    writer = parse(proto2(message("optional int32 a = 1;")), {})
    reader = parse(proto2(message("optional int32 a = 1; required int32 b = 2;")), {})
    assert reader.incompatibilities_with(writer)
    read = _carried(writer, reader, {"a": 1})
    assert read is None or not read.IsInitialized()


def test_independent_fields_overwrite_each_other_in_a_oneof() -> None:
    writer = parse(proto3(message("int32 a = 1; int32 b = 2;")), {})
    reader = parse(proto3(message("oneof o { int32 a = 1; int32 b = 2; }")), {})
    assert [each.kind for each in reader.incompatibilities_with(writer)] == ["MULTIPLE_FIELDS_MOVED_TO_ONEOF"]
    read = _carried(writer, reader, {"a": 1, "b": 1})
    assert (read.HasField("a"), read.HasField("b")) == (False, True)


COMPATIBLE = [
    ("int32 a = 1; string b = 2;", "int32 a = 1;", {"a": 1, "b": "x"}, {"a": 1}),
    ("int32 a = 1;", "int32 renamed = 1; string b = 2;", {"a": 1}, {"renamed": 1, "b": ""}),
    ("oneof o { int32 a = 1; }", "int32 a = 1;", {"a": 1}, {"a": 1}),
    ("int32 a = 1;", "oneof o { int32 a = 1; string b = 2; }", {"a": 1}, {"a": 1}),
    (
        "oneof o { int32 a = 1; } oneof p { int32 b = 2; }",
        "int32 a = 1; int32 b = 2;",
        {"a": 1, "b": 1},
        {"a": 1, "b": 1},
    ),
    ("optional int32 a = 1;", "int32 a = 1;", {"a": 1}, {"a": 1}),
    ("string a = 1;", "repeated string a = 1;", {"a": "x"}, {"a": ["x"]}),
    ("repeated string a = 1;", "string a = 1;", {"a": ["w", "x"]}, {"a": "x"}),
    ("enum E { Z = 0; A = 1; } E a = 1;", "enum E { Z = 0; } E a = 1;", {"a": 1}, {"a": 1}),
]


@pytest.mark.parametrize(("writer_fields", "reader_fields", "written", "expected"), COMPATIBLE)
def test_compatible_changes(
    writer_fields: str, reader_fields: str, written: dict[str, Any], expected: dict[str, Any]
) -> None:
    writer, reader = parse(proto3(message(writer_fields)), {}), parse(proto3(message(reader_fields)), {})
    assert reader.incompatibilities_with(writer) == []
    read = _carried(writer, reader, written)
    assert {name: getattr(read, name) for name in expected} == expected


def test_a_group_is_no_message_on_the_wire() -> None:
    writer = parse(proto2(message("optional group A = 1 { optional int32 x = 1; }")), {})
    reader = parse(proto2(message("optional B a = 1;"), message("optional int32 x = 1;", "B")), {})
    assert "FIELD_KIND_CHANGED" in [each.kind for each in reader.incompatibilities_with(writer)]
    written = _new(writer)
    written.a.x = 1
    read = _new(reader)
    read.ParseFromString(written.SerializeToString())
    assert not read.HasField("a")


def test_maps_and_imports() -> None:
    references = {"a.proto": proto3("package lib; message A { string s = 1; }")}
    writer = parse(proto3('import "a.proto";', message("map<string, lib.A> by_name = 1;")), references)
    grown = {"a.proto": proto3("package lib; message A { string s = 1; int32 n = 2; }")}
    reader = parse(proto3('import "a.proto";', message("map<string, lib.A> by_key = 1;")), grown)
    assert reader.incompatibilities_with(writer) == []
    written = _new(writer)
    written.by_name["k"].s = "x"
    read = _new(reader)
    read.ParseFromString(written.SerializeToString())
    assert (read.by_key["k"].s, read.by_key["k"].n) == ("x", 0)
