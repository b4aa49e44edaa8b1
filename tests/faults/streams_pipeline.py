"""A program of streams over a topic of numbers, and ways to break it."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from penstock import KafkaAdmin, KafkaProducer, RecordBatch
from tests.broker.platform import Platform
from tests.faults.broker_cluster import BrokerCluster
from tests.support.processes import Process, wait_for
from tests.support.spark import QUICK_JAVA
from tests.support.spark_cluster import SparkCluster
from tests.support.spark_processes import is_alive, java_below, kill, python_workers_below
from tests.support.topic_records import records_to_end

SCRIPTS = Path(sys.executable).parent
PROGRAM = """
from penstock.streams import (
    Consumed, Materialized, Produced, Program, SessionWindows, StreamsBuilder, TimeWindows,
    session_windowed_serde, time_windowed_serde,
)

builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
numbers = builder.stream("numbers")
names = builder.table("names")
by_user = numbers.group_by_key()

minutes = by_user.windowed_by(TimeWindows.of_size_and_grace(60_000, grace_ms=60_000))
minutes.count().to_stream().to("windowed", Produced(time_windowed_serde("string", 60_000), "long"))

sessions = by_user.windowed_by(SessionWindows.of_inactivity_gap_and_grace(86_400_000, grace_ms=0))
sessions.count().to_stream().to("sessions", Produced(session_windowed_serde("string"), "long"))

numbers.join(names, lambda number, name: f"{number} {name}").to("joined")

numbers.select_key(lambda user, number: number[-1]).group_by_key().count().to_stream().to(
    "totals", Produced("string", "long")
)

