"""The Avro converter with a registry: what goes there comes back the same, in Confluent's words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from penstock.client.registry import AvroDeserializer, AvroSerializer, SchemaRegistryClient
from penstock.errors import ConfigError
from penstock.pipeline.connect.converters.avro_converter import AvroConverter
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct, Type
from penstock.pipeline.connect.data.logical import DATE, TIMESTAMP, decimal_schema, timestamp_from_millis
from penstock.pipeline.connect.data.schema import (
    BYTES,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
)
from penstock.pipeline.connect.errors import DataError, RetriableConnectError
from tests.pipeline.connect.oracle.oracle import value_of
from tests.pipeline.connect.oracle.random_records import Records

ORDER = (
    SchemaBuilder.struct()
    .name("com.example.Order")
    .version(3)
    .doc("an order")
    .field("id", INT64)
    .field("small", INT8)
    .field("note", OPTIONAL_STRING)
    .field("price", decimal_schema(2))
    .field("at", TIMESTAMP)
    .field("tags", SchemaBuilder.array(STRING).build())
    .field("sizes", SchemaBuilder.map(INT32, FLOAT64).build())
    .field("count", SchemaBuilder(Type.INT32).default(7).build())
    .build()
)
VALUE = {
    "id": 5,
    "small": -3,
    "note": None,
    "price": Decimal("12.50"),
    "at": timestamp_from_millis(1234567890123),
    "tags": ["a", "ä"],
    "sizes": {1: 2.5},
    "count": 1,
}


@pytest.fixture
def registry(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient(registry_url) as client:
        yield client


def made(url: str, is_key: bool = False, **settings: str) -> AvroConverter:
    converter = AvroConverter()
    named = {name.replace("_", "."): value for name, value in settings.items()}
    converter.configure({"schema.registry.url": url, **named}, is_key)
    return converter


def test_a_struct_there_and_back(registry_url: str, topic: str) -> None:
    converter = made(registry_url)
    struct = Struct(ORDER, **VALUE)
    data = converter.from_connect(topic, ORDER, struct)
    assert data is not None
    schema, value = converter.to_connect(topic, data)
    assert schema == ORDER
    assert value == struct


@pytest.mark.parametrize("seed", range(2))
def test_random_values_there_and_back(registry_url: str, seed: int) -> None:
    records = Records(seed, fields=("a", "b", "when", "inner"), names_structs=False)
    writer, reader = made(registry_url), made(registry_url)
    for number in range(60):
        schema, value = value_of(records.envelope())
        if schema is None or value is None:
            continue
        data = writer.from_connect(f"random-{seed}-{number}", schema, value)
        read = reader.to_connect(f"random-{seed}-{number}", data)
        assert read.schema == schema
        assert read.value == value


def test_the_schema_in_the_registry(registry_url: str, registry: SchemaRegistryClient, topic: str) -> None:
    made(registry_url).from_connect(topic, ORDER, Struct(ORDER, **VALUE))
    schema = json.loads(registry.latest_version(f"{topic}-value").schema.text)
    assert schema["name"] in ("Order", "com.example.Order")
    assert schema["connect.version"] == 3
    fields = {field["name"]: field for field in schema["fields"]}
    assert fields["id"]["type"] == "long"
    assert fields["small"]["type"] == {"type": "int", "connect.type": "int8"}
    assert fields["note"] == {"name": "note", "type": ["null", "string"], "default": None}
    assert fields["price"]["type"]["logicalType"] == "decimal"
    assert fields["price"]["type"]["precision"] == 64
    assert fields["at"]["type"]["logicalType"] == "timestamp-millis"
    assert fields["sizes"]["type"]["items"]["name"] == "MapEntry"
    assert fields["count"]["default"] == 7


def test_without_what_only_connect_knows(
    registry_url: str, registry: SchemaRegistryClient, topic: str
) -> None:
    made(registry_url, connect_meta_data="false").from_connect(topic, ORDER, Struct(ORDER, **VALUE))
    assert '"connect.' not in registry.latest_version(f"{topic}-value").schema.text


PLAIN: list[tuple[Schema, Any]] = [
    (STRING, "text"),
    (INT8, 7),
    (OPTIONAL_INT32, 5),
    (BYTES, b"\0\1"),
    (DATE, DATE.default or timestamp_from_millis(0).date()),
    (SchemaBuilder.map(STRING, INT64).build(), {"a": 1}),
]


@pytest.mark.parametrize(("schema", "value"), PLAIN, ids=lambda each: str(each)[:20])
def test_plain_values(registry_url: str, topic: str, schema: Schema, value: Any) -> None:
    converter = made(registry_url)
    data = converter.from_connect(topic, schema, value)
    assert converter.to_connect(topic, data) == (schema, value)


def test_nothing_stays_nothing(registry_url: str, topic: str) -> None:
    converter = made(registry_url)
    assert converter.from_connect(topic, ORDER.as_optional(), None) is None
    assert converter.to_connect(topic, None) == (None, None)


def test_values_without_a_schema(registry_url: str, topic: str) -> None:
    converter = made(registry_url)
    read = converter.to_connect(topic, converter.from_connect(topic, None, {"a": 1, "b": 2}))
    assert read.value == {"a": 1, "b": 2}
    with pytest.raises(DataError, match="does not say enough"):
        converter.from_connect(topic, None, {"a": 1, "b": "x"})


def test_the_serializers_of_clients_read_it(
    registry_url: str, registry: SchemaRegistryClient, topic: str
) -> None:
    data = made(registry_url).from_connect(topic, ORDER, Struct(ORDER, **VALUE))
    assert data is not None
    read = AvroDeserializer(registry=registry).deserialize(topic, data)
    assert read["id"] == 5
    assert read["price"] == Decimal("12.50")


AVRO = {
    "type": "record",
    "name": "com.example.Event",
    "doc": "what happened",
    "fields": [
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["UP", "DOWN"]}},
        {
            "name": "either",
            "type": ["null", "string", "long", {"type": "record", "name": "Inner", "fields": []}],
        },
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}, "doc": "two bytes"},
        {"name": "micros", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "flag", "type": "boolean", "default": True},
        {"name": "inner", "type": ["null", "Inner"], "default": None},
    ],
}


def written(registry: SchemaRegistryClient, topic: str, **values: Any) -> bytes:
    record = {
        "kind": "UP",
        "either": None,
        "hash": b"ab",
        "micros": 5,
        "flag": False,
        "inner": None,
        **values,
    }
    return AvroSerializer(AVRO, registry).serialize(topic, record)


def test_what_others_wrote(registry_url: str, registry: SchemaRegistryClient, topic: str) -> None:
    schema, value = made(registry_url).to_connect(topic, written(registry, topic, either="x"))
    assert schema is not None
    assert schema.name == "com.example.Event"
    assert schema.parameters["io.confluent.connect.avro.record.doc"] == "what happened"
    assert schema.parameters["io.confluent.connect.avro.field.doc.hash"] == "two bytes"
    kind = schema.field_of["kind"].schema
    assert kind.type is Type.STRING
    assert kind.parameters["io.confluent.connect.avro.Enum"] == "com.example.Kind"
    assert schema.field_of["flag"].schema.default is True
    assert schema.field_of["hash"].schema.parameters["connect.fixed.size"] == "2"
    assert schema.field_of["micros"].schema == INT64
    assert value["kind"] == "UP"
    assert value["micros"] == 5
    assert [each.name for each in value["either"].schema.fields] == ["string", "long", "Inner"]
    assert value["either"]["string"] == "x"
    assert value["inner"] is None


@pytest.mark.parametrize(("given", "branch", "expected"), [(7, "long", 7), ("x", "string", "x")])
def test_branches_of_a_union(
    registry_url: str, registry: SchemaRegistryClient, topic: str, given: Any, branch: str, expected: Any
) -> None:
    data = written(registry, topic, either=given)
    value = made(registry_url).to_connect(topic, data).value
    assert value["either"][branch] == expected
    converter = made(registry_url, enhanced_avro_schema_support="true")
    event = converter.to_connect(topic, data)
    again = converter.to_connect(topic, converter.from_connect(f"{topic}-again", event.schema, event.value))
    assert again.value["either"][branch] == expected
    assert again.value["kind"] == "UP"


def test_names_that_avro_does_not_take(registry_url: str, topic: str) -> None:
    schema = SchemaBuilder.struct().name("a b.c-d").field("2nd-field", INT32).build()
    with pytest.raises(DataError, match="Failed to serialize Avro data from topic"):
        made(registry_url).from_connect(topic, schema, Struct(schema, **{"2nd-field": 1}))
    converter = made(registry_url, scrub_invalid_names="true", connect_meta_data="false")
    read = converter.to_connect(
        topic, converter.from_connect(topic, schema, Struct(schema, **{"2nd-field": 1}))
    )
    assert read.schema is not None
    assert read.schema.name == "a_b.c_d"
    assert [each.name for each in read.schema.fields] == ["x2nd_field"]


def test_with_the_latest_version(registry_url: str, registry: SchemaRegistryClient, topic: str) -> None:
    wider = SchemaBuilder.struct().name("com.example.V").field("a", INT32).build()
    converter = made(registry_url)
    converter.from_connect(topic, wider, Struct(wider, a=1))
    latest = made(registry_url, auto_register_schemas="false", use_latest_version="true")
    other = replace(wider, version=9)
    data = latest.from_connect(topic, other, Struct(other, a=2))
    assert latest.to_connect(topic, data).value["a"] == 2
    assert registry.versions(f"{topic}-value") == [1]


def test_keys_have_subjects_of_their_own(
    registry_url: str, registry: SchemaRegistryClient, topic: str
) -> None:
    made(registry_url, is_key=True).from_connect(topic, STRING, "k")
    assert registry.versions(f"{topic}-key") == [1]


def test_the_id_in_a_header(registry_url: str, topic: str) -> None:
    place = "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer"
    converter = made(registry_url, value_schema_id_serializer=place)
    headers: list[tuple[str, bytes | None]] = []
    data = converter.from_connect(topic, STRING, "x", headers)
    assert [name for name, _ in headers] == ["__value_schema_id"]
    assert converter.to_connect(topic, data, headers) == (STRING, "x")
    with pytest.raises(DataError, match="header"):
        converter.from_connect(topic, STRING, "x")


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0", b"text that is none", b"\0\0\0\xff\xff12"])
def test_data_that_is_none(registry_url: str, topic: str, data: bytes) -> None:
    with pytest.raises(DataError, match=f"Failed to deserialize data for topic {topic} to Avro: "):
        made(registry_url).to_connect(topic, data)


def test_values_that_do_not_fit(registry_url: str, topic: str) -> None:
    with pytest.raises(DataError, match="Failed to serialize Avro data from topic"):
        made(registry_url).from_connect(topic, INT32, "text")
    with pytest.raises(DataError, match="mismatching scale"):
        made(registry_url).from_connect(f"{topic}-2", decimal_schema(2), Decimal("1.5"))


def test_a_registry_that_is_not_there(topic: str) -> None:
    converter = made("http://127.0.0.1:1", max_retries="0")
    with pytest.raises(RetriableConnectError, match=r"http://127\.0\.0\.1:1"):
        converter.from_connect(topic, STRING, "x")


def test_settings_that_are_wrong() -> None:
    with pytest.raises(ConfigError, match=r'Missing required configuration "schema\.registry\.url"'):
        AvroConverter().configure({}, False)
    with pytest.raises(ConfigError, match=r"connect\.meta\.data"):
        AvroConverter().configure({"schema.registry.url": "http://x", "connect.meta.data": "maybe"}, False)
