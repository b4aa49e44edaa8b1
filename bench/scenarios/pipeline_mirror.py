"""Time from produce() to the consumer of the copy in another cluster, by `connect-mirror-maker` with its own settings.

Timestamps, headers and offset syncs are kept, each record exactly once; the consumer reads what is committed.
"""

from __future__ import annotations

from pathlib import Path

from bench import topics
from bench.carried import FIRST_SECONDS, Carried
from bench.process_tree import ProcessTree
from bench.servers import SCRIPTS, Server
from bench.session import Session
from tests.support.processes import Process

TOPIC = "mirrored"
COPY = f"A.{TOPIC}"
OF_ONE_BROKER = (
    *("replication.factor", "checkpoints.topic.replication.factor", "heartbeats.topic.replication.factor"),
    *("offset-syncs.topic.replication.factor", "offset.storage.replication.factor"),
    *("status.storage.replication.factor", "config.storage.replication.factor"),
)


def run(session: Session) -> None:
    directory = session.directory("mirror")
    directory.mkdir()
    with session.fresh("penstock") as source, session.fresh("penstock") as target:
        for server in (source, target):
            server.start()
        topics.create(source, {TOPIC: 1})
        command = [SCRIPTS / "connect-mirror-maker", properties_file(directory, source, target)]
        with Process(command, directory / "maker.log") as maker:
            carried = Carried(source, TOPIC, target, COPY)
            carried.send_first()
            maker.wait_until(carried.first_has_arrived, FIRST_SECONDS, "a copy")
            carried.require_first_whole()
            carried.measure_rounds(session, "pipeline_mirror")
            session.note("pipeline_mirror_p50", ProcessTree(maker.pid).memory_in_words())


def properties_file(directory: Path, source: Server, target: Server) -> Path:
    settings = {
        "clusters": "A, B",
        "A.bootstrap.servers": source.bootstrap,
        "B.bootstrap.servers": target.bootstrap,
        "A->B.enabled": "true",
        "A->B.topics": TOPIC,
        "data.dir": str(directory / "data"),
        **dict.fromkeys(OF_ONE_BROKER, "1"),
    }
    path = directory / "mm2.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return path
