"""The console producer at work: lines from standard input to librdkafka, errors to the log as Kafka's tool has them."""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING

from penstock.cli.first_contact import check_first_contact
from penstock.cli.tools.clients.client_configs import producer_settings
from penstock.cli.tools.clients.client_events import ClientEvents, java_exception_of
from penstock.cli.tools.clients.log_lines import log_error
from penstock.cli.tools.clients.stop_signals import StopRequested, StopSignals
from penstock.cli.tools.clients.topic_wait import DEFAULT_MAX_BLOCK_MS, TopicWait
from penstock.cli.tools.console.line_reader import NO_HEADERS, Headers, Line
from penstock.cli.tools.console.lines import read_lines
from penstock.client.librdkafka import KafkaException, Message, NativeError, Producer
from penstock.wire_client.errors import KafkaError as ClientError

if TYPE_CHECKING:
    from penstock.cli.tools.kafka_console_producer import Request

ERROR_LOGGER = "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback"
STDIN, STDOUT = 0, 1
PIECE_BYTES = 1024 * 1024
TURN_SECONDS = 0.05


class SendError(ClientError):
    """A record that was waited for did not arrive."""

    JAVA_NAME = "java.util.concurrent.ExecutionException"


class ConsoleProducer:
    def __init__(self, request: Request, stop: StopSignals) -> None:
        self.topic = request.topic
        self.reader = request.reader
        self.waits_for_each = request.waits_for_each
        self.stop = stop
        self.events = ClientEvents("Producer", request.configs)
        self.has_prompt = os.isatty(STDIN) and os.isatty(STDOUT)
        self.failure: str | None = None
        self.producer = Producer(
            {
                **producer_settings(request.configs),
                **self.events.settings(),
                "on_delivery": self._on_failed_delivery,
                "delivery.report.only.error": True,
                "queue.buffering.max.messages": 10_000_000,  # buffer.memory is what limits it
            }
        )
        self.topic_wait = TopicWait(
            self.producer, self.topic, request.configs, self.events, self._wait_a_turn
        )

    # --- lines

    def run(self) -> None:
        self._prompt()
        for lines in read_lines(self._read):
            if self.reader.takes_lines_as_values:
                for line in lines:
                    self._send(None, line, NO_HEADERS)
            else:
                for line in lines:
                    self._send_parsed(self.reader.parse(line))
            self.producer.poll(0)
            for _ in lines:
                self._prompt()

    def _prompt(self) -> None:
        if self.has_prompt:
            sys.stdout.write(">")
            sys.stdout.flush()

    def _read(self) -> bytes:
        """The next piece of input; what happens to the records that are under way is told meanwhile."""
        with self.stop.interruptible():
            while len(self.producer) and not select.select([STDIN], [], [], TURN_SECONDS)[0]:
                self.producer.poll(0)
                self._maybe_give_up()
            return os.read(STDIN, PIECE_BYTES)

    # --- records

    def _send_parsed(self, line: Line) -> None:
        self._send(line.key, line.value, line.headers)

    def _send(self, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        if not self.topic_wait.is_over and (problem := self.topic_wait.problem()) is not None:
            self._tell_failure(key, value, problem)
        else:
            self._produce(key, value, headers)
        if self.waits_for_each:
            self.finish()
            if self.failure is not None:
                raise SendError(self.failure)

    def _produce(self, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        while True:
            try:
                self.producer.produce(self.topic, value, key, headers=headers or None)
                return
            except BufferError:
                self.producer.poll(TURN_SECONDS)
                self._maybe_give_up()
            except KafkaException as error:
                self._tell_failure(key, value, java_exception_of(error))
                return

    def _on_failed_delivery(self, error: NativeError, record: Message) -> None:
        purged = error.code() in (NativeError._PURGE_QUEUE, NativeError._PURGE_INFLIGHT)
        problem = self.events.fatal if purged and self.events.fatal else java_exception_of(error)
        self._tell_failure(record.key(), record.value(), problem)

    def _tell_failure(self, key: bytes | None, value: bytes | None, problem: str) -> None:
        self.failure = problem
        if self.waits_for_each:
            return
        log_error(
            f"Error when sending message to topic {self.topic} with key: {_size(key)}, "
            f"value: {_size(value)} with error:",
            ERROR_LOGGER,
            problem,
        )

    # --- waiting

    def _wait_a_turn(self, seconds: float) -> None:
        with self.stop.interruptible():
            self.producer.poll(seconds)

    def _maybe_give_up(self) -> None:
        if self.events.fatal is not None:
            self.producer.purge()
            self.producer.poll(0)

    def finish(self) -> None:
        """Until every record is acknowledged or has failed."""
        while self.producer.flush(TURN_SECONDS):
            self._maybe_give_up()


def produce_from_input(request: Request) -> int:
    check_first_contact(request.configs, int(request.configs.get("max.block.ms", DEFAULT_MAX_BLOCK_MS)))
    with StopSignals() as stop:
        try:
            producer = ConsoleProducer(request, stop)
        except KafkaException as error:
            raise ClientError(java_exception_of(error)) from None
        try:
            producer.run()
        except StopRequested:
            pass
        finally:
            producer.finish()
        return stop.exit_code


def _size(data: bytes | None) -> str:
    return "null" if data is None else f"{len(data)} bytes"
