"""The Protobuf converter with a registry: what goes there comes back, in Confluent's words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest

from penstock.client.registry import ProtobufDeserializer, SchemaRegistryClient
from penstock.client.registry import Schema as RegistrySchema
from penstock.pipeline.connect.converters.protobuf_converter import ProtobufConverter
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct, Type
from penstock.pipeline.connect.data.logical import (
    DATE,
    TIME,
    TIMESTAMP,
    decimal_schema,
    timestamp_from_millis,
)
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
)
from penstock.pipeline.connect.errors import DataError

INNER = SchemaBuilder.struct().name("Inner").field("x", INT32).field("y", OPTIONAL_STRING).build()
ORDER = (
    SchemaBuilder.struct()
    .name("com.example.Order")
    .field("id", INT64)
    .field("small", INT8)
    .field("middle", INT16)
    .field("note", OPTIONAL_STRING)
    .field("price", decimal_schema(2))
    .field("day", DATE)
    .field("hour", TIME)
    .field("at", TIMESTAMP)
    .field("flag", BOOLEAN)
    .field("single", FLOAT32)
    .field("double", FLOAT64)
    .field("data", BYTES)
    .field("tags", SchemaBuilder.array(STRING).build())
    .field("inners", SchemaBuilder.array(INNER).build())
    .field("inner", INNER.as_optional())
    .field("sizes", SchemaBuilder.map(STRING, INT64).build())
    .field("by_number", SchemaBuilder.map(INT32, INNER).build())
    .build()
)
VALUE: dict[str, Any] = {
    "id": 5,
    "small": -3,
    "middle": 300,
    "note": "n",
    "price": Decimal("-12.50"),
    "day": date(2009, 2, 13),
    "hour": time(23, 31, 30, 123000),
    "at": timestamp_from_millis(-1),
    "flag": True,
    "single": 0.5,
    "double": 0.1,
    "data": b"\0\1",
    "tags": ["a", "ä"],
    "inners": [Struct(INNER, x=1, y="z")],
    "inner": None,
    "sizes": {"a": 1},
    "by_number": {7: Struct(INNER, x=2, y="w")},
}


@pytest.fixture
def registry(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient(registry_url) as client:
        yield client


def made(url: str, **settings: str) -> ProtobufConverter:
    converter = ProtobufConverter()
    named = {name.replace("_", "."): value for name, value in settings.items()}
    converter.configure({"schema.registry.url": url, **named}, False)
    return converter


def plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return {each.name: plain(value[each.name]) for each in value.schema.fields}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def test_a_struct_there_and_back(registry_url: str, topic: str) -> None:
    converter = made(registry_url)
    data = converter.from_connect(topic, ORDER, Struct(ORDER, **VALUE))
    schema, value = converter.to_connect(topic, data)
    assert schema is not None
    assert plain(value) == {name: plain(inner) for name, inner in VALUE.items()}
    assert schema.name == "Order"
    types = {each.name: each.schema.type for each in schema.fields}
    assert types == {each.name: each.schema.type for each in ORDER.fields}
    assert schema.field_of["price"].schema.parameters["scale"] == "2"
    assert schema.field_of["at"].schema.name == TIMESTAMP.name
    assert all(each.schema.optional for each in schema.fields)
    assert [each.schema.parameters["io.confluent.connect.protobuf.Tag"] for each in schema.fields] == [
        str(number) for number in range(1, len(ORDER.fields) + 1)
    ]
    again = converter.to_connect(topic, converter.from_connect(f"{topic}-2", schema, value))
    assert (again.schema, again.value) == (schema, value)


def test_null_is_the_default_unless_told(registry_url: str, topic: str) -> None:
    schema = SchemaBuilder.struct().name("N").field("a", OPTIONAL_INT32).field("b", INT32).build()
    plainly, exactly = made(registry_url), made(registry_url, optional_for_nullables="true")
    data = plainly.from_connect(topic, schema, Struct(schema, b=1))
    assert plainly.to_connect(topic, data).value["a"] == 0
    data = exactly.from_connect(f"{topic}-2", schema, Struct(schema, b=0))
    read = exactly.to_connect(f"{topic}-2", data)
    assert (read.value["a"], read.value["b"]) == (None, 0)
    assert read.schema is not None
    assert [each.schema.optional for each in read.schema.fields] == [True, False]


def test_others_read_it(registry_url: str, registry: SchemaRegistryClient, topic: str) -> None:
    data = made(registry_url).from_connect(topic, ORDER, Struct(ORDER, **VALUE))
    assert data is not None
    message = ProtobufDeserializer(registry=registry).deserialize(topic, data)
    assert message.DESCRIPTOR.full_name == "com.example.Order"
    assert (message.id, message.day.year, dict(message.sizes)) == (5, 2009, {"a": 1})
    text = registry.latest_version(f"{topic}-value").schema.text
    assert "confluent.type.Decimal price = 5" in text


PLAIN: list[tuple[Schema, Any]] = [
    (STRING, "text"),
    (INT64, 2**40),
    (BOOLEAN, False),
    (BYTES, b"x"),
    (FLOAT64, 0.1),
]


@pytest.mark.parametrize(("schema", "value"), PLAIN, ids=lambda each: str(each)[:12])
def test_plain_values(registry_url: str, topic: str, schema: Schema, value: Any) -> None:
    converter = made(registry_url)
    assert converter.to_connect(topic, converter.from_connect(topic, schema, value)) == (schema, value)


PROTO = """
syntax = "proto3";
package shop;
message Other { string a = 1; }
message Event {
  enum Kind { UP = 0; DOWN = 3; }
  Kind kind = 1;
  oneof either { string word = 2; int32 number = 3; Other other = 4; }
  uint32 unsigned = 5;
  repeated Kind kinds = 6;
  optional string maybe = 7;
}
"""


def written(registry: SchemaRegistryClient, topic: str, message: bytes) -> bytes:
    registered = registry.register(f"{topic}-value", RegistrySchema(PROTO, "PROTOBUF"))
    return b"\0" + registered.id.to_bytes(4, "big") + b"\x02\x02" + message


def test_what_others_wrote(registry_url: str, registry: SchemaRegistryClient, topic: str) -> None:
    data = written(registry, topic, b"\x08\x03\x18\x07\x28\x05\x32\x02\x00\x03")
    converter = made(registry_url)
    schema, value = converter.to_connect(topic, data)
    assert schema is not None
    assert [each.name for each in schema.fields] == ["either_0", "kind", "unsigned", "kinds", "maybe"]
    assert value["kind"] == "DOWN"
    assert value["either_0"]["number"] == 7
    assert value["either_0"]["word"] is None
    assert value["unsigned"] == 5
    assert schema.field_of["unsigned"].schema.type is Type.INT64
    assert value["kinds"] == ["UP", "DOWN"]
    assert value["maybe"] is None
    again = converter.to_connect(f"{topic}-2", converter.from_connect(f"{topic}-2", schema, value))
    assert plain(again.value) == {**plain(value), "maybe": ""}, "null is the default of Protobuf"
    numbers = made(registry_url, int_for_enums="true", enhanced_protobuf_schema_support="true")
    read = numbers.to_connect(topic, data)
    assert read.schema is not None
    assert read.schema.name == "shop.Event"
    assert read.value["kind"] == 3


def test_with_the_latest_version(registry_url: str, registry: SchemaRegistryClient, topic: str) -> None:
    converter = made(registry_url)
    converter.from_connect(topic, INNER, Struct(INNER, x=1))
    latest = made(registry_url, auto_register_schemas="false", use_latest_version="true")
    data = latest.from_connect(topic, INNER, Struct(INNER, x=2, y="z"))
    assert plain(converter.to_connect(topic, data).value) == {"x": 2, "y": "z"}
    assert registry.versions(f"{topic}-value") == [1]


NESTED = (
    SchemaBuilder.struct().field("a", SchemaBuilder.array(SchemaBuilder.array(INT32).build()).build()).build()
)


def test_what_cannot_be_written(registry_url: str, topic: str) -> None:
    converter = made(registry_url)
    with pytest.raises(DataError, match="Array cannot be nested"):
        converter.from_connect(topic, NESTED, Struct(NESTED, a=[]))
    with pytest.raises(DataError, match="ARRAY alone is no message"):
        converter.from_connect(topic, SchemaBuilder.array(INT32).build(), [1])
    with pytest.raises(DataError, match="Failed to serialize Protobuf data from topic"):
        converter.from_connect(topic, INT32, "x")
    assert converter.from_connect(topic, INNER, None) is None


@pytest.mark.parametrize("message", [b"\x0a\xff", b"\xff"])
def test_what_cannot_be_read(
    registry_url: str, registry: SchemaRegistryClient, topic: str, message: bytes
) -> None:
    with pytest.raises(DataError, match=f"Failed to deserialize data for topic {topic} to Protobuf: "):
        made(registry_url).to_connect(topic, written(registry, topic, message))
