"""A pipeline from a file through Kafka into PostgreSQL, Parquet and a mirror, and ways to break it."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import psycopg

from penstock import KafkaConsumer
from tests.broker.platform import Platform
from tests.support.connect_workers import ConnectClient, worker_settings
from tests.support.postgres import Postgres
from tests.support.processes import Process, free_port, wait_for
from tests.support.spark import QUICK_JAVA
from tests.support.spark_cluster import SparkCluster
from tests.support.spark_processes import is_alive, java_below, kill, python_workers_below
from tests.support.topic_records import abort_records

SCRIPTS = Path(sys.executable).parent
STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
SCHEMA = {
    "type": "struct",
    "optional": False,
    "fields": [
        {"field": "id", "type": "int64", "optional": False},
        {"field": "name", "type": "string", "optional": True},
    ],
}
PATIENCE_SECONDS = 240.0
EXECUTOR_MEMORY = "512m"
MOST_KILLS = 5
NEVER, ABORTED = 10_000_000, 50
"""Numbers that are in the topic and not committed, and how many of them at a time."""
SECONDS_TO_SEE_A_LOSS = 10.0


def line_of(number: int) -> str:
    return json.dumps({"schema": SCHEMA, "payload": {"id": number, "name": f"number {number}"}}) + "\n"


class ConnectPipeline:
    """Every number that `write` appends to the file is to be once in each of the places."""

    def __init__(
        self, folder: Path, platform: Platform, postgres: Postgres | None, chance: random.Random
    ) -> None:
        self._folder, self._platform, self._postgres, self._chance = folder, platform, postgres, chance
        self._file = folder / "numbers"
        self._file.touch()
        self._lake = folder / "lake"
        self._port = free_port()
        self._client = ConnectClient(f"http://127.0.0.1:{self._port}")
        self._worker: Process | None = None
        self.written = 0

    # --- its parts

    def start(self) -> None:
        self._start_worker()
        self._create_connectors()

    def _create_connectors(self) -> None:
        for name, config in self._connectors().items():
            wait_for(lambda n=name, c=config: self._created(n, c), PATIENCE_SECONDS, f"connector {name}", 0.2)

    def _created(self, name: str, config: dict[str, str]) -> bool:
        said = self._client.send("PUT", f"/connectors/{name}/config", config)
        assert said.status in (200, 201, 409, 503), said
        return said.status in (200, 201)

    def _start_worker(self) -> None:
        self._launch_worker()
        self._wait_for_worker()

    def _launch_worker(self) -> None:
        settings = {
            **worker_settings(self._platform.bootstrap, "pipeline", self._port),
            "data.dir": str(self._folder / "connect-data"),
            "session.timeout.ms": "6000",
            "heartbeat.interval.ms": "1000",
            "tick.ms": "1500",
            "task.restart.backoff.ms": "500",
            "task.restart.backoff.max.ms": "2000",
            "task.restart.max.retries": "1000",
            **self._worker_settings(),
        }
        properties = self._folder / "worker.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        command = [SCRIPTS / "connect-distributed", properties]
        self._worker = Process(command, self._folder / "connect.log", QUICK_JAVA)

    def _wait_for_worker(self) -> None:
        assert self._worker is not None
        self._worker.wait_until(self._client.is_ready, PATIENCE_SECONDS, "the worker to be ready")

    def _worker_settings(self) -> dict[str, str]:
        return {}

    def _connectors(self) -> dict[str, dict[str, str]]:
        sink = {"topics": "numbers", "value.converter": JSON, "tasks.max": "2"}
        assert self._postgres is not None
        rows = {
            **sink,
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "connection.url": self._postgres.url,
            "connection.user": "penstock",
            "connection.password": "secret",
            "auto.create": "true",
            "max.retries": "1000",
            "retry.backoff.ms": "300",
        }
        return {
            "file": {
                "connector.class": "FileStreamSource",
                "file": str(self._file),
                "topic": "numbers",
                "value.converter": STRING,
                "topic.creation.default.partitions": "3",
                "topic.creation.default.replication.factor": "1",
            },
            "upserts": {
                **rows,
                "insert.mode": "upsert",
                "pk.mode": "record_value",
                "pk.fields": "id",
                "table.name.format": "upserted",
            },
            "inserts": {**rows, "offsets.table": "positions", "table.name.format": "inserted"},
            "lake": {
                **sink,
                "connector.class": "penstock.LakeSinkConnector",
                "store.path": str(self._lake),
                "rotate.interval.ms": "1000",
                "flush.size": "500",
            },
            "mirror": {
                "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
                "source.cluster.alias": "here",
                "target.cluster.alias": "there",
                "source.cluster.bootstrap.servers": self._platform.bootstrap,
                "target.cluster.bootstrap.servers": self._platform.bootstrap,
                "topics": "numbers",
                "replication.factor": "1",
                "offset-syncs.topic.replication.factor": "1",
                "refresh.topics.interval.seconds": "1",
                "tasks.max": "2",
                "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
                "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
            },
        }

    def write(self, count: int) -> None:
        with self._file.open("a") as file:
            file.writelines(line_of(number) for number in range(self.written, self.written + count))
        if self.written:  # the topic is there
            self._abort_some()
        self.written += count

    def _abort_some(self) -> None:
        """A source's transaction that came to nothing, in front of each sink: a row of it anywhere is one too many."""
        lines = (line_of(number).rstrip() for number in range(NEVER, NEVER + ABORTED))
        abort_records(self._platform.bootstrap, "numbers", *lines)

    # --- what befalls it

    def faults(self) -> list[Callable[[], None]]:
        return [
            self.kill_the_pipeline,
            self.kill_spark,
            self.kill_python_workers,
            self.kill_the_broker,
            self.kill_postgres,
        ]

    def kill_the_pipeline(self) -> None:
        assert self._worker is not None
        drivers = self._drivers()
        self._worker.kill()
        wait_for(lambda: not any(map(is_alive, drivers)), 30, "Spark to end with its worker")
        self._start_worker()

    def kill_spark(self) -> None:
        """Driver and executor are one process here."""
        for pid in self._drivers():
            kill(pid)

    def kill_python_workers(self) -> None:
        for executor in self._executors():
            for worker in python_workers_below(executor):
                kill(worker)

    def kill_the_broker(self) -> None:
        self._platform.restart_broker(kill=True)

    def kill_postgres(self) -> None:
        assert self._postgres is not None
        self._postgres.kill()
        self._postgres.start()

    def _drivers(self) -> list[int]:
        assert self._worker is not None
        return java_below(self._worker.pid)

    def _executors(self) -> list[int]:
        return self._drivers()

    # --- what came out

    def wait_until_all_is_there(self) -> None:
        wait_for(self._has_arrived, PATIENCE_SECONDS, self._described, 0.5)

    def _has_arrived(self) -> bool:
        return all(found[1] >= self.written for found in self.found().values())

    def found(self) -> dict[str, tuple[int, int]]:
        """Rows, and different ones among them, in each place."""
        return {
            "upserted": self._rows("upserted"),
            "inserted": self._rows("inserted"),
            "parquet": self._parquet(),
            "mirrored": self._mirrored(),
        }

    def _rows(self, table: str) -> tuple[int, int]:
        assert self._postgres is not None
        with psycopg.connect(self._postgres.dsn) as connection:
            if connection.execute("SELECT to_regclass(%s)", (table,)).fetchone() == (None,):
                return 0, 0
            found = connection.execute(f"SELECT count(*), count(DISTINCT id) FROM {table}").fetchone()
        return found or (0, 0)

    def _parquet(self) -> tuple[int, int]:
        if not any(self._lake.glob("topics/**/*.parquet")):
            return 0, 0
        query = f"SELECT count(*), count(DISTINCT id) FROM read_parquet('{self._lake}/topics/**/*.parquet')"
        [found] = duckdb.sql(query).fetchall()
        return found

    def _mirrored(self) -> tuple[int, int]:
        """Only what was committed counts."""
        settings = {"bootstrap.servers": self._platform.bootstrap, "isolation.level": "read_committed"}
        with KafkaConsumer(settings) as consumer:
            partitions = consumer.topics().get("here.numbers", [])
            consumer.assign(dict.fromkeys(partitions, 0))
            records = [record for records in iter(lambda: consumer.poll(2.0), []) for record in records]
        numbers = [json.loads(record.value)["payload"]["id"] for record in records]
        return len(numbers), len(set(numbers))

    def _described(self) -> str:
        status = [self._client.send("GET", "/connectors?expand=status").body]
        log = "" if self._worker is None else self._worker.log_tail(40)
        return f"{self.written} numbers; there are {self.found()}; {json.dumps(status)[:3000]}\n{log}"

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()


