"""What the console consumer and the console share consumer do alike: from one batch of records to the next."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from penstock.cli.tool import err
from penstock.cli.tools.clients.log_lines import log_error
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.cli.tools.console.consumer_options import NO_LIMIT, ConsumerRequest
from penstock.cli.tools.console.output import Output

TIMEOUT_EXCEPTION = "org.apache.kafka.common.errors.TimeoutException"

Found = TypeVar("Found")
Asked = TypeVar("Asked", bound=ConsumerRequest)


class ConsumerLoop(ABC, Generic[Asked, Found]):
    def __init__(self, request: Asked, stop: StopSignals, logger: str) -> None:
        self.request = request
        self.stop = stop
        self.logger = logger
        self.count = 0
        self.output = Output()
        self.problem: str | None = None
        """Why it cannot go on, as Java's exception is shown."""

    @abstractmethod
    def next_records(self) -> Sequence[Found]:
        """What has come, after a short wait at most."""

    @abstractmethod
    def write(self, records: Sequence[Found]) -> None: ...

    @property
    def has_enough(self) -> bool:
        limit = self.request.max_messages
        return limit != NO_LIMIT and self.count >= limit

    def run(self) -> None:
        """Until it is enough, nothing comes any more, nobody reads, or a signal says stop."""
        silent_since = time.monotonic()
        while not self.has_enough and not self.stop.received:
            records = self.next_records()
            if records:
                self.write(records)
                silent_since = time.monotonic()
            elif self.problem is None and self._has_been_silent(silent_since):
                self.problem = TIMEOUT_EXCEPTION
            if self.problem is not None:
                text = "Error processing message, terminating consumer process: "
                log_error(text, self.logger, self.problem)
                return
            if self.output.is_broken:
                err("Unable to write to standard out, closing consumer.")
                return

    def _has_been_silent(self, since: float) -> bool:
        timeout_ms = self.request.timeout_ms
        return timeout_ms is not None and (time.monotonic() - since) * 1000 > timeout_ms

    def say_total(self) -> None:
        err(f"Processed a total of {self.count} messages")


def consume_until_signal(
    request: Asked,
    consume: Callable[[Asked, StopSignals], None],
    logger: str,
    failures: tuple[type[Exception], ...],
    say: Callable[[Any], str],
) -> int:
    """Until the end; failures are what the client may raise, said as Java's exceptions are."""
    with StopSignals() as stop:
        try:
            consume(request, stop)
            return stop.exit_code
        except failures as error:
            log_error("Unknown error when running consumer: ", logger, say(error))
            return 1
        finally:
            if request.logs_system_test_events:
                print("shutdown_complete", flush=True)
