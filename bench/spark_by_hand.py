"""The jobs of the sinks as they are written by hand in PySpark, in a process with a session of its own.

Its argument names jars beside those of Spark's Kafka connector; each job is one query over all that a topic has.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.job_process import Job, JobProcess, serve_jobs
from bench.pipeline_loads import PipelineLoad
from bench.process_tree import ProcessTree
from bench.servers import Server

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

ITEM = "struct<id: long, name: string, price: double>"
ENVELOPE = f"struct<payload: {ITEM}>"
EVENT = "struct<id: long, item: string, amount: double, store: string>"
STATE_PARTITIONS = "4"
ROWS_PER_INSERT = "10000"


def session_of(jars: list[str]) -> SparkSession:
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(jars))
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def records(session: SparkSession, job: Job) -> DataFrame:
    return (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", job["bootstrap"])
        .option("subscribe", job["topic"])
        .option("startingOffsets", "earliest")
        .load()
    )


def to_parquet(session: SparkSession, job: Job) -> StreamingQuery:
    from pyspark.sql import functions

    item = functions.from_json(functions.col("value").cast("string"), ITEM)
    return (
        records(session, job)
        .select(item.alias("item"))
        .select("item.*")
        .writeStream.format("parquet")
        .option("path", f"{job['folder']}/files")
        .option("checkpointLocation", f"{job['folder']}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )


def to_postgres(session: SparkSession, job: Job) -> StreamingQuery:
    from pyspark.sql import functions

    properties = {
        "user": "penstock",
        "password": "secret",
        "driver": "org.postgresql.Driver",
        "batchsize": ROWS_PER_INSERT,
    }
    url = f"{job['url']}?reWriteBatchedInserts=true"

    def append(rows: DataFrame, _batch: int) -> None:
        rows.write.jdbc(url, job["table"], mode="append", properties=properties)

    envelope = functions.from_json(functions.col("value").cast("string"), ENVELOPE)
    return (
        records(session, job)
        .select(envelope.alias("envelope"))
        .select("envelope.payload.*")
        .writeStream.foreachBatch(append)
        .option("checkpointLocation", f"{job['folder']}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )


def to_windowed_counts(session: SparkSession, job: Job) -> StreamingQuery:
    """Of the records so far, at the end of a batch: not for each record, as programs of streams have them."""
    from pyspark.sql import functions

    session.conf.set("spark.sql.shuffle.partitions", STATE_PARTITIONS)
    event = functions.from_json(functions.col("value").cast("string"), EVENT)
    window = functions.window("timestamp", "60 seconds")
    start = (functions.unix_millis(functions.col("window.start"))).alias("start")
    return (
        records(session, job)
        .withColumn("event", event)
        .where("event.amount >= 0")
        .withWatermark("timestamp", "60 seconds")
        .groupBy("key", window)
        .count()
        .select("key", functions.to_json(functions.struct(start, "count")).alias("value"))
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", job["bootstrap"])
        .option("topic", job["output"])
        .option("checkpointLocation", f"{job['folder']}/checkpoint")
        .outputMode("update")
        .trigger(availableNow=True)
        .start()
    )


QUERIES = {"to_parquet": to_parquet, "to_postgres": to_postgres, "to_windowed_counts": to_windowed_counts}


def main(arguments: Job) -> None:
    from penstock.pipeline.spark.jars import connector_jars
    from penstock.pipeline.spark.java import find_java_home

    java_home = find_java_home()
    os.environ.update(JAVA_HOME=str(java_home), PYSPARK_PYTHON=sys.executable)
    session = session_of([*map(str, connector_jars(java_home)), *arguments["jars"]])

    def run(job: Job) -> Job:
        QUERIES[job["query"]](session, job).awaitTermination()
        return {}

    serve_jobs(run)
    session.stop()


class SparkByHand(JobProcess):
    """The process, for those who measure it."""

    def __init__(self, log: Path, jars: Sequence[str] = ()) -> None:
        super().__init__(__name__, {"jars": list(jars)}, log)

    def measure(self, server: Server, **job: str) -> PipelineLoad:
        load = PipelineLoad(ProcessTree(self.pid), server)
        self.run(bootstrap=server.bootstrap, **job)
        load.end()
        return load


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
