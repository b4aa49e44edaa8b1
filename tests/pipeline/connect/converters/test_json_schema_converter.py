"""The JSON Schema converter with a registry: what goes there comes back the same, in Confluent's words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from penstock.client.registry import JsonSchemaDeserializer, SchemaRegistryClient
from penstock.client.registry import Schema as RegistrySchema
from penstock.pipeline.connect.converters.json_schema_converter import JsonSchemaConverter
from penstock.pipeline.connect.data import SchemaBuilder, Struct, Type
from penstock.pipeline.connect.data.logical import decimal_schema
from penstock.pipeline.connect.data.schema import FLOAT64, INT32, INT64, OPTIONAL_STRING, STRING
from penstock.pipeline.connect.errors import DataError
from tests.pipeline.connect.oracle.oracle import value_of
from tests.pipeline.connect.oracle.random_records import Records

ORDER = (
    SchemaBuilder.struct()
    .name("com.example.Order")
    .version(3)
    .field("id", INT64)
    .field("note", OPTIONAL_STRING)
    .field("price", decimal_schema(2))
    .field("sizes", SchemaBuilder.map(INT32, FLOAT64).build())
    .field("count", SchemaBuilder(Type.INT32).default(7).build())
    .build()
)
VALUE = {"id": 5, "note": None, "price": Decimal("12.50"), "sizes": {1: 2.5}, "count": 1}


@pytest.fixture
def registry(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient(registry_url) as client:
        yield client


def made(url: str, **settings: str) -> JsonSchemaConverter:
    converter = JsonSchemaConverter()
    named = {name.replace("_", "."): value for name, value in settings.items()}
    converter.configure({"schema.registry.url": url, **named}, False)
    return converter


@pytest.mark.parametrize("decimals", ["BASE64", "numeric"])
def test_a_struct_there_and_back(registry_url: str, topic: str, decimals: str) -> None:
    converter = made(registry_url, decimal_format=decimals)
    struct = Struct(ORDER, **VALUE)
    assert converter.to_connect(topic, converter.from_connect(topic, ORDER, struct)) == (ORDER, struct)


@pytest.mark.parametrize("seed", range(2))
def test_random_values_there_and_back(registry_url: str, seed: int) -> None:
    records = Records(seed)
    writer, reader = made(registry_url), made(registry_url)
    for number in range(60):
        schema, value = value_of(records.envelope())
        if schema is None or value is None:
            continue
        data = writer.from_connect(f"random-json-{seed}-{number}", schema, value)
        read = reader.to_connect(f"random-json-{seed}-{number}", data)
        assert read.schema == schema
        assert read.value == value


def test_the_schema_in_the_registry(registry_url: str, registry: SchemaRegistryClient, topic: str) -> None:
    data = made(registry_url, object_additional_properties="false").from_connect(
        topic, ORDER, Struct(ORDER, **VALUE)
    )
    registered = registry.latest_version(f"{topic}-value").schema
    assert registered.schema_type == "JSON"
    schema = json.loads(registered.text)
    assert schema["title"] == "com.example.Order"
    assert schema["connect.version"] == 3
    assert schema["additionalProperties"] is False
    assert schema["properties"]["id"] == {"type": "integer", "connect.type": "int64", "connect.index": 0}
    assert schema["properties"]["note"]["oneOf"] == [{"type": "null"}, {"type": "string"}]
    assert schema["properties"]["count"]["default"] == 7
    assert data is not None
    assert JsonSchemaDeserializer(registry=registry).deserialize(topic, data)["sizes"] == [
        {"key": 1, "value": 2.5}
    ]


def read(
    url: str, registry: SchemaRegistryClient, topic: str, schema: Any, value: Any, **settings: str
) -> Any:
    registered = registry.register(f"{topic}-value", RegistrySchema(json.dumps(schema), "JSON"))
    data = b"\0" + registered.id.to_bytes(4, "big") + json.dumps(value).encode()
    return made(url, **settings).to_connect(topic, data)


FOREIGN = {
    "type": "object",
    "definitions": {"name": {"type": "string", "description": "a name"}},
    "properties": {
        "name": {"$ref": "#/definitions/name"},
        "kind": {"enum": ["UP", "DOWN"]},
        "size": {"type": ["null", "integer"]},
        "either": {
            "oneOf": [
                {"type": "string"},
                {"type": "number"},
                {"type": "object", "properties": {"a": {"type": "boolean"}}},
            ]
        },
        "both": {
            "allOf": [
                {"type": "object", "properties": {"x": {"type": "integer"}}},
                {"properties": {"y": {"type": "string"}}},
            ]
        },
    },
    "required": ["name"],
}


def test_what_others_wrote(registry_url: str, registry: SchemaRegistryClient, topic: str) -> None:
    value = {"name": "n", "kind": "UP", "size": 5, "either": {"a": True}, "both": {"x": 1, "y": "z"}}
    schema, struct = read(registry_url, registry, topic, FOREIGN, value)
    assert schema.field_of["name"].schema.doc == "a name"
    assert schema.field_of["kind"].schema.parameters["io.confluent.connect.json.Enum.UP"] == "UP"
    assert schema.field_of["size"].schema == INT64.as_optional()
    assert struct["size"] == 5
    assert struct["either"]["io.confluent.connect.json.OneOf.field.2"]["a"] is True
    assert struct["both"]["y"] == "z"


def test_what_is_not_required_may_be_optional(
    registry_url: str, registry: SchemaRegistryClient, topic: str
) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a"],
    }
    read_schema, struct = read(
        registry_url, registry, topic, schema, {"a": "x"}, use_optional_for_nonrequired="true"
    )
    assert not read_schema.field_of["a"].schema.optional
    assert read_schema.field_of["b"].schema.optional
    assert struct["b"] is None


BAD = {
    "recursive": (
        {
            "$ref": "#/definitions/t",
            "definitions": {"t": {"type": "array", "items": {"$ref": "#/definitions/t"}}},
        },
        [],
    ),
    "an array of nothing": ({"type": "array"}, []),
    "of no type": ({}, 5),
    "fits no branch": ({"oneOf": [{"type": "string"}, {"type": "boolean"}]}, 5),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read(
    registry_url: str, registry: SchemaRegistryClient, topic: str, case: str
) -> None:
    schema, value = BAD[case]
    with pytest.raises(DataError, match=f"Failed to deserialize data for topic {topic} to JSON: "):
        read(registry_url, registry, topic, schema, value)


def test_values_that_do_not_fit(registry_url: str, topic: str) -> None:
    with pytest.raises(DataError, match=r"Invalid type for INT32: class java\.lang\.String"):
        made(registry_url).from_connect(topic, INT32, "text")
    assert made(registry_url).from_connect(topic, STRING, None) is None
