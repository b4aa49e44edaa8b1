"""Registry and REST proxy with a Kafka that asks for TLS and a password, which is Apache's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from penstock.testing import InProcessRegistry, InProcessRestProxy
from tests.support.apache_kafka import ApacheKafka, require_java
from tests.support.certificates import self_signed
from tests.support.processes import free_port
from tools.suite.processes import starts_processes

PASSWORD = "secret, really"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@pytest.fixture(scope="module")
@starts_processes
def client_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What a client needs."""
    require_java()
    directory: Path = tmp_path_factory.mktemp("secured")
    certificate = self_signed(directory)
    listener = f"SASL_SSL://127.0.0.1:{free_port()}"
    server = ApacheKafka(directory / "kafka", {"group.initial.rebalance.delay.ms": "0"})
    server.settings["listeners"] += f",{listener}"
    server.settings["advertised.listeners"] += f",{listener}"
    server.settings["listener.security.protocol.map"] += ",SASL_SSL:SASL_SSL"
    server.settings |= {
        "listener.name.sasl_ssl.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f'{MODULE} user_joe="{PASSWORD}";',
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificate.server),
    }
    with server:
        yield {
            "bootstrap.servers": listener.removeprefix("SASL_SSL://"),
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{MODULE} username="joe" password="{PASSWORD}";',
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(certificate.authority),
        }


def prefixed(prefix: str, settings: dict[str, str]) -> dict[str, str]:
    return {f"{prefix}.{name}": value for name, value in settings.items()}


def asked(url: str, body: object = None) -> object:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"content-type": "application/json"}), timeout=60) as answer:
        return json.load(answer)


def test_the_registry_reads_writes_and_elects(client_settings: dict[str, str]) -> None:
    bootstrap = client_settings["bootstrap.servers"]
    with InProcessRegistry(bootstrap, prefixed("kafkastore", client_settings)) as registry:
        registered = asked(f"{registry.url}/subjects/s/versions", {"schema": '"string"'})
        assert registered["id"] == 1  # type: ignore[index]
        assert asked(f"{registry.url}/subjects") == ["s"]


def test_the_rest_proxy_describes_and_produces(client_settings: dict[str, str]) -> None:
    own = prefixed("client", {name: text for name, text in client_settings.items() if name[0] != "b"})
    with InProcessRestProxy(client_settings["bootstrap.servers"], own) as proxy:
        (cluster,) = asked(f"{proxy.url}/v3/clusters")["data"]  # type: ignore[index]
        topics = cluster["topics"]["related"]
        assert asked(topics, {"topic_name": "foods"})["topic_name"] == "foods"  # type: ignore[index]
        sent = asked(f"{topics}/foods/records", {"value": {"type": "JSON", "data": "bread"}})
        assert sent["offset"] == 0  # type: ignore[index]
