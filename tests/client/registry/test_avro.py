"""Avro, between ours and Confluent's library over a registry."""

import datetime
import decimal
import enum
import json
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import pydantic
import pytest

from penstock.client.registry import (
    AvroDeserializer,
    AvroSerializer,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    avro_schema_of,
)
from penstock.client.serializers import resolve_deserializer, resolve_serializer
from penstock.errors import ConfigError
from tests.client.registry.confluent import (
    ID_SERIALIZERS,
    TheirAvroDeserializer,
    TheirAvroSerializer,
    TheirClient,
    TheirReference,
    TheirSchema,
    context,
)

ORDER = """{
  "type": "record", "name": "Order", "namespace": "shop",
  "fields": [
    {"name": "customer", "type": "long"},
    {"name": "cups", "type": {"type": "array", "items": {
      "type": "record", "name": "Cup", "fields": [
        {"name": "size", "type": {"type": "enum", "name": "Size", "symbols": ["SMALL", "LARGE"]}},
        {"name": "note", "type": ["null", "string"], "default": null}]}}},
    {"name": "prices", "type": {"type": "map", "values": "double"}, "default": {}},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}}
  ]}"""
AT = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
VALUE = {
    "customer": 7,
    "cups": [{"size": "LARGE", "note": None}, {"size": "SMALL", "note": "hot"}],
    "prices": {"milk": 0.5},
    "at": AT,
}
PLACES = pytest.mark.parametrize("place", ["prefix", "header"])
FIELDS = pytest.mark.parametrize("field", ["key", "value"])


@PLACES
@FIELDS
def test_theirs_reads_ours(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str, place: str, field: Any
) -> None:
    ours = AvroSerializer(ORDER, registry, schema_id_serializer=place).for_field(field)
    added: list = []
    data = ours.serialize_with_headers(topic, VALUE, added)
    assert [name for name, _ in added] == ([f"__{field}_schema_id"] if place == "header" else [])
    assert TheirAvroDeserializer(theirs)(data, context(topic, field, added)) == VALUE


@PLACES
@FIELDS
def test_ours_reads_theirs(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str, place: str, field: Any
) -> None:
    headers: list = []
    serialize = TheirAvroSerializer(theirs, ORDER, conf={"schema.id.serializer": ID_SERIALIZERS[place]})
    data = serialize(VALUE, context(topic, field, headers))
    assert bool(headers) == (place == "header")
    read = AvroDeserializer(registry=registry).for_field(field)
    assert read.deserialize_with_headers(topic, data, headers) == VALUE


def test_both_find_the_same_schema(registry: SchemaRegistryClient, theirs: TheirClient, topic: str) -> None:
    ours = AvroSerializer(ORDER, registry).serialize(topic, VALUE)
    assert ours == TheirAvroSerializer(theirs, ORDER)(VALUE, context(topic, "value"))
    assert registry.versions(f"{topic}-value") == [1]


@pytest.mark.parametrize("value", [True, 7, 0.5, "Ada", "", b"\0\xff", {"a": 1}], ids=repr)
def test_plain_values_have_schemas_of_their_own(
    registry: SchemaRegistryClient, topic: str, value: Any
) -> None:
    schema = '{"type": "map", "values": "int"}' if isinstance(value, dict) else None
    data = AvroSerializer(schema, registry).serialize(topic, value)
    assert AvroDeserializer(registry=registry).deserialize(topic, data) == value


def test_bytes_stand_as_they_are(registry: SchemaRegistryClient, topic: str) -> None:
    """Without Avro's length: so do Confluent's Java classes."""
    assert AvroSerializer('"bytes"', registry).serialize(topic, b"abc")[5:] == b"abc"


# --- classes


class Size(enum.Enum):
    SMALL = "SMALL"
    LARGE = "LARGE"


