"""Instances that share a group, with each other and with other consumers, while members and topics come and go."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from penstock.client import KafkaAdmin, KafkaConsumer
from penstock.rest.v2.consumers.membership import HOLD_SECONDS
from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy, running
from tests.rest.v2.consumers.conftest import QUICK
from tests.rest.v2.consumers.instance import Instance, produce, unique
from tests.support.cluster_fixture import only_one_broker
from tests.support.processes import wait_for

BEAT_SECONDS = int(QUICK["consumer_heartbeat_interval_ms"]) / 1000


def read_both(instances: list[Instance], count: int) -> list[Any]:
    """What all of them read together, each in a thread."""
    found: list[Any] = []

    def read(instance: Instance) -> list[Any]:
        return [each["value"] for each in instance.read("?timeout=300")]

    with ThreadPoolExecutor() as pool:

        def all_came() -> bool:
            for values in pool.map(read, instances):
                found.extend(values)
            return len(found) >= count

        wait_for(all_came, 60, lambda: f"{count} records; {len(found)} came")
    return found


def test_two_instances_share_the_partitions_and_neither_reads_twice(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    produce(broker.bootstrap_servers, topic, *range(10), partition=0)
    produce(broker.bootstrap_servers, topic, *range(10, 20), partition=1)
    first = Instance(proxy, group, "json")
    first.subscribe(topic)
    assert sorted(first.read_values(20)) == list(range(20))
    second = Instance(proxy, group, "json")
    second.subscribe(topic)

    def is_shared() -> bool:
        first.read("?timeout=50")  # which says that what it got is done
        theirs = first.assignments(), second.assignments()
        return sorted(theirs) == [[(topic, 0)], [(topic, 1)]]

    wait_for(is_shared, what="the partitions to be shared")
    for partition in (0, 1):
        produce(broker.bootstrap_servers, topic, 100 + partition, partition=partition)
    assert sorted(read_both([first, second], 2)) == [100, 101]
    first.read("?timeout=1")
    assert second.delete().status == 204
    first.wait_for_assignments(2)


@only_one_broker
def test_a_client_that_does_not_come_back_holds_nobody_up(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    produce(broker.bootstrap_servers, topic, *range(4))
    silent = Instance(proxy, group, "json")
    silent.subscribe(topic)
    silent.read_values(4)
    other = Instance(proxy, group, "json")
    with broker.interceptor.recording() as recorded:
        other.subscribe(topic)
        other.wait_for_assignments(1)
        beats = sum(seen.message.group_id == group for seen in recorded.seen("Heartbeat"))
    assert beats < 2 * HOLD_SECONDS / BEAT_SECONDS, "who holds a rebalance up does not ask faster for it"


def test_a_rebalance_waits_a_moment_for_a_client_to_commit(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    for partition in (0, 1):
        produce(broker.bootstrap_servers, topic, partition, partition=partition)
    first = Instance(proxy, group, "json", auto_commit_enable=False)
    first.subscribe(topic)
    first.read_values(2)
    second = Instance(proxy, group, "json", auto_commit_enable=False)
    second.subscribe(topic)
    first.commit()
    second.wait_for_assignments(1)
    assert second.read("?timeout=300") == []


def test_consumers_of_other_kinds_share_the_group(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    instance = Instance(proxy, group)
    instance.subscribe(topic)
    instance.wait_for_assignments(2)
    config = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 100}
    with KafkaConsumer(
        topic, bootstrap_servers=broker.bootstrap_servers, group_id=group, **config
    ) as consumer:

        def is_shared() -> bool:
            consumer.poll(timeout=0.1)
            return len(consumer.assignment()) == 1 == len(instance.assignments())

        wait_for(is_shared, what="the partitions to be shared")
        theirs = [(each.topic, each.partition) for each in consumer.assignment()]
        assert sorted(theirs + instance.assignments()) == [(topic, 0), (topic, 1)]
    instance.wait_for_assignments(2)


def test_a_pattern_follows_the_topics_that_it_matches(
    proxy: Proxy, broker: InProcessBroker, group: str
) -> None:
    stem = unique("matched")
    broker.create_topic(f"{stem}-a", 1)
    broker.create_topic(f"not-{stem}-a", 1)
    instance = Instance(proxy, group, "json")
    assert instance.post("subscription", {"topic_pattern": f"{stem}-.*"}).status == 204
    instance.wait_for_assignments(1)
    assert instance.get("subscription").json == {"topics": [f"{stem}-a"]}
    broker.create_topic(f"{stem}-b", 1)
    assert instance.wait_for_assignments(2) == [(f"{stem}-a", 0), (f"{stem}-b", 0)]
    produce(broker.bootstrap_servers, f"{stem}-b", 1)
    assert instance.read_values(1) == [1]


@pytest.mark.parametrize("pattern", [".*", "__consumer_.*"])
def test_a_pattern_leaves_kafkas_own_topics_alone(proxy: Proxy, group: str, topic: str, pattern: str) -> None:
    instance = Instance(proxy, group)
    instance.post("subscription", {"topic_pattern": pattern})
    if pattern == ".*":
        wait_for(lambda: topic in instance.get("subscription").json["topics"], what="topics to be found")
    assert not [each for each in instance.get("subscription").json["topics"] if each.startswith("__")]


def test_partitions_that_are_added_are_read(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    instance = Instance(proxy, group, "json")
    instance.subscribe(topic)
    instance.wait_for_assignments(2)
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.add_partitions(topic, 3)
    produce(broker.bootstrap_servers, topic, 7, partition=2)
    assert instance.read_values(1) == [7]


def test_a_topic_that_comes_later_is_read_and_one_that_goes_is_not(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    later = unique("later")
    instance = Instance(proxy, group, "json")
    instance.subscribe(topic, later)
    assert instance.get("subscription").json == {"topics": [topic, later]}
    produce(broker.bootstrap_servers, later, 1)
    assert instance.read_values(1) == [1]
    broker.delete_topic(later)
    produce(broker.bootstrap_servers, topic, 2)
    assert instance.read_values(1) == [2]


def test_another_subscription_takes_the_place_of_the_first(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    other = unique("other")
    broker.create_topic(other, 1)
    for each in (topic, other):
        produce(broker.bootstrap_servers, each, f'"{each}"')
    instance = Instance(proxy, group, "json")
    instance.subscribe(topic)
    assert instance.read_values(1) == [topic]
    instance.subscribe(other)
    assert instance.read_values(1) == [other]
    wait_for(lambda: instance.assignments() == [(other, 0)], what="the other topic to be assigned")
    assert instance.post("subscription", {"topics": []}).status == 204
    assert (instance.get("subscription").json, instance.assignments()) == ({"topics": []}, [])


def test_a_group_goes_on_after_its_broker_was_away(group: str) -> None:
    with InProcessBroker() as own, running(own.bootstrap_servers, **QUICK) as proxy:
        own.create_topic("t", 1)
        produce(own.bootstrap_servers, "t", 1)
        instance = Instance(proxy, group, "json")
        instance.subscribe("t")
        assert instance.read_values(1) == [1]
        own.restart()
        produce(own.bootstrap_servers, "t", 2)
        found: list[Any] = []

        def came() -> bool:
            said = instance.records("?timeout=1000")
            found.extend(each["value"] for each in said.json if said.status == 200)
            return 2 in found

        wait_for(came, 60, "the record to come")
