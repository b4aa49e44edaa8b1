"""The client of the registry: every call, its memory, and what it does when a registry does not answer."""

import base64
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest

from penstock.client.registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    SchemaRegistryUnreachableError,
)
from penstock.client.registry.cache import Cache
from penstock.errors import ConfigError
from penstock.wire_client.errors import RetriableError
from tests.client.registry.relay import running_relay
from tests.support.processes import free_port
from tests.support.registry import Registry

STRING, LONG = Schema('"string"'), Schema('"long"')
QUICK = {"retries_wait_ms": 1}


# --- every call


def test_a_subject_from_its_first_version_to_its_end(registry: SchemaRegistryClient, topic: str) -> None:
    first = registry.register(topic, Schema('"int"'))
    second = registry.register(topic, LONG)
    assert registry.versions(topic) == [1, 2]
    assert topic in registry.subjects(prefix=topic[:8])
    assert registry.lookup(topic, LONG).version == 2
    assert registry.version(topic, 1).schema == Schema('"int"')
    assert registry.latest_version(topic).id == second.id
    assert registry.schema_by_id(first.id) == Schema('"int"')
    guid = registry.registered_by_id(second.id).guid
    assert guid is not None
    assert registry.schema_by_guid(guid) == LONG
    assert registry.delete_version(topic, 1) == 1
    assert (registry.versions(topic), registry.versions(topic, deleted=True)) == ([2], [1, 2])
    assert registry.delete_subject(topic) == [2]
    assert registry.delete_subject(topic, permanent=True) == [1, 2]
    assert topic not in registry.subjects(deleted=True)


@pytest.mark.parametrize("subject", ["a/b", "ü ö", "a+b&c=d?e#f%20", ":.ctx:orders-value"])
def test_subjects_of_any_characters(registry: SchemaRegistryClient, topic: str, subject: str) -> None:
    name = f"{subject}-{topic}"
    registered = registry.register(name, STRING)
    assert registry.version(name, 1).subject == name
    assert registry.schema_by_id(registered.id, name) == STRING


def test_compatibility_says_what_is_wrong(registry: SchemaRegistryClient, topic: str) -> None:
    registry.register(topic, Schema('"int"'))
    assert registry.check_compatibility(topic, LONG)
    assert registry.check_compatibility(topic, LONG, version=None)
    wrong = registry.check_compatibility(topic, STRING, version=1)
    assert not wrong
    assert any("TYPE_MISMATCH" in message for message in wrong.messages)


def test_config_and_mode(registry: SchemaRegistryClient, topic: str) -> None:
    assert registry.config(topic, default_to_global=True)["compatibilityLevel"] == "BACKWARD"
    assert registry.set_config(topic, compatibility="NONE") == {"compatibility": "NONE"}
    assert registry.config(topic)["compatibilityLevel"] == "NONE"
    assert registry.delete_config(topic)["compatibilityLevel"] == "NONE"
    assert registry.mode(topic, default_to_global=True) == "READWRITE"
    assert registry.set_mode("READONLY", topic) == "READONLY"
    with pytest.raises(SchemaRegistryError) as raised:
        registry.register(topic, STRING)
    assert (raised.value.http_status, raised.value.error_code) == (422, 42205)
    assert registry.delete_mode(topic) == "READONLY"
    assert "." in registry.contexts()


def test_references_are_resolved_to_the_last(registry: SchemaRegistryClient, topic: str) -> None:
    schema = Schema('{"type": "record", "name": "A", "fields": []}')
    for name, inner in (("B", "A"), ("C", "B")):
        registry.register(f"{topic}-{inner}", schema)
        text = f'{{"type": "record", "name": "{name}", "fields": [{{"name": "x", "type": "{inner}"}}]}}'
        schema = Schema(text, "AVRO", (SchemaReference(inner, f"{topic}-{inner}", 1),))
    assert list(registry.resolved_references(schema)) == ["A", "B"]
    by_id = registry.register(f"{topic}-C", schema).id
    assert registry.referenced_by(f"{topic}-B", 1) == [by_id]


