"""The description of the API is that of the API: every route is in it, and Confluent's operations are among them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from penstock.rest.v3.new_records import RECORD, NewRecord, read_record
from penstock.web.errors import HttpError
from tests.rest.proxy import Proxy

CONFLUENTS = """
GET /clusters
GET /clusters/{}
GET /clusters/{}/acls
POST /clusters/{}/acls
DELETE /clusters/{}/acls
POST /clusters/{}/acls:batch
GET /clusters/{}/broker-configs
POST /clusters/{}/broker-configs:alter
GET /clusters/{}/broker-configs/{}
PUT /clusters/{}/broker-configs/{}
DELETE /clusters/{}/broker-configs/{}
GET /clusters/{}/brokers
GET /clusters/{}/brokers/{}
GET /clusters/{}/brokers/-/configs
GET /clusters/{}/brokers/{}/configs
POST /clusters/{}/brokers/{}/configs:alter
GET /clusters/{}/brokers/{}/configs/{}
PUT /clusters/{}/brokers/{}/configs/{}
DELETE /clusters/{}/brokers/{}/configs/{}
GET /clusters/{}/brokers/{}/partition-replicas
GET /clusters/{}/consumer-groups
GET /clusters/{}/consumer-groups/{}
GET /clusters/{}/consumer-groups/{}/consumers
GET /clusters/{}/consumer-groups/{}/consumers/{}
GET /clusters/{}/consumer-groups/{}/consumers/{}/assignments
GET /clusters/{}/consumer-groups/{}/consumers/{}/assignments/{}/partitions/{}
GET /clusters/{}/consumer-groups/{}/lag-summary
GET /clusters/{}/consumer-groups/{}/lags
GET /clusters/{}/consumer-groups/{}/lags/{}/partitions/{}
GET /clusters/{}/topics
POST /clusters/{}/topics
GET /clusters/{}/topics/{}
PATCH /clusters/{}/topics/{}
DELETE /clusters/{}/topics/{}
GET /clusters/{}/topics/-/configs
GET /clusters/{}/topics/{}/configs
POST /clusters/{}/topics/{}/configs:alter
GET /clusters/{}/topics/{}/configs/{}
PUT /clusters/{}/topics/{}/configs/{}
DELETE /clusters/{}/topics/{}/configs/{}
GET /clusters/{}/topics/{}/partitions
GET /clusters/{}/topics/{}/partitions/{}
GET /clusters/{}/topics/{}/partitions/{}/offset
GET /clusters/{}/topics/-/partitions/-/reassignment
GET /clusters/{}/topics/{}/partitions/-/reassignment
GET /clusters/{}/topics/{}/partitions/{}/reassignment
GET /clusters/{}/topics/{}/partitions/{}/replicas
GET /clusters/{}/topics/{}/partitions/{}/replicas/{}
POST /clusters/{}/topics/{}/records
POST /clusters/{}/topics/{}/records:batch
""".strip().splitlines()
V2 = """
GET /
GET /brokers
GET /topics
GET /topics/{}
POST /topics/{}
GET /topics/{}/partitions
GET /topics/{}/partitions/{}
POST /topics/{}/partitions/{}
GET /topics/{}/partitions/{}/offsets
POST /consumers/{}
DELETE /consumers/{}/instances/{}
POST /consumers/{}/instances/{}/subscription
GET /consumers/{}/instances/{}/subscription
DELETE /consumers/{}/instances/{}/subscription
POST /consumers/{}/instances/{}/assignments
GET /consumers/{}/instances/{}/assignments
POST /consumers/{}/instances/{}/positions
POST /consumers/{}/instances/{}/positions/beginning
POST /consumers/{}/instances/{}/positions/end
POST /consumers/{}/instances/{}/offsets
GET /consumers/{}/instances/{}/offsets
GET /consumers/{}/instances/{}/records
""".strip().splitlines()
OURS = ["GET /clusters/{}/topics/{}/partitions/{}/records", "GET /clusters/{}/topics/{}/records"]


def test_it_has_confluents_operations_and_ours(proxy: Proxy) -> None:
    described = proxy.get("/openapi.json").json
    found = [
        f"{method.upper()} {re.sub('{[a-z_]+}', '{}', path)}"
        for path, methods in described["paths"].items()
        for method in methods
    ]
    assert sorted(each for each in found if " /v3/" not in each) == sorted(V2)
    v3 = [each.replace(" /v3/", " /") for each in found if " /v3/" in each]
    assert sorted(v3) == sorted(CONFLUENTS + OURS)


def test_bodies_are_described_in_the_media_types_that_are_taken(proxy: Proxy) -> None:
    described = proxy.get("/openapi.json").json["paths"]["/topics/{topic_name}"]["post"]
    taken = described["requestBody"]["content"]
    assert list(taken) == [
        f"application/vnd.kafka.{name}.v2+json"
        for name in ("binary", "json", "avro", "jsonschema", "protobuf")
    ]
    for media_type in (*taken, "application/json", "application/vnd.kafka.xml.v2+json"):
        answer = proxy.ask("POST", "/topics/described", {}, {"Content-Type": media_type})
        assert (answer.status == 415) == (media_type not in taken)


def test_every_operation_is_answered_and_has_a_summary_and_an_id_of_its_own(proxy: Proxy) -> None:
    described = proxy.get("/openapi.json").json
    ids = []
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            ids.append(operation["operationId"])
            assert operation["summary"].endswith(".")
            named = [each["name"] for each in operation["parameters"] if each["in"] == "path"]
            assert named == re.findall("{([a-z_]+)}", path)
            asked = re.sub("{[a-z_]+}", "0", path)  # another cluster: refused by its handler, not the router
            headers = {"Content-Type": next(iter(operation.get("requestBody", {}).get("content", [""])))}
            body = {} if method in ("post", "put", "patch") else None
            answer = proxy.ask(method.upper(), asked, body, headers)
            assert b"HTTP 404 Not Found" not in answer.text
            assert answer.status != 405
    assert len(ids) == len(set(ids))


def test_references_lead_somewhere(proxy: Proxy) -> None:
    answer = proxy.get("/openapi.json")
    schemas = answer.json["components"]["schemas"]
    names = set(re.findall(r'"#/components/schemas/(\w+)"', answer.text.decode()))
    assert names == set(schemas)
    assert schemas["CreateTopicRequest"]["required"] == ["topic_name"]
    assert schemas["CreateAclRequest"]["properties"]["permission"]["enum"] == ["DENY", "ALLOW"]


def read_known(given: Any) -> NewRecord:
    return read_record(given, "orders", lambda choice: None)


def test_a_record_is_described_as_it_is_read(proxy: Proxy) -> None:
    """The two are written apart: what the description takes is taken, and what it does not is refused."""
    data = {"type": "JSON", "data": [1]}
    full = {"partition_id": 0, "headers": [{"name": "h"}], "key": data, "value": data}
    full["timestamp"] = "2021-02-05T19:14:42Z"
    assert RECORD.check("", full) == full
    assert list(RECORD.fields) == list(full)
    assert read_known(full).partition == 0
    for name in full:
        for read in (read_known, lambda given: RECORD.check("", given)):
            with pytest.raises(HttpError, match=f"^{name}: got 1.5, takes"):
                read({**full, name: 1.5})


def test_the_page_needs_nothing_from_elsewhere(proxy: Proxy) -> None:
    page = proxy.get("/docs", {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"/v3/clusters/{cluster_id}/topics/{topic_name}/records:batch" in page.text
    assert re.findall(rb"https?://|src=", page.text) == []
