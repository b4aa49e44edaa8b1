"""Half a surrogate pair is no character: it is not taken, and where it is stored already it breaks no listing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.client import KafkaProducer
from tests.support.cluster_fixture import KafkaServer
from tests.support.registry import Registry, own_group, running_registry

pytestmark = pytest.mark.processes

HALF = "\ud800"
AVRO: dict[str, Any] = {"type": "record", "name": "A", "fields": []}


@pytest.mark.parametrize(
    "body",
    [
        {"schema": json.dumps({**AVRO, "doc": HALF})},
        {"schema": json.dumps({**AVRO, "doc": HALF}, ensure_ascii=False)},
        {"schema": json.dumps({**AVRO, "aliases": [HALF]})},
        {"schemaType": "JSON", "schema": json.dumps({"title": HALF})},
        {"schemaType": "PROTOBUF", "schema": f'syntax = "proto3"; message A {{}} // {HALF}'},
        {"schemaType": "PROTOBUF", "schema": f'syntax = "proto3"; option java_package = "{HALF}";'},
        {"schema": json.dumps(AVRO), "metadata": {"properties": {"a": HALF}}},
        {"schema": json.dumps(AVRO), "metadata": {"tags": {HALF: ["a"]}}},
        {"schema": json.dumps(AVRO), "ruleSet": {"domainRules": [{"name": HALF}]}},
        {"schema": json.dumps(AVRO), "references": [{"name": HALF, "subject": "a", "version": 1}]},
    ],
)
def test_it_is_not_registered(registry: Registry, body: dict[str, Any]) -> None:
    said = registry.post("/subjects/half/versions", body)
    assert said.status in (400, 422), said.body
    assert "half" in said.body["message"]
    assert registry.get("/schemas").status == 200
    assert registry.put("/config/half", {"defaultMetadata": {"properties": {"a": HALF}}}).status == 400


def test_what_is_stored_is_listed(
    registry_kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    topic = "_schemas_with_halves"
    settings = {**own_group(), "kafkastore.topic": topic}
    directory = tmp_path_factory.mktemp("halves")
    with running_registry(registry_kafka.bootstrap, directory, settings) as registry:
        text = json.dumps({**AVRO, "doc": HALF}, ensure_ascii=False)
        key = {"keytype": "SCHEMA", "subject": "old", "version": 1, "magic": 1}
        metadata = {"properties": {"a": HALF}}
        value = {
            "subject": "old",
            "version": 1,
            "id": 900,
            "schema": text,
            "deleted": False,
            "metadata": metadata,
        }
        with KafkaProducer(bootstrap_servers=registry_kafka.bootstrap) as producer:
            producer.send(topic, json.dumps(value).encode(), json.dumps(key).encode()).result(30)
        after = registry.register("new", '"string"')
        assert after
        for path, found in (
            ("/schemas", lambda body: body[-1]["schema"]),
            ("/schemas/ids/900", lambda body: body["schema"]),
            ("/subjects/old/versions/1", lambda body: body["schema"]),
            ("/schemas/ids/900/schema", lambda body: json.dumps(body, ensure_ascii=False)),
        ):
            said = registry.get(path)
            assert said.status == 200, path
            assert json.loads(found(said.body))["doc"] == HALF
