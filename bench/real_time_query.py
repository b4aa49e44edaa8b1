"""A query from topic to topic in Spark's real-time mode, in a process of its own, as the engine runs it.

Its one job begins the query, and is answered as soon as a first record came through.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.job_process import Job, serve_jobs
from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.spark.kafka import KafkaInput, KafkaOutput, read_kafka, write_kafka
from penstock.pipeline.spark.settings import EngineSettings

QUERY = "passing"
START_SECONDS = 120.0
LONG_BATCH = "5 seconds"


def main(arguments: Job) -> None:
    engine = Engine(EngineSettings(Path(arguments["directory"])))
    engine.start()

    def run(job: Job) -> Job:
        engine.wait_until_ready(START_SECONDS)
        engine.run_native(QUERY, lambda session, checkpoint: passing(session, checkpoint, job), slots=1)
        return {}

    try:
        serve_jobs(run)
    finally:
        engine.stop()


def passing(session: Any, checkpoint: str, job: Job) -> Any:
    client_configs = {"bootstrap.servers": job["bootstrap"]}
    rows = read_kafka(session, KafkaInput(client_configs, (job["topic"],)), with_jars=True)
    return write_kafka(
        rows.select("key", "value"),
        KafkaOutput(client_configs, job["target"]),
        query_name=QUERY,
        checkpoint=checkpoint,
        with_jars=True,
        real_time=LONG_BATCH,
    )


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
