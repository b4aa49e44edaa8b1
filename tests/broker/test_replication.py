"""Followers: they have what their leader has, drop what it drops, and serve the consumers of their rack."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.errors import ErrorCode
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.broker.asking import batch_of, log_start_offset, produced, records_of, topic_id, values_in
from tests.broker.conftest import only_penstock
from tests.broker.test_broker_configs import BROKER, EVERY_BROKER, alter
from tests.broker.test_reassigning import log_of, stored, wait_until_equal
from tests.broker.test_topics import delete_records
from tests.support.penstock_cluster import PenstockCluster
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = [only_penstock, pytest.mark.processes]

PATIENCE_SECONDS = 60.0
SEGMENT = 1 << 20
LARGE = 100_000
"""Bytes of a record, of which ten are a segment."""


def fill(
    cluster: PenstockCluster, topic: str, count: int, value: Callable[[int], bytes], key: bytes | None = None
) -> None:
    with WireClient(cluster.address(1)) as client:
        for number in range(count):
            produced(client, topic, batch_of(value(number).ljust(LARGE, b"."), key=key))


def wait_until_all(
    cluster: PenstockCluster, topic: str, is_so: Callable[[dict[str, bytes]], bool], what: str
) -> None:
    """Of the segments of each broker's replica."""
    for number in cluster.ports:
        wait_for(lambda: is_so(stored(cluster, number, topic) or {}), PATIENCE_SECONDS, f"{what} at {number}")  # noqa: B023


# --- what is dropped


