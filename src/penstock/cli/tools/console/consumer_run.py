"""The console consumer at work: batches from librdkafka, one large write for each.

Nothing is done per record that a batch could do. What is waiting in librdkafka's queue is taken without waiting
(`consume` would wait until the batch is full); only where there is nothing does `poll` wait for the next record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.cli.first_contact import check_first_contact
from penstock.cli.tool import err
from penstock.cli.tools.clients.client_configs import consumer_settings
from penstock.cli.tools.clients.client_events import ClientEvents, java_exception_of
from penstock.cli.tools.clients.log_lines import log_error
from penstock.cli.tools.clients.missing_topic import MissingTopic
from penstock.cli.tools.clients.record import Record, as_records, has_error
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.cli.tools.clients.topic_pattern import TopicPattern
from penstock.cli.tools.common.failures import as_java_says
from penstock.cli.tools.console.consumer_loop import ConsumerLoop, consume_until_signal
from penstock.cli.tools.console.consumer_options import NO_LIMIT
from penstock.cli.tools.console.default_formatter import DefaultFormatter
from penstock.client.librdkafka import Consumer, KafkaException, NativeTopicPartition
from penstock.wire_client.errors import KafkaError

if TYPE_CHECKING:
    from penstock.cli.tools.kafka_console_consumer import Request

LOGGER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
MOST_RECORDS_AT_ONCE = 10_000
LONGEST_WAIT_SECONDS = 0.1
"""After that much silence a signal or the end of the timeout is noticed."""
REBALANCE_PROTOCOL_HINT = (
    "The consumer rebalance protocol (KIP-848) is production-ready! Set group.protocol=consumer to try it out. "
    "See https://kafka.apache.org/documentation/#consumer_rebalance_protocol"
)


class ConsoleConsumer(ConsumerLoop["Request", Record]):
    def __init__(self, request: Request, stop: StopSignals) -> None:
        super().__init__(request, stop, LOGGER)
        self.events = ClientEvents("Consumer", request.configs)
        settings = consumer_settings(request.configs)
        self.commits = settings["enable.auto.commit"] == "true"
        self.consumer = Consumer(
            {
                **settings,
                **self.events.settings(),
                "enable.auto.offset.store": False,
            }
        )
        self.missing_topic = MissingTopic(request.topic, self.events)
        self.pattern = TopicPattern(request.include, request.configs) if request.include else None

    def start(self) -> None:
        request = self.request
        if request.topic is not None:
            self.events.check_topic(request.topic)
        if request.topic is not None and request.partition is not None:
            self.consumer.assign([NativeTopicPartition(request.topic, request.partition, request.offset)])
        elif request.topic is not None:
            self.consumer.subscribe([request.topic])
        elif self.pattern is not None:
            self.pattern.subscribe(self.consumer)

    def next_records(self) -> Sequence[Record]:
        records = self._poll(self._most_records())
        self.problem = self.events.fatal
        return records

    def _most_records(self) -> int:
        limit = self.request.max_messages
        return MOST_RECORDS_AT_ONCE if limit == NO_LIMIT else min(limit - self.count, MOST_RECORDS_AT_ONCE)

    def _poll(self, most: int) -> Sequence[Record]:
        records = self.consumer.consume(most, 0)
        if not records:
            first = self.consumer.poll(LONGEST_WAIT_SECONDS)
            if first is None:
                self._look_for_topics()
                return []
            records = [first, *self.consumer.consume(most - 1, 0)] if most > 1 else [first]
        return self.events.without_errors(records) if has_error(records) else as_records(records)

    def _look_for_topics(self) -> None:
        self.missing_topic.maybe_ask(self.consumer)
        if self.pattern is not None:
            self.pattern.maybe_refresh(self.consumer)

    # --- writing

    def write(self, records: Sequence[Record]) -> None:
        formatter = self.request.formatter
        if isinstance(formatter, DefaultFormatter) and formatter.is_value_alone:
            self.count += len(records)
            self.output.write(formatter.format_values(records))
        else:
            self._write_one_by_one(records)
        if self.commits and not self.output.is_broken:
            self._store_offsets(records)

    def _write_one_by_one(self, records: Sequence[Record]) -> None:
        pieces: list[bytes] = []
        try:
            for record in records:
                self.count += 1
                self._format(record, pieces)
        finally:
            self.output.write(b"".join(pieces))

    def _format(self, record: Record, pieces: list[bytes]) -> None:
        try:
            pieces.append(self.request.formatter.format(record))
        except KafkaError as error:
            if not self.request.skip_message_on_error:
                raise
            log_error("Error processing message, skipping this message: ", LOGGER, as_java_says(error))

    def _store_offsets(self, records: Sequence[Record]) -> None:
        """What has been written may be committed, and nothing else."""
        last = {(record.topic(), record.partition()): record.offset() for record in records}
        try:
            self.consumer.store_offsets(
                offsets=[
                    NativeTopicPartition(topic, partition, offset + 1)
                    for (topic, partition), offset in last.items()
                ]
            )
        except KafkaException:
            pass  # the partition has gone to another member, which will commit its own

    def close(self) -> None:
        self.consumer.close()
        self.say_total()


def consume_to_output(request: Request) -> int:
    check_first_contact(request.configs, request.timeout_ms)
    return consume_until_signal(request, _consume, LOGGER, (KafkaError, KafkaException), java_exception_of)


def _consume(request: Request, stop: StopSignals) -> None:
    consumer = ConsoleConsumer(request, stop)
    if request.partition is None and request.configs.get("group.protocol", "classic").lower() == "classic":
        err(REBALANCE_PROTOCOL_HINT)
    try:
        consumer.start()
        consumer.run()
    finally:
        consumer.close()
