"""The verifiable producer at work: increasing numbers, and a line for each that was acknowledged or failed."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from functools import partial

from penstock.cli.tool import err
from penstock.cli.tools.clients.client_configs import producer_settings
from penstock.cli.tools.clients.client_events import ClientEvents, java_exception_of
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.cli.tools.clients.topic_wait import TopicWait
from penstock.cli.tools.perf.throttle import ThroughputThrottler
from penstock.cli.tools.verifiable.events import print_event
from penstock.client.librdkafka import KafkaException, Message, NativeError, Producer

TURN_SECONDS = 0.05


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    topic: str
    max_messages: int
    throughput: int
    value_prefix: int | None
    repeating_keys: int | None
    create_time_ms: int | None
    configs: dict[str, str]


class VerifiableProducer:
    def __init__(self, request: Request, stop: StopSignals) -> None:
        self._request = request
        self._stop = stop
        self._events = ClientEvents("Producer", request.configs)
        self._producer = Producer({**producer_settings(request.configs), **self._events.settings()})
        self._topic_wait = TopicWait(self._producer, request.topic, request.configs, self._events)
        self._started_ms = time.time_ns() // 1_000_000
        self._create_time_ms = request.create_time_ms
        self.sent = 0
        self.acked = 0

    def run(self) -> None:
        print_event("startup_complete")
        limit = self._request.max_messages
        throttler = ThroughputThrottler(self._request.throughput, time.monotonic(), self._poll_for)
        for number in itertools.count() if limit < 0 else range(limit):
            if self._stop.received:
                return
            self._send(self._key(number), self._value(number))
            self._producer.poll(0)
            throttler.after(number, time.monotonic())

    def _key(self, number: int) -> str | None:
        keys = self._request.repeating_keys
        if keys is None:
            return None
        return str(number % keys if keys > 0 else number)

    def _value(self, number: int) -> str:
        prefix = self._request.value_prefix
        return str(number) if prefix is None else f"{prefix}.{number}"

    def _send(self, key: str | None, value: str) -> None:
        self.sent += 1
        if not self._topic_wait.is_over and (problem := self._topic_wait.problem()) is not None:
            self._print_failure(key, value, problem)
            return
        on_delivery = partial(self._on_delivery, key, value)
        timestamp = self._timestamp()
        while True:
            try:
                self._producer.produce(
                    self._request.topic, value, key, on_delivery=on_delivery, timestamp=timestamp
                )
                return
            except BufferError:
                self._producer.poll(TURN_SECONDS)
            except KafkaException as error:
                self._print_failure(key, value, java_exception_of(error))
                return

    def _timestamp(self) -> int:
        """The time of the next record; 0 for that of sending."""
        if self._create_time_ms is None:
            return 0
        given = self._create_time_ms
        self._create_time_ms += time.time_ns() // 1_000_000 - self._started_ms
        return given

    def _on_delivery(self, key: str | None, value: str, error: NativeError | None, record: Message) -> None:
        if error is not None:
            self._print_failure(key, value, java_exception_of(error))
            return
        self.acked += 1
        where = {"topic": record.topic(), "partition": record.partition(), "offset": record.offset()}
        print_event("producer_send_success", key=key, value=value, **where)

    def _print_failure(self, key: str | None, value: str, problem: str) -> None:
        exception, _, message = problem.partition(": ")
        what = {"topic": self._request.topic, "key": key, "value": value}
        print_event("producer_send_error", **what, exception=f"class {exception}", message=message)

    def _poll_for(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._stop.received:
            self._producer.poll(min(left, TURN_SECONDS))

    def close(self) -> None:
        while self._producer.flush(TURN_SECONDS):
            if self._events.fatal is not None:
                self._producer.purge()
        print_event("shutdown_complete")
        elapsed_ms = time.time_ns() // 1_000_000 - self._started_ms
        print_event(
            "tool_data",
            sent=self.sent,
            acked=self.acked,
            target_throughput=self._request.throughput,
            avg_throughput=1000 * (self.acked / max(elapsed_ms, 1)),
        )


def run_verifiable_producer(request: Request) -> int:
    with StopSignals() as stop:
        try:
            producer = VerifiableProducer(request, stop)
        except KafkaException as error:
            err(java_exception_of(error))
            return 1
        try:
            producer.run()
        finally:
            producer.close()
        return stop.exit_code
