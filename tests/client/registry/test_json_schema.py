"""JSON Schema, between ours and Confluent's library over a registry."""

import datetime
import decimal
import enum
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
import pydantic
import pytest

from penstock.client.registry import (
    JsonSchemaDeserializer,
    JsonSchemaSerializer,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
)
from penstock.client.registry.json_schema import CheckTakesLong, check, validator_of
from penstock.client.serializers import resolve_deserializer, resolve_serializer
from tests.client.registry.confluent import (
    ID_SERIALIZERS,
    TheirClient,
    TheirJsonDeserializer,
    TheirJsonSerializer,
    TheirReference,
    TheirSchema,
    context,
)

ORDER = """{
  "$schema": "http://json-schema.org/draft-07/schema#", "title": "Order", "type": "object",
  "properties": {
    "customer": {"type": "integer"},
    "cups": {"type": "array", "items": {"type": "object", "properties": {"size": {"enum": ["small", "large"]}}}}
  },
  "required": ["customer"]}"""
VALUE = {"customer": 7, "cups": [{"size": "small"}], "note": "Grüße"}
PLACES = pytest.mark.parametrize("place", ["prefix", "header"])
FIELDS = pytest.mark.parametrize("field", ["key", "value"])


@PLACES
@FIELDS
def test_theirs_reads_ours(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str, place: str, field: Any
) -> None:
    ours = JsonSchemaSerializer(ORDER, registry, schema_id_serializer=place).for_field(field)
    added: list = []
    data = ours.serialize_with_headers(topic, VALUE, added)
    assert bool(added) == (place == "header")
    read = TheirJsonDeserializer(None, schema_registry_client=theirs)
    assert read(data, context(topic, field, added)) == VALUE


@PLACES
@FIELDS
def test_ours_reads_theirs(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str, place: str, field: Any
) -> None:
    headers: list = []
    serialize = TheirJsonSerializer(ORDER, theirs, conf={"schema.id.serializer": ID_SERIALIZERS[place]})
    data = serialize(VALUE, context(topic, field, headers))
    read = JsonSchemaDeserializer(registry=registry).for_field(field)
    assert read.deserialize_with_headers(topic, data, headers) == VALUE


# --- classes


class Size(enum.Enum):
    SMALL = "small"


@dataclass
class Cup:
    size: Size
    kind: Literal["tea", "coffee"] = "tea"


@dataclass
class Order:
    customer: int
    cup: Cup
    more: list[Cup] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    at: datetime.datetime | None = None
    price: decimal.Decimal = decimal.Decimal("1.5")
    id: uuid.UUID | None = None
    data: bytes = b"\0"


class Model(pydantic.BaseModel):
    customer: int
    note: str | None = None


class Struct(msgspec.Struct):
    customer: int
    note: str | None = None


AT = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    "value",
    [
        Order(7, Cup(Size.SMALL)),
        Order(7, Cup(Size.SMALL), [Cup(Size.SMALL, "coffee")], {"a": 1}, AT, id=uuid.UUID(int=7)),
        Model(customer=1),
        Struct(1, "x"),
    ],
    ids=["dataclass with defaults", "dataclass", "pydantic", "msgspec"],
)
def test_classes_come_back(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str, value: Any
) -> None:
    data = JsonSchemaSerializer(registry=registry).serialize(topic, value)
    assert JsonSchemaDeserializer(type(value), registry).deserialize(topic, data) == value
    read = TheirJsonDeserializer(None, schema_registry_client=theirs)
    assert read(data, context(topic, "value"))["customer"] == value.customer


def test_functions_make_what_is_written_and_read(registry: SchemaRegistryClient, topic: str) -> None:
    write = JsonSchemaSerializer({"type": "string"}, registry, to_dict=str)
    data = write.serialize(topic, 1j)
    assert JsonSchemaDeserializer(registry=registry, from_dict=complex).deserialize(topic, data) == 1j


# --- references


def test_references_both_ways(registry: SchemaRegistryClient, theirs: TheirClient, topic: str) -> None:
    customer = '{"$id": "customer.json", "type": "object", "properties": {"name": {"type": "string"}}}'
    registry.register(f"{topic}-customer", Schema(customer, "JSON"))
    order = json.dumps(
        {
            "$id": "http://shop.example/order.json",
            "title": "Order",
            "type": "object",
            "properties": {"by": {"$ref": "customer.json"}},
        }
    )
    schema = Schema(order, "JSON", (SchemaReference("customer.json", f"{topic}-customer", 1),))
    write, read = JsonSchemaSerializer(schema, registry), JsonSchemaDeserializer(registry=registry)
    good = {"by": {"name": "Ada"}}
    assert read.deserialize(topic, write.serialize(topic, good)) == good
    with pytest.raises(ValueError, match=r"^\$.by.name: 7 is not of type 'string'$"):
        write.serialize(topic, {"by": {"name": 7}})
    references = [TheirReference("customer.json", f"{topic}-customer", 1)]
    plain = order.replace("http://shop.example/", "")
    data = TheirJsonSerializer(TheirSchema(plain, "JSON", references), theirs)(good, context(topic, "key"))
    assert read.deserialize(topic, data) == good