class ClusterPipeline(ConnectPipeline):
    """The same with its tasks on a cluster, where an executor and a worker of Spark's die alone."""

    def __init__(
        self,
        folder: Path,
        platform: Platform,
        postgres: Postgres,
        chance: random.Random,
        cluster: SparkCluster,
    ) -> None:
        super().__init__(folder, platform, postgres, chance)
        self._cluster = cluster

    def start(self) -> None:
        """Both at once: Spark is first asked for with the first connector."""
        self._launch_worker()
        self._cluster.start()
        self._wait_for_worker()
        self._create_connectors()

    def stop(self) -> None:
        super().stop()
        self._cluster.stop()

    def _worker_settings(self) -> dict[str, str]:
        return {"spark.master": self._cluster.address, "spark.executor.memory": EXECUTOR_MEMORY}

    def faults(self) -> list[Callable[[], None]]:
        return [*super().faults(), self.kill_an_executor, self.kill_a_spark_worker]

    def kill_an_executor(self) -> None:
        kill(self._chance.choice(wait_for(self._executors, PATIENCE_SECONDS, "an executor")))

    def kill_an_executor_at_work(self) -> None:
        """Spark says which tasks died with it; one that had none at that moment is not counted."""
        wait_for(self._has_begun_to_arrive, PATIENCE_SECONDS, self._described)
        before = self.tasks_lost()
        for _ in range(MOST_KILLS):
            self.kill_an_executor()
            try:
                wait_for(lambda: self.tasks_lost() > before, SECONDS_TO_SEE_A_LOSS)
            except TimeoutError:
                continue
            return
        raise AssertionError(f"none of {MOST_KILLS} executors had a task when it was killed")

    def kill_a_spark_worker(self) -> None:
        name = self._chance.choice(list(self._cluster.workers))
        self._cluster.kill_worker(name)
        self._cluster.start_worker(name)

    def tasks_lost(self) -> int:
        """With an executor, since the driver began."""
        log = self._folder / "connect-data" / "spark" / "spark.log"
        return log.read_text(errors="replace").count("ExecutorLostFailure")

    def _has_begun_to_arrive(self) -> bool:
        return self._rows("upserted")[0] > 0

    def _executors(self) -> list[int]:
        return self._cluster.executors()
