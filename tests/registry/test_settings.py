"""schema-registry.properties: Confluent's names, what is refused and what is warned of."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli.tools.schema_registry_start import main, read_settings
from penstock.errors import ConfigError
from penstock.registry.settings import RegistrySettings, warnings_about
from penstock.web.listeners import Listener

KAFKA = {"kafkastore.bootstrap.servers": "PLAINTEXT://a:9092,b:9092"}
SHIPPED = Path(__file__).parents[2] / "config/schema-registry.properties"


def settings_of(**configs: str) -> RegistrySettings:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return RegistrySettings.from_configs({**KAFKA, **named}, "file")


def test_the_shipped_file_is_understood() -> None:
    settings = read_settings(SHIPPED, {})
    assert settings.endpoints == [Listener("0.0.0.0", 8081)]
    assert settings.kafkastore_bootstrap_servers == ("localhost:9092",)
    assert settings.schema_registry_group_id == "schema-registry"


def test_clients_and_topics_have_settings_with_a_prefix() -> None:
    configs = {
        **KAFKA,
        "kafkastore.security.protocol": "SSL",
        "kafkastore.topic.config.min.insync.replicas": "2",
        "kafkastore.timeout.ms": "700",
    }
    settings = RegistrySettings.from_configs(configs)
    assert settings.client_configs == {
        "security.protocol": "SSL",
        "bootstrap.servers": "PLAINTEXT://a:9092,b:9092",
    }
    assert settings.topic_configs == {"min.insync.replicas": "2", "cleanup.policy": "compact"}
    assert settings.kafkastore_timeout_ms == 700


def test_old_names_still_count() -> None:
    settings = settings_of(master_eligibility="false", avro_compatibility_level="none")
    assert settings.leader_eligibility is False
    assert settings.schema_compatibility_level == "none"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "kafkastore.timeout.ms",
            "soon",
            "kafkastore.timeout.ms: got 'soon'; takes an integer of milliseconds",
        ),
        ("kafkastore.topic.replication.factor", "0", "takes an integer, 1 or more"),
        (
            "schema.compatibility.level",
            "sideward",
            "schema.compatibility.level: got 'sideward'; takes one of NONE",
        ),
        ("leader.eligibility", "maybe", "leader.eligibility: got 'maybe'; takes true or false"),
        ("listeners", "8081", "listeners: got '8081', takes http://host:port"),
        ("listeners", "https://0.0.0.0:8081", "ssl.keystore.location: missing; a listener of https"),
        ("ssl.keystore.type", "JKS", "ssl.keystore.type: got 'JKS'; takes one of PEM"),
        ("authentication.method", "BASIC", "authentication.users.location: missing"),
        (
            "schema.registry.inter.instance.protocol",
            "https",
            "inter.instance.protocol: got https; takes that of one of the listeners",
        ),
        (
            "kafkagroup.heartbeat.interval.ms",
            "10000",
            "takes less than kafkagroup.session.timeout.ms (10000)",
        ),
        ("kafkastore.bootstrap.servers", "", "kafkastore.bootstrap.servers: missing"),
    ],
)
def test_bad_values_stop_the_start(
    capsys: pytest.CaptureFixture[str], name: str, value: str, words: str
) -> None:
    given = {**KAFKA, name: value}
    arguments = [word for item in given.items() for word in ("--override", "=".join(item))]
    assert main(arguments) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("schema-registry-start: ")
    assert words in said


def test_kafka_must_be_named() -> None:
    with pytest.raises(ConfigError, match=r"^kafkastore\.bootstrap\.servers: missing"):
        RegistrySettings.from_configs({})


def test_what_has_no_effect_is_warned_of() -> None:
    configs = {
        **KAFKA,
        "kafkastore.sasl.mechanism": "PLAIN",
        "master.eligibility": "true",
        "debug": "true",
        "ssl.keystore.location": "x",
        "ssl.provider": "x",
        "kafkastor.topic": "y",
        "zzz": "1",
    }
    assert list(warnings_about(configs)) == [
        "ssl.provider: has no effect on this registry",
        "kafkastor.topic: unknown setting, ignored; did you mean kafkastore.topic?",
        "zzz: unknown setting, ignored",
    ]
