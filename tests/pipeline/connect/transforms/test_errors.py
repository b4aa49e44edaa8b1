"""What each transform refuses, in Kafka's words: settings when it is configured, records when it sees them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.connect.data import Schema, SchemaBuilder, SourceRecord, Struct
from penstock.pipeline.connect.data.schema import INT32, STRING
from penstock.pipeline.connect.errors import ConnectError
from tests.pipeline.connect.oracle.oracle import class_of
from tests.support.rows import each_row

PACKAGE = "org.apache.kafka.connect.transforms"
MISSING = 'Missing required configuration "{}" which has no default value.'

SETTINGS: list[tuple[str, dict[str, str], str]] = [
    ("Cast$Value", {}, MISSING.format("spec")),
    ("Cast$Value", {"spec": ""}, "Must specify at least one field to cast."),
    ("Cast$Value", {"spec": "a:what"}, "Invalid type found in casting spec: what"),
    (
        "Cast$Value",
        {"spec": "a:bytes"},
        "Cast transformation does not support casting to BYTES; supported types are [",
    ),
    ("Cast$Value", {"spec": "int8,a:int8"}, "may only specify a single cast in their spec"),
    (
        "Cast$Value",
        {"spec": "a:b:c"},
        "Invalid value [a:b:c] for configuration renames: Invalid rename mapping: a:b:c",
    ),
    ("DropHeaders", {}, MISSING.format("headers")),
    (
        "DropHeaders",
        {"headers": ""},
        "Configuration 'headers' must not be empty. Valid values include: any non-empty value",
    ),
    ("DropHeaders", {"headers": "a,"}, "Configuration 'headers' values must not be empty."),
    ("ExtractField$Key", {}, MISSING.format("field")),
    (
        "ExtractField$Key",
        {"field": "a", "field.syntax.version": "V9"},
        "String must be one of (case insensitive): ",
    ),
    (
        "ExtractField$Key",
        {"field": "`a", "field.syntax.version": "V2"},
        "Incomplete backtick pair in path: [`a]",
    ),
    (
        "HeaderFrom$Value",
        {"fields": "", "headers": "h", "operation": "move"},
        "Invalid value [] for configuration fields: Empty list",
    ),
    (
        "HeaderFrom$Value",
        {"fields": "a,b", "headers": "h", "operation": "move"},
        "'fields' config must have the same number of elements as 'headers' config.",
    ),
    (
        "HeaderFrom$Value",
        {"fields": "a", "headers": "h", "operation": "take"},
        "Invalid value take for configuration operation: String must be one of: move, copy",
    ),
    ("HoistField$Value", {}, MISSING.format("field")),
    ("InsertField$Value", {}, "No field insertion configured"),
    ("InsertField$Value", {"static.field": "a"}, "No value specified for static field: a"),
    ("InsertHeader", {"header": "h"}, MISSING.format("value.literal")),
    (
        "MaskField$Value",
        {"fields": "a", "replacement": ""},
        "Invalid value  for configuration replacement: String must be non-empty",
    ),
    (
        "MaskField$Value",
        {"fields": "a", "replace.null.with.default": "no"},
        "Expected value to be either true or false",
    ),
    (
        "RegexRouter",
        {"regex": "(", "replacement": "x"},
        "Invalid value ( for configuration regex: Invalid regex: ",
    ),
    ("RegexRouter", {"regex": "."}, MISSING.format("replacement")),
    (
        "ReplaceField$Value",
        {"renames": "a"},
        "Invalid value [a] for configuration renames: Invalid rename mapping: a",
    ),
    ("SetSchemaMetadata$Value", {}, "Neither schema name nor version configured"),
    (
        "SetSchemaMetadata$Value",
        {"schema.version": "x"},
        "Invalid value x for configuration schema.version: Not a number of type INT",
    ),
    ("TimestampConverter$Value", {}, MISSING.format("target.type")),
    (
        "TimestampConverter$Value",
        {"target.type": "day"},
        "String must be one of: string, unix, Date, Time, Timestamp",
    ),
    (
        "TimestampConverter$Value",
        {"target.type": "string"},
        "TimestampConverter requires format option to be specified when using string timestamps",
    ),
    (
        "TimestampConverter$Value",
        {"target.type": "string", "format": "bad"},
        "SimpleDateFormat-compatible pattern for string timestamps: bad",
    ),
    ("TimestampConverter$Value", {"target.type": "unix", "unix.precision": "days"}, "unix.precision"),
    ("TimestampRouter", {"timestamp.format": "bad"}, "Illegal pattern character 'b'"),
    ("ValueToKey", {"fields": ""}, "Configuration 'fields' must not be empty."),
]


@each_row(("name", "configs", "words"), SETTINGS)
def test_settings(name: str, configs: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        class_of(f"{PACKAGE}.{name}")().configure(configs)


INNER = SchemaBuilder.struct().field("b", INT32).build()
MAPPED = SchemaBuilder.struct().field("a", SchemaBuilder.map(STRING, INT32).build()).build()
VALUES: list[tuple[str, dict[str, str], Any, Schema | None, str]] = [
    (
        "Cast$Value",
        {"spec": "a:int8"},
        {"a": "x"},
        None,
        "Value (x) was out of range for requested data type",
    ),
    (
        "Cast$Value",
        {"spec": "a:int8"},
        {"a": "128"},
        None,
        "Value (128) was out of range for requested data type",
    ),
    (
        "Cast$Value",
        {"spec": "a:int8"},
        {"a": []},
        None,
        "Cast transformation does not support casting from ARRAY",
    ),
    ("Cast$Value", {"spec": "a:int8"}, {"a": b""}, None, "Unexpected type in Cast transformation: class [B"),
    (
        "Cast$Value",
        {"spec": "a:int8"},
        5,
        None,
        "Only Map objects supported in absence of schema for [cast types], found: java.lang.Long",
    ),
    ("Cast$Value", {"spec": "a:int8"}, 5, INT32, "Cannot list fields on non-struct type"),
    ("ExtractField$Value", {"field": "x"}, Struct(INNER, b=1), INNER, "Unknown field: x"),
    (
        "ExtractField$Value",
        {"field": "x"},
        "text",
        None,
        "Only Map objects supported in absence of schema for [field extraction], found: java.lang.String",
    ),
    (
        "Flatten$Value",
        {},
        Struct(MAPPED, a={}),
        MAPPED,
        "Flatten transformation does not support MAP for record with schemas (for field a).",
    ),
    (
        "HeaderFrom$Value",
        {"fields": "x", "headers": "h", "operation": "copy"},
        Struct(INNER, b=1),
        INNER,
        "'x' is not a field of the value",
    ),
    (
        "HeaderFrom$Value",
        {"fields": "x", "headers": "h", "operation": "copy"},
        None,
        None,
        "for [header copy], found: null",
    ),
    (
        "InsertField$Value",
        {"offset.field": "o"},
        {},
        None,
        "Only SinkRecord supported for [field insertion], found: org.apache.kafka.connect.source.SourceRecord",
    ),
    (
        "InsertField$Value",
        {"topic.field": "b"},
        Struct(INNER, b=1),
        INNER,
        "Cannot create field because of field name duplication b",
    ),
    ("MaskField$Value", {"fields": "a"}, {"a": b""}, None, "Cannot mask value of type: class [B"),
    (
        "MaskField$Value",
        {"fields": "a", "replacement": "x"},
        {"a": 5},
        None,
        "Unable to convert x (class java.lang.String) to a number",
    ),
    (
        "MaskField$Value",
        {"fields": "a", "replacement": "x"},
        {"a": True},
        None,
        "Cannot mask value of type class java.lang.Boolean with custom replacement.",
    ),
    ("RegexRouter", {"regex": ".*", "replacement": "$3"}, 1, None, "No group 3"),
    (
        "ReplaceField$Value",
        {"renames": "b:c"},
        [],
        None,
        "for [field replacement], found: java.util.ArrayList",
    ),
    (
        "SetSchemaMetadata$Value",
        {"schema.name": "n"},
        5,
        None,
        "Schema required for [updating schema metadata]",
    ),
    (
        "TimestampConverter$Value",
        {"target.type": "unix", "format": "yyyy"},
        "x",
        None,
        "Could not parse timestamp: value (x) does not match pattern (yyyy)",
    ),
    (
        "TimestampConverter$Value",
        {"target.type": "unix"},
        1.5,
        None,
        "TimestampConverter does not support class java.lang.Double objects as timestamps",
    ),
    (
        "TimestampConverter$Value",
        {"target.type": "unix"},
        5,
        INT32,
        "Schema Schema{INT32} does not correspond to a known timestamp type format",
    ),
    ("TimestampConverter$Value", {"target.type": "Timestamp"}, 2**62, None, "is out of range"),
    ("TimestampRouter", {}, 1, None, "Timestamp missing on record: SourceRecord("),
    ("ValueToKey", {"fields": "x"}, Struct(INNER, b=1), INNER, "Field does not exist: x"),
]


@pytest.mark.parametrize(("name", "configs", "value", "schema", "words"), VALUES)
def test_records(name: str, configs: dict[str, str], value: Any, schema: Schema | None, words: str) -> None:
    transformation = class_of(f"{PACKAGE}.{name}")()
    transformation.configure(configs)
    with pytest.raises(ConnectError, match=re.escape(words)):
        transformation.apply(SourceRecord({}, {}, "orders", value, schema))