Price = Annotated[decimal.Decimal, {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]


@dataclass
class Cup:
    size: Size
    note: str | None = None


@dataclass
class Order:
    customer: int
    price: Price
    first: Cup
    second: Cup | None = None
    more: list[Cup] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    at: datetime.datetime | None = None
    on: datetime.date | None = None
    id: uuid.UUID | None = None
    data: bytes = b""
    is_paid: bool = False
    weight: float = 1.5


FULL_ORDER = Order(
    7,
    decimal.Decimal("12.50"),
    Cup(Size.LARGE, "hot"),
    Cup(Size.SMALL),
    [Cup(Size.SMALL)],
    {"a": "b"},
    AT,
    AT.date(),
    uuid.UUID(int=7),
    b"x",
    True,
    2.0,
)


class Model(pydantic.BaseModel):
    customer: int
    cups: list[Cup] = []
    note: str | None = None


class Struct(msgspec.Struct):
    customer: int
    at: datetime.datetime
    note: str | None = None


@pytest.mark.parametrize(
    "value",
    [
        FULL_ORDER,
        Order(1, decimal.Decimal("0.01"), Cup(Size.SMALL)),
        Model(customer=1, cups=[Cup(Size.LARGE)], note="x"),
        Struct(1, AT, "x"),
    ],
    ids=["dataclass", "dataclass with defaults", "pydantic", "msgspec"],
)
def test_classes_come_back(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str, value: Any
) -> None:
    data = AvroSerializer(registry=registry).serialize(topic, value)
    assert AvroDeserializer(type(value), registry).deserialize(topic, data) == value
    assert TheirAvroDeserializer(theirs)(data, context(topic, "value"))["customer"] == value.customer


def test_schema_of_a_class() -> None:
    assert json.loads(avro_schema_of(Cup, "shop")) == {
        "type": "record",
        "name": "Cup",
        "namespace": "shop",
        "fields": [
            {"name": "size", "type": {"type": "enum", "name": "Size", "symbols": ["SMALL", "LARGE"]}},
            {"name": "note", "type": ["null", "string"], "default": None},
        ],
    }


@dataclass
class WithObject:
    what: object


@dataclass
class WithDecimal:
    price: decimal.Decimal


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (WithObject, "WithObject.what: Avro has no object"),
        (WithDecimal, "WithDecimal.price: a Decimal needs its precision and scale"),
        (int, "is no dataclass, pydantic model or msgspec struct"),
    ],
)
def test_classes_that_have_no_schema(cls: type, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        avro_schema_of(cls)


def test_functions_make_dictionaries_and_objects(registry: SchemaRegistryClient, topic: str) -> None:
    write = AvroSerializer('{"type": "map", "values": "int"}', registry, to_dict=vars)

    class Point:
        def __init__(self, x: int, y: int) -> None:
            self.x, self.y = x, y

    data = write.serialize(topic, Point(1, 2))
    read = AvroDeserializer(registry=registry, from_dict=lambda record: Point(**record))
    assert vars(read.deserialize(topic, data)) == {"x": 1, "y": 2}


# --- versions


V1 = '{"type": "record", "name": "Order", "fields": [{"name": "cups", "type": "int"}]}'
V2 = """{"type": "record", "name": "Order", "fields": [
    {"name": "cups", "type": "long"}, {"name": "note", "type": "string", "default": "none"}]}"""


def test_a_reader_schema_resolves_other_versions(registry: SchemaRegistryClient, topic: str) -> None:
    old = AvroSerializer(V1, registry).serialize(topic, {"cups": 2})
    new = AvroSerializer(V2, registry).serialize(topic, {"cups": 3, "note": "x"})
    read_new = AvroDeserializer(V2, registry)
    assert read_new.deserialize(topic, old) == {"cups": 2, "note": "none"}
    assert read_new.deserialize(topic, new) == {"cups": 3, "note": "x"}


def test_a_class_in_no_namespace_reads_records_of_one(registry: SchemaRegistryClient, topic: str) -> None:
    schema = avro_schema_of(Cup, "shop")
    data = AvroSerializer(schema, registry).serialize(topic, Cup(Size.LARGE))
    assert AvroDeserializer(Cup, registry).deserialize(topic, data) == Cup(Size.LARGE)


def test_the_latest_version_is_written(registry: SchemaRegistryClient, topic: str) -> None:
    registry.register(f"{topic}-value", Schema(V1))
    latest = registry.register(f"{topic}-value", Schema(V2))
    write = AvroSerializer(None, registry, use_latest_version=True)
    data = write.serialize(topic, {"cups": 2})
    assert int.from_bytes(data[1:5]) == latest.id
    assert AvroDeserializer(registry=registry).deserialize(topic, data) == {"cups": 2, "note": "none"}


def test_a_latest_version_is_found_anew_after_its_time(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str
) -> None:
    with SchemaRegistryClient(registry.urls, latest_cache_ttl_sec=0) as impatient:
        write = AvroSerializer(None, impatient, use_latest_version=True)
        first = registry.register(f"{topic}-value", Schema(V1)).id
        assert int.from_bytes(write.serialize(topic, {"cups": 2})[1:5]) == first
        second = registry.register(f"{topic}-value", Schema(V2)).id
        assert int.from_bytes(write.serialize(topic, {"cups": 2})[1:5]) == second


@pytest.mark.parametrize("strict", [True, False])
def test_what_the_latest_version_does_not_have(
    registry: SchemaRegistryClient, topic: str, strict: bool
) -> None:
    registry.register(f"{topic}-value", Schema(V1))
    settings = {"use.latest.version": True, "latest.compatibility.strict": strict}
    write = AvroSerializer(V2, registry, **settings)
    if strict:
        with pytest.raises(ValueError, match="note: Order has no such field"):
            write.serialize(topic, {"cups": 2, "note": "x"})
    else:
        data = write.serialize(topic, {"cups": 2, "note": "x"})
        assert AvroDeserializer(registry=registry).deserialize(topic, data) == {"cups": 2}


def test_a_version_by_its_metadata(registry: SchemaRegistryClient, topic: str) -> None:
    old = registry.register(f"{topic}-value", Schema(V1, metadata={"properties": {"tier": "1"}}))
    registry.register(f"{topic}-value", Schema(V2, metadata={"properties": {"tier": "2"}}))
    write = AvroSerializer(None, registry, use_latest_with_metadata="tier=1")
    assert int.from_bytes(write.serialize(topic, {"cups": 2})[1:5]) == old.id


def test_a_schema_by_its_id(registry: SchemaRegistryClient, topic: str) -> None:
    old = registry.register(f"{topic}-value", Schema(V1))
    registry.register(f"{topic}-value", Schema(V2))
    data = AvroSerializer(None, registry, use_schema_id=old.id).serialize(topic, {"cups": 2})
    assert int.from_bytes(data[1:5]) == old.id


def test_without_registration_a_schema_must_be_there(registry: SchemaRegistryClient, topic: str) -> None:
    write = AvroSerializer(V1, registry, auto_register_schemas=False)
    with pytest.raises(SchemaRegistryError) as raised:
        write.serialize(topic, {"cups": 2})
    assert raised.value.error_code == 40401
    known = registry.register(f"{topic}-value", Schema(V1))
    assert int.from_bytes(write.serialize(topic, {"cups": 2})[1:5]) == known.id


def test_an_incompatible_schema_is_refused(registry: SchemaRegistryClient, topic: str) -> None:
    registry.register(f"{topic}-value", Schema(V1))
    encode = resolve_serializer(AvroSerializer('"string"', registry), "value")
    with pytest.raises(Exception, match=f"topic {topic}: the value is a str, .*error code 409"):
        encode(topic, "x")


def test_settings_that_do_not_go_together() -> None:
    with pytest.raises(ConfigError, match=r"auto.register.schemas: does not go with use.schema.id"):
        AvroSerializer(V1, "http://localhost:1", auto_register_schemas=True, use_latest_version=True)


# --- references


CUSTOMER = '{"type": "record", "name": "Customer", "namespace": "shop", "fields": [{"name": "name", "type": "string"}]}'
PAYMENT = """{"type": "record", "name": "Payment", "namespace": "shop", "fields": [
    {"name": "by", "type": "Customer"}, {"name": "cents", "type": "long"}]}"""
EVENT = '["shop.Customer", "shop.Payment"]'
PAID = {"by": {"name": "Ada"}, "cents": 500}


def register_shop(registry: SchemaRegistryClient, topic: str) -> Schema:
    """Customer, Payment which refers to it, and a union of both: a diamond."""
    registry.register(f"{topic}-customer", Schema(CUSTOMER))
    to_customer = SchemaReference("shop.Customer", f"{topic}-customer", 1)
    registry.register(f"{topic}-payment", Schema(PAYMENT, "AVRO", (to_customer,)))
    to_payment = SchemaReference("shop.Payment", f"{topic}-payment", 1)
    return Schema(EVENT, "AVRO", (to_customer, to_payment))


def test_references_both_ways(registry: SchemaRegistryClient, theirs: TheirClient, topic: str) -> None:
    event = register_shop(registry, topic)
    write, read = AvroSerializer(event, registry), AvroDeserializer(registry=registry)
    for value in ({"name": "Ada"}, PAID):
        data = write.serialize(topic, value)
        assert read.deserialize(topic, data) == value
        assert TheirAvroDeserializer(theirs)(data, context(topic, "value")) == value
    references = [TheirReference(one.name, one.subject, one.version) for one in event.references]
    their_event = TheirSchema(EVENT, "AVRO", references)
    data = TheirAvroSerializer(theirs, their_event)(("shop.Payment", PAID), context(topic, "value"))
    assert read.deserialize(topic, data) == PAID


def test_a_reader_schema_with_references(registry: SchemaRegistryClient, topic: str) -> None:
    event = register_shop(registry, topic)
    payment = Schema(PAYMENT, "AVRO", event.references[:1])
    data = AvroSerializer(payment, registry).serialize(topic, PAID)
    assert AvroDeserializer(payment, registry).deserialize(topic, data) == PAID


# --- subjects


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [
        ("TopicNameStrategy", "{topic}-value"),
        ("io.confluent.kafka.serializers.subject.TopicRecordNameStrategy", "{topic}-{name}"),
        ("RecordNameStrategy", "{name}"),
        (lambda topic, field, name: f"mine.{topic}.{field}.{name}", "mine.{topic}.value.{name}"),
    ],
)
def test_subjects(registry: SchemaRegistryClient, topic: str, strategy: Any, subject: str) -> None:
    name = f"shop.R{uuid.uuid4().hex}"
    schema = json.dumps({"type": "record", "name": name, "fields": []})
    AvroSerializer(schema, registry, subject_name_strategy=strategy).serialize(topic, {})
    assert registry.versions(subject.format(topic=topic, name=name)) == [1]


