"""Registry and REST proxy over https, with passwords: through Confluent's client, and among themselves."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from penstock.testing import InProcessBroker, InProcessRegistry, InProcessRestProxy
from tests.support.certificates import Certificate, self_signed
from tests.support.processes import wait_for
from tests.web.test_authentication import basic
from tools.suite.processes import starts_processes

LOGIN = "ada:s:ecret"


@pytest.fixture(scope="module")
@starts_processes
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return self_signed(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def secured(certificate: Certificate, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    users: Path = tmp_path_factory.mktemp("users") / "users"
    users.write_text(LOGIN.replace(":", ": ", 1))
    return {
        "listeners": "https://127.0.0.1:0",
        "ssl.keystore.location": str(certificate.server),
        "ssl.truststore.location": str(certificate.authority),
        "authentication.method": "BASIC",
        "authentication.users.location": str(users),
    }


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as running:
        yield running


def client_of(
    registry: InProcessRegistry, certificate: Certificate, login: str = LOGIN
) -> SchemaRegistryClient:
    return SchemaRegistryClient(
        {
            "url": registry.url,
            "ssl.ca.location": str(certificate.authority),
            "basic.auth.user.info": login,
            "max.retries": 0,
        }
    )


def test_confluents_client_through_a_leader_and_a_follower(
    broker: InProcessBroker, secured: dict[str, str], certificate: Certificate
) -> None:
    """The follower forwards over https, with the client's password."""
    with ExitStack() as running:
        registries = [
            running.enter_context(InProcessRegistry(broker.bootstrap_servers, secured)) for _ in range(2)
        ]
        clients = [running.enter_context(client_of(each, certificate)) for each in registries]
        assert all(each.url.startswith("https://") for each in registries)
        schema_ids = [client.register_schema("s", Schema('"string"', "AVRO")) for client in clients]
        schema_ids += [
            client.register_schema(f"own-{number}", Schema(f'{{"type":"string","n":{number}}}', "AVRO"))
            for number, client in enumerate(clients)
        ]
        assert schema_ids == [1, 1, 2, 3]
        for client in clients:
            wait_for(lambda client=client: client.get_subjects() == ["own-0", "own-1", "s"])


def test_a_wrong_password(broker: InProcessBroker, secured: dict[str, str], certificate: Certificate) -> None:
    with (
        InProcessRegistry(broker.bootstrap_servers, secured) as registry,
        client_of(registry, certificate, "ada:guess") as client,
        pytest.raises(SchemaRegistryError) as refused,
    ):
        client.get_subjects()
    assert (refused.value.http_status_code, refused.value.error_code) == (401, 401)


def test_the_rest_proxy(broker: InProcessBroker, secured: dict[str, str], certificate: Certificate) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate.authority))
    with InProcessRestProxy(broker.bootstrap_servers, secured) as proxy:
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{proxy.url}/v3/clusters", timeout=30, context=trusting)
        asked = Request(f"{proxy.url}/v3/clusters", headers=basic(LOGIN))
        with urlopen(asked, timeout=30, context=trusting) as answer:
            (cluster,) = json.load(answer)["data"]
        assert cluster["metadata"]["self"].startswith(f"{proxy.url}/v3/clusters/")
