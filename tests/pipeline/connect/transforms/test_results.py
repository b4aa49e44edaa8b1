"""What each transform makes of a value, with a schema and without: one line a case."""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest

from penstock.pipeline.connect.data import Headers, Schema, SchemaBuilder, SinkRecord, Struct, Type
from penstock.pipeline.connect.data.logical import DATE, TIMESTAMP, decimal_schema, timestamp_from_millis
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_INT64,
    OPTIONAL_STRING,
    STRING,
)
from tests.pipeline.connect.oracle.oracle import class_of
from tests.support.rows import each_row

PACKAGE = "org.apache.kafka.connect.transforms"
NOON = 1234567890123
MOMENT = timestamp_from_millis(NOON)


def struct(**fields: tuple[Schema, Any]) -> Struct:
    builder = SchemaBuilder.struct()
    for name, (schema, _) in fields.items():
        builder.field(name, schema)
    return Struct(builder.build(), **{name: value for name, (_, value) in fields.items()})


def with_default(schema: Schema, default: Any, optional: bool = True) -> Schema:
    builder = SchemaBuilder.like(schema).default(default)
    return (builder.optional() if optional else builder).build()


def applied(
    name: str, configs: dict[str, str], part: str, value: Any, schema: Schema | None
) -> SinkRecord | None:
    transformation = class_of(f"{PACKAGE}.{name}")()
    transformation.configure(configs)
    given = value.schema if isinstance(value, Struct) else schema
    record = SinkRecord("orders", 2, 42, timestamp=NOON, **{part: value, f"{part}_schema": given})
    changed: SinkRecord | None = transformation.apply(record)
    return changed


MAPS: list[tuple[str, dict[str, str], Any, Any]] = [
    ("Cast", {"spec": "a:int8"}, {"a": 300}, {"a": 44}),
    ("Cast", {"spec": "a:int16,b:string"}, {"a": "7", "b": 1.0}, {"a": 7, "b": "1.0"}),
    ("Cast", {"spec": "a:boolean"}, {"a": "TRUE"}, {"a": True}),
    ("Cast", {"spec": "a:boolean"}, {"a": 0.5}, {"a": False}),
    ("Cast", {"spec": "a:int32"}, {"a": 1e12}, {"a": 2**31 - 1}),
    ("Cast", {"spec": "a:float64"}, {"a": "1.5f"}, {"a": 1.5}),
    ("Cast", {"spec": "a:string"}, {"a": b"\1\2\3"}, {"a": "AQID"}),
    ("Cast", {"spec": "a:string"}, {"a": True}, {"a": "true"}),
    ("Cast", {"spec": "missing:int8"}, {"a": 1}, {"a": 1, "missing": None}),
    ("Cast", {"spec": "string"}, 12, "12"),
    ("Cast", {"spec": "int64"}, None, None),
    ("ExtractField", {"field": "a"}, {"a": {"b": 1}}, {"b": 1}),
    ("ExtractField", {"field": "a.b"}, {"a": {"b": 1}, "a.b": 2}, 2),
    ("ExtractField", {"field": "a.b", "field.syntax.version": "V2"}, {"a": {"b": 1}, "a.b": 2}, 1),
    ("ExtractField", {"field": "`a.b`.c", "field.syntax.version": "V2"}, {"a.b": {"c": 3}}, 3),
    ("ExtractField", {"field": "a.b", "field.syntax.version": "V2"}, {"a": None}, None),
    ("ExtractField", {"field": "missing"}, {"a": 1}, None),
    ("Flatten", {}, {"a": {"b": {"c": 1}, "d": [1]}, "e": None}, {"a.b.c": 1, "a.d": [1], "e": None}),
    ("Flatten", {"delimiter": "_"}, {"a": {"b": 1}}, {"a_b": 1}),
    ("HoistField", {"field": "all"}, 5, {"all": 5}),
    ("HoistField", {"field": "all"}, None, {"all": None}),
    ("InsertField", {"topic.field": "t"}, {"a": 1}, {"a": 1, "t": "orders"}),
    ("InsertField", {"partition.field": "p!", "offset.field": "o?"}, {}, {"p": 2, "o": 42}),
    ("InsertField", {"timestamp.field": "at"}, {}, {"at": NOON}),
    ("InsertField", {"static.field": "s", "static.value": "x"}, {"s": 1}, {"s": "x"}),
    ("InsertField", {"topic.field": "t"}, None, None),
    (
        "MaskField",
        {"fields": "a,b,c"},
        {"a": 5, "b": "x", "c": [1], "d": 1},
        {"a": 0, "b": "", "c": [], "d": 1},
    ),
    ("MaskField", {"fields": "a,b", "replacement": "7"}, {"a": 5, "b": "x"}, {"a": 7, "b": "7"}),
    ("MaskField", {"fields": "a,b"}, {"a": None, "b": True}, {"a": None, "b": False}),
    ("ReplaceField", {"exclude": "a"}, {"a": 1, "b": 2}, {"b": 2}),
    ("ReplaceField", {"include": "a,b", "exclude": "a"}, {"a": 1, "b": 2, "c": 3}, {"b": 2}),
    ("ReplaceField", {"renames": "a:x,b:y"}, {"a": 1, "b": 2}, {"x": 1, "y": 2}),
    ("TimestampConverter", {"target.type": "string", "format": "yyyy-MM-dd"}, NOON, "2009-02-13"),
    ("TimestampConverter", {"target.type": "unix", "format": "yyyy-MM-dd"}, "2009-02-13", 1234483200000),
    ("TimestampConverter", {"target.type": "Timestamp"}, NOON, MOMENT),
    ("TimestampConverter", {"target.type": "Date"}, NOON, date(2009, 2, 13)),
    ("TimestampConverter", {"target.type": "Time"}, NOON, time(23, 31, 30, 123000)),
    (
        "TimestampConverter",
        {"target.type": "Timestamp", "unix.precision": "seconds"},
        5,
        timestamp_from_millis(5000),
    ),
    (
        "TimestampConverter",
        {"target.type": "Timestamp", "unix.precision": "nanoseconds"},
        -1,
        timestamp_from_millis(0),
    ),
    ("TimestampConverter", {"target.type": "unix", "unix.precision": "microseconds"}, MOMENT, NOON * 1000),
    ("TimestampConverter", {"field": "a", "target.type": "unix"}, {"a": MOMENT, "b": 1}, {"a": NOON, "b": 1}),
    ("TimestampConverter", {"target.type": "unix"}, None, None),
    ("SetSchemaMetadata", {"schema.name": "n"}, None, None),
]