@pytest.mark.parametrize(
    ("ask", "status", "code"),
    [
        (lambda registry, topic: registry.versions(topic), 404, 40401),
        (lambda registry, topic: registry.schema_by_id(10**9), 404, 40403),
        (lambda registry, topic: registry.register(topic, Schema("{")), 422, 42201),
        (lambda registry, topic: registry.set_config(topic, compatibility="SOME"), 422, 42203),
        (lambda registry, topic: registry.lookup(topic, STRING), 404, 40401),
    ],
)
def test_refusals_have_the_codes_of_confluent(
    registry: SchemaRegistryClient, topic: str, ask: Any, status: int, code: int
) -> None:
    with pytest.raises(SchemaRegistryError) as raised:
        ask(registry, topic)
    assert (raised.value.http_status, raised.value.error_code) == (status, code)
    assert raised.value.reason in str(raised.value)
    assert registry.urls[0] in str(raised.value)


# --- memory


def test_what_cannot_change_is_asked_once(registry_process: Registry, topic: str) -> None:
    with running_relay(registry_process.port) as relay, SchemaRegistryClient(relay.url) as registry:
        for _ in range(3):
            made = registry.register(topic, STRING)
            registry.schema_by_id(made.id)
            registry.version(topic, 1)
            registry.lookup(topic, STRING)
            registry.latest_version(topic)
        assert len(relay.requests) == 5
        assert relay.connections == 1
        registry.clear_latest()
        registry.latest_version(topic)
        assert len(relay.requests) == 6


def test_a_deleted_version_is_forgotten(registry: SchemaRegistryClient, topic: str) -> None:
    registry.register(topic, STRING)
    registry.delete_version(topic, 1)
    assert registry.register(topic, STRING).version in (None, 2)
    assert registry.versions(topic) == [2]


def test_a_cache_is_bounded_and_grows_old() -> None:
    now = [0.0]
    cache: Cache[str, int] = Cache(2, ttl_seconds=10, now=lambda: now[0])
    for number, name in enumerate("abc"):
        cache.put(name, number)
    assert [cache.get(name) for name in "abc"] == [None, 1, 2]
    now[0] = 10.0
    assert cache.get("c") is None
    assert cache.get_or("c", lambda: 7) == cache.get("c") == 7


def test_many_threads_share_one(registry: SchemaRegistryClient, topic: str) -> None:
    ids: list[int] = []

    def work() -> None:
        ids.extend(registry.register(f"{topic}-{number}", STRING).id for number in range(5))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 40
    assert len(set(ids)) == 1


# --- registries that do not answer


def test_the_next_registry_is_asked(registry_process: Registry) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    with SchemaRegistryClient([nobody, registry_process.url], max_retries=0) as registry:
        assert registry.mode() == "READWRITE"


def test_the_one_that_answered_is_asked_first_from_then_on(registry_process: Registry) -> None:
    with running_relay(registry_process.port) as first, running_relay(registry_process.port) as second:
        first.refusals = [(503, {})]
        with SchemaRegistryClient(f"{first.url},{second.url}", max_retries=0) as registry:
            registry.mode()
            registry.mode()
        assert (len(first.requests), len(second.requests)) == (1, 2)


def test_nobody_answers() -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    with (
        SchemaRegistryClient(nobody, max_retries=2, **QUICK) as registry,
        pytest.raises(SchemaRegistryUnreachableError) as raised,
    ):
        registry.subjects()
    assert isinstance(raised.value, RetriableError)
    assert f"no Schema Registry answers (asked 3 times): {nobody}: " in str(raised.value)


def test_a_registry_that_accepts_and_says_nothing() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            SchemaRegistryClient(url, max_retries=0, http_read_timeout_ms=50) as registry,
            pytest.raises(SchemaRegistryUnreachableError, match="no answer in time"),
        ):
            registry.subjects()


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_not_now_is_asked_again(registry_process: Registry, status: int) -> None:
    with running_relay(registry_process.port) as relay, SchemaRegistryClient(relay.url, **QUICK) as registry:
        relay.refusals = [(status, {"Retry-After": "0"})] * 2
        assert registry.mode() == "READWRITE"
        assert len(relay.requests) == 3


def test_a_connection_that_ended_while_idle_is_opened_again(registry_process: Registry) -> None:
    with (
        running_relay(registry_process.port) as relay,
        SchemaRegistryClient(relay.url, max_retries=0) as registry,
    ):
        registry.mode()
        relay.hang_ups = 1
        assert registry.mode() == "READWRITE"
        assert relay.connections == 2


