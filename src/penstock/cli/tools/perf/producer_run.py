"""The producer's performance test at work.

Java's tool does its bookkeeping in the callback of each record. Here the callback only keeps the latency, and what one
poll brought is added up at once; librdkafka knows when it was given a record, so nothing is carried along per record.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

from penstock.cli.first_contact import check_first_contact
from penstock.cli.output.progress import Progress
from penstock.cli.tool import err
from penstock.cli.tools.clients.client_configs import producer_settings
from penstock.cli.tools.clients.client_events import ClientEvents, java_exception_of
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.cli.tools.clients.topic_wait import DEFAULT_MAX_BLOCK_MS, TopicWait
from penstock.cli.tools.perf.metrics import LatestStatistics
from penstock.cli.tools.perf.payloads import any_of, increasing_numbers, random_letters
from penstock.cli.tools.perf.producer_options import Request
from penstock.cli.tools.perf.producer_stats import ProducerStats
from penstock.cli.tools.perf.throttle import ThroughputThrottler
from penstock.client.librdkafka import KafkaException, Message, NativeError, Producer

RECORDS_PER_TURN = 200
TURN_SECONDS = 0.05
TRANSACTION_TIMEOUT_SECONDS = 60.0


class Phase:
    """Records that count for the same statistics."""

    def __init__(self, *stats: ProducerStats) -> None:
        self._stats = stats
        self._latencies_ms: list[int] = []
        self._bytes = 0

    def on_delivery(self, error: NativeError | None, record: Message) -> None:
        if error is not None:
            err(java_exception_of(error))
            return
        self._latencies_ms.append(int((record.latency() or 0.0) * 1000))
        self._bytes += len(record)

    def collect(self, now_ms: int) -> list[str]:
        if not self._latencies_ms:
            return []
        lines = [
            line for stats in self._stats for line in stats.record(self._latencies_ms, self._bytes, now_ms)
        ]
        self._latencies_ms.clear()
        self._bytes = 0
        return lines


class ProducerTest:
    def __init__(self, request: Request, stop: StopSignals) -> None:
        self._request = request
        self._stop = stop
        self._events = ClientEvents("Producer", request.configs)
        self._statistics = LatestStatistics()
        extra = self._statistics.settings() if request.prints_metrics else {}
        settings = {**producer_settings(request.configs), **self._events.settings(), **extra}
        self._producer = Producer(settings)
        self._topic_wait = TopicWait(self._producer, request.topic, request.configs, self._events)
        self._stats = self._new_stats(request.records)
        self._steady_stats: ProducerStats | None = None
        self._phases = [Phase(self._stats)]
        self._transaction_started_ms: int | None = None
        self._progress = Progress("producing", total=request.records, unit="rec")

    def _new_stats(self, records: int, is_steady_state: bool = False) -> ProducerStats:
        interval_ms = self._request.reporting_interval_ms
        return ProducerStats(records, interval_ms, _now_ms(), is_steady_state=is_steady_state)

    def run(self) -> None:
        request = self._request
        if request.transaction_duration_ms is not None:
            self._producer.init_transactions(TRANSACTION_TIMEOUT_SECONDS)
        if request.warmup_records:
            print(
                f"Warmup first {request.warmup_records} records. "
                "Steady state results will print after the complete test summary.",
                flush=True,
            )
        self._stats = self._new_stats(request.records)
        self._phases = [Phase(self._stats)]
        if (problem := self._topic_wait.problem()) is not None:
            err(problem)
        else:
            self._send_all()
        self._finish()

    # --- sending

    def _send_all(self) -> None:
        request = self._request
        payloads = self._payloads()
        throttler = ThroughputThrottler(request.throughput, time.monotonic(), self._poll_for)
        warmup = request.warmup_records
        self._send(itertools.islice(payloads, warmup or request.records), 0, throttler)
        if warmup and not self._stop.received:
            self._steady_stats = self._new_stats(request.records - warmup, is_steady_state=True)
            self._stats.is_quiet = True
            self._phases.append(Phase(self._stats, self._steady_stats))
            self._send(itertools.islice(payloads, request.records - warmup), warmup, throttler)
        self._commit()

    def _payloads(self) -> Iterator[bytes]:
        if self._request.payloads:
            return any_of(self._request.payloads)
        size = self._request.record_size
        return increasing_numbers() if size is None else random_letters(size)

    def _send(self, payloads: Iterator[bytes], sent: int, throttler: ThroughputThrottler) -> None:
        produce, topic, on_delivery = (
            self._producer.produce,
            self._request.topic,
            self._phases[-1].on_delivery,
        )
        records_per_turn = RECORDS_PER_TURN if throttler.is_off else 1
        for payload in payloads:
            if not sent % records_per_turn and self._turn(sent, throttler):
                return
            while True:
                try:
                    produce(topic, payload, on_delivery=on_delivery)
                    break
                except BufferError:
                    self._poll_for(TURN_SECONDS)
                    if self._stop.received:
                        return
            sent += 1

    def _turn(self, sent: int, throttler: ThroughputThrottler) -> bool:
        """What there is to do between records; whether it is time to stop."""
        self._poll(0)
        throttler.after(sent, time.monotonic())
        if self._request.transaction_duration_ms is not None:
            self._maybe_next_transaction(self._request.transaction_duration_ms)
        self._progress.reach(sent)
        return self._stop.received is not None or self._events.fatal is not None

    def _poll(self, seconds: float) -> None:
        self._producer.poll(seconds)
        now_ms = _now_ms()
        for phase in self._phases:
            if lines := phase.collect(now_ms):
                self._progress.clear()
                print(*lines, sep="\n", flush=True)

    def _poll_for(self, seconds: float) -> None:
        """Sleeps, but for what arrives meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._stop.received:
            self._poll(min(left, TURN_SECONDS))

    # --- transactions

    def _maybe_next_transaction(self, duration_ms: int) -> None:
        if (
            self._transaction_started_ms is not None
            and _now_ms() - self._transaction_started_ms < duration_ms
        ):
            return
        self._commit()
        self._producer.begin_transaction()
        self._transaction_started_ms = _now_ms()

    def _commit(self) -> None:
        if self._transaction_started_ms is not None:
            self._producer.commit_transaction(TRANSACTION_TIMEOUT_SECONDS)
            self._transaction_started_ms = None

    # --- the end

    def _finish(self) -> None:
        while self._producer.flush(TURN_SECONDS):
            self._poll(0)
            if self._events.fatal is not None:
                self._producer.purge()
        self._poll(0)
        self._progress.close()
        if self._events.fatal is not None:
            err(self._events.fatal)
        for stats in (self._stats, self._steady_stats):
            if stats is not None:
                print(stats.total_line(_now_ms()), flush=True)
        if self._request.prints_metrics:
            self._statistics.wait(self._producer.poll)
            print(
                *self._statistics.lines("producer", self._request.configs["client.id"]), sep="\n", flush=True
            )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def run_producer_test(request: Request) -> int:
    check_first_contact(request.configs, int(request.configs.get("max.block.ms", DEFAULT_MAX_BLOCK_MS)))
    with StopSignals() as stop:
        try:
            ProducerTest(request, stop).run()
        except KafkaException as error:
            err(java_exception_of(error))
            return 1
        return stop.exit_code