@each_row("part", ["Key", "Value"])
@each_row(("name", "configs", "given", "expected"), MAPS)
def test_without_a_schema(part: str, name: str, configs: dict[str, str], given: Any, expected: Any) -> None:
    changed = applied(f"{name}${part}", configs, part.lower(), given, None)
    assert changed is not None
    assert getattr(changed, part.lower()) == expected
    assert getattr(changed, f"{part.lower()}_schema") is None


NAMED = SchemaBuilder.struct().name("old").version(1).doc("words").field("a", INT32).build()
STRUCTS: list[tuple[str, dict[str, str], Struct, Struct]] = [
    (
        "Cast",
        {"spec": "a:int8"},
        struct(a=(INT32, 300), b=(STRING, "x")),
        struct(a=(INT8, 44), b=(STRING, "x")),
    ),
    ("Cast", {"spec": "a:string"}, struct(a=(FLOAT32, 1.5)), struct(a=(STRING, "1.5"))),
    (
        "Cast",
        {"spec": "a:string"},
        struct(a=(TIMESTAMP, MOMENT)),
        struct(a=(STRING, "2009-02-13T23:31:30.123Z")),
    ),
    ("Cast", {"spec": "a:int64"}, struct(a=(TIMESTAMP, MOMENT)), struct(a=(INT64, NOON))),
    ("Cast", {"spec": "a:int32"}, struct(a=(DATE, date(1970, 1, 3))), struct(a=(INT32, 2))),
    (
        "Cast",
        {"spec": "a:float64"},
        struct(a=(decimal_schema(2), Decimal("1.50"))),
        struct(a=(FLOAT64, 1.5)),
    ),
    (
        "Cast",
        {"spec": "a:string"},
        struct(a=(with_default(INT32, 5), None)),
        struct(a=(with_default(STRING, "5"), "5")),
    ),
    (
        "Cast",
        {"spec": "a:string", "replace.null.with.default": "false"},
        struct(a=(with_default(INT32, 5), None)),
        struct(a=(with_default(STRING, "5"), None)),
    ),
    ("Cast", {"spec": "a:string"}, struct(a=(BYTES, b"\1\2\3")), struct(a=(STRING, "AQID"))),
    (
        "Flatten",
        {},
        struct(a=(struct(b=(INT32, 1)).schema, struct(b=(INT32, 1))), c=(BOOLEAN, True)),
        Struct(
            SchemaBuilder.struct().field("a.b", INT32).field("c", BOOLEAN).build(), **{"a.b": 1, "c": True}
        ),
    ),
    (
        "Flatten",
        {"delimiter": "/"},
        struct(a=(struct(b=(INT32, 1)).schema.as_optional(), None)),
        Struct(SchemaBuilder.struct().field("a/b", OPTIONAL_INT32).build()),
    ),
    (
        "InsertField",
        {"topic.field": "t!", "timestamp.field": "at", "offset.field": "o"},
        struct(a=(INT32, 1)),
        struct(
            a=(INT32, 1),
            t=(STRING, "orders"),
            o=(OPTIONAL_INT64, 42),
            at=(TIMESTAMP.as_optional(), MOMENT),
        ),
    ),
    ("InsertField", {"static.field": "s!", "static.value": "x"}, struct(), struct(s=(STRING, "x"))),
    (
        "MaskField",
        {"fields": "a,b"},
        struct(a=(INT8, 5), b=(DATE, date(2020, 1, 1))),
        struct(a=(INT8, 0), b=(DATE, date(1970, 1, 1))),
    ),
    ("MaskField", {"fields": "a", "replacement": "300"}, struct(a=(INT8, 5)), struct(a=(INT8, 44))),
    (
        "MaskField",
        {"fields": "a", "replacement": "1.5"},
        struct(a=(decimal_schema(1), Decimal("9.9"))),
        struct(a=(decimal_schema(1), Decimal("1.5"))),
    ),
    (
        "ReplaceField",
        {"exclude": "a", "renames": "b:z"},
        struct(a=(INT32, 1), b=(STRING, "x")),
        struct(z=(STRING, "x")),
    ),
    ("ReplaceField", {"include": "b"}, struct(a=(INT32, 1), b=(STRING, "x")), struct(b=(STRING, "x"))),
    (
        "TimestampConverter",
        {"field": "a", "target.type": "string", "format": "yyyy"},
        struct(a=(TIMESTAMP.as_optional(), MOMENT), b=(INT32, 1)),
        struct(a=(OPTIONAL_STRING, "2009"), b=(INT32, 1)),
    ),
    (
        "TimestampConverter",
        {"field": "a", "target.type": "Timestamp", "format": "yyyy-MM-dd"},
        struct(a=(STRING, "1970-01-02")),
        struct(a=(TIMESTAMP, timestamp_from_millis(86_400_000))),
    ),
    (
        "SetSchemaMetadata",
        {"schema.name": "new", "schema.version": "7"},
        Struct(NAMED, a=1),
        Struct(SchemaBuilder.like(NAMED).name("new").version(7).field("a", INT32).build(), a=1),
    ),
    (
        "SetSchemaMetadata",
        {"schema.version": "7"},
        Struct(NAMED, a=1),
        Struct(SchemaBuilder.like(NAMED).version(7).field("a", INT32).build(), a=1),
    ),
]


