"""Settings of Connect workers: Kafka's names, and one line for what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.errors import ConfigError
from penstock.pipeline.connect.settings import ConnectSettings, warnings_about
from penstock.settings.properties import read_properties

CONFIG = Path(penstock.__file__).parent / "config"
DISTRIBUTED = read_properties(CONFIG / "connect-distributed.properties")
STANDALONE = read_properties(CONFIG / "connect-standalone.properties")


def test_the_files_that_we_ship_are_right() -> None:
    settings = ConnectSettings.from_configs(DISTRIBUTED)
    assert settings.config_storage_topic == "connect-configs"
    assert settings.endpoints[0].port == 8083
    assert [*warnings_about(DISTRIBUTED), *warnings_about(STANDALONE)] == []


def test_a_standalone_worker_has_topics_named_after_its_file() -> None:
    settings = ConnectSettings.standalone_from_configs(STANDALONE)
    assert settings.group_id == "connect-standalone-tmp-connect.offsets"
    assert settings.offset_storage_topic == "connect-standalone-tmp-connect.offsets-offsets"
    own = ConnectSettings.standalone_from_configs({**STANDALONE, "offset.storage.topic": "mine"})
    assert own.offset_storage_topic == "mine"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("group.id", "", 'group.id: Missing required configuration "group.id" which has no default value.'),
        ("key.converter", "", 'key.converter: Missing required configuration "key.converter"'),
        ("listeners", "ftp://x", "listeners: got 'ftp://x', takes http://host:port"),
        ("offset.storage.partitions", "many", "offset.storage.partitions: got 'many'; takes"),
        ("config.storage.replication.factor", "0", "config.storage.replication.factor: got '0'; takes"),
        (
            "heartbeat.interval.ms",
            "10000",
            "heartbeat.interval.ms: got 10000, takes less than session.timeout.ms",
        ),
        ("tick.ms", "0", "tick.ms: got '0'; takes"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(name: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        ConnectSettings.from_configs({**DISTRIBUTED, name: value})
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_names_without_effect_are_told() -> None:
    assert [
        *warnings_about({"grup.id": "x", "metric.reporters": "y", "producer.acks": "1", "spark.ui.port": "1"})
    ] == [
        "grup.id: unknown setting, ignored; did you mean group.id?",
        "metric.reporters: has no effect on this worker",
    ]


def test_clients_and_topics_get_what_is_theirs() -> None:
    settings = ConnectSettings.from_configs(
        {**DISTRIBUTED, "security.protocol": "SSL", "producer.acks": "1", "status.storage.segment.bytes": "5"}
    )
    assert settings.client_configs == {"security.protocol": "SSL", "bootstrap.servers": "localhost:9092"}
    assert settings.topic_configs("status") == {"segment.bytes": "5", "cleanup.policy": "compact"}
