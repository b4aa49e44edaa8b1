"""What is measured, in the order of the report, with what Penstock promises. Less is better in every line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

CPU_PRODUCE, CPU_CONSUME, CPU_SMALL_REQUEST = 0.6, 1.0, 0.3
TAIL_LATENCY, START, RSS = 0.5, 0.2, 0.2
SETTLE, COMMIT, TRANSACTIONS = 1.0, 1.0, 1.0
TOOL_START, CONSOLE_CONSUMER = 0.25, 1.0
AS_FAST_AS_BY_HAND, AS_FAST_AS_CONNECT = 1 / 0.9, 1.0
CLUSTER_TAIL, FAILOVER, CLUSTER_START = 0.6, 1.0, 0.5
TWICE_KAFKA_STREAMS, TEN_TIMES_QUIX, AS_MUCH_AS_BY_HAND = 0.5, 0.1, 1.0
AS_FAST_AS_BARE, HALF_AS_FAST_AS_BARE, FASTER_THAN_AIO = 1 / 0.9, 1 / 0.5, 1 / 1.5


@dataclass(frozen=True)
class Metric:
    key: str
    title: str
    unit: str
    target: float | None = None  # at most this many times Apache Kafka's; None: for information
    baseline: str | None = None  # the metric of Apache Kafka to compare with, where it is not the same one
    most: float | None = None  # at most so much, in the metric's unit, whatever it is compared with
    ours: str | None = None  # the metric of Penstock to compare, where several are compared with the same one


STREAMS_PROGRAMS = {"count": "windowed count", "join": "stream-table join"}
STREAMS_PEERS = {
    "kafka_streams": ("Kafka Streams, exactly once, no cache", TWICE_KAFKA_STREAMS),
    "kafka_streams_cached": ("Kafka Streams with its cache, which counts fewer times", None),
    "quix": ("Quix Streams, at least once", TEN_TIMES_QUIX),
    "quix_exactly_once": ("Quix Streams, exactly once", TEN_TIMES_QUIX),
    "spark": ("PySpark by hand, counts of batches", AS_MUCH_AS_BY_HAND),
}
STREAMS_MEASURED = {
    "warm_cpu": ("CPU for 1,000,000 records", "s"),
    "cpu": ("the same CPU, with the start", "s"),
    "warm_seconds": ("time for 1,000,000 records", "s"),
    "rss": ("peak RSS", "MB"),
}


def streams_metrics() -> Iterator[Metric]:
    """Penstock's own, then those of each peer beside it."""
    for program, program_title in STREAMS_PROGRAMS.items():
        for what, (title, unit) in STREAMS_MEASURED.items():
            yield Metric(f"streams_{program}_penstock_{what}", f"{program_title}: {title}", unit)
        for peer, (peer_title, target) in STREAMS_PEERS.items():
            if program == "join" and peer == "spark":
                continue
            for what, (title, unit) in STREAMS_MEASURED.items():
                yield Metric(
                    f"streams_{program}_{peer}_{what}",
                    f"{program_title}: {title}; {peer_title} as Kafka",
                    unit,
                    target if what == "warm_cpu" else None,
                    ours=f"streams_{program}_penstock_{what}",
                )


