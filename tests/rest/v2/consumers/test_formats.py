"""Records that confluent-kafka's own serializers wrote, through instances of the formats with schemas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.client import KafkaProducer
from penstock.testing.in_process import InProcessBroker
from tests.client.registry.confluent import (
    ID_SERIALIZERS,
    TheirAvroSerializer,
    TheirClient,
    TheirJsonSerializer,
    TheirProtobufSerializer,
    context,
)
from tests.client.registry.messages import Money
from tests.rest.proxy import Proxy, running
from tests.rest.schema_cases import CASES, Case
from tests.rest.v2.consumers.instance import Instance, media_type, produce
from tests.support.registry import Registry, own_group, running_registry

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def serializer(case: Case, client: TheirClient, id_place: str) -> Any:
    conf = {"schema.id.serializer": ID_SERIALIZERS[id_place]}
    if case.name == "avro":
        return TheirAvroSerializer(client, case.schema, conf=conf)
    if case.name == "jsonschema":
        return TheirJsonSerializer(case.schema, client, conf=conf)
    return TheirProtobufSerializer(Money, client, conf={**conf, "use.deprecated.format": False})


@pytest.fixture
def theirs(registry: Registry) -> Iterator[TheirClient]:
    with TheirClient({"url": registry.url}) as client:
        yield client


@each_case
@pytest.mark.parametrize("id_place", ["prefix", "header"])
def test_keys_and_values_with_schemas(
    schema_proxy: Proxy,
    broker: InProcessBroker,
    theirs: TheirClient,
    group: str,
    topic: str,
    case: Case,
    id_place: str,
) -> None:
    serialize, headers = serializer(case, theirs, id_place), []
    key = serialize(case.theirs, context(topic, "key", headers))
    value = serialize(case.theirs, context(topic, "value", headers))
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(topic, value, key=key, headers=headers, partition=0).result(30)
        producer.send(topic, None, key=key, headers=headers, partition=0).result(30)
    instance = Instance(schema_proxy, group, case.name)
    instance.subscribe(topic)
    said = instance.records()
    assert (said.status, said.headers["content-type"]) == (200, media_type(case.name)), said.text
    assert said.json == [
        {"topic": topic, "key": case.read, "value": case.read, "partition": 0, "offset": 0},
        {"topic": topic, "key": case.read, "value": None, "partition": 0, "offset": 1},
    ]


@each_case
def test_bytes_without_a_schema_are_told_where_they_are(
    schema_proxy: Proxy, broker: InProcessBroker, group: str, topic: str, case: Case
) -> None:
    produce(broker.bootstrap_servers, topic, "plain text")
    instance = Instance(schema_proxy, group, case.name)
    instance.assign(topic, 0)
    said = instance.records()
    assert (said.status, said.json["error_code"]) == (408, 40801)
    assert said.json["message"].startswith(f"The value at offset 0 of {topic}-0 cannot be read: ")


def test_without_a_registry_there_are_no_schemas(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    produce(broker.bootstrap_servers, topic, "\0\0\0\0\1x")
    instance = Instance(proxy, group, "avro")
    instance.assign(topic, 0)
    said = instance.records()
    assert (said.status, said.json["error_code"]) == (422, 42207)
    assert "schema.registry.url is not set" in said.json["message"]


@pytest.mark.processes
def test_a_registry_that_is_away_costs_no_record(
    broker: InProcessBroker, tmp_path: Path, group: str, topic: str
) -> None:
    case = CASES[0]
    with (
        running_registry(broker.bootstrap_servers, tmp_path, own_group()) as registry,
        running(
            broker.bootstrap_servers, schema_registry_url=registry.url, client_timeout_ms="2000"
        ) as proxy,
        TheirClient({"url": registry.url}) as client,
    ):
        value = serializer(case, client, "prefix")(case.theirs, context(topic, "value"))
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send(topic, value, partition=0).result(30)
        registry.process.stop()
        instance = Instance(proxy, group, case.name)
        instance.assign(topic, 0)
        said = instance.records()
        assert said.status == 503, said.text
        assert said.headers["retry-after"] == "5"
        registry.restart()
        registry.wait_until_ready()
        assert instance.read_values(1) == [case.read]
