"""Serializers of the registry in producers and consumers: by name, by object, with ids in headers."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from penstock import AsyncKafkaProducer, KafkaConsumer, KafkaProducer
from penstock.client import (
    AvroDeserializer,
    AvroSerializer,
    ConsumerRecord,
    JsonSchemaDeserializer,
    ProtobufDeserializer,
    RecordDeserializationError,
    Schema,
    SchemaRegistryClient,
    SchemaRegistryUnreachableError,
    SerializationError,
)
from penstock.errors import ConfigError
from tests.client.registry.confluent import TheirAvroDeserializer, TheirClient, context
from tests.client.registry.messages import Money
from tests.client.registry.relay import running_relay
from tests.support.registry import Registry


@dataclass
class Order:
    customer: int
    cups: int


ORDER_OF_SIX_BYTES = Order(2**40, 2)
"""Confluent's library takes less for a record without a schema id, wherever that is."""


@contextmanager
def consumer(topic: str, servers: str, **settings: Any) -> Iterator[KafkaConsumer]:
    own = {"group_id": topic, "auto_offset_reset": "earliest", **settings}
    with KafkaConsumer(topic, bootstrap_servers=servers, **own) as running:
        yield running


def consumed(topic: str, servers: str, **settings: Any) -> ConsumerRecord:
    with consumer(topic, servers, **settings) as running:
        [record] = running.poll(timeout=60)
        return record


JAVA = "io.confluent.kafka.serializers"


@pytest.mark.parametrize(
    ("name", "deserializer", "value"),
    [
        ("avro", AvroDeserializer(Order), Order(7, 2)),
        ("avro", "avro", "plain text"),
        (f"{JAVA}.KafkaAvroSerializer", f"{JAVA}.KafkaAvroDeserializer", 7),
        ("jsonschema", JsonSchemaDeserializer(Order), Order(7, 2)),
        (f"{JAVA}.json.KafkaJsonSchemaSerializer", JsonSchemaDeserializer(Order), Order(7, 2)),
        ("protobuf", ProtobufDeserializer(Money), Money(cents=5)),
        (f"{JAVA}.protobuf.KafkaProtobufSerializer", ProtobufDeserializer(Money), Money(cents=5)),
    ],
)
def test_by_name(
    servers: str, registry_process: Registry, topic: str, name: str, deserializer: Any, value: Any
) -> None:
    shared = {"schema_registry_url": registry_process.url}
    with KafkaProducer(
        bootstrap_servers=servers, key_serializer="avro", value_serializer=name, **shared
    ) as producer:
        producer.send(topic, value, key="k").result(timeout=60)
    record = consumed(topic, servers, key_deserializer="avro", value_deserializer=deserializer, **shared)
    assert (record.key, record.value) == ("k", value)
    assert {f"{topic}-key", f"{topic}-value"} <= set(registry_process.get("/subjects").body)


@pytest.mark.parametrize("headers", [None, {"source": b"web"}, [("source", b"web")]], ids=str)
def test_ids_in_headers(
    servers: str, registry_process: Registry, theirs: TheirClient, topic: str, headers: Any
) -> None:
    config = {
        "bootstrap.servers": servers,
        "schema.registry.url": registry_process.url,
        "key.serializer": "avro",
        "value.serializer": AvroSerializer(Order),
        "key.schema.id.serializer": "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer",
        "value.schema.id.serializer": "header",
    }
    with KafkaProducer(config) as producer:
        producer.send(topic, ORDER_OF_SIX_BYTES, key="k", headers=headers or ()).result(timeout=60)
    names = {"schema_registry_url": registry_process.url, "key_deserializer": "avro"}
    record = consumed(topic, servers, value_deserializer=AvroDeserializer(Order), **names)
    assert (record.key, record.value) == ("k", ORDER_OF_SIX_BYTES)
    own = ["source"] if headers else []
    assert [name for name, _ in record.headers] == [*own, "__key_schema_id", "__value_schema_id"]
    raw = consumed(topic, servers, group_id=f"{topic}-raw")
    read = TheirAvroDeserializer(theirs)(raw.value, context(topic, "value", list(raw.headers)))
    assert read == {"customer": 2**40, "cups": 2}


