"""Avro, JSON Schema and Protobuf through v2, read back with confluent-kafka's own deserializers."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from penstock.rest.schemas.codec import AT_LENGTH_SECONDS
from penstock.testing.in_process import InProcessBroker
from penstock.web.running import share_the_interpreter
from tests.client.registry.confluent import TheirClient
from tests.rest.proxy import Answer, Proxy, running
from tests.rest.schema_cases import CASES, USER, Case
from tests.rest.v2.test_produce import AVRO, post
from tests.rest.v3.test_produce import records_of
from tests.support.bystander import own_in_line_seconds
from tests.support.processes import free_port
from tests.support.registry import Registry, own_group

A_STALL_SECONDS = 0.25
AVRO_CASE, JSON_CASE, PROTOBUF_CASE = CASES
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
def test_keys_and_values_with_the_text_of_a_schema(
    schema_proxy: Proxy,
    broker: InProcessBroker,
    theirs: TheirClient,
    registry: Registry,
    topic: str,
    case: Case,
) -> None:
    body = {
        "key_schema": case.schema,
        "value_schema": case.schema,
        "records": [{"key": case.data, "value": case.data}, {"key": case.data, "value": None}],
    }
    answer = post(schema_proxy, f"/topics/{topic}", body, case.media_type)
    assert answer.status == 200, answer.text
    assert [each["offset"] for each in answer.json["offsets"]] == [0, 1]
    latest = registry.get(f"/subjects/{topic}-value/versions/latest").body
    assert (latest["id"], latest.get("schemaType", "AVRO")) == (
        answer.json["value_schema_id"],
        case.schema_type,
    )
    first, second = records_of(broker, topic, 2)
    assert case.read_by_theirs(theirs, topic, "value", first.value) == case.theirs
    assert case.read_by_theirs(theirs, topic, "key", first.key) == case.theirs
    assert second.value is None


@each_case
def test_the_next_request_says_the_id_alone(
    schema_proxy: Proxy, broker: InProcessBroker, registry: Registry, topic: str, case: Case
) -> None:
    schema_id = registry.register(f"{topic}-value", case.schema, schemaType=case.schema_type)
    body = {"value_schema_id": schema_id, "records": [{"value": case.data}]}
    for offset in range(2):
        answer = post(schema_proxy, f"/topics/{topic}/partitions/0", body, case.media_type).json
        assert answer["offsets"][0]["offset"] == offset
        assert (answer["key_schema_id"], answer["value_schema_id"]) == (None, schema_id)
    first, second = records_of(broker, topic, 2)
    assert first.value == second.value
    assert first.value[:5] == b"\0" + schema_id.to_bytes(4, "big")


@each_case
def test_data_that_does_not_fit_sends_nothing(schema_proxy: Proxy, topic: str, case: Case) -> None:
    body = {"value_schema": case.schema, "records": [{"value": case.data}, {"value": case.bad}]}
    answer = post(schema_proxy, f"/topics/{topic}", body, case.media_type)
    assert (answer.status, answer.json["error_code"]) == (400, 400)
    assert answer.json["message"].startswith(f"records[1].value{case.complaint}")
    assert schema_proxy.get(f"/topics/{topic}/partitions/0/offsets").json["end_offset"] == 0


@each_case
def test_a_text_that_is_no_schema(schema_proxy: Proxy, topic: str, case: Case) -> None:
    body = {"value_schema": "{nope", "records": [{"value": 1}]}
    answer = post(schema_proxy, f"/topics/{topic}", body, case.media_type)
    assert (answer.status, answer.json["error_code"]) == (422, 42205)
    assert answer.json["message"].startswith("Invalid schema: value_schema: ")
    assert "line 1, column" in answer.json["message"]


BAD = [
    ({"value_schema": 7}, 400, 400, "value_schema: got 7, takes a string"),
    ({"value_schema_id": "seven"}, 400, 400, "value_schema_id: got 'seven', takes an integer"),
    (
        {"value_schema": '"int"', "value_schema_id": 7},
        400,
        400,
        "value_schema_id: only one of value_schema, value_schema_id can be used",
    ),
    (
        {"value_schema_id": 987654},
        422,
        42207,
        "Error serializing message. value_schema_id: the registry said: ",
    ),
    ({"value_schema_id": -1}, 422, 42207, "Error serializing message. value_schema_id: the registry said: "),
    ({"key_schema": '"int"'}, 422, 42202, "Request includes values but does not include value schema"),
    ({"value_schema": '"int"'}, 422, 42201, "Request includes keys but does not include key schema"),
]


@pytest.mark.parametrize(("given", "status", "error_code", "message"), BAD)
def test_schemas_that_are_none(
    schema_proxy: Proxy, topic: str, given: Any, status: int, error_code: int, message: str
) -> None:
    body = {"records": [{"key": 1, "value": 1}], **given}
    answer = post(schema_proxy, f"/topics/{topic}", body, AVRO)
    assert (answer.status, answer.json["error_code"]) == (status, error_code)
    assert answer.json["message"].startswith(message)


def test_an_id_of_another_type_and_of_another_subject(
    schema_proxy: Proxy, registry: Registry, topic: str
) -> None:
    schema_id = registry.register(f"{topic}-value", JSON_CASE.schema, schemaType="JSON")
    body = {"value_schema_id": schema_id, "records": [{"value": JSON_CASE.data}]}
    answer = post(schema_proxy, f"/topics/{topic}", body, AVRO)
    assert (answer.status, answer.json["error_code"]) == (422, 42205)
    assert answer.json["message"] == (
        f"Invalid schema: value_schema_id: got {schema_id}, which is of type JSON, takes one of type AVRO"
    )
    answer = post(schema_proxy, f"/topics/{topic}-other", body, JSON_CASE.media_type)
    assert (answer.status, answer.json["error_code"]) == (422, 42207)
    assert f"Subject '{topic}-other-value' not found" in answer.json["message"]


def test_a_schema_that_the_subject_does_not_take(schema_proxy: Proxy, registry: Registry, topic: str) -> None:
    registry.register(f"{topic}-value", USER)
    more = json.loads(USER)
    more["fields"].append({"name": "email", "type": "string"})
    body = {"value_schema": json.dumps(more), "records": [{"value": {"name": "Ada", "email": "a@b"}}]}
    answer = post(schema_proxy, f"/topics/{topic}", body, AVRO)
    assert (answer.status, answer.json["error_code"]) == (422, 42207)
    assert "value_schema: the registry said: " in answer.json["message"]
    assert "email" in answer.json["message"]


def test_references_are_followed(
    schema_proxy: Proxy, broker: InProcessBroker, theirs: TheirClient, registry: Registry, topic: str
) -> None:
    registry.register(f"{topic}-user", USER)
    schema_id = registry.register(
        f"{topic}-value",
        '{"type": "array", "items": "shop.User"}',
        references=[{"name": "shop.User", "subject": f"{topic}-user", "version": 1}],
    )
    body = {"value_schema_id": schema_id, "records": [{"value": [{"name": "Ada"}, {"name": "Bob"}]}]}
    assert post(schema_proxy, f"/topics/{topic}", body, AVRO).status == 200
    [record] = records_of(broker, topic, 1)
    read = AVRO_CASE.read_by_theirs(theirs, topic, "value", record.value)
    assert [user["name"] for user in read] == ["Ada", "Bob"]


def test_without_the_registry_there_is_503_in_time(broker: InProcessBroker, topic: str) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    settings = {"schema_registry_url": nowhere, "client_timeout_ms": "2000"}
    with running(broker.bootstrap_servers, **settings) as proxy:
        body = {"value_schema": '"int"', "records": [{"value": 1}]}
        answer = post(proxy, f"/topics/{topic}", body, AVRO)
        assert (answer.status, answer.json["error_code"]) == (503, 50003)
        assert int(answer.headers["retry-after"]) > 0
        assert nowhere in answer.json["message"]
        plain = post(proxy, f"/topics/{topic}", {"records": [{"value": 1}]})
        assert plain.status == 200


@pytest.mark.processes
def test_what_was_found_once_is_known_without_the_registry(
    broker: InProcessBroker, tmp_path_factory: pytest.TempPathFactory, topic: str
) -> None:
    registry = Registry(broker.bootstrap_servers, tmp_path_factory.mktemp("gone"), own_group())
    try:
        registry.wait_until_ready()
        settings = {"schema_registry_url": registry.url, "client_timeout_ms": "5000"}
        with running(broker.bootstrap_servers, **settings) as proxy:
            body = {"value_schema": '"int"', "records": [{"value": 1}]}
            assert post(proxy, "/topics/v2-remembered", body, AVRO).status == 200
            registry.process.stop()
            assert post(proxy, "/topics/v2-remembered", body, AVRO).status == 200
    finally:
        registry.process.stop()


def branching(depth: int) -> tuple[str, dict[str, Any]]:
    """A schema that takes twice as long for each level of a value, and such a value, which does not fit."""
    branch = {"properties": {"a": {"$ref": "#/definitions/n"}}, "required": ["x"]}
    schema = {"definitions": {"n": {"anyOf": [branch, branch]}}, "$ref": "#/definitions/n"}
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return json.dumps(schema), value


@pytest.fixture
def in_fair_turns() -> Iterator[None]:
    """As in a process of its own; here the proxy shares the interpreter with its client, too."""
    before = sys.getswitchinterval()
    share_the_interpreter()
    yield
    sys.setswitchinterval(before)


@contextmanager
def stalls_at_most(proxy: Proxy, seconds: float) -> Iterator[None]:
    """Others are answered by the proxy all the while; what this process stood in line for a processor is left out."""
    over = threading.Event()

    def longest_wait() -> float:
        longest = 0.0
        while not over.is_set():
            began, in_line = time.monotonic(), own_in_line_seconds()
            assert proxy.get("/v3/clusters").status == 200
            wall = time.monotonic() - began
            longest = max(longest, wall - (own_in_line_seconds() - in_line))
        return longest

    with ThreadPoolExecutor(1) as thread:
        asking = thread.submit(longest_wait)
        try:
            yield
        finally:
            over.set()
            longest = asking.result()
    assert longest < seconds


def send(proxy: Proxy, topic: str, version: str, schema_id: int, value: Any) -> Answer:
    if version == "v2":
        body: Any = {"value_schema_id": schema_id, "records": [{"value": value}]}
        return post(proxy, f"/topics/{topic}", body, JSON_CASE.media_type)
    body = {"value": {"schema_id": schema_id, "data": value}}
    return proxy.ask("POST", f"{proxy.cluster}/topics/{topic}/records", body)


@pytest.mark.usefixtures("in_fair_turns")
@pytest.mark.parametrize("version", ["v2", "v3"])
def test_a_value_that_takes_long_to_be_checked_stalls_nobody(
    schema_proxy: Proxy, registry: Registry, topic: str, version: str
) -> None:
    schema, value = branching(24)
    schema_id = registry.register(f"{topic}-value", schema, schemaType="JSON")
    # the proxy, its client and the check share one interpreter
    with stalls_at_most(schema_proxy, AT_LENGTH_SECONDS / 2):
        answer = send(schema_proxy, topic, version, schema_id, value)
    assert "could not be checked against its schema within 5 seconds" in answer.text.decode()
    assert (answer.status, answer.objects[0]["error_code"]) == (400 if version == "v2" else 200, 400)


@pytest.mark.usefixtures("in_fair_turns")
@pytest.mark.parametrize("version", ["v2", "v3"])
@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 200_000 + "!", "does not match"),
        ({"pattern": "(.?){400}z"}, "t" * 200_000, "does not match"),
        ({"patternProperties": {"(.?){400}z": False}}, {"t" * 200_000: 1}, ""),
        (
            {"pattern": "(.?){400}z"},
            "t" * 800_000,
            "could not be checked against its schema within 5 seconds",
        ),
    ],
    ids=["exponential", "long", "long-name", "too-long"],
)
def test_a_pattern_that_takes_long_to_be_found_stalls_nobody(
    schema_proxy: Proxy, registry: Registry, topic: str, version: str, schema: Any, value: Any, says: str
) -> None:
    schema_id = registry.register(f"{topic}-value", json.dumps(schema), schemaType="JSON")
    send(schema_proxy, topic, version, schema_id, "")  # it knows the schema now
    with stalls_at_most(schema_proxy, A_STALL_SECONDS):
        answer = send(schema_proxy, topic, version, schema_id, value)
    assert says in answer.text.decode()
    assert ("error" in answer.text.decode() and answer.objects[0].get("error_code", 200) != 200) is bool(says)


def test_a_value_that_takes_a_moment_is_taken(schema_proxy: Proxy, registry: Registry, topic: str) -> None:
    schema = json.dumps({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})
    schema_id = registry.register(f"{topic}-value", schema, schemaType="JSON")
    for values, status in ((list(range(20_000)), 200), ([*range(20_000), 5], 400)):
        body = {"value_schema_id": schema_id, "records": [{"value": values}]}
        answer = post(schema_proxy, f"/topics/{topic}", body, JSON_CASE.media_type)
        assert answer.status == status, answer.text[:200]