def test_nothing_is_fetched_from_elsewhere(registry: SchemaRegistryClient, topic: str) -> None:
    schema = {"$ref": "http://localhost:1/elsewhere.json"}
    write = JsonSchemaSerializer(schema, registry)
    with pytest.raises(Exception, match=r"http://localhost:1/elsewhere.json"):
        write.serialize(topic, {})


# --- what does not fit


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, r"\$: 'customer' is a required property"),
        ({"customer": "seven"}, r"\$.customer: 'seven' is not of type 'integer'"),
        (
            {"customer": 7, "cups": [{"size": "small"}, {"size": "huge"}]},
            r"\$.cups\[1\].size: 'huge' is not one of",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    registry: SchemaRegistryClient, topic: str, value: dict, message: str
) -> None:
    encode = resolve_serializer(JsonSchemaSerializer(ORDER, registry), "value")
    with pytest.raises(Exception, match=f"topic {topic}: the value is a dict, .*: {message}"):
        encode(topic, value)


def test_what_was_written_unchecked_is_refused_by_who_checks(
    registry: SchemaRegistryClient, topic: str
) -> None:
    unchecked = {"json.fail.invalid.schema": False}
    data = JsonSchemaSerializer(ORDER, registry, **unchecked).serialize(topic, {"customer": "seven"})
    decode = resolve_deserializer(JsonSchemaDeserializer(registry=registry), "value")
    with pytest.raises(Exception, match=r"cannot read the value, .*\$.customer: 'seven' is not of type"):
        decode(topic, data)
    read = JsonSchemaDeserializer(registry=registry, **unchecked)
    assert read.deserialize(topic, data) == {"customer": "seven"}


def test_the_latest_version_is_what_counts(registry: SchemaRegistryClient, topic: str) -> None:
    latest = registry.register(f"{topic}-value", Schema('{"type": "integer"}', "JSON"))
    write = JsonSchemaSerializer(None, registry, use_latest_version=True)
    assert write.serialize(topic, 7) == b"\0" + latest.id.to_bytes(4) + b"7"
    with pytest.raises(ValueError, match="'x' is not of type 'integer'"):
        write.serialize(topic, "x")


@pytest.mark.parametrize("schema", ["{", '{"type": "objekt"}'])
def test_what_is_no_schema(schema: str) -> None:
    with pytest.raises(ValueError, match="not a JSON Schema"):
        JsonSchemaSerializer(schema)


def test_a_value_without_a_schema(registry: SchemaRegistryClient, topic: str) -> None:
    with pytest.raises(
        ValueError, match=r"it has no schema: give the serializer one, or set use.latest.version"
    ):
        JsonSchemaSerializer(None, registry).serialize(topic, {"a": 1})


@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 40 + "!", "does not match"),
        ({"pattern": "^(?=a)(a+)+$"}, "a" * 40 + "!", "could take too long to match"),
        ({"pattern": "(.?){400}z"}, "t" * 10_000_000, "could take more than 10 seconds to match"),
        ({"pattern": "(x{0,1000})" * 900}, "t", "is too large to be matched"),
        ({"patternProperties": {"^(a+)+$": False}}, {"a" * 40 + "!": 1}, ""),
        ({"patternProperties": {"^(a+)+$": False}}, {"aaa": 1}, "False schema"),
        (
            {"patternProperties": {"^(a+)+$": True}, "additionalProperties": False},
            {"a" * 40 + "!": 1, "aa": 2},
            "were unexpected|was unexpected",
        ),
        (
            {"patternProperties": {"^a": True}, "additionalProperties": {"type": "string"}},
            {"a": 1, "b": ""},
            "",
        ),
        (
            {"patternProperties": {"^a": True}, "additionalProperties": {"type": "string"}},
            {"a": 1, "b": 2},
            "2 is not of type",
        ),
    ],
)
def test_patterns_do_not_run_away(schema: Any, value: Any, says: str) -> None:
    validator = validator_of(Schema(json.dumps(schema), "JSON"), None)
    began = time.monotonic()
    if says:
        with pytest.raises(ValueError, match=says):
            check(validator, value)
    else:
        check(validator, value)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "(.?){400}z"}, "t" * 200_000),
        ({"patternProperties": {"(.?){400}z": False}}, {"t" * 200_000: 1}),
        ({"patternProperties": {"(.?){400}z": True}, "additionalProperties": False}, {"t" * 200_000: 1}),
    ],
    ids=["pattern", "patternProperties", "additionalProperties"],
)
def test_a_search_that_would_take_longer_than_there_is_time_is_not_begun(schema: Any, value: Any) -> None:
    validator = validator_of(Schema(json.dumps(schema), "JSON"), None)
    began = time.thread_time()
    with pytest.raises(CheckTakesLong):
        check(validator, value, 0.02)
    assert time.thread_time() - began < 0.2