def test_a_strategy_that_is_none(registry: SchemaRegistryClient, topic: str) -> None:
    with pytest.raises(ConfigError, match=r"value.subject.name.strategy: got 'NameStrategy'; takes"):
        AvroSerializer(ORDER, registry, subject_name_strategy="NameStrategy")
    write = AvroSerializer('["null", "string"]', registry, subject_name_strategy="RECORD")
    with pytest.raises(ValueError, match="RecordNameStrategy needs a schema with a name"):
        write.serialize(topic, "x")


# --- what does not fit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"customer": "seven"}, "customer: got 'seven', takes long"),
        ({"customer": 2**70}, "customer: got 1180591620717411303424, takes long"),
        (
            {"cups": [{"size": "SMALL"}, {"size": "HUGE"}]},
            r"cups\[1\].size: got 'HUGE', takes one of SMALL, LARGE",
        ),
        ({"cups": [{"size": "SMALL", "note": 7}]}, r"cups\[0\].note: got 7, takes null or string"),
        ({"prices": {"milk": "dear"}}, r"prices\['milk'\]: got 'dear', takes double"),
        ({"at": "now"}, "at: got 'now', takes timestamp-millis"),
        ({"cups": None}, "cups: got None, takes array"),
    ],
)
def test_what_does_not_fit_is_named(
    registry: SchemaRegistryClient, topic: str, change: dict, message: str
) -> None:
    encode = resolve_serializer(AvroSerializer(ORDER, registry), "value")
    with pytest.raises(Exception, match=f"topic {topic}: the value is a dict, .*: {message}"):
        encode(topic, {**VALUE, **change})