program = Program("program", builder.build())
"""
PARTITIONS = 2
USERS = [f"user-{number}" for number in range(17)]
STEP_MS = 100
PATIENCE_SECONDS = 180.0
SETTINGS = {
    "session.timeout.ms": "6000",
    "transaction.timeout.ms": "6000",
    "num.stream.threads": "2",
}


class Brokers(Protocol):
    replicas: int

    @property
    def bootstrap(self) -> str: ...

    def kill_one(self, chance: random.Random) -> None:
        """And start it again."""


class OneBroker:
    replicas = 1

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.bootstrap = platform.bootstrap

    def kill_one(self, chance: random.Random) -> None:
        self._platform.broker.kill()
        time.sleep(chance.uniform(0, 2))
        self._platform.start_broker()


class ThreeBrokers:
    replicas = 3

    def __init__(self, cluster: BrokerCluster) -> None:
        self._cluster = cluster
        self.bootstrap = cluster.bootstrap

    def kill_one(self, chance: random.Random) -> None:
        """Of those that are left, one leads what it has led; another one may be killed when all have caught up."""
        self._cluster.wait_until_whole()
        number = chance.choice(self._cluster.numbers)
        self._cluster.kill(number)
        time.sleep(chance.uniform(0, 10))
        self._cluster.start(number)


class StreamsPipeline:
    """Every number that `write` sends is to count once in each of four ways."""

    def __init__(self, folder: Path, brokers: Brokers, chance: random.Random) -> None:
        self._folder, self._brokers, self._chance = folder, brokers, chance
        self._file = folder / "program.py"
        self._file.write_text(PROGRAM)
        self._program: Process | None = None
        self._begin_ms = time.time_ns() // 1_000_000 - 3_600_000
        self.written = 0

    # --- its parts

    def start(self) -> None:
        with KafkaAdmin(bootstrap_servers=self._brokers.bootstrap) as admin:
            for topic in ("numbers", "names", "windowed", "sessions", "joined", "totals"):
                admin.create_topic(topic, partitions=PARTITIONS, replication_factor=self._brokers.replicas)
        with self._producer() as producer:
            times = [self._begin_ms - 1] * len(USERS)
            producer.send_batch(
                RecordBatch("names", [user.upper() for user in USERS], USERS, timestamps_ms=times)
            )
        self._start_program()

    def _producer(self) -> KafkaProducer:
        return KafkaProducer(
            bootstrap_servers=self._brokers.bootstrap, key_serializer="string", value_serializer="string"
        )

    def _start_program(self) -> None:
        settings = [f"--set={name}={value}" for name, value in self.settings().items()]
        command = [
            SCRIPTS / "penstock",
            "streams",
            "run",
            self._file,
            "--bootstrap-server",
            self._brokers.bootstrap,
        ]
        self._program = Process([*command, *settings], self._folder / "program.log", QUICK_JAVA)

    def settings(self) -> dict[str, str]:
        replicas = str(self._brokers.replicas)
        return {**SETTINGS, "replication.factor": replicas, "state.dir": str(self._folder / "state")}

    def stop(self) -> None:
        if self._program is not None:
            self._program.kill()

    def write(self, count: int) -> None:
        numbers = range(self.written, self.written + count)
        with self._producer() as producer:
            producer.send_batch(
                RecordBatch(
                    "numbers",
                    [str(number) for number in numbers],
                    [USERS[number % len(USERS)] for number in numbers],
                    timestamps_ms=[self._begin_ms + STEP_MS * number for number in numbers],
                )
            )
        self.written += count

    # --- faults

    def faults(self) -> list[Callable[[], None]]:
        return [self.kill_program, self.kill_python_worker, self.kill_driver, self.kill_broker]

    def kill_program(self) -> None:
        assert self._program is not None
        below = java_below(self._program.pid)
        self._program.kill()
        for java in below:
            wait_for(lambda pid=java: not is_alive(pid), PATIENCE_SECONDS, "Spark to go with its program")
        self._start_program()

    def _java(self) -> list[int]:
        assert self._program is not None
        assert self._program.alive, self._program.log_tail()
        return java_below(self._program.pid)

    def kill_python_worker(self) -> None:
        workers = [worker for java in self._java() for worker in python_workers_below(java)]
        if workers:
            kill(self._chance.choice(workers))

    def kill_driver(self) -> None:
        """In local mode it is the executor, too."""
        for java in self._java():
            kill(java)

    def kill_broker(self) -> None:
        self._brokers.kill_one(self._chance)

    # --- what there is

    def wait_until_all_is_there(self) -> None:
        def is_all() -> bool:
            assert self._program is not None
            assert self._program.alive, self._program.log_tail()
            return all(count >= self.written for count in self.found().values())

        wait_for(is_all, PATIENCE_SECONDS, lambda: f"{self.written} of each: {self.found()}", 0.5)

    def found(self) -> dict[str, int]:
        """Results but for those that take earlier ones back."""
        return {
            topic: sum(value is not None for _, value in self._read(topic))
            for topic in ("joined", "windowed", "totals", "sessions")
        }

    def _read(self, topic: str) -> list[tuple[bytes | None, bytes | None]]:
        records = records_to_end(self._brokers.bootstrap, topic, range(PARTITIONS))
        return [(record.key, record.value) for record in records]

    def check_each_once(self) -> None:
        """Each number joined once; each count one more than the one before it, up to how many there are."""
        joined = Counter(str(value, "utf-8") for _, value in self._read("joined") if value is not None)
        assert joined == Counter(
            f"{number} {USERS[number % len(USERS)].upper()}" for number in range(self.written)
        )
        minutes = Counter(
            (USERS[number % len(USERS)], (self._begin_ms + STEP_MS * number) // 60_000 * 60_000)
            for number in range(self.written)
        )
        counted = self._counts("windowed")
        assert {
            (key[:-8].decode(), int.from_bytes(key[-8:], "big")): counts for key, counts in counted.items()
        } == {window: list(range(1, count + 1)) for window, count in minutes.items()}
        digits = Counter(str(number)[-1] for number in range(self.written))
        assert {key.decode(): counts for key, counts in self._counts("totals").items()} == {
            digit: list(range(1, count + 1)) for digit, count in digits.items()
        }
        self._check_sessions()

    def _counts(self, topic: str) -> dict[bytes, list[int]]:
        counts: dict[bytes, list[int]] = defaultdict(list)
        for key, value in self._read(topic):
            assert key is not None
            if value is not None:
                counts[key].append(int.from_bytes(value, "big"))
        return counts

    def _check_sessions(self) -> None:
        """Each number makes a user's only session longer: what there was of it goes, and it comes with one more."""
        live: dict[bytes, int] = {}
        ends: dict[str, list[int]] = defaultdict(list)
        for key, value in self._read("sessions"):
            assert key is not None
            if value is None:
                live.pop(key)
                continue
            live[key] = int.from_bytes(value, "big")
            ends[key[:-16].decode()].append(live[key])
        totals = Counter(USERS[number % len(USERS)] for number in range(self.written))
        assert {key[:-16].decode(): count for key, count in live.items()} == dict(totals)
        assert ends == {user: list(range(1, count + 1)) for user, count in totals.items()}


class ClusterStreamsPipeline(StreamsPipeline):
    """The same with its tasks on a Spark cluster of two workers."""

    def __init__(self, folder: Path, brokers: Brokers, chance: random.Random, cluster: SparkCluster) -> None:
        super().__init__(folder, brokers, chance)
        self._cluster = cluster

    def start(self) -> None:
        self._cluster.start()
        super().start()

    def settings(self) -> dict[str, str]:
        return {
            **super().settings(),
            "spark.master": self._cluster.address,
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": QUICK_JAVA["JAVA_TOOL_OPTIONS"],
        }

    def stop(self) -> None:
        super().stop()
        self._cluster.stop()

    def faults(self) -> list[Callable[[], None]]:
        return [self.kill_executor, self.kill_program, self.kill_broker, self.kill_driver]

    def kill_executor(self) -> None:
        executors = self._cluster.executors()
        if executors:
            kill(self._chance.choice(executors))

    def executors_with_tasks(self) -> int:
        """Each of which has a Python process for the tasks that it runs."""
        return sum(bool(python_workers_below(executor)) for executor in self._cluster.executors())
