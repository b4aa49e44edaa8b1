"""The topic of the schemas: how it is made, which ones are refused, and what is in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.client import KafkaAdmin, KafkaConsumer, KafkaProducer, NewTopic, TopicPartition
from tests.registry.api.schemas import USER, USER_WITH_AGE
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for
from tests.support.registry import Registry, own_group, running_registry

pytestmark = pytest.mark.processes

PATIENCE_SECONDS = 60.0


def records_of(
    kafka: KafkaServer, topic: str, count: int
) -> list[tuple[dict[str, object], dict[str, object] | None]]:
    found: list[tuple[dict[str, object], dict[str, object] | None]] = []
    with KafkaConsumer(
        bootstrap_servers=kafka.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        while len(found) < count:
            records = consumer.poll(timeout=PATIENCE_SECONDS)
            assert records
            found += [(json.loads(each.key), each.value and json.loads(each.value)) for each in records]
    return found


def test_the_topic_is_made_compacted(registry_kafka: KafkaServer, registry: Registry) -> None:
    name = registry.settings["kafkastore.topic"]
    with KafkaAdmin(bootstrap_servers=registry_kafka.bootstrap) as admin:
        assert len(admin.describe_topics([name])[name].partitions) == 1
        assert admin.describe_configs("topic", name)["cleanup.policy"].value == "compact"


def test_records_are_confluents(registry_kafka: KafkaServer, registry: Registry) -> None:
    registry.register("users-value", USER)
    registry.put("/config/users-value", {"compatibility": "FULL"})
    records = records_of(registry_kafka, registry.settings["kafkastore.topic"], 3)
    assert records[0] == ({"keytype": "NOOP", "magic": 0}, None)
    key, value = records[1]
    assert key == {"keytype": "SCHEMA", "subject": "users-value", "version": 1, "magic": 1}
    assert value is not None
    members = ("subject", "version", "id", "schema", "deleted")
    assert {name: value[name] for name in members} == {
        "subject": "users-value",
        "version": 1,
        "id": 1,
        "schema": USER,
        "deleted": False,
    }
    assert records[2][0] == {"keytype": "CONFIG", "subject": "users-value", "magic": 0}
    assert records[2][1] is not None
    assert records[2][1]["compatibilityLevel"] == "FULL"


@pytest.mark.parametrize(
    ("partitions", "policy", "words"),
    [
        (2, "compact", "should have only 1 partition but has 2"),
        (1, "delete", "expected cleanup.policy to be 'compact' but it is delete"),
    ],
)
def test_a_topic_that_would_lose_schemas_is_refused(
    registry_kafka: KafkaServer, tmp_path: Path, partitions: int, policy: str, words: str
) -> None:
    settings = own_group()
    with KafkaAdmin(bootstrap_servers=registry_kafka.bootstrap) as admin:
        new = NewTopic(settings["kafkastore.topic"], partitions, 1, configs={"cleanup.policy": policy})
        admin.create_topics([new])
    registry = Registry(registry_kafka.bootstrap, tmp_path, settings)
    assert registry.process.wait() == 1
    last = registry.process.log_text().splitlines()[-1]
    assert last.startswith("schema-registry-start: kafkastore.topic: ")
    assert words in last


def test_an_existing_registrys_topic_is_taken_over(registry_kafka: KafkaServer, tmp_path: Path) -> None:
    """Records as Confluent's registry 7.x writes them, without transactions."""
    settings = own_group()
    topic = settings["kafkastore.topic"]
    with KafkaAdmin(bootstrap_servers=registry_kafka.bootstrap) as admin:
        admin.create_topics([NewTopic(topic, 1, 1, configs={"cleanup.policy": "compact"})])
    old = [
        ('{"keytype":"NOOP","magic":0}', None),
        (
            '{"keytype":"SCHEMA","subject":"orders-value","version":1,"magic":1}',
            {"subject": "orders-value", "version": 1, "id": 100007, "schema": USER, "deleted": False},
        ),
        (
            '{"keytype":"CONFIG","subject":"orders-value","magic":0}',
            {"subject": "orders-value", "compatibilityLevel": "FULL"},
        ),
        ('{"keytype":"UNHEARD_OF","magic":9}', {"future": True}),
        ("not json", {"a": 1}),
    ]
    with KafkaProducer(bootstrap_servers=registry_kafka.bootstrap) as producer:
        for key, value in old:
            producer.produce(topic, None if value is None else json.dumps(value).encode(), key.encode())
    with running_registry(registry_kafka.bootstrap, tmp_path, settings) as registry:
        assert registry.get("/schemas/ids/100007").body["schema"] == USER
        assert registry.get("/config/orders-value").body == {"compatibilityLevel": "FULL"}
        assert registry.register("orders-value", USER_WITH_AGE) == 100008
        assert "offset 4: " in registry.process.log_text(), "what makes no sense is skipped and logged"


def test_a_registry_starts_where_it_stopped(registry_kafka: KafkaServer, tmp_path: Path) -> None:
    settings = own_group()
    with running_registry(registry_kafka.bootstrap, tmp_path, settings) as registry:
        schema_id = registry.register("kept", USER)
        registry.put("/mode/kept", {"mode": "READONLY"})
    with running_registry(registry_kafka.bootstrap, tmp_path, settings) as registry:
        assert registry.get("/subjects/kept/versions/1").body["id"] == schema_id
        assert registry.get("/mode/kept").body == {"mode": "READONLY"}


def test_a_topic_that_was_deleted_is_forgotten(registry_kafka: KafkaServer, tmp_path: Path) -> None:
    with running_registry(registry_kafka.bootstrap, tmp_path, own_group()) as registry:
        registry.register("old", USER)
        with KafkaAdmin(bootstrap_servers=registry_kafka.bootstrap) as admin:
            admin.delete_topics([registry.settings["kafkastore.topic"]])
        wait_for(lambda: registry.get("/subjects").body == [], PATIENCE_SECONDS, "the new topic to be read")

        def registers() -> bool:
            return registry.post("/subjects/new/versions", {"schema": USER}).status == 200

        wait_for(registers, PATIENCE_SECONDS, "a schema to be registered", interval=0.1)
        assert registry.get("/subjects").body == ["new"]