METRICS = (
    Metric("produce_cpu", "broker CPU per GB produced", "s", CPU_PRODUCE),
    Metric("produce_seconds", "time per GB produced", "s"),
    Metric("produce_zookeeper_cpu", "ZooKeeper CPU per GB produced", "s"),
    Metric("walk_cpu", "of that the walk over the records; header and CRC as Kafka", "s"),
    Metric("walk_plain", "the walk in 16 KB of records of 67 to 133 bytes; header and CRC as Kafka", "us"),
    Metric("walk_zstd", "the same, compressed with zstd", "us"),
    Metric("consume_cpu", "broker CPU per GB consumed", "s", CPU_CONSUME),
    Metric("consume_seconds", "time per GB consumed", "s"),
    Metric("consume_zookeeper_cpu", "ZooKeeper CPU per GB consumed", "s"),
    Metric("small_requests_cpu", "broker CPU per 100,000 one-record requests", "s", CPU_SMALL_REQUEST),
    Metric("small_requests_seconds", "time per 100,000 one-record requests", "s"),
    Metric(
        "small_requests_spread_cpu",
        "the same CPU, requests in turn to several partitions",
        "s",
        CPU_SMALL_REQUEST,
    ),
    Metric("small_requests_few_cpu", "the same CPU, at most five requests in flight", "s", CPU_SMALL_REQUEST),
    Metric("latency_p50", "produce to fetch at 500 records/s, p50", "ms"),
    Metric("latency_p99", "produce to fetch at 500 records/s, p99", "ms"),
    Metric("latency_p999", "produce to fetch at 500 records/s, p99.9", "ms"),
    Metric("latency_floor_p99", "produce to fetch at 500 records/s, p99; ready answers as Kafka", "ms"),
    Metric("latency_brisk_p99", "produce to fetch at 2,000 records/s, p99", "ms", TAIL_LATENCY),
    Metric("latency_busy_p99", "produce to fetch at 5,000 records/s, p99", "ms", TAIL_LATENCY),
    Metric("latency_acknowledged_p99", "produce to acknowledgement (acks=all) at 500 records/s, p99", "ms"),
    Metric("latency_written_p99", "the client's own delay in these, p99", "ms"),
    Metric("latency_librdkafka_p50", "produce to consume through librdkafka, p50", "ms"),
    Metric("latency_librdkafka_p99", "produce to consume through librdkafka, p99", "ms"),
    Metric("latency_librdkafka_p999", "produce to consume through librdkafka, p99.9", "ms"),
    Metric("settle_classic", "classic group settles after one of 50 members left", "ms", SETTLE),
    Metric("settle_consumer", "consumer group (KIP-848) settles after the same", "ms", SETTLE),
    Metric("commit_p50", "offset commit, p50", "ms"),
    Metric("commit_p99", "offset commit, p99", "ms", COMMIT),
    Metric("transactions_seconds", "100 transactions of 1,000 records", "s", TRANSACTIONS),
    Metric("transactions_cpu", "broker CPU for these", "s"),
    Metric("small_transactions_seconds", "1,000 transactions of one record", "s", TRANSACTIONS),
    Metric("small_transactions_cpu", "broker CPU for these", "s"),
    Metric("start_seconds", "start to first answered Metadata", "s", START),
    Metric("start_cpu", "CPU to start", "s"),
    Metric("platform_start_seconds", "start of the platform (`penstock up`)", "s", START, "start_seconds"),
    Metric("rss_idle", "RSS idle", "MB", RSS),
    Metric("rss_idle_with_zookeeper", "RSS idle, ZooKeeper included", "MB", RSS),
    Metric("rss_loaded", "RSS after load", "MB", RSS),
    Metric("rss_loaded_with_zookeeper", "RSS after load, ZooKeeper included", "MB", RSS),
    Metric("partitions_create_seconds", "create the partitions", "s"),
    Metric("partitions_start_seconds", "start with the partitions, to all leaders known", "s", START),
    Metric("partitions_rss", "RSS with the partitions", "MB", RSS),
    Metric("partitions_metadata", "Metadata of all partitions", "ms"),
    Metric("connections_rss", "RSS with the connections", "MB", RSS),
    Metric("connections_cpu", "CPU per 1,000 requests over the connections", "s"),
    Metric("connections_round", "one ApiVersions and one Metadata on each connection", "ms"),
    Metric("cluster_produce_cpu", "three brokers, RF 3: their CPU per GB produced", "s", CPU_PRODUCE),
    Metric("cluster_produce_seconds", "three brokers: time per GB produced", "s"),
    Metric("cluster_acknowledged_p50", "three brokers: acknowledged write at 500 records/s, p50", "ms"),
    Metric(
        "cluster_acknowledged_p99",
        "three brokers: acknowledged write at 500 records/s, p99",
        "ms",
        CLUSTER_TAIL,
    ),
    Metric("cluster_failover", "kill -9 of a leader to the next acknowledged write", "s", FAILOVER),
    Metric("cluster_rss", "three brokers: RSS after load", "MB", RSS),
    Metric("cluster_rss_with_zookeeper", "three brokers: RSS after load, ZooKeeper included", "MB", RSS),
    Metric("cluster_partitions_create_seconds", "three brokers: create 3,000 partitions x 3", "s"),
    Metric("cluster_start_seconds", "three brokers: start with 3,000 partitions x 3", "s", CLUSTER_START),
    Metric(
        "cluster_elections_seconds",
        "three brokers: the first of 1,000 new leaders to the last",
        "s",
        CLUSTER_START,
    ),
    Metric("cluster_partitions_rss", "three brokers: RSS with the partitions", "MB", RSS),
    Metric("tool_start_seconds", "`kafka-topics --list`, ours and Kafka's own", "s", TOOL_START),
    Metric(
        "console_consumer_seconds", "`kafka-console-consumer` of 1,000,000 records", "s", CONSOLE_CONSUMER
    ),
    Metric(
        "client_produce_seconds", "client: `produce`; bare confluent-kafka as Kafka", "s", AS_FAST_AS_BARE
    ),
    Metric(
        "client_send_batch_seconds", "client: `send_batch`; bare `produce` as Kafka", "s", AS_FAST_AS_BARE
    ),
    Metric("client_send_seconds", "client: `send`; bare with callback as Kafka", "s", HALF_AS_FAST_AS_BARE),
    Metric(
        "client_poll_batch_seconds", "client: `poll_batch`; bare `consume` as Kafka", "s", AS_FAST_AS_BARE
    ),
    Metric("client_poll_seconds", "client: `poll`; bare `consume` as Kafka", "s", AS_FAST_AS_BARE),
    Metric("client_iterate_seconds", "client: iteration; bare `consume` as Kafka", "s", AS_FAST_AS_BARE),
    Metric("client_asyncio_seconds", "client: asyncio producer; AIOProducer as Kafka", "s", FASTER_THAN_AIO),
    Metric(
        "registry_read_cpu", "registry: CPU per schema read by id; bare Starlette as Kafka", "ms", most=0.2
    ),
    Metric("registry_read_p99", "registry: the same read, p99 half loaded; bare Starlette as Kafka", "ms"),
    Metric("registry_register_cpu", "registry: CPU per registration; bare Starlette as Kafka", "ms", most=2),
    Metric("registry_register_p99", "registry: the same, p99 half loaded; bare Starlette as Kafka", "ms"),
    Metric("registry_rss", "registry: RSS after load", "MB"),
    Metric("rest_post_cpu", "REST v3: CPU per post of 1 KB of JSON; bare Starlette as Kafka", "ms", most=0.4),
    Metric("rest_post_p99", "REST v3: the same post, p99 half loaded; bare Starlette as Kafka", "ms"),
    Metric(
        "rest_batch_cpu", "REST v3: CPU per record in batches of 500; bare Starlette as Kafka", "us", most=20
    ),
    Metric(
        "rest_v2_post_cpu", "REST v2: CPU per post of 1 KB of JSON; bare Starlette as Kafka", "ms", most=0.4
    ),
    Metric("rest_v2_post_p99", "REST v2: the same post, p99 half loaded; bare Starlette as Kafka", "ms"),
    Metric(
        "rest_v2_batch_cpu", "REST v2: CPU per record in posts of 500; bare Starlette as Kafka", "us", most=20
    ),
    Metric("rest_rss", "REST proxy: RSS after load", "MB"),
    Metric("services_rss", "registry and REST proxy: RSS after load", "MB", most=150),
    Metric(
        "pipeline_lake_seconds",
        "Kafka -> Parquet, 1,000,000 records; PySpark by hand as Kafka",
        "s",
        AS_FAST_AS_BY_HAND,
    ),
    Metric("pipeline_lake_cpu", "CPU of the pipeline for these", "s"),
    Metric("pipeline_lake_rss", "RSS of the pipeline after these", "MB"),
    Metric(
        "pipeline_postgres_seconds",
        "Kafka -> PostgreSQL, 1,000,000 inserts; PySpark by hand as Kafka",
        "s",
        AS_FAST_AS_BY_HAND,
    ),
    Metric("pipeline_postgres_cpu", "CPU of the pipeline for these", "s"),
    Metric("pipeline_postgres_rss", "RSS of the pipeline after these", "MB"),
    Metric("pipeline_upsert_seconds", "Kafka -> PostgreSQL, 1,000,000 upserts", "s"),
    Metric("pipeline_upsert_cpu", "CPU of the pipeline for these", "s"),
    Metric("pipeline_upsert_rss", "RSS of the pipeline after these", "MB"),
    Metric(
        "pipeline_file_seconds",
        "file -> Kafka, 1,000,000 lines of 100 bytes, as strings; Apache's Connect as Kafka",
        "s",
        AS_FAST_AS_CONNECT,
    ),
    Metric("pipeline_file_cpu", "CPU of the worker for these", "s"),
    Metric("pipeline_file_rss", "RSS of the worker after these", "MB"),
    Metric(
        "pipeline_file_json_seconds",
        "file -> Kafka, the same as JSON with schemas; Apache's Connect as Kafka",
        "s",
        AS_FAST_AS_CONNECT,
    ),
    Metric("pipeline_file_json_cpu", "CPU of the worker for these", "s"),
    Metric("pipeline_file_json_rss", "RSS of the worker after these", "MB"),
    Metric("pipeline_latency_p50", "Kafka -> Kafka in real-time mode, p50", "ms", most=10),
    Metric("pipeline_latency_p95", "Kafka -> Kafka in real-time mode, p95", "ms"),
    Metric("pipeline_mirror_p50", "mirroring, exactly once, p50", "ms", most=700),
    Metric("pipeline_mirror_p95", "mirroring, exactly once, p95", "ms"),
    *streams_metrics(),
    Metric(
        "streams_latency_p50", "event -> count at 100 records/s, p50; Kafka Streams as Kafka", "ms", most=10
    ),
    Metric(
        "streams_latency_p99", "event -> count at 100 records/s, p99; Kafka Streams as Kafka", "ms", most=100
    ),
    Metric("streams_start_seconds", "a program runs, with an empty store; Kafka Streams as Kafka", "s"),
    Metric("streams_restore_seconds", "the same to its first result, with 1,000,000 keys to restore", "s"),
    Metric("streams_restore_cpu", "CPU of that start", "s"),
    Metric("streams_restore_rss", "RSS after it", "MB"),
)

BY_KEY = {metric.key: metric for metric in METRICS}
