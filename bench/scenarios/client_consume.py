"""`KafkaConsumer` beside bare confluent-kafka, on the same server: the wall time of many small records.

`poll`, iteration and `poll_batch` are compared with a bare `consume(num_messages)`.
"""

from __future__ import annotations

from bench.client import run_client
from bench.consumer_client import MODULE
from bench.scenarios.client_produce import RECORD_BYTES
from bench.session import PARTITIONS, Session
from bench.turns import take_turns

LAPS = 6
METRIC_OF = {
    "poll_batch": "client_poll_batch_seconds",
    "poll": "client_poll_seconds",
    "iterate": "client_iterate_seconds",
}


def run(session: Session) -> None:
    records = 2 * session.sizes.client_records
    with session.fresh(session.names[-1]) as server:
        server.start()
        with session.topic(server, PARTITIONS) as topic:
            job = {
                "bootstrap": server.bootstrap,
                "topic": topic,
                "partitions": PARTITIONS,
                "records": records,
            }
            run_client("produce", acks="all", record_bytes=RECORD_BYTES, **job)
            for _ in range(session.sizes.rounds):
                for command, metric in METRIC_OF.items():
                    bare, ours = {"command": "bare", **job}, {"command": command, **job}
                    take_turns(session, metric, MODULE, bare, ours, LAPS)
