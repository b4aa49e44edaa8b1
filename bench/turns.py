"""Two clients on one server that take turns, lap by lap, so that a machine that is busy for a while is so for both.

In the columns of Apache Kafka stands what Penstock's client is compared with: bare confluent-kafka.
"""

from __future__ import annotations

from contextlib import ExitStack

from bench.job_process import Job, JobProcess
from bench.session import Session

BARE_COLUMN, OUR_COLUMN = "kafka", "penstock"


def take_turns(session: Session, metric: str, module: str, bare: Job, ours: Job, laps: int) -> None:
    """Has `module` do both jobs in processes of their own; it answers each line of its input with a lap's seconds."""
    folder = session.directory("client")
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        processes = {
            column: stack.enter_context(JobProcess(module, job, folder / f"{column}.log"))
            for column, job in ((BARE_COLUMN, bare), (OUR_COLUMN, ours))
        }
        for _ in range(laps):
            for column, process in processes.items():
                session.record(metric, column, process.run()["seconds"])
    for column in processes:
        session.say_last(column, metric)
