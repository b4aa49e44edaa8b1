"""Three brokers, replication factor 3, two in sync to acknowledge: random faults one after the other, and nothing that
was acknowledged is lost, doubled or out of order; processors that read, process and write in transactions stay exact.

The shorter of the two runs is over the embedded ZooKeeper, which is killed and started again, too; the other is over a
real ensemble, of which one server is killed at a time, its leader among them.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from tests.broker.asking import create_topic
from tests.faults.broker_cluster import PATIENCE_SECONDS, SESSION_TIMEOUT_MS, BrokerCluster, EmbeddedZooKeeper
from tests.faults.drivers.settings import MemberSettings
from tests.faults.group_view import committed_offsets
from tests.faults.load import Load, read_numbers
from tests.faults.processors import KINDS, Processors
from tests.faults.test_exactly_once import Pipeline, check_once_and_in_order, read_committed
from tests.support.cluster_fixture import PEER
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tests.support.zookeeper_ensemble import ZooKeeperEnsemble
from tests.zookeeper.java_client import require_java
from tools.suite.processes import starts_processes

PARTITIONS = 4
PROCESSORS = 2
LONG = "PENSTOCK_FAULT_CLUSTER_ROUNDS" in os.environ
DEFAULT_ROUNDS = 5
LONGEST_UNDISTURBED_SECONDS = 1.0
LONGEST_AWAY_SECONDS = 1.5 * SESSION_TIMEOUT_MS / 1000
TOPICS = ("input", "output", "at-least-once")
IMPATIENT = {"socket.timeout.ms": 1_500}
"""A broker that is paused takes requests and does not answer: clients are to look for another one soon."""

pytestmark = [
    pytest.mark.processes,
    pytest.mark.faults,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(PEER == "apache", reason="Apache Kafka runs without ZooKeeper"),
]


class ClusterPipeline(Pipeline):
    """Asks whichever broker is the group's coordinator."""

    def committed(self) -> list[int] | None:
        for address in self.server.bootstrap.split(","):
            try:
                with WireClient(address, timeout=2.0) as client:
                    found = committed_offsets(client, self.group, self.load.topic, PARTITIONS)
            except OSError:
                continue
            if found is not None:
                return found
        return None


