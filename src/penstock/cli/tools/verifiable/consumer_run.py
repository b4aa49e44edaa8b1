"""The verifiable consumer at work: a line for each batch of records, each commit and each rebalance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.cli.tool import err
from penstock.cli.tools.clients.client_configs import consumer_settings
from penstock.cli.tools.clients.client_events import ClientEvents, java_exception_of
from penstock.cli.tools.clients.log_lines import log_error
from penstock.cli.tools.clients.missing_topic import MissingTopic
from penstock.cli.tools.clients.record import Record, as_records, has_error
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.cli.tools.verifiable.events import print_event
from penstock.client.librdkafka import Consumer, KafkaException, NativeTopicPartition

LOGGER = "org.apache.kafka.tools.VerifiableConsumer"
MOST_RECORDS_AT_ONCE = 500
"""As many as Kafka's consumer returns from one poll."""
TURN_SECONDS = 0.1
TopicAndPartition = tuple[str, int]


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    topic: str
    max_messages: int
    commits_by_itself: bool
    is_verbose: bool
    configs: dict[str, str]


class VerifiableConsumer:
    def __init__(self, request: Request, stop: StopSignals) -> None:
        self._request = request
        self._stop = stop
        self._events = ClientEvents("Consumer", request.configs)
        self._consumer = Consumer({**consumer_settings(request.configs), **self._events.settings()})
        self._most = int(request.configs.get("max.poll.records", MOST_RECORDS_AT_ONCE))
        self._missing_topic = MissingTopic(request.topic, self._events)
        self._consumed = 0
        self._said_that_it_stops = False

    @property
    def _is_finished(self) -> bool:
        return 0 <= self._request.max_messages <= self._consumed

    def run(self) -> None:
        print_event("startup_complete")
        self._events.check_topic(self._request.topic)
        self._consumer.subscribe([self._request.topic], on_assign=self._on_assign, on_revoke=self._on_revoke)
        while not self._is_finished and not self._stop.received:
            records = self._next_records()
            if self._events.fatal is not None:
                log_error(
                    "Error during processing, terminating consumer process: ", LOGGER, self._events.fatal
                )
                return
            if records:
                offsets = self._take(records)
                if not self._request.commits_by_itself:
                    self._commit(offsets)
        self._maybe_say_that_it_stops()

    def _maybe_say_that_it_stops(self) -> None:
        if self._stop.received and not self._said_that_it_stops:
            self._said_that_it_stops = True
            print_event("shutdown_requested")

    def _next_records(self) -> Sequence[Record]:
        messages = self._consumer.consume(self._most, 0)
        if not messages:
            first = self._consumer.poll(TURN_SECONDS)
            self._missing_topic.maybe_ask(self._consumer)
            messages = [] if first is None else [first, *self._consumer.consume(max(1, self._most - 1), 0)]
        return self._events.without_errors(messages) if has_error(messages) else as_records(messages)

    # --- records

    def _take(self, records: Sequence[Record]) -> dict[TopicAndPartition, int]:
        """Tells of the records, as many as are still wanted; the offsets to commit."""
        offsets: dict[TopicAndPartition, int] = {}
        summaries: list[dict[str, Any]] = []
        for (topic, partition), found in _by_partition(records).items():
            taken = found[: self._left()]
            if not taken:
                continue
            first, last = taken[0].offset(), taken[-1].offset()
            offsets[topic, partition] = last + 1
            where = {"topic": topic, "partition": partition}
            summaries.append({**where, "count": len(taken), "minOffset": first, "maxOffset": last})
            if self._request.is_verbose:
                _print_records(taken)
            self._consumed += len(taken)
        print_event("records_consumed", count=len(records), partitions=summaries)
        return offsets

    def _left(self) -> int | None:
        """How many more are wanted; None for all."""
        limit = self._request.max_messages
        return None if limit < 0 else limit - self._consumed

    def _commit(self, offsets: Mapping[TopicAndPartition, int]) -> None:
        listed = [
            {"topic": topic, "partition": partition, "offset": offset}
            for (topic, partition), offset in offsets.items()
        ]
        to_commit = [
            NativeTopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()
        ]
        try:
            self._consumer.commit(offsets=to_commit, asynchronous=False)
        except KafkaException as error:
            message = java_exception_of(error).partition(": ")[2]
            print_event("offsets_committed", offsets=listed, error=message, success=False)
        else:
            print_event("offsets_committed", offsets=listed, success=True)

    # --- rebalances

    def _on_assign(self, consumer: Consumer, partitions: list[NativeTopicPartition]) -> None:
        print_event("partitions_assigned", partitions=_as_json(partitions))

    def _on_revoke(self, consumer: Consumer, partitions: list[NativeTopicPartition]) -> None:
        self._maybe_say_that_it_stops()
        print_event("partitions_revoked", partitions=_as_json(partitions))

    def close(self) -> None:
        self._consumer.close()
        print_event("shutdown_complete")
        if not self._said_that_it_stops:
            print_event("shutdown_requested")


def _by_partition(records: Iterable[Record]) -> dict[TopicAndPartition, list[Record]]:
    found: dict[TopicAndPartition, list[Record]] = {}
    for record in records:
        found.setdefault((record.topic(), record.partition()), []).append(record)
    return found


def _print_records(records: Iterable[Record]) -> None:
    for record in records:
        print_event(
            "record_data",
            key=_text(record.key()),
            value=_text(record.value()),
            topic=record.topic(),
            partition=record.partition(),
            offset=record.offset(),
        )


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")


def _as_json(partitions: Iterable[NativeTopicPartition]) -> list[dict[str, Any]]:
    return [{"topic": each.topic, "partition": each.partition} for each in partitions]


def run_verifiable_consumer(request: Request) -> int:
    with StopSignals() as stop:
        try:
            consumer = VerifiableConsumer(request, stop)
        except KafkaException as error:
            err(java_exception_of(error))
            return 1
        try:
            consumer.run()
        finally:
            consumer.close()
        return stop.exit_code
