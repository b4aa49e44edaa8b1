"""Partitions by hand, and where in them to go on."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.client import KafkaAdmin, KafkaProducer
from penstock.testing.in_process import InProcessBroker
from penstock.types import TopicPartition
from tests.rest.proxy import Proxy
from tests.rest.v2.consumers.instance import Instance, partitions_of, produce, unique

EXCLUSIVE = "Illegal state: Subscription to topics, partitions and pattern are mutually exclusive"
DAY_MS = 86_400_000


def test_partitions_by_hand(proxy: Proxy, broker: InProcessBroker, group: str, topic: str) -> None:
    produce(broker.bootstrap_servers, topic, 1, partition=0)
    produce(broker.bootstrap_servers, topic, 2, partition=1)
    instance = Instance(proxy, group, "json")
    assert instance.get("assignments").json == {"partitions": []}
    instance.assign(topic, 1)
    assert instance.get("assignments").json == {"partitions": [{"topic": topic, "partition": 1}]}
    assert instance.read_values(1) == [2]
    instance.assign(topic, 0, 1)  # what is kept goes on
    assert instance.read_values(1) == [1]
    assert instance.read("?timeout=1") == []
    instance.assign(topic)
    assert instance.assignments() == []
    instance.subscribe(topic)


def test_subscription_pattern_and_partitions_exclude_each_other(proxy: Proxy, group: str, topic: str) -> None:
    assigned, subscribed = Instance(proxy, group), Instance(proxy, group)
    assigned.assign(topic, 0)
    subscribed.subscribe(topic)
    for said in (
        assigned.post("subscription", {"topics": [topic]}),
        assigned.post("subscription", {"topic_pattern": ".*"}),
        subscribed.post("assignments", partitions_of(topic, 0)),
        subscribed.post("subscription", {"topic_pattern": ".*"}),
    ):
        assert (said.status, said.json) == (409, {"error_code": 40903, "message": EXCLUSIVE})
    assert subscribed.delete("subscription").status == 204
    assert subscribed.get("subscription").json == {"topics": []}
    assert subscribed.post("assignments", partitions_of(topic, 0)).status == 204


def test_beginning_end_and_offsets(proxy: Proxy, broker: InProcessBroker, group: str, topic: str) -> None:
    produce(broker.bootstrap_servers, topic, 0, 1, 2)
    instance = Instance(proxy, group, "json")
    instance.assign(topic, 0, 1)
    assert instance.post("positions/end", partitions_of(topic, 0)).status == 204
    assert instance.read("?timeout=1") == []
    assert instance.post("positions/beginning", partitions_of(topic, 0, 1)).status == 204
    assert instance.read_values(3) == [0, 1, 2]
    offsets = {"offsets": [{"topic": topic, "partition": 0, "offset": 2, "metadata": "m"}]}
    assert instance.post("positions", offsets).status == 204
    assert instance.read_values(1) == [2]
    beyond = {"offsets": [{"topic": topic, "partition": 0, "offset": 900}]}
    assert instance.post("positions", beyond).status == 204
    assert instance.read_values(3) == [0, 1, 2]  # out of range: where auto.offset.reset says


def test_times(proxy: Proxy, broker: InProcessBroker, group: str) -> None:
    topic = unique("dated")
    broker.create_topic(topic, 1, {"retention.ms": "-1"})  # its records are years old
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for day in range(3):
            producer.send(topic, str(day).encode(), partition=0, timestamp_ms=(18628 + day) * DAY_MS).result(
                30
            )
    instance = Instance(proxy, group, "json")
    instance.assign(topic, 0)

    def seek(time: str) -> None:
        body = {"timestamps": [{"topic": topic, "partition": 0, "timestamp": time}]}
        assert instance.post("positions", body).status == 204

    seek("2021-01-01T12:00:00Z")
    assert instance.read_values(2) == [1, 2]
    seek("2031-01-01T00:00:00Z")
    assert instance.read("?timeout=1") == []


def test_records_that_are_deleted_are_left_behind(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    produce(broker.bootstrap_servers, topic, *range(5))
    instance = Instance(proxy, group, "json")
    instance.assign(topic, 0)
    assert instance.read("?max_bytes=1")[0]["value"] == 0
    assert (
        instance.post("positions", {"offsets": [{"topic": topic, "partition": 0, "offset": 1}]}).status == 204
    )
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.delete_records({TopicPartition(topic, 0): 4})
    assert instance.read_values(1) == [4]


@pytest.mark.parametrize("path", ["positions", "positions/beginning", "positions/end"])
def test_what_is_not_assigned_has_no_position(proxy: Proxy, group: str, topic: str, path: str) -> None:
    instance = Instance(proxy, group)
    instance.assign(topic, 0)
    offsets = {"offsets": [{"topic": topic, "partition": 1, "offset": 0}]}
    body: dict[str, Any] = offsets if path == "positions" else partitions_of(topic, 1)
    said = instance.post(path, body)
    assert (said.status, said.json) == (
        409,
        {"error_code": 40903, "message": f"Illegal state: No current assignment for partition {topic}-1"},
    )


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("assignments", {}, 422, "partitions: is missing"),
        ("assignments", {"partitions": 1}, 400, "partitions: got 1, takes an array"),
        ("assignments", {"partitions": [{}]}, 422, "partitions[0].topic: is missing"),
        ("assignments", {"partitions": [{"topic": "t"}]}, 422, "partitions[0].partition: is missing"),
        ("assignments", partitions_of("t", -1), 400, "partitions[0].partition: got -1, takes 0 or more"),
        ("positions", {"offsets": [{"topic": "t", "partition": 0}]}, 422, "offsets[0].offset: is missing"),
        (
            "positions",
            {"offsets": [{"topic": "t", "partition": 0, "offset": -2}]},
            400,
            "offsets[0].offset: got -2, takes 0 or more",
        ),
        (
            "positions",
            {"timestamps": [{"topic": "t", "partition": 0, "timestamp": "noon"}]},
            400,
            "timestamps[0].timestamp: got 'noon', takes a time",
        ),
        ("positions/end", None, 422, "Request body: must not be empty"),
        ("subscription", {}, 422, "topics or topic_pattern: is missing"),
        ("subscription", {"topics": "t"}, 400, "topics: got 't', takes an array"),
        ("subscription", {"topics": ["a", 1]}, 400, "topics[1]: got 1, takes the name of a topic"),
        (
            "subscription",
            {"topic_pattern": "("},
            400,
            "topic_pattern: got '(', takes a regular expression (missing",
        ),
        ("offsets", {"offsets": [{"topic": "t"}]}, 422, "offsets[0].partition: is missing"),
    ],
)
def test_a_bad_request_is_told_which_field_is_wrong(
    proxy: Proxy, group: str, path: str, body: Any, status: int, message: str
) -> None:
    said = Instance(proxy, group).post(path, body)
    assert (said.status, said.json["error_code"]) == (status, status)
    assert said.json["message"].startswith(message)


def test_a_body_of_another_media_type_is_refused(proxy: Proxy, group: str) -> None:
    instance = Instance(proxy, group)
    said = proxy.ask("POST", f"{instance.path}/subscription", b"<a/>", {"Content-Type": "text/xml"})
    assert (said.status, said.json["error_code"]) == (415, 415)
