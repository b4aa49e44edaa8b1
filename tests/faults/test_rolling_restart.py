"""All three brokers are stopped in order and started again, one after the other, under load: no request fails.

What a client may see of a controlled shutdown is NOT_LEADER_OR_FOLLOWER, upon which it asks who leads now and sends
again. It never sees a connection that is closed while it waits for an answer, a request without an answer in time, or
any other error; and no write takes a second.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ErrorCode
from tests.broker.asking import batch_of, create_topic, metadata, produce
from tests.broker.test_idempotence import new_producer_id
from tests.faults.broker_cluster import BrokerCluster, EmbeddedZooKeeper
from tests.faults.cluster_clients import Running
from tests.faults.history import Acknowledged, find_in_writes, require_none
from tests.faults.load import PATIENCE_SECONDS, Load, encode_number, read_log
from tests.support.cluster_fixture import PEER
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

PARTITIONS = 3
PAUSE_SECONDS = 0.01
RETRY_SECONDS = 0.02
LONGEST_WRITE_SECONDS = 1.0

pytestmark = [
    pytest.mark.processes,
    pytest.mark.faults,
    pytest.mark.timeout(300),
    pytest.mark.skipif(PEER == "apache", reason="Apache Kafka runs without ZooKeeper"),
]


@pytest.fixture
@starts_processes
def cluster(tmp_path: Path) -> Iterator[BrokerCluster]:
    zookeeper = EmbeddedZooKeeper(tmp_path / "zookeeper")
    zookeeper.start()
    try:
        with BrokerCluster(tmp_path / "brokers", zookeeper.connect) as running:
            with WireClient(running.bootstrap.partition(",")[0]) as client:
                for name in ("precise", "load"):
                    assert create_topic(client, name, PARTITIONS, replicas=3).error_code == 0
            running.wait_until_whole(("precise", "load"))
            yield running
    finally:
        zookeeper.kill()


class PreciseProducer(Running):
    """Sends one record at a time to one partition, and notes each answer that is not what it should be."""

    def __init__(self, cluster: BrokerCluster, topic: str, partition: int) -> None:
        super().__init__(f"precise-{partition}")
        self.cluster = cluster
        self.topic = topic
        self.partition = partition
        self.acknowledged: list[Acknowledged] = []
        self.longest_write_seconds = 0.0
        self.refused = 0
        self.failures: list[str] = []
        self._leader = next(iter(cluster.ports))
        self._connection: WireClient | None = None

    def run(self) -> None:
        producer_id = new_producer_id(self._connected())
        self._find_leader()
        while not self.stopping.wait(PAUSE_SECONDS):
            self._send(producer_id, len(self.acknowledged))
        self._disconnect()

    def _connected(self) -> WireClient:
        if self._connection is None:
            self._connection = WireClient(f"127.0.0.1:{self.cluster.ports[self._leader]}")
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, producer_id: int, number: int) -> None:
        batch = batch_of(
            encode_number(number), producer_id=producer_id, producer_epoch=0, base_sequence=number
        )
        began = time.monotonic()
        while not self.stopping.is_set():
            if (offset := self._try(batch)) is not None:
                self.acknowledged.append(Acknowledged(number, offset))
                self.longest_write_seconds = max(self.longest_write_seconds, time.monotonic() - began)
                return
            time.sleep(RETRY_SECONDS)
            self._find_leader()

    def _try(self, batch: bytes) -> int | None:
        """The record's offset, if it was taken."""
        try:
            answer = produce(self._connected(), self.topic, batch, self.partition)
        except OSError as error:
            self._disconnect()
            self.failures.append(f"{self.topic}-{self.partition} at broker {self._leader}: {error!r}")
            return None
        if answer.error_code == 0:
            offset: int = answer.base_offset
            return offset
        if answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
            self.refused += 1
        else:
            self.failures.append(f"{self.topic}-{self.partition}: {ErrorCode(answer.error_code).name}")
        return None

    def _find_leader(self) -> None:
        """As any broker knows it that is there."""
        for port in self.cluster.ports.values():
            try:
                with WireClient(f"127.0.0.1:{port}", timeout=5.0) as client:
                    (topic,) = metadata(client, self.topic).topics
            except OSError:
                continue
            leaders = {one.partition_index: one.leader_id for one in topic.partitions}
            leader = leaders[self.partition]
            if leader >= 0:
                if leader != self._leader:
                    self._disconnect()
                self._leader = leader
                return


class Timeouts:
    """Of librdkafka's requests, as its statistics count them."""

    def __init__(self) -> None:
        self.by_broker: dict[str, int] = {}

    def take(self, statistics: str) -> None:
        for name, broker in json.loads(statistics)["brokers"].items():
            self.by_broker[name] = broker["req_timeouts"]


def test_a_controlled_shutdown_costs_no_failed_request(cluster: BrokerCluster, chance: random.Random) -> None:
    timeouts = Timeouts()
    load = Load(
        cluster.bootstrap,
        "load",
        PARTITIONS,
        idempotent=True,
        pause_seconds=0.05,
        settings={"stats_cb": timeouts.take, "statistics.interval.ms": 500},
    )
    producers = [PreciseProducer(cluster, "precise", partition) for partition in range(PARTITIONS)]
    with load:
        for producer in producers:
            producer.__enter__()
        load.wait_for_progress_everywhere()
        load.begin_to_measure()
        for number in chance.sample(list(cluster.ports), len(cluster.ports)):
            threading.Event().wait(chance.uniform(0, 0.5))
            cluster.stop(number)
            load.wait_for_progress_everywhere()
            cluster.start(number)
            cluster.wait_until_whole(("precise", "load"))
        for producer in producers:
            count = len(producer.acknowledged)
            wait_for(
                lambda: len(producer.acknowledged) > count,  # noqa: B023
                PATIENCE_SECONDS,
                "writes to go on",
            )
            producer.finish()
        load.finish()
    slowest = max(producer.longest_write_seconds for producer in producers)
    refused = sum(producer.refused for producer in producers)
    silence = load.longest_silence_seconds()
    print(f"{slowest=:.2f} s, {refused=}, librdkafka waited {silence:.2f} s, {timeouts.by_broker}")
    assert not [failure for producer in producers for failure in producer.failures]
    assert refused > 0
    assert sum(timeouts.by_broker.values()) == 0
    assert max(slowest, silence) < LONGEST_WRITE_SECONDS
    load.check(cluster.bootstrap)
    for producer in producers:
        log = read_log(cluster.bootstrap, "precise", producer.partition)
        told = producer.acknowledged
        require_none(find_in_writes(log, told, len(told), once=True))