@each_row("part", ["Key", "Value"])
@each_row(("name", "configs", "given", "expected"), STRUCTS)
def test_with_a_schema(
    part: str, name: str, configs: dict[str, str], given: Struct, expected: Struct
) -> None:
    changed = applied(f"{name}${part}", configs, part.lower(), given, None)
    assert changed is not None
    assert getattr(changed, part.lower()) == expected
    assert getattr(changed, f"{part.lower()}_schema") == expected.schema


WHOLE: list[tuple[str, dict[str, str], Schema, Any, Schema, Any]] = [
    ("Cast", {"spec": "string"}, INT32, 5, STRING, "5"),
    ("Cast", {"spec": "int8"}, OPTIONAL_STRING, "5", INT8.as_optional(), 5),
    (
        "HoistField",
        {"field": "a"},
        INT32,
        5,
        SchemaBuilder.struct().field("a", INT32).build(),
        struct(a=(INT32, 5)),
    ),
    ("ExtractField", {"field": "a"}, NAMED.as_optional(), None, INT32, None),
    ("TimestampConverter", {"target.type": "unix"}, TIMESTAMP, MOMENT, INT64, NOON),
    ("TimestampConverter", {"target.type": "unix"}, TIMESTAMP.as_optional(), None, OPTIONAL_INT64, None),
    ("SetSchemaMetadata", {"schema.name": "n"}, INT32, 5, SchemaBuilder(Type.INT32).name("n").build(), 5),
    (
        "SetSchemaMetadata",
        {"schema.name": "n"},
        SchemaBuilder.array(INT32).build(),
        [1],
        SchemaBuilder.array(INT32).name("n").build(),
        [1],
    ),
]


