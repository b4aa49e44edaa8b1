"""`KafkaProducer` beside bare confluent-kafka, on the same server: the wall time of many small records.

`produce` and `send_batch` are compared with bare `produce`, `send` with a bare `produce` that has a callback, since
both say where each record went. In the columns of Apache Kafka stands bare confluent-kafka. The two take turns, lap by
lap, so that a machine that is busy for a while is so for both.
"""

from __future__ import annotations

from contextlib import ExitStack

from bench.job_process import JobProcess
from bench.producer_client import MODULE
from bench.servers import Server
from bench.session import Session

RECORD_BYTES = 100
LAPS = 12
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
            for metric, commands in BESIDE.items():
                measure(session, server, metric, commands)
                for column in (BARE_COLUMN, OUR_COLUMN):
                    session.say_last(column, metric)


def measure(session: Session, server: Server, metric: str, commands: tuple[str, str]) -> None:
    job = {"records": session.sizes.client_records, "record_bytes": RECORD_BYTES}
    folder = session.directory("client")
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        processes = {}
        for column, command in zip((BARE_COLUMN, OUR_COLUMN), commands, strict=True):
            where = {"bootstrap": server.bootstrap, "topic": stack.enter_context(session.topic(server, 1))}
            arguments = {"command": command, **where, **job}
            log = folder / f"{command}.log"
            processes[column] = stack.enter_context(JobProcess(MODULE, arguments, log))
        for _ in range(LAPS):
            for column, process in processes.items():
                session.record(metric, column, process.run()["seconds"])
