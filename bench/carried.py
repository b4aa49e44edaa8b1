"""The latency of what carries records on from topic to topic, at a rate that loads nothing."""

from __future__ import annotations

from confluent_kafka import Consumer, Producer, TopicPartition

from bench.client import assigned_consumer, run_client
from bench.servers import Server
from bench.session import Session

RECORDS_PER_SECOND = 50
WARM_UP_RECORDS = 500
FIRST_SECONDS = 120.0
ANSWER_SECONDS = 10.0
FIRST_TIMESTAMP = 1_700_000_000_000
FIRST_HEADERS: list[tuple[str, str | bytes | None]] = [("first", b"1"), ("first", b"2")]
PERCENTILES = {"p50": 0.5, "p95": 0.95}


class Carried:
    """Records that are sent to `topic` of one server and come out in `copy` of another."""

    def __init__(self, source: Server, topic: str, target: Server, copy: str) -> None:
        self._source, self._topic = source, topic
        self._target, self._copy = target, copy

    def send_first(self) -> None:
        producer = Producer({"bootstrap.servers": self._source.bootstrap})
        producer.produce(self._topic, b"0", partition=0, timestamp=FIRST_TIMESTAMP, headers=FIRST_HEADERS)
        producer.flush(ANSWER_SECONDS)

    def first_has_arrived(self) -> bool:
        return self._end_offset() > 0

    def require_first_whole(self) -> None:
        """With its time and its headers."""
        job = {"bootstrap": self._target.bootstrap, "topic": self._copy, "partitions": 1}
        consumer = assigned_consumer(job, offset=0)
        message = consumer.poll(ANSWER_SECONDS)
        consumer.close()
        if message is None or message.error() is not None:
            raise RuntimeError(f"{self._copy} cannot be read: {message and message.error()}")
        if (message.timestamp()[1], message.headers()) != (FIRST_TIMESTAMP, FIRST_HEADERS):
            raise RuntimeError(f"{self._copy}: got {message.timestamp()} and {message.headers()}")

    def measure_rounds(self, session: Session, prefix: str) -> None:
        self.measure(session, prefix, warm_up=WARM_UP_RECORDS)
        for _ in range(1, session.sizes.rounds):
            self.measure(session, prefix)

    def measure(self, session: Session, prefix: str, warm_up: int = 0) -> None:
        job = {"topic": self._topic, "partitions": 1, "warm_up_records": warm_up}
        arrival = {"topic": self._copy, "bootstrap": self._target.bootstrap}
        nanoseconds = run_client(
            "latency",
            bootstrap=self._source.bootstrap,
            records=session.sizes.pipeline_latency_records,
            records_per_second=RECORDS_PER_SECOND,
            arrival=arrival,
            offset=self._end_offset(),
            **job,
        )["nanoseconds"]
        latencies = sorted(nanoseconds)
        for name, fraction in PERCENTILES.items():
            index = int(fraction * (len(latencies) - 1))
            session.record(f"{prefix}_{name}", "penstock", latencies[index] / 1e6)
        session.say_last("penstock", *(f"{prefix}_{name}" for name in PERCENTILES))

    def _end_offset(self) -> int:
        settings = {"bootstrap.servers": self._target.bootstrap, "group.id": "bench", "log_level": 3}
        consumer = Consumer(settings)
        try:
            known = consumer.list_topics(timeout=ANSWER_SECONDS).topics
            if self._copy not in known:
                return 0
            return consumer.get_watermark_offsets(TopicPartition(self._copy, 0), timeout=ANSWER_SECONDS)[1]
        finally:
            consumer.close()
