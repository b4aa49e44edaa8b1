"""Topics, partitions and brokers, as v2 tells of them."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy
from tests.rest.v2.test_produce import V2, post
from tests.support.cluster_fixture import only_one_broker


@pytest.fixture(scope="module", autouse=True)
def topics(broker: InProcessBroker, proxy: Proxy) -> None:
    broker.create_topic("v2-wide", 2, configs={"cleanup.policy": "compact"})
    post(proxy, "/topics/v2-wide/partitions/1", {"records": [{"key": str(n), "value": n} for n in range(7)]})


@pytest.fixture(scope="module")
def broker_id(proxy: Proxy) -> int:
    [number] = proxy.get("/brokers").json["brokers"]
    return number


def expected(number: int, broker_id: int) -> dict[str, Any]:
    replica = {"broker": broker_id, "leader": True, "in_sync": True}
    return {"partition": number, "leader": broker_id, "replicas": [replica]}


def test_the_root_says_that_it_is_there(proxy: Proxy) -> None:
    answer = proxy.get("/", {"Accept": V2})
    assert (answer.status, answer.headers["content-type"], answer.json) == (200, V2, {})


@only_one_broker
def test_topics(proxy: Proxy, broker_id: int) -> None:
    assert "v2-wide" in proxy.get("/topics").json
    found = proxy.get("/topics/v2-wide").json
    assert found["name"] == "v2-wide"
    assert found["configs"]["cleanup.policy"] == "compact"
    assert found["partitions"] == [expected(0, broker_id), expected(1, broker_id)]


@only_one_broker
def test_partitions(proxy: Proxy, broker_id: int) -> None:
    assert proxy.get("/topics/v2-wide/partitions").json == [expected(0, broker_id), expected(1, broker_id)]
    assert proxy.get("/topics/v2-wide/partitions/1").json == expected(1, broker_id)
    assert proxy.get("/topics/v2-wide/partitions/1/offsets").json == {"beginning_offset": 0, "end_offset": 7}


NOT_FOUND = [
    ("/topics/nowhere", 404, 40401, "Topic not found."),
    ("/topics/no%20where", 404, 40401, "Topic not found."),
    ("/topics/nowhere/partitions", 404, 40401, "Topic not found."),
    ("/topics/nowhere/partitions/0", 404, 40401, "Topic not found."),
    ("/topics/nowhere/partitions/0/offsets", 404, 40401, "Topic not found."),
    ("/topics/v2-wide/partitions/9", 404, 40402, "Partition not found."),
    ("/topics/v2-wide/partitions/9/offsets", 404, 40402, "Partition not found."),
    ("/topics/v2-wide/partitions/x", 400, 400, "partition_id: got 'x', takes an integer of at least 0"),
    ("/topics/v2-wide/leaders", 404, 404, "HTTP 404 Not Found"),
]


@pytest.mark.parametrize(("path", "status", "error_code", "message"), NOT_FOUND)
def test_what_is_not_there(proxy: Proxy, path: str, status: int, error_code: int, message: str) -> None:
    answer = proxy.get(path)
    assert (answer.status, answer.json) == (status, {"error_code": error_code, "message": message})
    assert "nowhere" not in proxy.get("/topics").json


def test_other_media_types_and_methods_are_refused(proxy: Proxy) -> None:
    assert proxy.get("/topics", {"Accept": "text/html"}).status == 406
    assert proxy.get("/brokers", {"Accept": "application/json"}).headers["content-type"] == "application/json"
    deleted = proxy.ask("DELETE", "/topics/v2-wide")
    assert (deleted.status, deleted.json["error_code"]) == (405, 405)
