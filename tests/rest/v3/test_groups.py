"""Consumer groups, their members, assignments and lags under `/v3`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.client import KafkaConsumer
from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy
from tests.support.cluster_fixture import only_one_broker
from tests.support.processes import wait_for

TOPIC, GROUP = "followed", "followers"


@pytest.fixture(scope="module")
def consumer(proxy: Proxy, broker: InProcessBroker) -> Iterator[KafkaConsumer[Any, Any]]:
    """Has read partition 0 to its end but for three records, and partition 1 but for one."""
    broker.create_topic(TOPIC, 2)
    path = f"{proxy.cluster}/topics/{TOPIC}/records"
    for partition, count in ((0, 5), (1, 2)):
        body = b'{"partition_id": %d, "value": {"type": "JSON", "data": 1}}' % partition
        assert len(proxy.ask("POST", path, body * count).objects) == count
    with KafkaConsumer(
        TOPIC,
        bootstrap_servers=broker.bootstrap_servers,
        group_id=GROUP,
        client_id="reader",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    ) as consumer:
        seen = 0
        while seen < 7:
            seen += len(consumer.poll(1.0))
        partitions = sorted(consumer.assignment())
        consumer.commit({partitions[0]: 2, partitions[1]: 1})
        yield consumer


def members(proxy: Proxy) -> list[Any]:
    found: list[Any] = proxy.get(f"{proxy.cluster}/consumer-groups/{GROUP}/consumers").json["data"]
    return found


@only_one_broker
def test_a_group_and_its_member(proxy: Proxy, consumer: KafkaConsumer[Any, Any]) -> None:
    base = f"http://127.0.0.1:{proxy.port}{proxy.cluster}"
    group = proxy.get(f"{proxy.cluster}/consumer-groups/{GROUP}").json
    assert group == {
        "kind": "KafkaConsumerGroup",
        "metadata": {
            "self": f"{base}/consumer-groups/{GROUP}",
            "resource_name": f"crn:///kafka={proxy.cluster_id}/consumer-group={GROUP}",
        },
        "cluster_id": proxy.cluster_id,
        "consumer_group_id": GROUP,
        "is_simple": False,
        "partition_assignor": group["partition_assignor"],
        "state": "STABLE",
        "type": group["type"],
        "is_mixed_consumer_group": False,
        "coordinator": {"related": f"{base}/brokers/0"},
        "consumers": {"related": f"{base}/consumer-groups/{GROUP}/consumers"},
        "lag_summary": {"related": f"{base}/consumer-groups/{GROUP}/lag-summary"},
    }
    assert group["type"] in ("CLASSIC", "CONSUMER")
    assert group in proxy.get(f"{proxy.cluster}/consumer-groups").json["data"]
    [member] = members(proxy)
    assert (member["kind"], member["client_id"], member["instance_id"]) == ("KafkaConsumer", "reader", None)
    assert proxy.follow(member["metadata"]["self"]).json == member
    first, second = proxy.follow(member["assignments"]["related"]).json["data"]
    assert (first["topic_name"], first["partition_id"], second["partition_id"]) == (TOPIC, 0, 1)
    assert proxy.follow(first["metadata"]["self"]).json == first
    assert proxy.follow(first["partition"]["related"]).json["partition_id"] == 0
    assert proxy.follow(first["lag"]["related"]).json["lag"] == 3


def test_lags(proxy: Proxy, consumer: KafkaConsumer[Any, Any]) -> None:
    [member] = members(proxy)
    listed = proxy.get(f"{proxy.cluster}/consumer-groups/{GROUP}/lags").json
    assert listed["kind"] == "KafkaConsumerLagList"
    numbers = [
        (each["partition_id"], each["current_offset"], each["log_end_offset"], each["lag"])
        for each in listed["data"]
    ]
    assert numbers == [(0, 2, 5, 3), (1, 1, 2, 1)]
    assert {each["consumer_id"] for each in listed["data"]} == {member["consumer_id"]}
    summary = proxy.get(f"{proxy.cluster}/consumer-groups/{GROUP}/lag-summary").json
    assert summary["kind"] == "KafkaConsumerGroupLagSummary"
    assert (summary["max_lag"], summary["total_lag"]) == (3, 4)
    assert (summary["max_lag_topic_name"], summary["max_lag_partition_id"]) == (TOPIC, 0)
    assert summary["max_lag_client_id"] == "reader"
    assert proxy.follow(summary["max_lag_consumer"]["related"]).json == member
    assert proxy.follow(summary["max_lag_partition"]["related"]).status == 200


def test_a_group_without_members_keeps_its_lags(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("left", 1)
    proxy.ask("POST", f"{proxy.cluster}/topics/left/records", b"{}")
    config: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers, "group_id": "leavers"}
    with KafkaConsumer("left", auto_offset_reset="earliest", enable_auto_commit=False, **config) as consumer:
        wait_for(lambda: consumer.poll(1.0), what="the record")
        consumer.commit()
    path = f"{proxy.cluster}/consumer-groups/leavers"
    wait_for(lambda: proxy.get(path).json["state"] == "EMPTY", what="the member to be gone")
    [lag] = proxy.get(f"{path}/lags").json["data"]
    assert (lag["consumer_id"], lag["client_id"], lag["lag"]) == ("", "", 0)
    assert proxy.get(f"{path}/consumers").json["data"] == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/nobody", "Consumer Group nobody could not be found."),
        ("/nobody/consumers", "Consumer Group nobody could not be found."),
        ("/nobody/lags", "Consumer Group nobody could not be found."),
        ("/nobody/lag-summary", "Consumer Group nobody could not be found."),
        (f"/{GROUP}/consumers/nobody", f"Consumer nobody could not be found in group {GROUP}."),
        (f"/{GROUP}/lags/{TOPIC}/partitions/7", f"Consumer group {GROUP} has no offset of {TOPIC}-7."),
    ],
)
def test_what_is_not_there(proxy: Proxy, consumer: KafkaConsumer[Any, Any], path: str, message: str) -> None:
    answer = proxy.get(f"{proxy.cluster}/consumer-groups{path}")
    assert (answer.status, answer.json) == (404, {"error_code": 404, "message": message})
