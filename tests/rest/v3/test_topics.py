"""Clusters, brokers, topics and partitions under `/v3`, as Confluent's proxy shows them."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.client import KafkaAdmin
from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy
from tests.support.cluster_fixture import only_one_broker


@only_one_broker
def test_the_cluster_says_where_everything_is(proxy: Proxy) -> None:
    listed = proxy.get("/v3/clusters").json
    assert listed["kind"] == "KafkaClusterList"
    assert listed["metadata"] == {"self": f"http://127.0.0.1:{proxy.port}/v3/clusters", "next": None}
    [cluster] = listed["data"]
    base = f"http://127.0.0.1:{proxy.port}{proxy.cluster}"
    assert cluster == {
        "kind": "KafkaCluster",
        "metadata": {"self": base, "resource_name": f"crn:///kafka={proxy.cluster_id}"},
        "cluster_id": proxy.cluster_id,
        "controller": {"related": f"{base}/brokers/0"},
        "acls": {"related": f"{base}/acls"},
        "brokers": {"related": f"{base}/brokers"},
        "broker_configs": {"related": f"{base}/broker-configs"},
        "consumer_groups": {"related": f"{base}/consumer-groups"},
        "topics": {"related": f"{base}/topics"},
        "partition_reassignments": {"related": f"{base}/topics/-/partitions/-/reassignment"},
    }
    assert proxy.follow(base).json == cluster
    for name in ("controller", "brokers", "broker_configs", "topics", "partition_reassignments"):
        assert proxy.follow(cluster[name]["related"]).status == 200


@only_one_broker
def test_brokers(proxy: Proxy, broker: InProcessBroker) -> None:
    [found] = proxy.get(f"{proxy.cluster}/brokers").json["data"]
    assert (found["broker_id"], found["host"], found["port"], found["rack"]) == (
        0,
        "127.0.0.1",
        broker.port,
        None,
    )
    assert found["metadata"]["resource_name"] == f"crn:///kafka={proxy.cluster_id}/broker=0"
    assert proxy.follow(found["metadata"]["self"]).json == found
    assert proxy.follow(found["configs"]["related"]).status == 200
    broker.create_topic("replicated", 2)
    replicas = proxy.follow(found["partition_replicas"]["related"]).json["data"]
    assert [each["partition_id"] for each in replicas if each["topic_name"] == "replicated"] == [0, 1]
    missing = proxy.get(f"{proxy.cluster}/brokers/9")
    assert (missing.status, missing.json["message"]) == (404, "Broker 9 cannot be found.")
    assert proxy.get(f"{proxy.cluster}/brokers/x").json["message"].startswith("broker_id: got 'x', takes")


def test_a_topic_from_its_creation_to_its_end(proxy: Proxy, broker: InProcessBroker) -> None:
    topics = f"{proxy.cluster}/topics"
    new = {
        "topic_name": "life-1",
        "partitions_count": 2,
        "replication_factor": 1,
        "configs": [
            {"name": "cleanup.policy", "value": "compact"},
            {"name": "retention.ms", "value": "1000"},
        ],
    }
    dry = proxy.ask("POST", topics, {**new, "validate_only": True})
    assert (dry.status, dry.json["partitions_count"]) == (200, 2)
    assert proxy.get(f"{topics}/life-1").status == 404
    made = proxy.ask("POST", topics, new)
    assert made.status == 201
    base = f"http://127.0.0.1:{proxy.port}{topics}/life-1"
    assert made.headers["location"] == base
    assert made.json == {
        "kind": "KafkaTopic",
        "metadata": {"self": base, "resource_name": f"crn:///kafka={proxy.cluster_id}/topic=life-1"},
        "cluster_id": proxy.cluster_id,
        "topic_name": "life-1",
        "is_internal": False,
        "replication_factor": 1,
        "partitions_count": 2,
        "partitions": {"related": f"{base}/partitions"},
        "configs": {"related": f"{base}/configs"},
        "partition_reassignments": {"related": f"{base}/partitions/-/reassignment"},
        "authorized_operations": [],
    }
    assert proxy.follow(base).json == made.json
    assert "life-1" in [each["topic_name"] for each in proxy.get(topics).json["data"]]
    again = proxy.ask("POST", topics, new)
    assert (again.status, again.json["error_code"]) == (400, 40002)
    assert again.json["message"] == "Topic 'life-1' already exists."
    wider = proxy.ask("PATCH", f"{topics}/life-1", {"partitions_count": 5})
    assert (wider.status, wider.json["partitions_count"]) == (200, 5)
    narrower = proxy.ask("PATCH", f"{topics}/life-1", {"partitions_count": 3})
    assert (narrower.status, narrower.json["error_code"]) == (400, 40002)
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        described = admin.describe_topics(["life-1"])["life-1"]
        assert len(described.partitions) == 5
    assert proxy.ask("DELETE", f"{topics}/life-1").status == 204
    for method, body in (("GET", None), ("DELETE", None), ("PATCH", {"partitions_count": 9})):
        gone = proxy.ask(method, f"{topics}/life-1", body)
        assert (gone.status, gone.json["error_code"]) == (404, 40403)


@only_one_broker
def test_replicas_can_be_assigned(proxy: Proxy) -> None:
    body: dict[str, Any] = {"topic_name": "assigned", "replicas_assignments": {"0": [0], "1": [0]}}
    made = proxy.ask("POST", f"{proxy.cluster}/topics", body)
    assert (made.status, made.json["partitions_count"], made.json["replication_factor"]) == (201, 2, 1)
    assert len(proxy.follow(made.json["partitions"]["related"]).json["data"]) == 2


def test_what_the_proxy_may_do_with_a_topic_is_told_if_asked(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("allowed", 1)
    path = f"{proxy.cluster}/topics/allowed"
    assert proxy.get(path).json["authorized_operations"] == []
    operations = proxy.get(f"{path}?include_authorized_operations=true").json["authorized_operations"]
    assert {"READ", "WRITE", "DELETE", "DESCRIBE_CONFIGS"} <= set(operations)


BAD_TOPICS = [
    ({}, 422, 422, "topic_name: is missing"),
    ({"topic_name": 7}, 400, 400, "topic_name: got 7, takes a string"),
    (
        {"topic_name": "t", "partitions_count": "two"},
        400,
        400,
        "partitions_count: got 'two', takes an integer",
    ),
    (
        {"topic_name": "t", "partitions_count": 2**40},
        400,
        400,
        f"partitions_count: got {2**40}, takes a number",
    ),
    ({"topic_name": "t", "partitions_count": 0}, 400, 40002, "Number of partitions"),
    ({"topic_name": "t", "replication_factor": 5}, 400, 40002, ""),
    ({"topic_name": "a b"}, 400, 40002, ""),
    ({"topic_name": "t", "configs": [{"value": "x"}]}, 422, 422, "configs[0].name: is missing"),
    ({"topic_name": "t", "configs": {"a": "b"}}, 400, 400, "configs: got an object, takes an array"),
    ({"topic_name": "t", "configs": [{"name": "retention.ms", "value": "x"}]}, 400, 40002, ""),
    ({"topic_name": "t", "validate_only": "yes"}, 400, 400, "validate_only: got 'yes', takes true or false"),
    (
        {"topic_name": "t", "partitions_count": 1, "replicas_assignments": {"0": [0]}},
        400,
        400,
        "replicas_assignments: takes neither",
    ),
    ({"topic_name": "t", "replicas_assignments": {"x": [0]}}, 400, 400, "replicas_assignments.x: got 'x'"),
    ({"topic_name": "t", "replicas_assignments": {"0": 0}}, 400, 400, "replicas_assignments.0: got 0"),
    ([], 422, 422, "Request body: got an array, takes a JSON object"),
    (b"{", 400, 400, "Request body is not JSON"),
]


@pytest.mark.parametrize(("body", "status", "error_code", "message"), BAD_TOPICS)
def test_a_bad_topic_is_told_which_field_is_wrong(
    proxy: Proxy, body: Any, status: int, error_code: int, message: str
) -> None:
    answer = proxy.ask("POST", f"{proxy.cluster}/topics", body)
    assert (answer.status, answer.json["error_code"]) == (status, error_code), answer.text
    assert answer.json["message"].startswith(message)


@only_one_broker
def test_partitions_and_replicas(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("parts", 3)
    path = f"{proxy.cluster}/topics/parts/partitions"
    listed = proxy.get(path).json
    assert (listed["kind"], [each["partition_id"] for each in listed["data"]]) == (
        "KafkaPartitionList",
        [0, 1, 2],
    )
    second = listed["data"][1]
    assert second["metadata"]["resource_name"].endswith("/topic=parts/partition=1")
    assert proxy.follow(second["metadata"]["self"]).json == second
    replica = proxy.follow(second["leader"]["related"]).json
    assert (replica["broker_id"], replica["is_leader"], replica["is_in_sync"]) == (0, True, True)
    assert proxy.follow(second["replicas"]["related"]).json["data"] == [replica]
    assert proxy.follow(replica["broker"]["related"]).json["broker_id"] == 0
    assert proxy.get(f"{path}/1/replicas/5").status == 404
    assert proxy.get(f"{path}/7").status == 404
    assert proxy.get(f"{path}/x").json["message"].startswith("partition_id: got 'x'")
    assert proxy.get(f"{proxy.cluster}/topics/nowhere/partitions").json["error_code"] == 40403


def test_offsets_of_a_partition(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("measured", 1)
    path = f"{proxy.cluster}/topics/measured"
    proxy.ask("POST", f"{path}/records", b"{}{}{}")
    offsets = proxy.get(f"{path}/partitions/0/offset").json
    assert (offsets["kind"], offsets["earliest_offset"], offsets["latest_offset"]) == (
        "KafkaPartitionWithOffsets",
        0,
        3,
    )
    other = proxy.get(f"{path}/partitions/0/offset?offset_type=middle")
    assert (other.status, other.json["message"]) == (
        400,
        "offset_type: got 'middle', takes earliest_and_latest",
    )
    assert proxy.get(f"{path}/partitions/1/offset").status == 404


def test_nothing_is_being_reassigned(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("settled", 1)
    for topic in ("-", "settled"):
        listed = proxy.get(f"{proxy.cluster}/topics/{topic}/partitions/-/reassignment").json
        assert (listed["kind"], listed["data"]) == ("KafkaReassignmentList", [])
    one = proxy.get(f"{proxy.cluster}/topics/settled/partitions/0/reassignment")
    assert (one.status, one.json["error_code"]) == (404, 404)


def test_another_cluster_and_unknown_paths_are_not_found(proxy: Proxy) -> None:
    for path in ("", "/topics", "/brokers", "/broker-configs", "/topics/t/partitions/0/replicas"):
        answer = proxy.get(f"/v3/clusters/other{path}")
        assert (answer.status, answer.json["message"]) == (404, "Cluster other cannot be found.")
    assert proxy.get("/v3/nothing").json == {"error_code": 404, "message": "HTTP 404 Not Found"}
    assert proxy.ask("PUT", f"{proxy.cluster}/topics", {}).status == 405
    assert proxy.ask("POST", f"{proxy.cluster}/topics", b"x", {"Content-Type": "text/plain"}).status == 415


@pytest.mark.parametrize("accept", ["*", "*/json", "*/*", "text/html, */json;q=0.5"])
def test_what_clients_take(proxy: Proxy, accept: str) -> None:
    answer = proxy.get(f"{proxy.cluster}/topics", {"Accept": accept})
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize("accept", ["*/xml", "text/*", "*/json;q=0"])
def test_what_they_take_is_not_there(proxy: Proxy, accept: str) -> None:
    assert proxy.get(f"{proxy.cluster}/topics", {"Accept": accept}).status == 406