def wait_until_no_transaction_is_open(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    asked = {TopicPartition(topic, partition): OffsetSpec.latest() for partition in range(PARTITIONS)}

    def ends(level: IsolationLevel) -> list[int]:
        found = admin.list_offsets(asked, isolation_level=level)
        return [found[one].result().offset for one in asked]

    wait_for(
        lambda: ends(IsolationLevel.READ_COMMITTED) == ends(IsolationLevel.READ_UNCOMMITTED),
        PATIENCE_SECONDS,
        "transactions to end",
        interval=0.1,
    )


class Faults:
    """Each does its harm and says when writes may be expected to go on: from the end of the call on."""

    def __init__(self, cluster: BrokerCluster, zookeeper: ZooKeeperFaults, chance: random.Random) -> None:
        self.cluster = cluster
        self.zookeeper = zookeeper
        self.chance = chance
        self.kinds: tuple[Callable[[int], Callable[[], None]], ...] = (
            self.kill,
            self.pause,
            self.stop,
            self.bounce,
            self.disturb_zookeeper,
            self.kill_two,
        )

    def inflict(self, number: int) -> Callable[[], None]:
        """Returns what mends it, once writes go on."""
        kind = self.kinds[number % len(self.kinds)]
        place = self.chance.choice(list(self.cluster.ports))
        print(f"fault {number}: {kind.__name__} {place}", flush=True)
        return kind(place)

    def kill(self, place: int) -> Callable[[], None]:
        self.cluster.kill(place)
        return lambda: self.cluster.start(place)

    def pause(self, place: int) -> Callable[[], None]:
        self.cluster.pause(place)

        def mend() -> None:
            self.sleep()
            self.cluster.resume(place)

        return mend

    def stop(self, place: int) -> Callable[[], None]:
        self.cluster.stop(place)
        return lambda: self.cluster.start(place)

    def bounce(self, place: int) -> Callable[[], None]:
        """It is back before anybody has missed it."""
        self.cluster.kill(place)
        self.cluster.start(place)
        return lambda: None

    def kill_two(self, place: int) -> Callable[[], None]:
        """There are not enough replicas in sync to go on, until one is back."""
        other = self.chance.choice([number for number in self.cluster.ports if number != place])
        self.cluster.kill(place)
        self.cluster.kill(other)
        self.sleep()
        self.cluster.start(place)
        self.cluster.start(other)
        return lambda: None

    def disturb_zookeeper(self, place: int) -> Callable[[], None]:
        self.zookeeper.disturb(place, self.sleep)
        return lambda: None

    def sleep(self) -> None:
        threading.Event().wait(self.chance.uniform(0, LONGEST_AWAY_SECONDS))


class ZooKeeperFaults:
    """Of the embedded server: it is away for a while, longer or shorter than sessions last."""

    def __init__(self, directory: Path) -> None:
        self._server = EmbeddedZooKeeper(directory / "zookeeper")
        self.connect = self._server.connect

    def __enter__(self) -> ZooKeeperFaults:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.kill()

    def disturb(self, place: int, sleep: Callable[[], None]) -> None:
        self._server.kill()
        sleep()
        self._server.start()


class EnsembleFaults(ZooKeeperFaults):
    """Of a real ensemble: one server is killed, and started again."""

    def __init__(self, directory: Path) -> None:
        self._ensemble = ZooKeeperEnsemble(directory / "ensemble")
        self.connect = self._ensemble.connect

    def __enter__(self) -> EnsembleFaults:
        self._ensemble.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._ensemble.__exit__(None, None, None)

    def disturb(self, place: int, sleep: Callable[[], None]) -> None:
        self._ensemble.kill(place)
        sleep()
        self._ensemble.start(place)
        self._ensemble.wait_until_serving([place])


@pytest.fixture
def cluster_rounds() -> int:
    return int(os.environ.get("PENSTOCK_FAULT_CLUSTER_ROUNDS", DEFAULT_ROUNDS))


@pytest.fixture(params=["embedded", "ensemble"] if LONG else ["embedded"])
@starts_processes
def zookeeper(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ZooKeeperFaults]:
    if request.param == "ensemble":
        require_java()
    kind = EnsembleFaults if request.param == "ensemble" else ZooKeeperFaults
    with kind(tmp_path) as running:
        yield running


@pytest.fixture
@starts_processes
def cluster(zookeeper: ZooKeeperFaults, tmp_path: Path) -> Iterator[BrokerCluster]:
    with BrokerCluster(tmp_path / "brokers", zookeeper.connect) as running:
        with WireClient(running.bootstrap.partition(",")[0]) as client:
            for name in TOPICS:
                created = create_topic(client, name, PARTITIONS, replicas=3, segment_bytes=str(1 << 20))
                assert created.error_code == 0, created
        running.wait_until_whole(TOPICS)
        yield running


@pytest.mark.parametrize("kind", ["confluent", "java-consumer", "franz-go"] if LONG else ["confluent"])
def test_nothing_is_lost_doubled_or_out_of_order(
    kind: str,
    cluster: BrokerCluster,
    zookeeper: ZooKeeperFaults,
    tmp_path: Path,
    cluster_rounds: int,
    chance: random.Random,
) -> None:
    settings = MemberSettings(
        cluster.bootstrap, "copiers", "input", "", "", output="output", transaction_timeout_ms=30_000
    )
    load = Load(
        cluster.bootstrap, "input", PARTITIONS, idempotent=True, pause_seconds=0.05, settings=IMPATIENT
    )
    at_least_once = Load(
        cluster.bootstrap,
        "at-least-once",
        PARTITIONS,
        idempotent=False,
        pause_seconds=0.05,
        settings=IMPATIENT,
    )
    faults = Faults(cluster, zookeeper, chance)
    slowest = 0.0
    with (
        Processors(KINDS[kind], PROCESSORS, settings, tmp_path / "processors") as processors,
        load,
        at_least_once,
    ):
        pipeline = ClusterPipeline(cluster, processors, load, "copiers")
        pipeline.wait_for_progress()
        for number in range(cluster_rounds):
            threading.Event().wait(chance.uniform(0, LONGEST_UNDISTURBED_SECONDS))
            mend = faults.inflict(number)
            began = time.monotonic()
            load.wait_for_progress_everywhere()
            slowest = max(slowest, time.monotonic() - began)
            print(f"acknowledged again after {time.monotonic() - began:.1f} s", flush=True)
            mend()
            cluster.wait_until_whole(TOPICS)
            pipeline.wait_for_progress()
        at_least_once.finish()
        pipeline.drain()
        wait_until_no_transaction_is_open(cluster.bootstrap, "output")
    print(f"{load.acknowledged_count} records; acknowledged again after {slowest:.1f} s at most")
    load.check(cluster.bootstrap)
    at_least_once.check(cluster.bootstrap)
    for partition in range(PARTITIONS):
        expected = read_numbers(cluster.bootstrap, "input", partition)
        check_once_and_in_order(read_committed(cluster.bootstrap, "output", partition), expected)
