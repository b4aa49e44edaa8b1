"""Columns of Avro, JSON Schema and Protobuf, there and back inside Spark, with a real registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.client import AvroDeserializer, AvroSerializer, JsonSchemaSerializer, Schema
from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.spark.registry_columns import decoded, encoded
from tests.support.cluster_fixture import KafkaServer
from tests.support.registry import Registry, own_group, running_registry
from tools.suite.processes import starts_processes

AVRO = Schema(
    json.dumps(
        {
            "type": "record",
            "name": "Order",
            "fields": [
                {"name": "id", "type": "long"},
                {"name": "note", "type": ["null", "string"], "default": None},
                {"name": "prices", "type": {"type": "array", "items": "double"}},
            ],
        }
    )
)
JSON = Schema('{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}', "JSON")
PROTOBUF = Schema(
    'syntax = "proto3"; package shop; enum Size { SMALL = 0; LARGE = 1; }'
    " message Order { int64 id = 1; string note = 2; repeated double prices = 3; Size size = 4; bytes raw = 5; }",
    "PROTOBUF",
)
STRUCT = "struct<id: bigint, note: string, prices: array<double>>"


@pytest.fixture(scope="module")
@starts_processes
def registry(kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with running_registry(kafka.bootstrap, tmp_path_factory.mktemp("registry"), own_group()) as running:
        yield running


def _frame(engine: Engine, values: list[Any], kind: str) -> Any:
    rows = [(value,) for value in values]
    return engine.wait_until_ready().createDataFrame(rows, f"value {kind}").coalesce(1)


def _column(frame: Any) -> list[Any]:
    return [None if row.value is None else row.value for row in frame.collect()]


@pytest.mark.parametrize("schema", [AVRO, PROTOBUF], ids=["Avro", "Protobuf"])
def test_structs_there_and_back(engine: Engine, registry: Registry, schema: Schema) -> None:
    orders = [(1, "cups", [1.5, 2.0]), (2, None, []), None]
    frame = _frame(engine, orders, STRUCT)
    written = encoded(frame, "value", registry.url, f"{schema.schema_type}-orders", schema)
    back = _column(decoded(written, "value", registry.url, STRUCT))
    without_note = None if schema is AVRO else ""
    assert back == [(1, "cups", [1.5, 2.0]), (2, without_note, []), None]


def test_what_spark_writes_other_clients_read_and_the_other_way_round(
    engine: Engine, registry: Registry
) -> None:
    frame = _frame(engine, [(7, "x", [])], STRUCT)
    written = _column(encoded(frame, "value", registry.url, "others", AVRO))
    read = AvroDeserializer(registry=registry.url).deserialize("others", bytes(written[0]))
    assert read == {"id": 7, "note": "x", "prices": []}
    mixed = [
        AvroSerializer(AVRO, registry.url).serialize("mixed", {"id": 1, "note": None, "prices": [0.5]}),
        JsonSchemaSerializer(JSON, registry.url).serialize("mixed-json", {"id": 2}),
    ]
    as_text = _column(decoded(_frame(engine, [*mixed, None], "binary"), "value", registry.url))
    assert as_text == ['{"id":1,"note":null,"prices":[0.5]}', '{"id":2}', None]
    ids = _column(decoded(_frame(engine, mixed, "binary"), "value", registry.url, "struct<id: bigint>"))
    assert [row.id for row in ids] == [1, 2]


def test_the_latest_version_is_used_and_enums_have_names(engine: Engine, registry: Registry) -> None:
    kind = "struct<id: bigint, size: string, raw: binary>"
    frame = _frame(engine, [(1, "LARGE", b"\x00\xff")], kind)
    encoded(frame, "value", registry.url, "sizes", PROTOBUF)
    written = encoded(frame, "value", registry.url, "sizes", message="shop.Order")
    assert _column(decoded(written, "value", registry.url, kind)) == [(1, "LARGE", b"\x00\xff")]


def test_a_value_that_is_no_such_data_says_so(engine: Engine, registry: Registry) -> None:
    frame = decoded(_frame(engine, [b"plain text"], "binary"), "value", registry.url)
    with pytest.raises(Exception, match="a value can't be decoded"):
        frame.collect()
