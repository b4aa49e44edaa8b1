"""Protobuf, between ours and Confluent's library over a registry."""

from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import StringValue

from penstock.client.registry import (
    ProtobufDeserializer,
    ProtobufSerializer,
    Schema,
    SchemaRegistryClient,
    SchemaRegistryError,
)
from penstock.client.serializers import resolve_deserializer, resolve_serializer
from tests.client.registry.confluent import (
    ID_SERIALIZERS,
    TheirClient,
    TheirProtobufDeserializer,
    TheirProtobufSerializer,
    context,
)
from tests.client.registry.messages import Detail, Line, Money, Order, Refund, next_money

PLACES = pytest.mark.parametrize("place", ["prefix", "header"])
FIELDS = pytest.mark.parametrize("field", ["key", "value"])


def an_order() -> Any:
    order = Order(lines=[Line(what="tea"), Line(what="cake")], size=1)
    order.customer.name = "Ada"
    order.customer.credit.cents = 500
    order.at.seconds = 1_700_000_000
    return order


MESSAGES = pytest.mark.parametrize(
    ("message", "indexes"),
    [
        (an_order(), "00"),
        (Line(what="tea"), "040000"),
        (Detail(number=7), "06000000"),
        (Refund(order=7), "0202"),
        (Money(cents=-1), "00"),
        (Money(), "00"),
    ],
    ids=["first", "nested", "nested twice", "second", "other file", "empty"],
)


@MESSAGES
@PLACES
@FIELDS
def test_theirs_reads_ours(
    registry: SchemaRegistryClient,
    theirs: TheirClient,
    topic: str,
    message: Any,
    indexes: str,
    place: str,
    field: Any,
) -> None:
    ours = ProtobufSerializer(type(message), registry, schema_id_serializer=place).for_field(field)
    added: list = []
    data = ours.serialize_with_headers(topic, message, added)
    framing = added[0][1][17:] if added else data[5:]
    assert framing.hex().startswith(indexes)
    read = TheirProtobufDeserializer(type(message), schema_registry_client=theirs)
    assert read(data, context(topic, field, added)) == message


@MESSAGES
@PLACES
def test_ours_reads_theirs(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str, message: Any, indexes: str, place: str
) -> None:
    headers: list = []
    conf = {"schema.id.serializer": ID_SERIALIZERS[place]}
    data = TheirProtobufSerializer(type(message), theirs, conf)(message, context(topic, "value", headers))
    read = ProtobufDeserializer(type(message), registry)
    assert read.deserialize_with_headers(topic, data, headers) == message
    found = ProtobufDeserializer(registry=registry).deserialize_with_headers(topic, data, headers)
    assert found.DESCRIPTOR.full_name == message.DESCRIPTOR.full_name
    assert found.SerializeToString() == message.SerializeToString()


@MESSAGES
def test_both_find_the_same_schema(
    registry: SchemaRegistryClient, theirs: TheirClient, topic: str, message: Any, indexes: str
) -> None:
    ours = ProtobufSerializer(registry=registry).serialize(topic, message)
    assert ours == TheirProtobufSerializer(type(message), theirs)(message, context(topic, "value"))
    assert registry.versions(f"{topic}-value") == [1]


def test_a_class_is_made_of_the_schema(registry: SchemaRegistryClient, topic: str) -> None:
    data = ProtobufSerializer(registry=registry).serialize(topic, an_order())
    order = ProtobufDeserializer(registry=registry).deserialize(topic, data)
    assert order.customer.credit.cents == 500
    assert [line.what for line in order.lines] == ["tea", "cake"]
    assert order.at.seconds == 1_700_000_000


def test_a_class_is_made_of_the_text_of_a_file(registry: SchemaRegistryClient, topic: str) -> None:
    text = 'syntax = "proto3"; package tea; message Pot { message Lid { string shape = 1; } int32 cups = 1; }'
    made = registry.register(f"{topic}-value", Schema(text, "PROTOBUF"))
    data = b"\0" + made.id.to_bytes(4) + b"\4\0\0" + b"\n\5round"
    lid = ProtobufDeserializer(registry=registry).deserialize(topic, data)
    assert (lid.DESCRIPTOR.full_name, lid.shape) == ("tea.Pot.Lid", "round")


