"""One value in each format that takes a schema, and confluent-kafka's own way of reading it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tests.client.registry.confluent import (
    TheirAvroDeserializer,
    TheirClient,
    TheirJsonDeserializer,
    TheirProtobufDeserializer,
    context,
)
from tests.client.registry.messages import Money

USER = json.dumps(
    {
        "type": "record",
        "name": "User",
        "namespace": "shop",
        "fields": [
            {"name": "name", "type": "string"},
            {"name": "age", "type": ["null", "int"], "default": None},
            {"name": "secret", "type": "bytes", "default": ""},
        ],
    }
)
POINT = json.dumps(
    {
        "type": "object",
        "title": "Point",
        "properties": {"x": {"type": "number"}, "y": {"type": "integer", "minimum": 0}},
        "required": ["x"],
        "additionalProperties": False,
    }
)
MONEY = 'syntax = "proto3";\npackage shop;\n\nmessage Money {\n  int64 cents = 1;\n}\n'


class Case(NamedTuple):
    """`data` is posted, `read` comes back from our API, `theirs` from their deserializers."""

    name: str
    schema: str
    record_name: str
    data: Any
    read: Any
    theirs: Any
    bad: Any
    complaint: str

    @property
    def type(self) -> str:
        return self.name.upper()

    @property
    def media_type(self) -> str:
        return f"application/vnd.kafka.{self.name}.v2+json"

    @property
    def schema_type(self) -> str:
        return "JSON" if self.name == "jsonschema" else self.type

    def read_by_theirs(self, client: TheirClient, topic: str, field: str, data: bytes) -> Any:
        return _READERS[self.name](self, client)(data, context(topic, field))


_READERS = {
    "avro": lambda case, client: TheirAvroDeserializer(client),
    "jsonschema": lambda case, client: TheirJsonDeserializer(case.schema, schema_registry_client=client),
    "protobuf": lambda case, client: TheirProtobufDeserializer(Money, schema_registry_client=client),
}

CASES = [
    Case(
        "avro",
        USER,
        "shop.User",
        {"name": "Żaneta", "age": {"int": 33}, "secret": "\u0000\u00ff"},
        {"name": "Żaneta", "age": {"int": 33}, "secret": "\u0000\u00ff"},
        {"name": "Żaneta", "age": 33, "secret": b"\x00\xff"},
        {"name": "Ada", "age": 33},
        """.age: got 33, takes null or {"int": ...}""",
    ),
    Case(
        "jsonschema",
        POINT,
        "Point",
        {"x": 0.5, "y": 7},
        {"x": 0.5, "y": 7},
        {"x": 0.5, "y": 7},
        {"x": 1, "y": -1},
        ".y: -1 is less than the minimum of 0",
    ),
    Case(
        "protobuf",
        MONEY,
        "shop.Money",
        {"cents": 250},
        {"cents": "250"},
        Money(cents=250),
        {"cents": "many"},
        ": is no shop.Money: Failed to parse cents field",
    ),
]