def test_what_is_no_registry(registry_process: Registry) -> None:
    with running_relay(registry_process.port) as relay, SchemaRegistryClient(relay.url, **QUICK) as registry:
        relay.refusals = [(200, {})]
        with pytest.raises(SchemaRegistryError, match="the answer is not JSON: is that a registry"):
            registry.mode()


# --- who we are


def basic(login: str) -> str:
    return f"Basic {base64.b64encode(login.encode()).decode()}"


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        (
            {"basic.auth.user.info": "ada:s:ecret", "basic.auth.credentials.source": "USER_INFO"},
            basic("ada:s:ecret"),
        ),
        ({"schema.registry.basic.auth.user.info": "ada:x"}, basic("ada:x")),
        (
            {"sasl.username": "ada", "sasl.password": "pw", "basic.auth.credentials.source": "SASL_INHERIT"},
            basic("ada:pw"),
        ),
        ({"bearer.auth.token": "abc"}, "Bearer abc"),
    ],
)
def test_logins(registry_process: Registry, settings: dict, wanted: str) -> None:
    with running_relay(registry_process.port, wanted) as relay:
        with SchemaRegistryClient({"schema.registry.url": relay.url, **settings}) as registry:
            assert registry.mode() == "READWRITE"
        with SchemaRegistryClient(relay.url) as nobody, pytest.raises(SchemaRegistryError) as raised:
            nobody.mode()
        assert raised.value.error_code == 401


def test_a_login_in_the_address(registry_process: Registry) -> None:
    with running_relay(registry_process.port, basic("ada:p@ss")) as relay:
        url = relay.url.replace("//", "//ada:p%40ss@")
        with SchemaRegistryClient(url) as registry:
            assert registry.mode() == "READWRITE"
            assert "p%40ss" not in repr(registry)


def test_encryption(registry_process: Registry, certificates: dict[str, Path]) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates["server"])
    tls.load_verify_locations(certificates["authority"])
    tls.verify_mode = ssl.CERT_REQUIRED
    with running_relay(registry_process.port, tls=tls) as relay:
        trust = {"schema.registry.ssl.truststore.location": str(certificates["authority"])}
        own = {"schema.registry.ssl.keystore.location": str(certificates["server"])}
        with SchemaRegistryClient({"url": relay.url, **trust, **own}) as registry:
            assert registry.mode() == "READWRITE"
        by_number = relay.url.replace("localhost", "127.0.0.1")
        loose = {"schema.registry.ssl.endpoint.identification.algorithm": ""}
        with SchemaRegistryClient({"url": by_number, **trust, **own, **loose}) as registry:
            assert registry.mode() == "READWRITE"
        for settings in ({**own}, {**trust}, {**trust, **own, "url": by_number}):
            with (
                SchemaRegistryClient({"url": relay.url, "max.retries": 0, **settings}) as stranger,
                pytest.raises(SchemaRegistryUnreachableError),
            ):
                stranger.mode()


# --- settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "schema.registry.url: missing"),
        ({"url": "localhost:8081"}, "schema.registry.url: got 'localhost:8081'; takes http://host:port"),
        ({"url": "http://u:secret@:80"}, "schema.registry.url: got ':80'"),
        ({"url": "http://x:99999"}, "schema.registry.url: got"),
        ({"url": "http://x", "max.retries": "many"}, "max.retries: got 'many'; takes an integer"),
        ({"url": "http://x", "max.retires": 3}, "unknown setting max.retires; did you mean max.retries?"),
        (
            {"url": "http://x", "basic.auth.user.info": "ada"},
            "basic.auth.user.info: got a secret without a colon",
        ),
        ({"url": "http://x", "basic.auth.credentials.source": "USER_INFO"}, "basic.auth.user.info: missing"),
        ({"url": "http://x", "basic.auth.credentials.source": "SASL_INHERIT"}, "SASL_INHERIT needs"),
        ({"url": "http://a:b@x", "bearer.auth.token": "t"}, "bearer.auth.token: does not go with a user"),
        (
            {"url": "https://x", "schema.registry.ssl.truststore.location": "/no/such.pem"},
            "schema.registry.ssl.truststore.location: cannot read /no/such.pem as PEM",
        ),
    ],
)
def test_settings_that_are_wrong(settings: dict, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        SchemaRegistryClient(settings)
    assert message in str(raised.value)
    assert "secret@" not in str(raised.value)
