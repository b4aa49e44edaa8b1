"""The proxy in front of Apache Kafka: what only several brokers or an authorizer can show, and the rest in short."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.rest.proxy import Proxy, running
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

ALICE = {
    "resource_type": "TOPIC",
    "resource_name": "orders-",
    "pattern_type": "PREFIXED",
    "principal": "User:alice",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
BOB = {
    **ALICE,
    "resource_type": "GROUP",
    "resource_name": "g",
    "pattern_type": "LITERAL",
    "principal": "User:bob",
}


@pytest.fixture(scope="module")
@starts_processes
def proxy(apache: KafkaServer) -> Iterator[Proxy]:
    with running(apache.bootstrap) as found:
        yield found


def acls(proxy: Proxy, **wanted: str) -> list[Any]:
    found: list[Any] = proxy.get(f"{proxy.cluster}/acls?{urlencode(wanted)}").json["data"]
    return found


def words(acl: dict[str, str]) -> dict[str, str]:
    return {name: acl[name] for name in ALICE}


def test_acls_are_made_found_and_deleted(proxy: Proxy) -> None:
    path = f"{proxy.cluster}/acls"
    made = proxy.ask("POST", path, ALICE)
    assert (made.status, made.text) == (201, b"")
    wait_for(lambda: proxy.follow(made.headers["location"]).json["data"], what="the entry to be there")
    assert proxy.ask("POST", f"{path}:batch", {"data": [BOB, {**BOB, "operation": "describe"}]}).status == 204
    wait_for(lambda: len(acls(proxy)) == 3, what="all entries to be there")
    first, *others = acls(proxy)
    assert (first["kind"], first["cluster_id"], words(first)) == ("KafkaAcl", proxy.cluster_id, ALICE)
    assert [each["operation"] for each in others] == ["READ", "DESCRIBE"]
    assert [words(each) for each in acls(proxy, principal="User:bob", operation="read")] == [BOB]
    assert proxy.follow(first["metadata"]["self"]).json["data"] == [first]
    filters = {"resource_type": "GROUP", "pattern_type": "any", "operation": "any", "permission": "any"}
    deleted = proxy.ask("DELETE", f"{path}?{urlencode(filters)}")
    assert (deleted.status, [words(each)["principal"] for each in deleted.json["data"]]) == (
        200,
        ["User:bob"] * 2,
    )
    wait_for(lambda: [words(each) for each in acls(proxy)] == [ALICE], what="the others to be gone")


@pytest.mark.parametrize(
    ("method", "query", "body", "status", "message"),
    [
        ("DELETE", "", None, 400, "resource_type cannot be unspecified or UNKNOWN"),
        ("GET", "?operation=fly", None, 400, "operation: got 'fly', takes one of ANY, ALL, READ"),
        ("POST", "", {}, 422, "resource_type: is missing"),
        ("POST", "", {**ALICE, "permission": "ANY"}, 400, "permission: got 'ANY', takes one of DENY, ALLOW"),
        ("POST", "", {**ALICE, "principal": "alice"}, 400, "(pattern=ResourcePattern(resourceType=TOPIC"),
        ("POST", ":batch", {"data": [ALICE, {"host": 1}]}, 422, "data[1].resource_type: is missing"),
    ],
)
def test_a_bad_acl_is_told_which_field_is_wrong(
    proxy: Proxy, method: str, query: str, body: Any, status: int, message: str
) -> None:
    answer = proxy.ask(method, f"{proxy.cluster}/acls{query}", body)
    assert answer.status == status, answer.text
    assert answer.json["message"].startswith(message)


def groups(proxy: Proxy) -> list[str]:
    return [
        group["consumer_group_id"] for group in proxy.get(f"{proxy.cluster}/consumer-groups").json["data"]
    ]


def test_topics_configs_and_records(proxy: Proxy) -> None:
    before = groups(proxy)
    topics = f"{proxy.cluster}/topics"
    made = proxy.ask("POST", topics, {"topic_name": "orders", "partitions_count": 2})
    assert (made.status, made.json["replication_factor"]) == (201, 1)
    wait_for(lambda: proxy.get(f"{topics}/orders").status == 200, what="the topic to be known")
    assert proxy.ask("PUT", f"{topics}/orders/configs/retention.ms", {"value": "5000"}).status == 204
    config = wait_for(
        lambda: (
            (found := proxy.get(f"{topics}/orders/configs/retention.ms").json)["value"] == "5000" and found
        )
    )
    assert config["source"] == "DYNAMIC_TOPIC_CONFIG"
    record = {"partition_id": 1, "value": {"type": "JSON", "data": {"cups": 2}}}
    answers = proxy.ask("POST", f"{topics}/orders/records", chunks=[json.dumps(record).encode()] * 3).objects
    assert [each["offset"] for each in answers] == [0, 1, 2]
    assert proxy.get(f"{topics}/orders/partitions/1/offset").json["latest_offset"] == 3
    entries = [{"id": str(number), **record} for number in range(10)]
    batch = proxy.ask("POST", f"{topics}/orders/records:batch", {"entries": entries}).json
    assert (len(batch["successes"]), batch["failures"]) == (10, [])
    read = proxy.get(f"{topics}/orders/partitions/1/records?offset=3&value_type=JSON").json
    assert [each["value"]["data"] for each in read["data"]] == [{"cups": 2}] * 10
    connection = proxy.connection()
    connection.request("GET", f"{topics}/orders/records?from=earliest&value_type=JSON")
    stream = connection.getresponse()
    assert [stream.readline() for _ in range(3)] == [b"retry: 1000\n", b"\n", b"id: 0:0,1:1\n"]
    connection.close()
    assert groups(proxy) == before
    assert proxy.ask("DELETE", f"{topics}/orders").status == 204


def test_v2(proxy: Proxy) -> None:
    made = proxy.ask("POST", f"{proxy.cluster}/topics", {"topic_name": "v2-orders", "partitions_count": 2})
    assert made.status == 201
    wait_for(lambda: proxy.get("/topics/v2-orders").status == 200, what="the topic to be known")
    headers = {
        "Content-Type": "application/vnd.kafka.json.v2+json",
        "Accept": "application/vnd.kafka.v2+json",
    }
    body = {"records": [{"value": {"cups": number}} for number in range(3)]}
    answer = proxy.ask("POST", "/topics/v2-orders/partitions/1", body, headers)
    assert [each["offset"] for each in answer.json["offsets"]] == [0, 1, 2]
    assert proxy.get("/topics/v2-orders/partitions/1/offsets").json == {
        "beginning_offset": 0,
        "end_offset": 3,
    }
    [first, second] = proxy.get("/topics/v2-orders").json["partitions"]
    assert (first["partition"], second["replicas"][0]["in_sync"]) == (0, True)
    assert proxy.get("/topics/nowhere").json["error_code"] == 40401
    missing = proxy.ask("POST", "/topics/v2-orders/partitions/7", body, headers)
    assert (missing.status, missing.json["error_code"]) == (404, 40402)
