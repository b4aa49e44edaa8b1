"""Connectors on a Spark cluster of one master and two workers, started by our commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from penstock import KafkaAdmin, KafkaProducer
from tests.faults.connect_pipeline import SCHEMA
from tests.support.cluster_fixture import KafkaServer
from tests.support.connect_workers import ConnectClient, worker_settings
from tests.support.postgres import Postgres, running_postgres
from tests.support.processes import Process, free_port, wait_for
from tests.support.spark import QUICK_JAVA, require_java
from tests.support.spark_cluster import SparkCluster

pytestmark = pytest.mark.processes

PATIENCE_SECONDS = 180.0
SCRIPTS = Path(sys.executable).parent
PARTITIONS = 4
RECORDS = 400
JSON = "org.apache.kafka.connect.json.JsonConverter"


class Worker:
    def __init__(self, folder: Path, bootstrap: str, master: str, stack: ExitStack) -> None:
        port = free_port()
        plugins = folder / "plugins"
        plugins.mkdir()
        shutil.copy(Path(__file__).with_name("where_sink.py"), plugins)
        settings = {
            **worker_settings(bootstrap, "on-a-cluster", port),
            "data.dir": str(folder / "connect-data"),
            "spark.master": master,
            "plugin.path": str(plugins),
            "value.converter": JSON,
            "tick.ms": "1500",
            "task.restart.backoff.ms": "500",
            "task.restart.max.retries": "100",
        }
        properties = folder / "worker.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        command = [SCRIPTS / "connect-distributed", properties]
        self._process = stack.enter_context(Process(command, folder / "connect.log", QUICK_JAVA))
        self._client = ConnectClient(f"http://127.0.0.1:{port}")
        self._process.wait_until(self._client.is_ready, PATIENCE_SECONDS, "the worker to be ready")

    def create(self, name: str, config: dict[str, str]) -> None:
        said = self._client.send("PUT", f"/connectors/{name}/config", config)
        assert said.status == 201, said

    def wait(self, condition, what: str) -> None:
        self._process.wait_until(condition, PATIENCE_SECONDS, what)


def produce(bootstrap: str, first: int) -> None:
    with KafkaProducer(bootstrap_servers=bootstrap) as producer:
        for number in range(first, first + RECORDS):
            payload = {"id": number, "name": f"number {number}"}
            value = json.dumps({"schema": SCHEMA, "payload": payload}).encode()
            producer.produce("spread", value, partition=number % PARTITIONS)


def rows(postgres: Postgres) -> int:
    with psycopg.connect(postgres.dsn) as connection:
        if connection.execute("SELECT to_regclass('spread')").fetchone() == (None,):
            return 0
        found = connection.execute("SELECT count(*) FROM spread").fetchone()
        return found[0] if found else 0


def lines_of(folder: Path) -> list[tuple[str, str]]:
    """Spark's worker and the record, of all that was put so far."""
    texts = [file.read_text() for file in folder.iterdir()]
    whole = [line for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]
    lines = [line.rstrip("\n").split("\t") for line in whole]
    return [(Path(where).relative_to(folder.parent).parts[0], value) for where, value in lines]


def test_tasks_are_spread_over_two_workers_and_go_on_with_one(tmp_path: Path, kafka: KafkaServer) -> None:
    require_java()
    seen = tmp_path / "seen"
    seen.mkdir()
    with KafkaAdmin(bootstrap_servers=kafka.bootstrap) as admin:
        admin.create_topic("spread", partitions=PARTITIONS)
    with ExitStack() as stack:
        postgres = stack.enter_context(running_postgres())
        cluster = stack.enter_context(SparkCluster(tmp_path))
        worker = Worker(tmp_path, kafka.bootstrap, cluster.address, stack)
        sink = {"topics": "spread", "tasks.max": "4"}
        worker.create("where", {**sink, "connector.class": "WhereSinkConnector", "folder": str(seen)})
        database = {
            "connection.url": postgres.url,
            "connection.user": "penstock",
            "connection.password": "secret",
        }
        upsert = {
            "auto.create": "true",
            "insert.mode": "upsert",
            "pk.mode": "record_value",
            "pk.fields": "id",
        }
        worker.create("rows", {**sink, "connector.class": "JdbcSink", **database, **upsert})
        produce(kafka.bootstrap, 0)
        worker.wait(lambda: len({value for _, value in lines_of(seen)}) == RECORDS, "all records")
        worker.wait(lambda: rows(postgres) == RECORDS, "all rows")
        assert {where for where, _ in lines_of(seen)} == {"one", "two"}
        log = (tmp_path / "connect.log").read_text()
        told = ["Spark is starting", r"Spark is ready after \d+\.\d s"]
        told += [
            rf"connector {name} is {state}" for name in ("where", "rows") for state in ("started", "running")
        ]
        assert [line for line in told if not re.search(line, log)] == []
        os.kill(cluster.workers["one"].pid, signal.SIGKILL)
        before = len(lines_of(seen))
        produce(kafka.bootstrap, RECORDS)
        worker.wait(lambda: rows(postgres) == 2 * RECORDS, "all rows, with one worker")
        worker.wait(lambda: len({value for _, value in lines_of(seen)}) == 2 * RECORDS, "all records")
        assert len(lines_of(seen)) > before
        wait_for(lambda: not cluster.workers["one"].alive, what="the killed worker to be gone")
