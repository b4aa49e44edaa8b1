"""TLS and SASL against Apache Kafka: what the broker of this project does not ask for yet."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialUpsertion,
)
from penstock.wire_client import Cluster, ClusterConfig, blocking_cluster, now
from penstock.wire_client.errors import AuthenticationError, BrokerUnreachableError
from tests.support.apache_kafka import ApacheKafka, require_java
from tests.support.certificates import self_signed
from tests.support.processes import free_port
from tests.wire_client.conftest import Asker
from tools.suite.processes import starts_processes

SCRAM = {"SCRAM-SHA-256": (1, "sha256"), "SCRAM-SHA-512": (2, "sha512")}
ITERATIONS = 4096
USER, PASSWORD = "ann,=", "secret, really"
PLAIN_JAAS = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_joe="{PASSWORD}";'
SCRAM_JAAS = "org.apache.kafka.common.security.scram.ScramLoginModule required;"


@dataclass
class Secured:
    sasl: str
    tls: str
    certificate: Path


@pytest.fixture(scope="module")
@starts_processes
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    require_java()
    directory = tmp_path_factory.mktemp("secured")
    certificate, key = self_signed(directory)
    sasl, tls = free_port(), free_port()
    server = ApacheKafka(directory / "kafka")
    listeners = f"SASL_PLAINTEXT://127.0.0.1:{sasl},SASL_SSL://127.0.0.1:{tls}"
    server.settings["listeners"] += f",{listeners}"
    server.settings["advertised.listeners"] += f",{listeners}"
    server.settings["listener.security.protocol.map"] += ",SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
    server.settings |= _sasl_settings("sasl_plaintext") | _sasl_settings("sasl_ssl")
    server.settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(key)}
    with server:
        _add_scram_users(server.bootstrap)
        yield Secured(f"127.0.0.1:{sasl}", f"127.0.0.1:{tls}", certificate)


def _sasl_settings(listener: str) -> dict[str, str]:
    prefix = f"listener.name.{listener}"
    return {
        f"{prefix}.sasl.enabled.mechanisms": ",".join(["PLAIN", *SCRAM]),
        f"{prefix}.plain.sasl.jaas.config": PLAIN_JAAS,
        **{f"{prefix}.{name.lower()}.sasl.jaas.config": SCRAM_JAAS for name in SCRAM},
    }


def _add_scram_users(bootstrap: str) -> None:
    with blocking_cluster(ClusterConfig.from_configs({"bootstrap.servers": bootstrap})) as cluster:
        for number, hash_name in SCRAM.values():
            salt = hash_name.encode()
            salted = hashlib.pbkdf2_hmac(hash_name, PASSWORD.encode(), salt, ITERATIONS)
            upsertion = ScramCredentialUpsertion(USER, number, ITERATIONS, salt, salted)
            request = AlterUserScramCredentialsRequest(upsertions=[upsertion])
            answer = now(cluster.ask_controller(request, AlterUserScramCredentialsResponse))
            assert not answer.results[0].error_code, answer


def _login(mechanism: str, user: str, password: str) -> dict[str, str]:
    module = f'x.LoginModule required username="{user}" password="{password}";'
    return {"sasl_mechanism": mechanism, "sasl_jaas_config": module}


LOGINS = [_login("PLAIN", "joe", PASSWORD), *(_login(name, USER, PASSWORD) for name in SCRAM)]


@pytest.mark.parametrize("login", LOGINS, ids=lambda login: login["sasl_mechanism"])
def test_sasl(ask: Asker, secured: Secured, login: dict[str, str]) -> None:
    view = ask(Cluster.describe, secured.sasl, security_protocol="SASL_PLAINTEXT", **login)
    assert str(view.nodes[0].port) in secured.sasl


@pytest.mark.parametrize("login", LOGINS, ids=lambda login: login["sasl_mechanism"])
def test_a_wrong_password(ask: Asker, secured: Secured, login: dict[str, str]) -> None:
    login = login | {"sasl_jaas_config": login["sasl_jaas_config"].replace("secret", "guess")}
    with pytest.raises(AuthenticationError, match="Authentication failed"):
        ask(Cluster.describe, secured.sasl, security_protocol="SASL_PLAINTEXT", **login)


def test_tls(ask: Asker, secured: Secured) -> None:
    configs = {"security_protocol": "SASL_SSL", "ssl_ca_location": str(secured.certificate)}
    view = ask(Cluster.describe, secured.tls, **LOGINS[1], **configs)
    assert str(view.nodes[0].port) in secured.tls


def test_a_certificate_that_nobody_trusts(ask: Asker, secured: Secured) -> None:
    with pytest.raises(BrokerUnreachableError, match=r"TLS handshake failed: .*CERTIFICATE_VERIFY_FAILED"):
        ask(
            Cluster.describe,
            secured.tls,
            security_protocol="SASL_SSL",
            default_api_timeout_ms="100",
            **LOGINS[0],
        )


def test_no_tls_to_a_listener_with_tls(ask: Asker, secured: Secured) -> None:
    with pytest.raises(BrokerUnreachableError, match=r"is this a TLS listener|closed the connection|reset"):
        ask(
            Cluster.describe,
            secured.tls,
            security_protocol="SASL_PLAINTEXT",
            default_api_timeout_ms="100",
            request_timeout_ms="1000",
            **LOGINS[0],
        )
