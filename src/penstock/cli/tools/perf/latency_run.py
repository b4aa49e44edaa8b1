"""The test of end-to-end latency at work: one record at a time, sent and waited for."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from penstock.cli.first_contact import check_first_contact
from penstock.cli.tool import err
from penstock.cli.tools.clients.client_configs import consumer_settings, producer_settings
from penstock.cli.tools.clients.client_events import ClientEvents, java_exception_of
from penstock.cli.tools.clients.java_text import double_text, fixed
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.client.librdkafka import (
    Consumer,
    KafkaException,
    Message,
    NativeError,
    NativeTopicPartition,
    Producer,
)
from penstock.wire_client import ClusterConfig, blocking_cluster, now
from penstock.wire_client.errors import KafkaError as ClientError

POLL_TIMEOUT_MS = 60_000
METADATA_TIMEOUT_SECONDS = 60.0
TURN_SECONDS = 0.1
RECORDS_PER_REPORT = 1000

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    topic: str
    records: int
    acks: str
    value_size: int
    key_size: int
    headers: int
    header_key_size: int
    header_value_size: int
    configs: dict[str, str]


class LatencyError(ClientError):
    """What came back is not what was sent."""

    JAVA_NAME = "java.lang.RuntimeException"


class LatencyTest:
    def __init__(self, request: Request, stop: StopSignals) -> None:
        self._request = request
        self._stop = stop
        self._random = random.Random(0)
        self._events = ClientEvents("Consumer", request.configs)
        events = self._events.settings()
        self._consumer = Consumer(
            {
                **consumer_settings(
                    {
                        **request.configs,
                        "group.id": f"test-group-{time.time_ns() // 1_000_000}",
                        "enable.auto.commit": "false",
                        "auto.offset.reset": "latest",
                    }
                ),
                **events,
            }
        )
        self._producer = Producer(
            {
                **producer_settings({**request.configs, "linger.ms": "0", "acks": request.acks}),
                **events,
            }
        )

    def run(self) -> None:
        try:
            self._set_up_topic()
            latencies_ns = self._measure_all()
            if len(latencies_ns) == self._request.records:
                print(*result_lines(latencies_ns), sep="\n", flush=True)
        finally:
            self._consumer.close()

    # --- the topic

    def _set_up_topic(self) -> None:
        topic = self._request.topic
        known = self._consumer.list_topics(timeout=METADATA_TIMEOUT_SECONDS).topics
        if topic not in known:
            print(
                f'Topic "{topic}" does not exist. Will create topic with 1 partition(s) and replication factor = 1',
                flush=True,
            )
            self._create_topic()
            known = self._consumer.list_topics(topic, timeout=METADATA_TIMEOUT_SECONDS).topics
        partitions = [NativeTopicPartition(topic, number) for number in known[topic].partitions]
        self._consumer.assign([self._at_the_end(each) for each in partitions])
        self._producer.list_topics(topic, timeout=METADATA_TIMEOUT_SECONDS)

    def _create_topic(self) -> None:
        topic = NewTopic(self._request.topic, num_partitions=1, replication_factor=1)
        with blocking_cluster(ClusterConfig.from_configs(self._request.configs)) as cluster:
            for outcome in now(create_topics(cluster, [topic])).values():
                if isinstance(outcome, ClientError):
                    print(f"Creation of topic {topic.name} failed")
                    raise outcome

    def _at_the_end(self, partition: NativeTopicPartition) -> NativeTopicPartition:
        """The offset that the next record gets: it must not be missed because the consumer was late."""
        _, end = self._consumer.get_watermark_offsets(partition, timeout=METADATA_TIMEOUT_SECONDS)
        return NativeTopicPartition(partition.topic, partition.partition, end)

    # --- records

    def _measure_all(self) -> list[int]:
        latencies_ns: list[int] = []
        for number in range(self._request.records):
            elapsed_ns = self._measure()
            if self._stop.received:
                break
            if number % RECORDS_PER_REPORT == 0:
                print(f"{number}\t{double_text(elapsed_ns / 1000.0 / 1000.0)}", flush=True)
            latencies_ns.append(elapsed_ns)
        return latencies_ns

    def _measure(self) -> int:
        request = self._request
        key, value = self._letters(request.key_size), self._letters(request.value_size)
        headers = [self._header() for _ in range(request.headers)]
        begin = time.perf_counter_ns()
        self._send(key, value, headers)
        record = self._receive()
        elapsed_ns = time.perf_counter_ns() - begin
        if record is not None:
            check(record, key, value, headers)
        return elapsed_ns

    def _letters(self, size: int) -> bytes:
        """One letter over and over, as Kafka's tool has it."""
        return bytes([self._random.randrange(26) + ord("A")]) * size

    def _header(self) -> tuple[str, bytes | None]:
        request = self._request
        name = self._letters(request.header_key_size).decode()
        return name, None if request.header_value_size == -1 else self._letters(request.header_value_size)

    def _send(self, key: bytes, value: bytes, headers: Headers) -> None:
        failures: list[NativeError] = []

        def on_delivery(error: NativeError | None, record: Message) -> None:
            if error is not None:
                failures.append(error)

        self._producer.produce(self._request.topic, value, key, headers=[*headers], on_delivery=on_delivery)
        while self._producer.flush(TURN_SECONDS) and self._events.fatal is None:
            if self._stop.received:
                return
        if failures or self._events.fatal is not None:
            reason = java_exception_of(failures[0]) if failures else self._events.fatal
            raise LatencyError(f"java.util.concurrent.ExecutionException: {reason}")

    def _receive(self) -> Message | None:
        """The next record; None if a signal came first."""
        deadline = time.monotonic() + POLL_TIMEOUT_MS / 1000
        while time.monotonic() < deadline and not self._stop.received:
            message = self._consumer.poll(TURN_SECONDS)
            if message is None:
                continue
            if (error := message.error()) is None:
                return message
            self._events.on_error(error)
        if self._stop.received:
            return None
        raise LatencyError(f"poll() timed out before finding a result (timeout:[{POLL_TIMEOUT_MS}ms])")


def check(record: Message, key: bytes, value: bytes, headers: Headers) -> None:
    """Raises LatencyError unless the record is the one that was sent."""
    _check_same("value", record.value(), value)
    _check_same("key", record.key(), key)
    received = record.headers() or []
    if len(received) != len(headers):
        raise LatencyError("Header count mismatch between sent and received messages")
    if list(received) != headers:
        raise LatencyError("The message headers read did not match the message headers sent")


def _check_same(what: str, read: str | bytes | None, sent: bytes) -> None:
    if (read or b"") != sent:
        raise LatencyError(
            f"The message {what} read [{read!r}] did not match the message {what} sent [{sent!r}]"
        )


def result_lines(latencies_ns: list[int]) -> list[str]:
    ordered = sorted(latency // 1_000_000 for latency in latencies_ns)
    average_ms = sum(latencies_ns) / len(latencies_ns) / 1e6
    p50, p99, p999 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.99, 0.999))
    return [
        f"Avg latency: {fixed(average_ms, 4)} ms",
        f"Percentiles: 50th = {p50}, 99th = {p99}, 99.9th = {p999}",
    ]


def run_latency_test(request: Request) -> int:
    check_first_contact(request.configs)
    with StopSignals() as stop:
        try:
            LatencyTest(request, stop).run()
        except (KafkaException, ClientError) as error:
            err(java_exception_of(error))
            return 1
        return stop.exit_code