def test_imports_are_registered_under_their_names(registry: SchemaRegistryClient, topic: str) -> None:
    settings = {"reference.subject.name.strategy": lambda name: f"{topic}/{name}"}
    ProtobufSerializer(Order, registry, **settings).serialize(topic, an_order())
    references = registry.latest_version(f"{topic}-value").schema.references
    assert [(one.name, one.subject) for one in references] == [
        ("people/customer.proto", f"{topic}/people/customer.proto")
    ]
    inner = registry.latest_version(f"{topic}/people/customer.proto").schema.references
    assert [(one.name, one.version) for one in inner] == [("money.proto", 1)]


def test_without_registration_imports_must_be_there(registry: SchemaRegistryClient, topic: str) -> None:
    settings = {"reference.subject.name.strategy": lambda name: f"{topic}/{name}"}
    write = ProtobufSerializer(Order, registry, auto_register_schemas=False, **settings)
    with pytest.raises(SchemaRegistryError) as raised:
        write.serialize(topic, an_order())
    assert raised.value.error_code == 40401
    known = ProtobufSerializer(Order, registry, **settings).serialize(topic, an_order())
    assert write.serialize(topic, an_order()) == known


def test_well_known_types_are_messages_too(registry: SchemaRegistryClient, topic: str) -> None:
    data = ProtobufSerializer(registry=registry).serialize(topic, StringValue(value="Ada"))
    assert ProtobufDeserializer(StringValue, registry).deserialize(topic, data).value == "Ada"


def test_a_later_version_is_read_by_an_older_class(registry: SchemaRegistryClient, topic: str) -> None:
    later = next_money()
    ProtobufSerializer(Money, registry).serialize(topic, Money(cents=1))
    data = ProtobufSerializer(later, registry).serialize(topic, later(cents=2, currency="EUR"))
    assert registry.versions(f"{topic}-value") == [1, 2]
    assert ProtobufDeserializer(Money, registry).deserialize(topic, data).cents == 2


@pytest.mark.parametrize("strict", [True, False])
def test_what_the_latest_version_does_not_have(
    registry: SchemaRegistryClient, topic: str, strict: bool
) -> None:
    ProtobufSerializer(Money, registry).serialize(topic, Money(cents=1))
    later = next_money()
    settings = {"use.latest.version": True, "latest.compatibility.strict": strict}
    write = ProtobufSerializer(later, registry, **settings)
    assert write.serialize(topic, later(cents=2))[5:] == b"\0\x08\2"
    message = later(cents=2, currency="EUR")
    if strict:
        with pytest.raises(ValueError, match=r"currency: shop.Money of the registry has no field 2"):
            write.serialize(topic, message)
    else:
        assert write.serialize(topic, message).endswith(b"EUR")


# --- what does not fit


def test_a_message_of_another_class(registry: SchemaRegistryClient, topic: str) -> None:
    encode = resolve_serializer(ProtobufSerializer(Order, registry), "key")
    with pytest.raises(Exception, match=f"topic {topic}: the key is a Refund, .*: not a shop.Order"):
        encode(topic, Refund())
    data = ProtobufSerializer(registry=registry).serialize(topic, Refund(order=7))
    decode = resolve_deserializer(ProtobufDeserializer(Order, registry), "value")
    with pytest.raises(Exception, match=r"cannot read the value, .*it is a shop.Refund, not a shop.Order"):
        decode(topic, data)


def test_what_is_no_message(registry: SchemaRegistryClient, topic: str) -> None:
    encode = resolve_serializer(ProtobufSerializer(registry=registry), "value")
    with pytest.raises(Exception, match=r"the value is a dict, .*not a Protobuf message"):
        encode(topic, {"cents": 1})


def test_bytes_that_are_no_message(registry: SchemaRegistryClient, topic: str) -> None:
    good = ProtobufSerializer(registry=registry).serialize(topic, Money(cents=1))
    read = ProtobufDeserializer(registry=registry)
    with pytest.raises(ValueError, match=r"not a shop.Money"):
        read.deserialize(topic, good[:6] + b"\xff\xff")
    with pytest.raises(ValueError, match=r"has no message \[3\]"):
        read.deserialize(topic, good[:5] + b"\2\6")


@pytest.mark.parametrize("kind", [ProtobufSerializer, ProtobufDeserializer])
@pytest.mark.parametrize("given", ['syntax = "proto3";', Order(), {"a": 1}, int])
def test_what_is_no_class_of_messages_is_refused_at_once(kind: Any, given: object) -> None:
    with pytest.raises(TypeError, match=r"as message_class; takes a class that protoc made"):
        kind(given)
