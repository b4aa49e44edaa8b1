"""The consumer's performance test at work."""

from __future__ import annotations

import time
from collections.abc import Sequence

from penstock.cli.first_contact import check_first_contact
from penstock.cli.output.progress import Progress
from penstock.cli.tool import err
from penstock.cli.tools.clients.client_configs import consumer_settings
from penstock.cli.tools.clients.client_events import ClientEvents, java_exception_of
from penstock.cli.tools.clients.missing_topic import MissingTopic
from penstock.cli.tools.clients.record import Record, as_records, has_error
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.cli.tools.clients.topic_pattern import TopicPattern
from penstock.cli.tools.perf.consumer_request import Request
from penstock.cli.tools.perf.consumer_stats import ConsumerStats
from penstock.cli.tools.perf.metrics import LatestStatistics
from penstock.client.librdkafka import Consumer, KafkaException, NativeTopicPartition
from penstock.wire_client.errors import KafkaError as ClientError

MOST_RECORDS_AT_ONCE = 10_000
TURN_SECONDS = 0.1


class ConsumerTest:
    def __init__(self, request: Request, stop: StopSignals) -> None:
        self._request = request
        self._stop = stop
        self._events = ClientEvents("Consumer", request.configs)
        self._statistics = LatestStatistics()
        extra = self._statistics.settings() if request.prints_metrics else {}
        settings = {**consumer_settings(request.configs), **self._events.settings(), **extra}
        self._consumer = Consumer(settings)
        self._missing_topic = MissingTopic(request.topic, self._events)
        self._pattern = TopicPattern(request.include, request.configs) if request.include else None
        self._stats = ConsumerStats(_now_ms(), request.date_format)
        self._join_started_ms = self._stats.started_ms
        self._progress = Progress("consuming", total=request.records, unit="rec")
        self._assigned: set[tuple[str, int]] = set()

    def run(self) -> None:
        try:
            self._subscribe()
            with self._progress:
                self._consume()
            self._report()
        finally:
            self._consumer.close()

    def _subscribe(self) -> None:
        listener = {"on_assign": self._on_assign, "on_revoke": self._on_revoke}
        if self._pattern is not None:
            self._pattern.subscribe(self._consumer, **listener)
        elif self._request.topic is not None:
            self._events.check_topic(self._request.topic)
            self._consumer.subscribe([self._request.topic], **listener)

    def _consume(self) -> None:
        request, stats = self._request, self._stats
        now_ms = _now_ms()
        stats.start_reporting(now_ms)
        last_record_ms = now_ms
        while stats.records < request.records and now_ms - last_record_ms <= request.timeout_ms:
            records = self._next_records(request.records - stats.records)
            now_ms = _now_ms()
            if records:
                last_record_ms = now_ms
                self._count(records, now_ms)
                self._progress.reach(stats.records)
            if self._stop.received or self._events.fatal is not None:
                return
        if stats.records < request.records:
            self._progress.clear()
            print(
                "WARNING: Exiting before consuming the expected number of records: "
                f"timeout ({request.timeout_ms} ms) exceeded. "
                "You can use the --timeout option to increase the timeout."
            )

    def _next_records(self, left: int) -> Sequence[Record]:
        records = self._consumer.consume(min(left, MOST_RECORDS_AT_ONCE), 0)
        if not records:
            first = self._consumer.poll(TURN_SECONDS)
            if first is None:
                self._missing_topic.maybe_ask(self._consumer)
                return []
            records = [first]
        return self._events.without_errors(records) if has_error(records) else as_records(records)

    def _count(self, records: Sequence[Record], now_ms: int) -> None:
        stats, request = self._stats, self._request
        stats.records += len(records)
        stats.bytes += sum(map(len, records)) + sum(len(key) for record in records if (key := record.key()))
        if stats.is_time_to_report(now_ms, request.reporting_interval_ms):
            if request.shows_detailed_stats:
                self._progress.clear()
                print(stats.interval_line(now_ms), flush=True)
            stats.next_interval(now_ms)

    def _report(self) -> None:
        if self._events.fatal is not None:
            err(self._events.fatal)
        elif not self._request.shows_detailed_stats:
            print(self._stats.total_line(_now_ms()), flush=True)
        if self._request.prints_metrics:
            self._statistics.wait(self._consumer.poll)
            print(
                *self._statistics.lines("consumer", self._request.configs["client.id"]), sep="\n", flush=True
            )

    @property
    def failed(self) -> bool:
        return self._events.fatal is not None

    # --- rebalances

    def _on_assign(self, consumer: Consumer, partitions: list[NativeTopicPartition]) -> None:
        if not self._assigned:
            self._stats.add_join(_now_ms() - self._join_started_ms)
        self._assigned |= {(each.topic, each.partition) for each in partitions}

    def _on_revoke(self, consumer: Consumer, partitions: list[NativeTopicPartition]) -> None:
        self._assigned -= {(each.topic, each.partition) for each in partitions}
        if not self._assigned:
            self._join_started_ms = _now_ms()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def run_consumer_test(request: Request) -> int:
    check_first_contact(request.configs, request.timeout_ms)
    with StopSignals() as stop:
        try:
            test = ConsumerTest(request, stop)
            test.run()
        except (KafkaException, ClientError) as error:
            err(java_exception_of(error))
            return 1
        return 1 if test.failed else stop.exit_code
