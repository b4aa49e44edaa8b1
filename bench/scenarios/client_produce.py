"""`KafkaProducer` beside bare confluent-kafka, on the same server: the wall time of many small records.

`produce` and `send_batch` are compared with bare `produce`, `send` with a bare `produce` that has a callback, since
both say where each record went.
"""

from __future__ import annotations

from bench.producer_client import MODULE
from bench.servers import Server
from bench.session import Session
from bench.turns import take_turns

RECORD_BYTES = 100
LAPS = 12
BESIDE = {
    "client_produce_seconds": ("bare", "produce"),
    "client_send_batch_seconds": ("bare", "send_batch"),
    "client_send_seconds": ("bare_callback", "send"),
}


def run(session: Session) -> None:
    with session.fresh(session.names[-1]) as server:
        server.start()
        for _ in range(session.sizes.rounds):
            for metric, commands in BESIDE.items():
                measure(session, server, metric, commands)


def measure(session: Session, server: Server, metric: str, commands: tuple[str, str]) -> None:
    job = {
        "bootstrap": server.bootstrap,
        "records": session.sizes.client_records,
        "record_bytes": RECORD_BYTES,
    }
    with session.topic(server, 1) as one, session.topic(server, 1) as other:
        bare, ours = (
            {"command": command, "topic": topic, **job}
            for command, topic in zip(commands, (one, other), strict=True)
        )
        take_turns(session, metric, MODULE, bare, ours, LAPS)
