"""`AsyncKafkaProducer` beside confluent-kafka's `AIOProducer`, on the same server: the wall time of many small records.

In the columns of Apache Kafka stands `AIOProducer`.
"""

from __future__ import annotations

from bench.async_client import MODULE, WINDOW
from bench.client import run_module
from bench.scenarios.client_produce import RECORD_BYTES
from bench.session import Session
from bench.turns import BARE_COLUMN, OUR_COLUMN

METRIC = "client_asyncio_seconds"


def run(session: Session) -> None:
    records = max(WINDOW, session.sizes.client_records // WINDOW * WINDOW)
    with session.fresh(session.names[-1]) as server:
        server.start()
        for _ in range(session.sizes.rounds):
            for column, command in ((BARE_COLUMN, "aio"), (OUR_COLUMN, "ours")):
                with session.topic(server, 1) as topic:
                    job = {"topic": topic, "records": records, "record_bytes": RECORD_BYTES}
                    seconds = run_module(MODULE, command, {"bootstrap": server.bootstrap, **job})["seconds"]
                session.record(METRIC, column, seconds)
                session.say_last(column, METRIC)
