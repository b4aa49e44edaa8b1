"""Time from produce() to the consumer behind a plain query from topic to topic, in Spark's real-time mode."""

from __future__ import annotations

from bench import topics
from bench.carried import FIRST_SECONDS, Carried
from bench.job_process import JobProcess
from bench.process_tree import ProcessTree
from bench.session import Session
from tests.support.processes import wait_for

SOURCE, TARGET = "real-time-source", "real-time-target"


def run(session: Session) -> None:
    directory = session.directory("real-time")
    directory.mkdir()
    with session.fresh("penstock") as server:
        server.start()
        topics.create(server, {SOURCE: 1, TARGET: 1})
        where = {"directory": str(directory / "data")}
        with JobProcess("bench.real_time_query", where, directory / "query.log") as process:
            process.run(bootstrap=server.bootstrap, topic=SOURCE, target=TARGET)
            carried = Carried(server, SOURCE, server, TARGET)
            carried.send_first()
            wait_for(carried.first_has_arrived, FIRST_SECONDS, "a record that came through", 0.2)
            carried.measure_rounds(session, "pipeline_latency")
            session.note("pipeline_latency_p50", ProcessTree(process.pid).memory_in_words())
