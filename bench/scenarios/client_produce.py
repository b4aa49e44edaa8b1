"""`KafkaProducer` beside bare confluent-kafka, on the same server: the wall time of many small records.

`produce` and `send_batch` are compared with bare `produce`, `send` with a bare `produce` that has a callback, since
both say where each record went. In the columns of Apache Kafka stands bare confluent-kafka.
"""

from __future__ import annotations

from bench.client import run_module
from bench.producer_client import MODULE
from bench.servers import Server
from bench.session import Session

RECORD_BYTES = 100
LAPS = 5
BARE_COLUMN, OUR_COLUMN = "kafka", "penstock"
BESIDE = {
    "client_produce_seconds": ("bare", "produce"),
    "client_send_batch_seconds": ("bare", "send_batch"),
    "client_send_seconds": ("bare_callback", "send"),
}


def run(session: Session) -> None:
    with session.fresh(session.names[-1]) as server:
        server.start()
        for _ in range(session.sizes.rounds):
            for metric, (bare, ours) in BESIDE.items():
                for column, command in ((BARE_COLUMN, bare), (OUR_COLUMN, ours)):
                    for seconds in laps_of(session, server, command):
                        session.record(metric, column, seconds)
                    session.say_last(column, metric)


def laps_of(session: Session, server: Server, command: str) -> list[float]:
    with session.topic(server, 1) as topic:
        job = {"topic": topic, "records": session.sizes.client_records, "record_bytes": RECORD_BYTES}
        where = {"bootstrap": server.bootstrap, "laps": LAPS}
        seconds: list[float] = run_module(MODULE, command, {**job, **where})["seconds"]
    return seconds
