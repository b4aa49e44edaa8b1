"""What the connectors are told, and what they say when it is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.pipeline.connect.connector_config import ConfigCheck
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.mirror.checkpoint_connector import MirrorCheckpointConnector
from penstock.pipeline.mirror.configs import client_configs
from penstock.pipeline.mirror.filters import PropertyFilter, topic_filter
from penstock.pipeline.mirror.heartbeat import MirrorHeartbeatConnector
from penstock.pipeline.mirror.source_connector import MirrorSourceConnector

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
JAVA = "org.apache.kafka.connect.mirror"
WORKER = ConnectSettings.from_configs(
    {
        "bootstrap.servers": "localhost:9092",
        "group.id": "mirrors",
        "config.storage.topic": "configs",
        "offset.storage.topic": "offsets",
        "status.storage.topic": "status",
        "key.converter": BYTES,
        "value.converter": BYTES,
    }
)
GOOD = {
    "name": "mirror",
    "source.cluster.alias": "west",
    "target.cluster.alias": "east",
    "source.cluster.bootstrap.servers": "west:9092",
    "target.cluster.bootstrap.servers": "east:9092",
}


def errors(kind: str, **changes: str | None) -> dict[str, list[str]]:
    merged = {**GOOD, "connector.class": kind, **changes}
    configs = {key: value for key, value in merged.items() if value is not None}
    answer = ConfigCheck(Plugins(()), WORKER).validate(configs)
    found = {each["value"]["name"]: each["value"]["errors"] for each in answer["configs"]}
    return {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize("kind", ["Source", "Checkpoint", "Heartbeat"])
@pytest.mark.parametrize("form", [f"{JAVA}.Mirror{{}}Connector", "Mirror{}Connector", "Mirror{}"])
def test_existing_configurations_are_right(kind: str, form: str) -> None:
    assert errors(form.format(kind)) == {}


WRONG: list[tuple[str, dict[str, str | None], str, str]] = [
    ("Source", {"source.cluster.alias": None}, "source.cluster.alias", "Missing required configuration"),
    (
        "Source",
        {"source.cluster.bootstrap.servers": None},
        "source.cluster.bootstrap.servers",
        "Missing required",
    ),
    (
        "Heartbeat",
        {"target.cluster.bootstrap.servers": ""},
        "target.cluster.bootstrap.servers",
        "Missing required",
    ),
    ("Source", {"topics": "a(, b"}, "topics", "Invalid regex"),
    ("Checkpoint", {"groups.exclude": "[a"}, "groups.exclude", "Invalid regex"),
    (
        "Source",
        {"replication.policy.class": "com.example.Mine"},
        "replication.policy.class",
        "could not be found",
    ),
    (
        "Source",
        {"replication.policy.separator": ""},
        "replication.policy.separator",
        "String must be non-empty",
    ),
    (
        "Source",
        {"topic.filter.class": "com.example.Mine"},
        "topic.filter.class",
        "DefaultTopicFilter is there",
    ),
    ("Source", {"offset-syncs.topic.location": "moon"}, "offset-syncs.topic.location", "source, target"),
    ("Source", {"refresh.topics.interval.seconds": "often"}, "refresh.topics.interval.seconds", "type LONG"),
    ("Source", {"use.defaults.from": "me"}, "use.defaults.from", "String must be one of: source, target"),
    (
        "Source",
        {"exactly.once.support": "required", "source.consumer.isolation.level": "read_uncommitted"},
        "exactly.once.support",
        "isolation.level set to 'read_committed'",
    ),
    (
        "Source",
        {"emit.offset-syncs.enabled": "false", "offset-syncs.topic.location": "target"},
        "emit.offset-syncs.enabled",
        "can't setup offset-syncs feature",
    ),
    (
        "Checkpoint",
        {"emit.checkpoints.enabled": "false"},
        "emit.checkpoints.enabled",
        "can't run with emit.checkpoints.enabled set to false",
    ),
    (
        "Checkpoint",
        {"emit.offset-syncs.enabled": "false"},
        "emit.offset-syncs.enabled",
        "can't run without offset syncs",
    ),
]


@pytest.mark.parametrize(("kind", "changes", "key", "words"), WRONG)
def test_what_is_wrong(kind: str, changes: dict[str, str | None], key: str, words: str) -> None:
    found = errors(f"{JAVA}.Mirror{kind}Connector", **changes)
    assert list(found) == [key]
    assert any(words in text for text in found[key]), found


def test_exactly_once_can_be_required() -> None:
    assert errors("MirrorSource", **{"exactly.once.support": "required"}) == {}


def test_settings_of_clients() -> None:
    configs = {
        **GOOD,
        "source.cluster.security.protocol": "SASL_PLAINTEXT",
        "source.cluster.sasl.mechanism": "PLAIN",
        "source.cluster.topics": "none of a client's business",
        "consumer.fetch.min.bytes": "5",
        "consumer.max.poll.records": "7",
        "source.consumer.max.poll.records": "9",
        "target.consumer.max.poll.records": "11",
        "consumer.poll.timeout.ms": "1000",
        "source.consumer.enable.auto.commit": "true",
        "producer.acks": "1",
    }
    assert client_configs(configs, "source", "consumer", "reader") == {
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "max.poll.records": "9",
        "bootstrap.servers": "west:9092",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "fetch.min.bytes": "5",
        "enable.auto.commit": "false",
        "client.id": "west->east|reader",
    }


@pytest.mark.parametrize(
    ("topics", "exclude", "taken", "left"),
    [
        (".*", None, ["orders", "a.b"], ["mm2-offsets.west.internal", "x.replica", "__consumer_offsets"]),
        ("orders, pay.*", "payroll", ["orders", "payments"], ["order", "orders2", "payroll"]),
        ("", None, [], ["orders", ""]),
        ("(orders, payments)", "", ["orders", "payments"], ["orders, payments"]),
    ],
)
def test_filters(topics: str, exclude: str | None, taken: list[str], left: list[str]) -> None:
    configs = {"topics": topics} if exclude is None else {"topics": topics, "topics.exclude": exclude}
    found = topic_filter(configs)
    assert [name for name in (*taken, *left) if found.takes(name)] == taken


def test_settings_of_topics_that_stay_behind() -> None:
    found = PropertyFilter({})
    assert [found.takes(name) for name in ("retention.ms", "min.insync.replicas")] == [True, False]
    assert not found.takes_source_defaults
    own = PropertyFilter({"config.properties.exclude": "retention.*", "use.defaults.from": "source"})
    assert [own.takes(name) for name in ("retention.ms", "min.insync.replicas")] == [False, True]
    assert own.takes_source_defaults


PARTITION = {"cluster": "west", "topic": "orders", "partition": 0}
CHECKPOINT = {"group": "billing", "topic": "orders", "partition": 0}
HEARTBEAT = {"sourceClusterAlias": "west", "targetClusterAlias": "east"}
OFFSETS: list[tuple[Any, Any, Any, str | None]] = [
    (MirrorSourceConnector, PARTITION, {"offset": 7}, None),
    (MirrorSourceConnector, {"no": "matter"}, None, None),
    (MirrorSourceConnector, None, {"offset": 7}, "Source partitions may not be null"),
    (MirrorSourceConnector, {**PARTITION, "topic": 3}, {"offset": 7}, "invalid value 3 for the 'topic' key"),
    (MirrorSourceConnector, {"cluster": "west"}, {"offset": 7}, "missing the 'topic' key"),
    (MirrorSourceConnector, {**PARTITION, "partition": -1}, {"offset": 7}, "cannot be negative"),
    (MirrorSourceConnector, {**PARTITION, "partition": True}, {"offset": 7}, "must be an integer"),
    (MirrorSourceConnector, PARTITION, {"position": 7}, "missing the 'offset' key"),
    (MirrorSourceConnector, PARTITION, {"offset": "7"}, "must be an integer"),
    (MirrorSourceConnector, PARTITION, {"offset": -7}, "cannot be negative"),
    (MirrorCheckpointConnector, CHECKPOINT, {"offset": 0}, None),
    (MirrorCheckpointConnector, CHECKPOINT, {"offset": 1}, "the only accepted value is 0"),
    (MirrorCheckpointConnector, PARTITION, {"offset": 0}, "missing the 'group' key"),
    (MirrorHeartbeatConnector, HEARTBEAT, {"offset": 0}, None),
    (MirrorHeartbeatConnector, {}, {"offset": 0}, "missing the 'sourceClusterAlias' key"),
]


@pytest.mark.parametrize(("connector", "partition", "offset", "words"), OFFSETS)
def test_offsets_that_a_user_sets(connector: Any, partition: Any, offset: Any, words: str | None) -> None:
    if words is None:
        assert connector().alter_offsets(GOOD, [(partition, offset)])
        return
    with pytest.raises(ConnectError, match=words):
        connector().alter_offsets(GOOD, [(partition, offset)])