@pytest.mark.parametrize("place", ["prefix", "header"])
def test_in_an_event_loop(servers: str, registry_process: Registry, topic: str, place: str) -> None:
    async def main() -> None:
        async with AsyncKafkaProducer(
            bootstrap_servers=servers,
            schema_registry_url=registry_process.url,
            value_serializer="avro",
            value_schema_id_serializer=place,
        ) as producer:
            await producer.send(topic, Order(7, 2))
            producer.produce(topic, Order(8, 3))

    asyncio.run(main())
    with consumer(
        topic, servers, schema_registry_url=registry_process.url, value_deserializer=AvroDeserializer(Order)
    ) as running:
        values: list[Order] = []
        while len(values) < 2:
            values += [record.value for record in running.poll(timeout=60)]
    assert sorted(order.customer for order in values) == [7, 8]


def test_tombstones_stay_tombstones(servers: str, registry_process: Registry, topic: str) -> None:
    names = {"schema_registry_url": registry_process.url}
    with KafkaProducer(bootstrap_servers=servers, value_serializer="avro", **names) as producer:
        producer.send(topic, None, key=b"k").result(timeout=60)
    assert consumed(topic, servers, value_deserializer="avro", **names).value is None


def test_one_serializer_for_two_producers(servers: str, registry: SchemaRegistryClient, topic: str) -> None:
    """Each has a copy for its field."""
    shared = AvroSerializer(Schema('"string"'), registry)
    with KafkaProducer(bootstrap_servers=servers, key_serializer=shared, value_serializer=shared) as producer:
        producer.send(topic, "v", key="k").result(timeout=60)
    assert registry.versions(f"{topic}-key") == registry.versions(f"{topic}-value") == [1]


# --- what goes wrong


def test_without_an_address(servers: str) -> None:
    with pytest.raises(ConfigError, match=r"^schema.registry.url: missing"):
        KafkaProducer(bootstrap_servers=servers, value_serializer="avro")


def test_a_value_that_does_not_fit(servers: str, registry_process: Registry, topic: str) -> None:
    with (
        KafkaProducer(
            bootstrap_servers=servers,
            schema_registry_url=registry_process.url,
            value_serializer=AvroSerializer(Order),
        ) as producer,
        pytest.raises(SerializationError) as raised,
    ):
        producer.send(topic, {"customer": 7, "cups": "two"})
    assert str(raised.value).startswith(
        f"topic {topic}: the value is a dict, which AvroSerializer cannot serialize: cups: got 'two', takes long"
    )


def test_a_poison_record_is_named(servers: str, registry_process: Registry, topic: str) -> None:
    names = {"schema_registry_url": registry_process.url}
    with KafkaProducer(bootstrap_servers=servers) as producer:
        poison = producer.send(topic, b"not of a registry", partition=0).result(timeout=60)
    with KafkaProducer(bootstrap_servers=servers, value_serializer="avro", **names) as producer:
        producer.send(topic, "good", partition=0).result(timeout=60)
    with consumer(topic, servers, value_deserializer="avro", **names) as running:
        with pytest.raises(RecordDeserializationError) as raised:
            running.poll(timeout=60)
        assert [record.value for record in running.poll(timeout=60)] == ["good"]
    assert raised.value.offset == poison.offset
    assert f"{topic}-0 at offset 0: AvroDeserializer cannot read the value" in str(raised.value)
    assert "the prefix begins with byte 110" in str(raised.value)


@pytest.mark.parametrize("way", ["poll", "iteration"])
def test_a_registry_that_is_away_costs_no_record(
    servers: str, registry_process: Registry, topic: str, way: str
) -> None:
    """Not even where records that cannot be read are skipped: it is not the record that cannot be read."""
    names = {"schema_registry_url": registry_process.url}
    with KafkaProducer(bootstrap_servers=servers, value_serializer="avro", **names) as producer:
        for value in ("first", "second"):
            producer.send(topic, value, partition=0).result(timeout=60)
    with (
        running_relay(registry_process.port) as relay,
        consumer(
            topic,
            servers,
            schema_registry_url=relay.url,
            value_deserializer="avro",
            on_deserialization_error="skip",
            max_retries=0,
        ) as running,
    ):
        relay.refusals = [(503, {})]
        with pytest.raises(SchemaRegistryUnreachableError):
            _ = running.poll(timeout=60) if way == "poll" else next(iter(running))
        values: list[str] = []
        while len(values) < 2:
            if way == "poll":
                values += [record.value for record in running.poll(timeout=60)]
            else:
                values.append(next(iter(running)).value)
    assert values == ["first", "second"]
