"""Kafka to PostgreSQL: the JDBC sink of Penstock's Connect, and the same job by hand in PySpark, from the same topic.

Each round copies all of the topic into a new table: from the creation of the connector to the commit of the last
offset, or from the start of the query to its end. A round before them that does not count warms both up. The column of
Kafka has the job by hand, which appends; the upserts have none to compare with.
"""

from __future__ import annotations

from glob import glob
from itertools import count

import psycopg

from bench.connect_workers import JSON, Worker, running_worker
from bench.pipeline_loads import PipelineLoad
from bench.pipeline_records import create_filled, require_all
from bench.servers import Server
from bench.session import Session
from bench.spark_by_hand import SparkByHand
from tests.support.apache_kafka import ROOT
from tests.support.maven import Jars
from tests.support.postgres import Postgres, running_postgres

TOPIC = "items"
DRIVER = Jars(
    ROOT / ".toolchains" / "postgres-driver", "postgres-driver", (("org.postgresql", "postgresql", "42.7.8"),)
)
CONFIG = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
    "connection.user": "penstock",
    "connection.password": "secret",
    "topics": TOPIC,
    "tasks.max": "2",
    "value.converter": JSON,
    "value.converter.schemas.enable": "true",
    "auto.create": "true",
}
INSERT = {"insert.mode": "insert", "pk.mode": "none"}
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}


def run(session: Session) -> None:
    directory = session.directory("postgres")
    directory.mkdir()
    with session.fresh("penstock") as server, running_postgres() as database:
        server.start()
        create_filled(server, TOPIC, session.sizes.pipeline_records, "envelope")
        with (
            running_worker("penstock", directory, server.bootstrap) as worker,
            SparkByHand(directory / "by_hand.log", driver_jars()) as by_hand,
        ):
            tables = Tables(session, server, database, worker, by_hand)
            for counts in (False, *[True] * session.sizes.rounds):
                tables.measure_all(counts=counts)


def driver_jars() -> list[str]:
    return glob(f"{DRIVER.classpath()}.jar")


class Tables:
    def __init__(
        self, session: Session, server: Server, database: Postgres, worker: Worker, by_hand: SparkByHand
    ) -> None:
        self._session, self._server, self._database = session, server, database
        self._worker, self._by_hand = worker, by_hand
        self._folder = session.directory("checkpoints")
        self._numbers = count()

    def measure_all(self, *, counts: bool) -> None:
        for name in self._session.names:
            self.measure("pipeline_postgres", name, INSERT, counts=counts)
        if "penstock" in self._session.names:
            self.measure("pipeline_upsert", "penstock", UPSERT, counts=counts)

    def measure(self, prefix: str, name: str, config: dict[str, str], *, counts: bool) -> None:
        table, records = f"items_{next(self._numbers)}", self._session.sizes.pipeline_records
        load = self._copy(table, config) if name == "penstock" else self._copy_by_hand(table)
        with psycopg.connect(self._database.dsn) as connection:
            found = connection.execute(f'SELECT count(*), count(DISTINCT id) FROM "{table}"').fetchone()
            connection.execute(f'DROP TABLE "{table}"')
        require_all(f"{name}: {table}", found or (), records)
        if counts:
            load.record(self._session, prefix, name, records)

    def _copy(self, table: str, config: dict[str, str]) -> PipelineLoad:
        where = {"connection.url": self._database.url, "table.name.format": table}
        records = self._session.sizes.pipeline_records
        return self._worker.run_sink(self._server, {**CONFIG, **config, **where}, records)

    def _copy_by_hand(self, table: str) -> PipelineLoad:
        where = {"url": self._database.url, "table": table, "folder": str(self._folder / table)}
        return self._by_hand.measure(self._server, query="to_postgres", topic=TOPIC, **where)