def test_a_missing_field_is_named(registry: SchemaRegistryClient, topic: str) -> None:
    with pytest.raises(ValueError, match=r"^customer: missing, takes long$"):
        AvroSerializer(ORDER, registry).serialize(topic, {"cups": [], "at": AT})


@pytest.mark.parametrize("schema", ["{", '{"type": "rekord"}', '{"type": "record", "fields": []}'])
def test_what_is_no_schema(schema: str) -> None:
    with pytest.raises(ValueError, match="not an Avro schema"):
        AvroSerializer(schema)


def test_data_that_ends_early(registry: SchemaRegistryClient, topic: str) -> None:
    data = AvroSerializer(ORDER, registry).serialize(topic, VALUE)
    decode = resolve_deserializer(AvroDeserializer(registry=registry), "value")
    with pytest.raises(
        Exception, match=r"cannot read the value, .*the data ends before shop.Order is complete"
    ):
        decode(topic, data[:-1])


def test_a_schema_of_another_type(registry: SchemaRegistryClient, topic: str) -> None:
    made = registry.register(f"{topic}-value", Schema('{"type": "object"}', "JSON"))
    with pytest.raises(ValueError, match=f"schema {made.id} is of type JSON, not AVRO"):
        AvroDeserializer(registry=registry).deserialize(topic, b"\0" + made.id.to_bytes(4) + b"{}")
