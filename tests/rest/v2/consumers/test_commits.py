"""What is committed, by whom and when; and that nobody loses a record by it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock.client import KafkaAdmin
from penstock.testing.in_process import InProcessBroker
from penstock.types import TopicPartition
from tests.rest.proxy import Proxy, running
from tests.rest.v2.consumers.conftest import QUICK
from tests.rest.v2.consumers.instance import Instance, ask, partitions_of, produce, unique
from tests.support.processes import Process, wait_for

COMMAND = [sys.executable, "-m", "penstock.cli.tools.kafka_rest_start"]


def committed(broker: InProcessBroker, group: str, topic: str) -> dict[int, int]:
    """As Kafka itself tells."""
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        found = admin.committed_offsets(group)
    return {key.partition: each.offset for key, each in found.items() if each and key.topic == topic}


def is_committed(broker: InProcessBroker, group: str, topic: str, offset: int) -> bool:
    """In the first partition; more than that must never be."""
    found = committed(broker, group, topic).get(0, 0)
    assert found <= offset
    return found == offset


@pytest.fixture
def filled(broker: InProcessBroker, topic: str) -> str:
    produce(broker.bootstrap_servers, topic, *range(10))
    return topic


def test_a_commit_is_of_what_was_returned(
    proxy: Proxy, broker: InProcessBroker, group: str, filled: str
) -> None:
    instance = Instance(proxy, group, "json", auto_commit_enable=False)
    instance.subscribe(filled)
    assert instance.committed(filled, 0) == {}
    assert instance.read_values(3, "?max_bytes=3") == [0, 1, 2]
    instance.commit()
    assert instance.committed(filled, 0, 1) == committed(broker, group, filled) == {0: 3, 1: 0}
    assert instance.read_values(2, "?max_bytes=2") == [3, 4]
    instance.delete()
    follower = Instance(proxy, group, "json", auto_commit_enable=False)
    follower.subscribe(filled)
    assert follower.read_values(1, "?max_bytes=1") == [3]


def test_given_offsets_are_of_records_that_were_processed(
    proxy: Proxy, broker: InProcessBroker, group: str, filled: str
) -> None:
    instance = Instance(proxy, group, "json")
    body = {"offsets": [{"topic": filled, "partition": 0, "offset": 6, "metadata": "half way"}]}
    said = instance.post("offsets", body)
    assert (said.status, said.json) == (200, [])
    wanted = {"partitions": [{"topic": filled, "partition": number} for number in (0, 1)]}
    assert instance.get("offsets", wanted).json == {
        "offsets": [{"topic": filled, "partition": 0, "offset": 7, "metadata": "half way"}]
    }
    instance.assign(filled, 0)
    assert instance.read_values(3) == [7, 8, 9]
    instance.delete()


def test_a_member_commits_beside_what_it_reads(proxy: Proxy, group: str, filled: str) -> None:
    instance = Instance(proxy, group, "json", auto_commit_enable="false")
    instance.subscribe(filled)
    assert instance.post("offsets").status == 200  # waits for the group; there is nothing to commit yet
    instance.read_values(10)
    instance.commit((filled, 0, 4))
    assert instance.committed(filled, 0) == {0: 5}


def test_who_is_no_member_cannot_commit_for_a_group_that_has_some(
    proxy: Proxy, group: str, filled: str
) -> None:
    member, stranger = Instance(proxy, group), Instance(proxy, group)
    member.subscribe(filled)
    member.wait_for_assignments(2)
    stranger.assign(filled, 0)
    said = stranger.post("offsets", {"offsets": [{"topic": filled, "partition": 0, "offset": 1}]})
    assert said.status == 500
    assert said.json["error_code"] == 50002
    assert f"offset of {filled}-0" in said.json["message"]


@pytest.mark.parametrize("body", [None, b"  "])
def test_committed_offsets_of_no_partition_are_not_found(proxy: Proxy, group: str, body: Any) -> None:
    said = Instance(proxy, group).get("offsets", body)
    assert (said.status, said.json) == (404, {"error_code": 40402, "message": "Partition not found."})


def test_the_proxy_commits_what_the_next_read_shows_to_be_processed(
    proxy: Proxy, broker: InProcessBroker, group: str, filled: str
) -> None:
    instance = Instance(proxy, group, "json", auto_commit_enable="true")
    instance.assign(filled, 0)
    for read in range(3):
        assert instance.read_values(2, "?max_bytes=2") == [2 * read, 2 * read + 1]
        wait_for(partial(is_committed, broker, group, filled, 2 * read), what="what was read before")
    instance.delete()
    assert committed(broker, group, filled) == {0: 6}  # whoever deletes it is done with what it got


def test_the_proxy_commits_nothing_if_it_is_not_to(
    proxy: Proxy, broker: InProcessBroker, group: str, filled: str
) -> None:
    instance = Instance(proxy, group, "json", auto_commit_enable="false")
    instance.subscribe(filled)
    for _ in range(3):
        instance.read_values(2, "?max_bytes=2")
    instance.delete()
    assert committed(broker, group, filled) == {}


@pytest.mark.parametrize("end", ["idle", "stop"])
def test_what_was_not_known_to_be_processed_comes_again(
    broker: InProcessBroker, group: str, filled: str, end: str
) -> None:
    """The client may have died with the last records in its hands."""
    timeout_ms = "3000" if end == "idle" else "60000"
    with running(broker.bootstrap_servers, **QUICK, consumer_instance_timeout_ms=timeout_ms) as proxy:
        instance = Instance(proxy, group, "json")
        instance.subscribe(filled)
        assert instance.read_values(2, "?max_bytes=2") == [0, 1]
        assert instance.read_values(2, "?max_bytes=2") == [2, 3]
        if end == "idle":
            wait_for(lambda: members(broker, group) == 0, what="the instance to be closed")
    assert committed(broker, group, filled)[0] == 2


def members(broker: InProcessBroker, group: str) -> int:
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        return len(admin.describe_consumer_groups([group])[group].members)


@contextmanager
def proxy_process(broker: InProcessBroker, directory: Path) -> Iterator[tuple[Process, Proxy]]:
    log = directory / f"{unique('rest')}.log"
    settings = {
        "listeners": "http://127.0.0.1:0",
        "bootstrap.servers": broker.bootstrap_servers,
        **{name.replace("_", "."): value for name, value in QUICK.items()},
    }
    properties = directory / "kafka-rest.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    with Process([*COMMAND, properties], log) as process:
        process.wait_until(lambda: "is ready on" in log.read_text(), 60, "the proxy to be ready")
        found = re.search(r"is ready on http://127\.0\.0\.1:(\d+)", log.read_text())
        assert found
        yield process, Proxy(int(found[1]))


@pytest.mark.processes
@pytest.mark.parametrize("auto_commit", [True, False])
def test_a_proxy_that_is_killed_costs_nobody_a_record(
    broker: InProcessBroker, tmp_path: Path, group: str, topic: str, auto_commit: bool
) -> None:
    """The client works on each answer after it has it, and commits then, if the proxy does not."""
    for partition in (0, 1):
        produce(broker.bootstrap_servers, topic, *range(partition, 400, 2), partition=partition)
    done: list[int] = []
    with proxy_process(broker, tmp_path) as (process, proxy):
        instance = Instance(proxy, group, "json", auto_commit_enable=auto_commit)
        instance.subscribe(topic)
        while len(done) < 100:
            done += instance.read_values(1, "?max_bytes=30")
            if not auto_commit and len(done) < 60:
                instance.commit()
        in_flight = instance.read("?max_bytes=30")  # nobody works on these
        process.kill()
    with running(broker.bootstrap_servers, **QUICK) as proxy:
        follower = Instance(proxy, group, "json", auto_commit_enable=auto_commit)
        follower.subscribe(topic)
        wait_for(lambda: members(broker, group) == 1 and follower.assignments(), what="the killed to be out")
        again: list[int] = []
        while set(range(400)) - set(done) - set(again):
            again += follower.read_values(1)
    assert {each["value"] for each in in_flight} <= set(again)


def test_a_commit_of_all_waits_for_nothing_when_nothing_was_read(proxy: Proxy, group: str) -> None:
    said = ask(proxy, "POST", f"{Instance(proxy, group).path}/offsets")
    assert (said.status, said.json) == (200, [])


def test_what_another_client_committed_is_seen(
    proxy: Proxy, broker: InProcessBroker, group: str, filled: str
) -> None:
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.alter_group_offsets(group, {TopicPartition(filled, 0): 8})
    instance = Instance(proxy, group, "json")
    assert instance.get("offsets", partitions_of(filled, 0)).json["offsets"][0]["offset"] == 8
    instance.subscribe(filled)
    assert instance.read_values(2) == [8, 9]