def test_deleted_records_are_deleted_everywhere(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    cluster.create("deleted", [[1, 2, 3]], segment_bytes=str(SEGMENT), min_insync_replicas="3")
    fill(cluster, "deleted", 25, lambda number: b"%d" % number)
    with WireClient(cluster.address(1)) as client:
        delete_records(client, "deleted", 17)
        assert log_start_offset(client, "deleted") == 17
    for number in (2, 3):
        wait_for(lambda: start_at(cluster, number, "deleted", 25) == 17, what=f"the start at {number}")  # noqa: B023
    wait_until_all(
        cluster, "deleted", lambda segments: min(segments) > f"{0:020}.log", "the first segment to go"
    )
    cluster.stop(1)
    cluster.wait_for_leaders("deleted", [2])
    with WireClient(cluster.address(2)) as client:
        assert log_start_offset(client, "deleted") == 17
        assert [(value or b"").rstrip(b".") for value in values_in(client, "deleted")] == [
            b"%d" % number for number in range(17, 25)
        ]
    cluster.start(1)
    cluster.wait_until_whole(["deleted"])
    assert start_at(cluster, 1, "deleted", 25) == 17


def start_at(cluster: PenstockCluster, number: int, topic: str, end: int) -> int:
    """Where a replica's log starts, as it tells whoever fetches from its end."""
    start: int = fetched(cluster, number, topic, end).log_start_offset
    return start


def test_retention_removes_segments_everywhere(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    sizes = {"segment_bytes": str(SEGMENT), "retention_bytes": str(SEGMENT), "file_delete_delay_ms": "0"}
    cluster.create("retired", [[1, 2, 3]], **sizes)
    fill(cluster, "retired", 45, lambda number: b"%d" % number)
    wait_until_all(cluster, "retired", lambda segments: len(segments) <= 3, "old segments to go")
    with WireClient(cluster.address(1)) as client:
        start = log_start_offset(client, "retired")
    assert start > 0
    for number in (2, 3):
        wait_for(lambda: start_at(cluster, number, "retired", 45) >= start, what=f"the start at {number}")  # noqa: B023


def test_compaction_cleans_each_replica(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    eager = {"min_cleanable_dirty_ratio": "0.01", "max_compaction_lag_ms": "9223372036854775807"}
    cluster.create("compacted", [[1, 2, 3]], cleanup_policy="compact", segment_bytes=str(SEGMENT), **eager)
    fill(cluster, "compacted", 12, lambda number: b"old", key=b"bread")
    fill(cluster, "compacted", 12, lambda number: b"new", key=b"bread")
    fill(cluster, "compacted", 1, lambda number: b"kept", key=b"milk")
    wait_until_all(cluster, "compacted", lambda segments: b"old." not in log_of(segments), "old values to go")
    for leader in (1, 2, 3):
        with WireClient(cluster.address(leader)) as client:
            values = {value[:4] for value in values_in(client, "compacted") if value is not None}
        assert values == {b"new.", b"kept"}
        if leader < 3:
            cluster.stop(leader)
            cluster.wait_for_leaders("compacted", [leader + 1])
    cluster.restore()


# --- consumers of their rack


def fetched(cluster: PenstockCluster, asked: int, topic: str, offset: int, rack: str = "") -> Any:
    with WireClient(cluster.address(asked)) as client:
        wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        topics = [FetchTopic(topic, topic_id(client, topic), [wanted])]
        answer = client.send(FetchRequest(max_wait_ms=0, min_bytes=1, topics=topics, rack_id=rack))
    (partition,) = answer.responses[0].partitions
    return partition


def test_a_consumer_is_sent_to_the_replica_of_its_rack(penstock_cluster: PenstockCluster) -> None:
    """Broker 1 is in the left rack, 2 and 3 are in the right one, and 3 has no replica."""
    cluster = penstock_cluster
    cluster.create("racks", [[1, 2]])
    with WireClient(cluster.address(1)) as client:
        produced(client, "racks", batch_of(b"bread"))
    wait_for(lambda: fetched(cluster, 2, "racks", 0).high_watermark == 1, what="the follower to know it")
    told = fetched(cluster, 1, "racks", 0, "right")
    assert (told.preferred_read_replica, told.error_code, bool(told.records)) == (2, 0, False)
    assert [each.value for each in records_of(fetched(cluster, 2, "racks", 0, "right"))] == [b"bread"]
    for rack in ("left", "nowhere", ""):
        answer = fetched(cluster, 1, "racks", 0, rack)
        assert (answer.preferred_read_replica, bool(answer.records)) == (-1, True)
    ahead = fetched(cluster, 2, "racks", 7, "right")
    assert ahead.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert fetched(cluster, 3, "racks", 0, "right").error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_client_reads_from_its_rack_as_long_as_it_can(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    cluster.create("near", [[1, 2]])
    served_by: list[int] = []

    def take(statistics: str) -> None:
        found = json.loads(statistics)["topics"].get("near", {"partitions": {}})["partitions"].get("0")
        if found is not None:
            served_by.append(found["broker"])

    settings = {"group.id": "unused", "client.rack": "right", "stats_cb": take, "statistics.interval.ms": 100}
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "log_level": 0, **settings})
    consumer.assign([TopicPartition("near", 0, 0)])

    def read(value: bytes, leader: int) -> int:
        with WireClient(cluster.address(leader)) as client:
            produced(client, "near", batch_of(value))
        message = consumer.poll(PATIENCE_SECONDS)
        assert message is not None
        assert message.value() == value
        served_by.clear()
        wait_for(lambda: consumer.poll(0.1) is None and served_by, what="statistics")
        return served_by[-1]

    try:
        read(b"bread", 1)
        assert read(b"milk", 1) == 2
        cluster.stop(2)
        assert read(b"eggs", 1) == 1
    finally:
        consumer.close()
        cluster.start(2)
        cluster.wait_until_whole(["near"])


# --- several fetchers


def connections(process: int, port: int) -> int:
    """How many a process has to a port of this machine."""
    sockets = set()
    for each in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            sockets.add(os.readlink(each).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]]
    return sum(
        row[9] in sockets and int(row[2].rpartition(":")[2], 16) == port and row[3] == "01" for row in rows
    )


def test_as_many_fetchers_as_the_setting_says(penstock_cluster: PenstockCluster) -> None:
    """It may be changed while they fetch."""
    cluster = penstock_cluster
    cluster.create("fetched", [[1, 2]] * 24)

    def fetchers() -> int:
        return connections(cluster.processes[2].pid, cluster.internal_ports[1])

    few = fetchers()
    assert alter(cluster, 3, BROKER, EVERY_BROKER, {"num.replica.fetchers": "4"}) == ErrorCode.NONE
    wait_for(lambda: fetchers() == few + 3, what="more of them")
    with WireClient(cluster.address(1)) as client:
        for partition in range(24):
            produced(client, "fetched", batch_of(b"%d" % partition), partition)
    for partition in range(24):
        wait_until_equal(cluster, "fetched", partition, [1, 2])
    assert alter(cluster, 3, BROKER, EVERY_BROKER, {"num.replica.fetchers": None}) == ErrorCode.NONE
    wait_for(lambda: fetchers() == few, what="fewer of them")
    cluster.wait_until_whole(["fetched"])
