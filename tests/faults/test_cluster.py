"""Three brokers, replication factor 3, two in sync to acknowledge: random faults one after the other, and nothing that
clients saw contradicts what is stored in the end.

Producers, idempotent and not; processors that read, process and write in transactions; a producer that aborts some of
its transactions; readers without a group, and groups of both protocols. What they noted is judged by `history`. After
each fault but those that leave too few replicas, writes are acknowledged again within the session timeout and two
seconds.

The shorter run is over the embedded ZooKeeper, which is killed and started again, too; the long ones are over that and
over a real ensemble, of which one server is killed at a time, its leader among them.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from tests.broker.asking import create_topic
from tests.faults import members, processors
from tests.faults.broker_cluster import PATIENCE_SECONDS, SESSION_TIMEOUT_MS
from tests.faults.cluster_clients import Group, OffsetWatch, Reader, Transactor
from tests.faults.cluster_faults import EnsembleFaults, Fault, Faults, ZooKeeperFaults
from tests.faults.cuttable_cluster import CuttableCluster
from tests.faults.drivers.settings import MemberSettings
from tests.faults.group_view import committed_offsets
from tests.faults.history import Stored, find_in_transactions, require_none
from tests.faults.load import Load, read_log
from tests.faults.processors import Processors
from tests.faults.test_exactly_once import Pipeline, check_once_and_in_order
from tests.support import small_disk
from tests.support.cluster_fixture import PEER
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tests.zookeeper.java_client import require_java
from tools.suite.processes import starts_processes

PARTITIONS = 4
LONG = "PENSTOCK_FAULT_CLUSTER_ROUNDS" in os.environ
DEFAULT_ROUNDS = 4
LONGEST_UNDISTURBED_SECONDS = 1.0
PAUSE_BETWEEN_BURSTS_SECONDS = 0.2
MOST_SECONDS_TO_THE_NEXT_WRITE = SESSION_TIMEOUT_MS / 1000 + 2
TOPICS = ("input", "output", "at-least-once", "transactions")
IMPATIENT = {"socket.timeout.ms": 1_000, "topic.metadata.refresh.interval.ms": 500}
"""A broker that is paused takes requests and does not answer: clients are to look for another one soon."""
WITH_SMALL_DISK = 3

PROCESSORS = ("confluent", "java", "franz-go") if LONG else ("confluent",)
CLASSIC = ("confluent-range", "java-range", "franz-go-range") if LONG else ("confluent-range",)
CONSUMER = ("confluent-consumer", "java-consumer", "franz-go-consumer") if LONG else ("confluent-consumer",)

pytestmark = [
    pytest.mark.processes,
    pytest.mark.faults,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(PEER == "apache", reason="Apache Kafka runs without ZooKeeper"),
]


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
def cluster(zookeeper: ZooKeeperFaults, tmp_path: Path) -> Iterator[CuttableCluster]:
    small_disks = [WITH_SMALL_DISK] if small_disk.can_be_mounted() else []
    with CuttableCluster(tmp_path / "brokers", zookeeper.connect, small_disks) as running:
        with WireClient(running.bootstrap.partition(",")[0]) as client:
            for name in TOPICS:
                created = create_topic(client, name, PARTITIONS, replicas=3, segment_bytes=str(1 << 20))
                assert created.error_code == 0, created
        running.wait_until_whole(TOPICS)
        yield running


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


class Clients:
    """All that work on the cluster while it is disturbed."""

    def __init__(self, cluster: CuttableCluster, directory: Path, chance: random.Random) -> None:
        bootstrap = cluster.bootstrap
        settings = MemberSettings(
            bootstrap, "copiers", "input", "", "", output="output", transaction_timeout_ms=30_000
        )
        kinds = [processors.KINDS[name] for name in PROCESSORS]
        self.cluster = cluster
        self.load, self.at_least_once = (
            Load(
                bootstrap,
                topic,
                PARTITIONS,
                idempotent=topic == "input",
                in_order=topic == "input",
                pause_seconds=PAUSE_BETWEEN_BURSTS_SECONDS,
                settings=IMPATIENT,
            )
            for topic in ("input", "at-least-once")
        )
        self.processors = Processors(kinds, settings, directory / "processors")
        self.pipeline = ClusterPipeline(cluster, self.processors, self.load, "copiers")
        self.transactor = Transactor(bootstrap, "transactions", PARTITIONS, chance.randrange(1 << 32))
        self.readers = {
            "input": Reader(bootstrap, "input", PARTITIONS, "read_uncommitted"),
            "transactions": Reader(bootstrap, "transactions", PARTITIONS, "read_committed"),
        }
        self.groups = [
            Group(protocol, [members.KINDS[name] for name in names], bootstrap, "input", directory / protocol)
            for protocol, names in (("classic", CLASSIC), ("consumer", CONSUMER))
        ]
        self.offsets = OffsetWatch(
            bootstrap, ["copiers", *(group.name for group in self.groups)], "input", PARTITIONS
        )

    def __enter__(self) -> Clients:
        self._left = ExitStack()
        for each in (
            self.processors,
            *self.groups,
            self.offsets,
            *self.readers.values(),
            self.transactor,
            self.load,
            self.at_least_once,
        ):
            self._left.enter_context(each)
        return self

    def __exit__(self, *error: object) -> None:
        self._left.__exit__(None, None, None)

    # progress

    def wait_until_all_go_on(self) -> None:
        self.pipeline.wait_for_progress()
        committed = len(self.transactor.transactions)
        before = {group.name: sum(self.offsets.committed(group.name) or ()) for group in self.groups}

        def is_done() -> bool:
            self.transactor.require_alive()
            for group in self.groups:
                group.keep_up()
            return len(self.transactor.transactions) > committed and all(
                sum(self.offsets.committed(name) or ()) > offsets for name, offsets in before.items()
            )

        def what() -> str:
            complaints = "\n".join(group.complaint() for group in self.groups)
            return f"transactions and groups to go on, {self.transactor.outcomes}\n{complaints}"

        wait_for(is_done, PATIENCE_SECONDS, what, interval=0.1)

    # the end

    def finish(self) -> None:
        self.at_least_once.finish()
        self.transactor.finish()
        self.pipeline.drain()
        ends = [len(numbers) for numbers in self.load.acknowledged]
        for group in self.groups:
            wait_for(
                lambda: self.offsets.committed(group.name) == ends,  # noqa: B023
                PATIENCE_SECONDS,
                lambda: f"{ends} committed, not {self.offsets.committed(group.name)}\n{group.complaint()}",  # noqa: B023
                interval=0.1,
            )
            group.leave()
        self.offsets.finish()
        for topic in ("output", "transactions"):
            wait_until_no_transaction_is_open(self.cluster.bootstrap, topic)

    def check(self) -> None:
        self.load.check(self.cluster.bootstrap)
        self.at_least_once.check(self.cluster.bootstrap)
        logs = self._logs("input", "read_uncommitted")
        output = self._logs("output", "read_committed")
        for partition in range(PARTITIONS):
            check_once_and_in_order(*([one.number for one in log[partition]] for log in (output, logs)))
        committed = self._logs("transactions", "read_committed")
        for topic, reader in self.readers.items():
            reader.wait_until_read({"input": logs, "transactions": committed}[topic])
            reader.finish()
        require_none(
            [
                *find_in_transactions(committed, self.transactor.transactions),
                *self.readers["input"].find(logs),
                *self.readers["transactions"].find(committed),
                *(anomaly for group in self.groups for anomaly in group.find(logs)),
                *self.offsets.find(),
            ]
        )

    def _logs(self, topic: str, isolation_level: str) -> dict[int, list[Stored]]:
        return {
            partition: read_log(self.cluster.bootstrap, topic, partition, isolation_level)
            for partition in range(PARTITIONS)
        }

    def summary(self) -> str:
        outcomes = {outcome.value: count for outcome, count in self.transactor.outcomes.items()}
        gave_up = {group.name: group.gave_up for group in self.groups} | {"copiers": self.processors.gave_up}
        return f"{self.load.acknowledged_count} records, transactions {outcomes}, gave up {gave_up}"


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


def require_equal_replicas(cluster: CuttableCluster) -> None:
    """Byte for byte, however they are cut into segments."""

    def stored(number: int, name: str) -> bytes:
        segments = sorted((cluster.log_dir(number) / name).glob("*.log"))
        return b"".join(segment.read_bytes() for segment in segments)

    for topic in TOPICS:
        for partition in range(PARTITIONS):
            name = f"{topic}-{partition}"
            wait_for(
                lambda: len({stored(number, name) for number in cluster.ports}) == 1,  # noqa: B023
                PATIENCE_SECONDS,
                f"equal replicas of {name}",
            )


class Stopwatch:
    """For how long writes were not acknowledged, by the kind of fault."""

    def __init__(self) -> None:
        self.longest: dict[str, float] = {}
        self.late: list[str] = []

    def note(self, number: int, fault: Fault, place: int, seconds: float) -> None:
        print(f"{seconds:.1f} s at most without an acknowledgement", flush=True)
        self.longest[fault.name] = max(self.longest.get(fault.name, 0.0), seconds)
        if fault.leaves_enough and seconds > MOST_SECONDS_TO_THE_NEXT_WRITE:
            self.late.append(f"fault {number}, {fault.name} {place}: {seconds:.1f} s")

    def __str__(self) -> str:
        by_length: Sequence[tuple[str, float]] = sorted(self.longest.items(), key=lambda one: -one[1])
        return "\n".join(f"{seconds:5.1f} s at most: {name}" for name, seconds in by_length)


def test_nothing_that_clients_saw_is_contradicted(
    cluster: CuttableCluster,
    zookeeper: ZooKeeperFaults,
    tmp_path: Path,
    cluster_rounds: int,
    chance: random.Random,
) -> None:
    faults = Faults(cluster, zookeeper, chance).draw()
    stopwatch = Stopwatch()
    with Clients(cluster, tmp_path, chance) as clients:
        clients.wait_until_all_go_on()
        for number, (fault, place) in zip(range(cluster_rounds), faults, strict=False):
            threading.Event().wait(chance.uniform(0, LONGEST_UNDISTURBED_SECONDS))
            print(f"{time.strftime('%T')} fault {number}: {fault.name} {place}", flush=True)
            clients.load.begin_to_measure()
            mend = fault.inflict(place)
            clients.load.wait_for_progress_everywhere()
            mend()
            cluster.wait_until_whole(TOPICS)
            clients.wait_until_all_go_on()
            stopwatch.note(number, fault, place, clients.load.longest_silence_seconds())
        clients.finish()
        print(f"{clients.summary()}\n{stopwatch}")
        clients.check()
    require_equal_replicas(cluster)
    assert not stopwatch.late, stopwatch.late
