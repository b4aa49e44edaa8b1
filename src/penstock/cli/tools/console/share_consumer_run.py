"""The console share consumer at work: each record is written, then acknowledged as the user asked for.

Records that were acquired but are not wanted any more (the limit is reached, a signal came) are released, so that
others of the group get them at once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.cli.tool import err
from penstock.cli.tools.console.client_configs import share_consumer_settings
from penstock.cli.tools.console.client_events import ClientEvents, java_exception_of
from penstock.cli.tools.console.log_lines import log_error
from penstock.cli.tools.console.output import Output
from penstock.cli.tools.console.record import Record, as_records
from penstock.cli.tools.console.stop_signals import StopSignals
from penstock.client.errors import KafkaError
from penstock.client.librdkafka import AcknowledgeType, KafkaException, Message, ShareConsumer

if TYPE_CHECKING:
    from penstock.cli.tools.kafka_console_share_consumer import Request

LOGGER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
LONGEST_WAIT_SECONDS = 0.1
TIMEOUT_EXCEPTION = "org.apache.kafka.common.errors.TimeoutException"


class ConsoleShareConsumer:
    def __init__(self, request: Request, stop: StopSignals) -> None:
        self.request = request
        self.stop = stop
        self.count = 0
        self.output = Output()
        self.events = ClientEvents("ShareConsumer", request.configs)
        self.consumer = ShareConsumer({**share_consumer_settings(request.configs), **self.events.settings()})
        self.acknowledgement = AcknowledgeType.ACCEPT
        if request.rejects:
            self.acknowledgement = AcknowledgeType.REJECT
        elif request.releases:
            self.acknowledgement = AcknowledgeType.RELEASE

    def run(self) -> None:
        self.events.check_topic(self.request.topic)
        self.consumer.subscribe([self.request.topic])
        silent_since = time.monotonic()
        while not self._has_enough and not self.stop.received:
            messages = self._next_messages()
            if messages:
                self._write(messages)
                silent_since = time.monotonic()
            problem = self.events.fatal
            if problem is None and not messages and self._has_been_silent(silent_since):
                problem = TIMEOUT_EXCEPTION
            if problem is not None:
                log_error("Error processing message, terminating consumer process: ", LOGGER, problem)
                return
            if self.output.is_broken:
                err("Unable to write to standard out, closing consumer.")
                return

    @property
    def _has_enough(self) -> bool:
        limit = self.request.max_messages
        return limit != -1 and self.count >= limit

    def _has_been_silent(self, since: float) -> bool:
        timeout_ms = self.request.timeout_ms
        return timeout_ms is not None and (time.monotonic() - since) * 1000 > timeout_ms

    def _next_messages(self) -> Sequence[Message]:
        messages = list(self.consumer.poll(LONGEST_WAIT_SECONDS))
        for message in messages:
            if (error := message.error()) is not None:
                self.events.on_error(error)
        return [message for message in messages if message.error() is None]

    # --- writing

    def _write(self, messages: Sequence[Message]) -> None:
        pieces: list[bytes] = []
        records = as_records(messages)
        done = 0
        try:
            for message, record in zip(messages, records, strict=True):
                if self._has_enough:
                    break
                self.count += 1
                done += 1
                self.consumer.acknowledge(message, self._format(record, pieces))
        finally:
            self.output.write(b"".join(pieces))
            for message in messages[done:]:
                self.consumer.acknowledge(message, AcknowledgeType.RELEASE)

    def _format(self, record: Record, pieces: list[bytes]) -> AcknowledgeType:
        """Writes one record; how it is to be acknowledged."""
        try:
            pieces.append(self.request.formatter.format(record))
        except KafkaError as error:
            if not self.request.rejects_on_error:
                raise
            problem = f"{error.java_name}: {error}"
            log_error("Error processing message, rejecting this message: ", LOGGER, problem)
            return AcknowledgeType.REJECT
        return self.acknowledgement

    def close(self) -> None:
        self.consumer.close()
        err(f"Processed a total of {self.count} messages")


def consume_to_output(request: Request) -> int:
    with StopSignals() as stop:
        try:
            return _consume(request, stop)
        except (KafkaError, KafkaException, ValueError) as error:
            log_error("Unknown error when running consumer: ", LOGGER, java_exception_of(error))
            return 1
        finally:
            if request.logs_system_test_events:
                print("shutdown_complete", flush=True)


def _consume(request: Request, stop: StopSignals) -> int:
    consumer = ConsoleShareConsumer(request, stop)
    try:
        consumer.run()
    finally:
        consumer.close()
    return stop.exit_code