@pytest.mark.parametrize(("name", "configs", "schema", "given", "new_schema", "expected"), WHOLE)
def test_of_the_whole_value(
    name: str, configs: dict[str, str], schema: Schema, given: Any, new_schema: Schema, expected: Any
) -> None:
    changed = applied(f"{name}$Value", configs, "value", given, schema)
    assert changed is not None
    assert changed.value == expected
    assert changed.value_schema == new_schema


def test_values_to_keys() -> None:
    given = struct(a=(INT32, 1), b=(with_default(STRING, "d"), None), c=(INT32, 3))
    changed = applied("ValueToKey", {"fields": "b,a"}, "value", given, None)
    assert changed is not None
    assert changed.key == struct(b=(with_default(STRING, "d"), "d"), a=(INT32, 1))
    assert changed.value == given
    changed = applied("ValueToKey", {"fields": "a,missing"}, "value", {"a": 1, "b": 2}, None)
    assert changed is not None
    assert changed.key == {"a": 1, "missing": None}


@pytest.mark.parametrize("operation", ["move", "copy"])
def test_fields_to_headers(operation: str) -> None:
    configs = {"fields": "a,b", "headers": "h,i", "operation": operation}
    given = struct(a=(INT32, 1), b=(STRING, "x"), c=(BOOLEAN, True))
    changed = applied("HeaderFrom$Value", configs, "value", given, None)
    assert changed is not None
    assert changed.headers == Headers().add("h", 1, INT32).add("i", "x", STRING)
    assert changed.value == (struct(c=(BOOLEAN, True)) if operation == "move" else given)
    changed = applied("HeaderFrom$Key", configs, "key", {"a": 1, "c": 2}, None)
    assert changed is not None
    assert changed.headers == Headers().add("h", 1).add("i", None)
    assert changed.key == ({"c": 2} if operation == "move" else {"a": 1, "c": 2})


ROUTES = [
    ("RegexRouter", {"regex": "(or)(.*)", "replacement": "$2-$1"}, "ders-or"),
    ("RegexRouter", {"regex": "(?<all>.*)", "replacement": "x-${all}"}, "x-orders"),
    ("RegexRouter", {"regex": "rder", "replacement": "x"}, "orders"),
    ("RegexRouter", {"regex": "o|orders", "replacement": "x"}, "xrders"),
    ("RegexRouter", {"regex": ".*", "replacement": "\\$1"}, "$1"),
    ("TimestampRouter", {}, "orders-20090213"),
    (
        "TimestampRouter",
        {"topic.format": "${timestamp}.${topic}", "timestamp.format": "yyyy-ww"},
        "2009-07.orders",
    ),
]


@pytest.mark.parametrize(("name", "configs", "topic"), ROUTES)
def test_routes(name: str, configs: dict[str, str], topic: str) -> None:
    changed = applied(name, configs, "value", 1, None)
    assert changed is not None
    assert changed.topic == topic
    assert changed.original_topic == "orders"


def test_headers_are_dropped_and_inserted() -> None:
    record = SinkRecord("t", 0, 0, headers=Headers().add("a", 1).add("b", 2).add("a", 3))
    drop = class_of(f"{PACKAGE}.DropHeaders")()
    drop.configure({"headers": "a,c"})
    assert drop.apply(record).headers == Headers().add("b", 2)
    insert = class_of(f"{PACKAGE}.InsertHeader")()
    insert.configure({"header": "n", "value.literal": "[1,2]"})
    changed = insert.apply(record)
    assert changed.headers.last("n").value == [1, 2]
    assert changed.headers.last("n").schema.value_schema == INT8
    assert len(record.headers) == 3, "a record is never changed in place"


def test_the_filter_drops_all() -> None:
    assert applied("Filter", {}, "value", 1, None) is None


def test_a_changed_schema_is_made_once() -> None:
    cast = class_of(f"{PACKAGE}.Cast$Value")()
    cast.configure({"spec": "a:string"})
    records = [
        SinkRecord("t", 0, 0, value, value.schema) for value in (struct(a=(INT32, n)) for n in range(3))
    ]
    schemas = {id(cast.apply(record).value_schema) for record in records}
    assert len(schemas) == 1
