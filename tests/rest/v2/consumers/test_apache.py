"""Consumer instances in front of Apache Kafka: its coordinator, its transactions, its own consumers beside ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.client import KafkaAdmin, KafkaConsumer, KafkaProducer
from tests.rest.proxy import Proxy, running
from tests.rest.v2.consumers.conftest import QUICK
from tests.rest.v2.consumers.instance import Instance, partitions_of, produce, unique
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for


@pytest.fixture(scope="module")
def proxy(apache: KafkaServer) -> Iterator[Proxy]:
    with running(apache.bootstrap, **QUICK) as proxy:
        yield proxy


@pytest.fixture
def topic(apache: KafkaServer) -> str:
    name = unique("topic")
    with KafkaAdmin(bootstrap_servers=apache.bootstrap) as admin:
        admin.create_topic(name, partitions=2)
    return name


def test_subscribe_read_commit_and_go_on(proxy: Proxy, apache: KafkaServer, group: str, topic: str) -> None:
    produce(apache.bootstrap, topic, *range(10))
    instance = Instance(proxy, group, "json", auto_commit_enable=False)
    instance.subscribe(topic)
    assert instance.read_values(4, "?max_bytes=4") == [0, 1, 2, 3]
    instance.commit()
    assert instance.committed(topic, 0)[0] == 4
    assert instance.post("positions/end", partitions_of(topic, 0)).status == 204
    assert instance.delete().status == 204
    follower = Instance(proxy, group, "json")
    follower.subscribe(topic)
    assert follower.read_values(6) == [4, 5, 6, 7, 8, 9]


def test_instances_and_others_share_a_group(
    proxy: Proxy, apache: KafkaServer, group: str, topic: str
) -> None:
    first, second = Instance(proxy, group), Instance(proxy, group)
    first.subscribe(topic)
    first.wait_for_assignments(2)
    assert second.post("subscription", {"topic_pattern": f"{topic}|none"}).status == 204
    second.wait_for_assignments(1)
    first.wait_for_assignments(1)
    assert second.delete().status == 204
    first.wait_for_assignments(2)
    with KafkaConsumer(
        topic, bootstrap_servers=apache.bootstrap, group_id=group, heartbeat_interval_ms=100
    ) as consumer:

        def is_shared() -> bool:
            consumer.poll(timeout=0.1)
            return len(consumer.assignment()) == 1 == len(first.assignments())

        wait_for(is_shared, what="the partitions to be shared")


def test_compressed_batches_and_markers(proxy: Proxy, apache: KafkaServer, group: str, topic: str) -> None:
    config = {
        "bootstrap.servers": apache.bootstrap,
        "transactional.id": unique("t"),
        "compression.type": "zstd",
    }
    with KafkaProducer(config) as producer:
        producer.begin_transaction()
        for number in range(50):
            producer.send(topic, str(number).encode(), partition=1)
        producer.commit_transaction()
    instance = Instance(proxy, group, "json")
    instance.assign(topic, 1)
    assert instance.read_values(50) == list(range(50))
    assert instance.read("?timeout=200") == []
    instance.commit()
    assert instance.committed(topic, 1) == {1: 51}
