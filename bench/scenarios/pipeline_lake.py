"""Kafka to Parquet: the lake sink of Penstock's Connect, and the same job by hand in PySpark, from the same topic.

Each round copies all of the topic into a new folder: from the creation of the connector to the commit of the last
offset, or from the start of the query to its end. A round before them that does not count warms both up. The column of
Kafka has the job by hand.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from bench.connect_workers import JSON, Worker, running_worker
from bench.pipeline_loads import PipelineLoad
from bench.pipeline_records import create_filled, require_all
from bench.servers import Server
from bench.session import Session
from bench.spark_by_hand import SparkByHand

TOPIC = "items"
CONFIG = {
    "connector.class": "LakeSink",
    "topics": TOPIC,
    "tasks.max": "2",
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
    "rotate.interval.ms": "1000",
}


def run(session: Session) -> None:
    directory = session.directory("lake")
    directory.mkdir()
    with session.fresh("penstock") as server:
        server.start()
        create_filled(server, TOPIC, session.sizes.pipeline_records, "plain")
        with (
            running_worker("penstock", directory, server.bootstrap) as worker,
            SparkByHand(directory / "by_hand.log") as by_hand,
        ):
            lake = Lake(session, server, worker, by_hand)
            for counts in (False, *[True] * session.sizes.rounds):
                for name in session.names:
                    lake.measure(name, counts=counts)


class Lake:
    def __init__(self, session: Session, server: Server, worker: Worker, by_hand: SparkByHand) -> None:
        self._session, self._server = session, server
        self._worker, self._by_hand = worker, by_hand
        self._ways = {"kafka": self._copy_by_hand, "penstock": self._copy}

    def measure(self, name: str, *, counts: bool) -> None:
        folder, records = self._session.directory(name), self._session.sizes.pipeline_records
        load = self._ways[name](folder, records)
        require_all(f"{name}: {folder}", rows_and_ids(folder), records)
        shutil.rmtree(folder)
        if counts:
            load.record(self._session, "pipeline_lake", name, records)

    def _copy(self, folder: Path, records: int) -> PipelineLoad:
        return self._worker.run_sink(self._server, {**CONFIG, "store.path": str(folder)}, records)

    def _copy_by_hand(self, folder: Path, _records: int) -> PipelineLoad:
        return self._by_hand.measure(self._server, query="to_parquet", topic=TOPIC, folder=str(folder))


def rows_and_ids(folder: Path) -> tuple[int, ...]:
    """How many rows lie in the folder, and how many ids they have."""
    question = f"SELECT count(*), count(DISTINCT id) FROM '{folder}/**/*.parquet'"
    with duckdb.connect() as connection:
        return connection.execute(question).fetchone() or ()
