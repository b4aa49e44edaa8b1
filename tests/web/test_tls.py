"""Listeners of https, with a real client."""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.web.app import HttpApp
from penstock.web.listeners import Listener
from penstock.web.media_types import MediaTypes
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes
from penstock.web.settings import WebSettings
from penstock.web.tls import TlsFiles
from tests.support.certificates import Certificate, self_signed
from tests.web.served import served_on
from tools.suite.processes import starts_processes

HERE = "127.0.0.1"
SECURE = Listener(HERE, 0, "https")
JSON = MediaTypes(produces=("application/json",), consumes=("application/json",))


def make_app() -> HttpApp:
    routes = Routes()

    @routes.get("/scheme")
    async def scheme(request: Request) -> Response:
        return json_response(request.scope["scheme"])

    return HttpApp(routes, JSON)


@pytest.fixture(scope="module")
@starts_processes
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return self_signed(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
@starts_processes
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return self_signed(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture
def tls(certificate: Certificate) -> TlsFiles:
    return TlsFiles(own=str(certificate.server))


def ask(listener: Listener, trusted: Path, own: Path | None = None) -> object:
    context = TlsFiles(own=None if own is None else str(own), trusted=str(trusted)).client_context()
    connection = (
        http.client.HTTPSConnection(HERE, listener.port, context=context, timeout=30)
        if listener.scheme == "https"
        else http.client.HTTPConnection(HERE, listener.port, timeout=30)
    )
    try:
        connection.request("GET", "/scheme")
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def test_with_and_without_tls_side_by_side(certificate: Certificate, tls: TlsFiles) -> None:
    with served_on(make_app, [Listener(HERE, 0), SECURE, SECURE], tls) as listeners:
        assert [ask(each, certificate.authority) for each in listeners] == ["http", "https", "https"]
        assert str(listeners[1]) == f"https://{HERE}:{listeners[1].port}"


def test_a_certificate_that_nobody_trusts(tls: TlsFiles, stranger: Certificate) -> None:
    with (
        served_on(make_app, [SECURE], tls) as [listener],
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        ask(listener, stranger.authority)


def test_clients_that_have_to_show_a_certificate(
    certificate: Certificate, stranger: Certificate, tls: TlsFiles
) -> None:
    required = tls._replace(
        trusted=str(certificate.authority), asks_for_certificates=True, requires_certificates=True
    )
    with served_on(make_app, [SECURE], required) as [listener]:
        assert ask(listener, certificate.authority, certificate.server) == "https"
        for own in (None, stranger.server):
            with pytest.raises(OSError, match=r"alert|reset|EOF|closed"):
                ask(listener, certificate.authority, own)


def test_clients_that_may_show_a_certificate(certificate: Certificate, tls: TlsFiles) -> None:
    requested = tls._replace(trusted=str(certificate.authority), asks_for_certificates=True)
    with served_on(make_app, [SECURE], requested) as [listener]:
        assert ask(listener, certificate.authority) == "https"
        assert ask(listener, certificate.authority, certificate.server) == "https"


def test_tls_1_2_is_the_oldest_that_is_spoken(certificate: Certificate, tls: TlsFiles) -> None:
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.load_verify_locations(certificate.authority)
    old.maximum_version = old.minimum_version = ssl.TLSVersion.TLSv1_2
    assert tls.server_context().minimum_version == ssl.TLSVersion.TLSv1_2
    with served_on(make_app, [SECURE], tls) as [listener]:
        connection = http.client.HTTPSConnection(HERE, listener.port, context=old, timeout=30)
        connection.request("GET", "/scheme")
        assert connection.getresponse().status == 200
        connection.close()


def test_the_settings(certificate: Certificate) -> None:
    configs = {
        "ssl.keystore.location": str(certificate.server),
        "ssl.truststore.location": str(certificate.authority),
        "ssl.client.authentication": "requested",
        "ssl.endpoint.identification.algorithm": "",
    }
    files = WebSettings.from_configs(configs, [SECURE]).tls_files
    assert (files.asks_for_certificates, files.requires_certificates) == (True, False)
    assert files.server_context().verify_mode == ssl.CERT_OPTIONAL
    assert files.client_context().check_hostname is False
    assert WebSettings.from_configs({"ssl.client.auth": "true"}, []).tls_files.requires_certificates


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({}, "ssl.keystore.location: missing; a listener of https needs a PEM file"),
        ({"ssl.keystore.location": "/no/such"}, "ssl.keystore.location: /no/such: No such file"),
        ({"ssl.keystore.location": "{authority}"}, "is no PEM file with a key and its certificates"),
        (
            {
                "ssl.keystore.location": "{server}",
                "ssl.client.auth": "true",
                "ssl.truststore.location": "{empty}",
            },
            "is no PEM file of certificates",
        ),
        ({"ssl.client.authentication": "maybe"}, "ssl.client.authentication: got 'maybe'; takes one of NONE"),
    ],
)
def test_settings_that_cannot_be(
    configs: dict[str, str], message: str, certificate: Certificate, tmp_path: Path
) -> None:
    (tmp_path / "empty").write_text("nothing")
    places = {"authority": certificate.authority, "server": certificate.server, "empty": tmp_path / "empty"}
    given = {name: text.format(**places) for name, text in configs.items()}
    with pytest.raises(ConfigError) as refused:
        WebSettings.from_configs(given, [SECURE])
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
