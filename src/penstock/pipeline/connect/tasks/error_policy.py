"""What becomes of a record that cannot be converted, transformed, sent or put.

As in Kafka Connect: what is retriable is tried again for `errors.retry.timeout` with growing pauses; what then still
fails is logged (`errors.log.enable`), handed to the dead-letter queue, and either skipped (`errors.tolerance=all`) or
the end of the task (`none`), with the record's coordinates.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar

from penstock.client.librdkafka import Message
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, one_of
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from penstock.pipeline.connect.tasks.clock import TickClock
from penstock.pipeline.connect.tasks.tally import Tally

log = logging.getLogger("penstock.connect.tasks")

T = TypeVar("T")

MIN_RETRY_DELAY_MS: Final = 300
RETRY_OVERTIME_SECONDS: Final = 10.0
"""How long one record may be tried again when the tick is over; then the next tick begins with it."""
TIMESTAMP_TYPES: Final = {1: "CreateTime", 2: "LogAppendTime"}

ERROR_SETTINGS: Final = (
    ConfigDef()
    .define("errors.retry.timeout", ConfigType.LONG, 0)
    .define("errors.retry.delay.max.ms", ConfigType.LONG, 60_000)
    .define("errors.tolerance", ConfigType.STRING, "none", validator=one_of("none", "all"))
    .define("errors.log.enable", ConfigType.BOOLEAN, False)
    .define("errors.log.include.messages", ConfigType.BOOLEAN, False)
)


class Stage(StrEnum):
    TASK_POLL = "TASK_POLL"
    TASK_PUT = "TASK_PUT"
    TRANSFORMATION = "TRANSFORMATION"
    KEY_CONVERTER = "KEY_CONVERTER"
    VALUE_CONVERTER = "VALUE_CONVERTER"
    HEADER_CONVERTER = "HEADER_CONVERTER"
    KAFKA_PRODUCE = "KAFKA_PRODUCE"
    KAFKA_CONSUME = "KAFKA_CONSUME"


Original = Message | SourceRecord
"""What a sink consumed, or a source polled."""


class FailedRecord(NamedTuple):
    stage: Stage
    executing_class: str
    original: Original
    error: Exception


class _Skipped:
    """What `execute` returns for a record that failed and is tolerated; None is a good result of a transform."""

    def __repr__(self) -> str:
        return "SKIPPED"


SKIPPED: Final = _Skipped()


class ErrorPolicy:
    def __init__(
        self,
        task_name: str,
        configs: Mapping[str, str],
        tally: Tally,
        clock: TickClock,
        dead_letter: Callable[[FailedRecord], None] | None = None,
    ) -> None:
        settings = ERROR_SETTINGS.parse(configs)
        self._task_name, self._tally, self._clock = task_name, tally, clock
        self._retry_timeout_ms: int = settings["errors.retry.timeout"]
        self._max_delay_ms: int = settings["errors.retry.delay.max.ms"]
        self._logs: bool = settings["errors.log.enable"]
        self._logs_messages: bool = settings["errors.log.include.messages"]
        self.tolerates_all: bool = settings["errors.tolerance"] == "all"
        self._dead_letter = dead_letter

    def execute(
        self, operation: Callable[[], T], stage: Stage, executing_class: str, original: Original
    ) -> T | _Skipped:
        """What `operation` returns, at last; SKIPPED if it fails and that is tolerated."""
        try:
            return self._retrying(operation)
        except Exception as error:
            return self.failed(FailedRecord(stage, executing_class, original, error))

    def go_on(
        self,
        error: Exception,
        operation: Callable[[], T],
        stage: Stage,
        executing_class: str,
        original: Original,
    ) -> T | _Skipped:
        """As `execute`, when the first attempt was made already, and failed with `error`."""
        attempts = iter((error,))

        def attempt() -> T:
            for first in attempts:
                raise first
            return operation()

        return self.execute(attempt, stage, executing_class, original)

    def failed(self, record: FailedRecord) -> _Skipped:
        """Reports a record that failed; raises where that is not tolerated."""
        self._tally.failures += 1
        if self._logs:
            self._log(record)
        if self._dead_letter is not None:
            self._dead_letter(record)
        if not self.tolerates_all:
            where = f"{record.stage} with {record.executing_class}, {coordinates(record.original)}"
            raise ConnectError(
                f"Tolerance exceeded in error handler: {where}: {record.error}"
            ) from record.error
        self._tally.skipped += 1
        return SKIPPED

    def _retrying(self, operation: Callable[[], T]) -> T:
        patience = time.monotonic() + RETRY_OVERTIME_SECONDS
        deadline = _deadline(self._retry_timeout_ms)
        attempt = 0
        while True:
            attempt += 1
            try:
                return operation()
            except RetriableConnectError as error:
                if time.monotonic() >= deadline:
                    raise
                if self._clock.is_over() and time.monotonic() >= patience:
                    raise RetryLater(str(error)) from error
                self._tally.failures += 1
                self._back_off(attempt, deadline)
                self._tally.retries += 1

    def _back_off(self, attempt: int, deadline: float) -> None:
        delay_ms: float = MIN_RETRY_DELAY_MS << min(attempt - 1, 32)
        if delay_ms > self._max_delay_ms:
            delay_ms = random.uniform(0, self._max_delay_ms)
        self._clock.sleep(min(delay_ms / 1000, max(0.0, deadline - time.monotonic())))

    def _log(self, record: FailedRecord) -> None:
        what = _described(record.original) if self._logs_messages else ""
        log.error(
            "Error encountered in task %s. Executing stage '%s' with class '%s'%s.",
            *(self._task_name, record.stage, record.executing_class, what),
            exc_info=record.error,
        )


class RetryLater(BaseException):
    """The tick is over while a record is being tried again: the record is left for the next one."""


def _deadline(timeout_ms: int) -> float:
    return float("inf") if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000


def coordinates(original: Original) -> str:
    """Where a record is found again."""
    if isinstance(original, SourceRecord):
        return (
            f"record for topic {original.topic} of source partition {_plain(original.source_partition)} "
            f"at offset {_plain(original.source_offset)}"
        )
    return f"topic {original.topic()} partition {original.partition()} offset {original.offset()}"


def _plain(value: Mapping[str, Any] | None) -> str:
    return "null" if value is None else str(dict(value))


def _described(original: Original) -> str:
    if isinstance(original, SourceRecord):
        return f", where source record is = {original!r}"
    kind, timestamp = original.timestamp()
    when = (
        f", timestamp={timestamp}, timestampType={TIMESTAMP_TYPES[kind]}" if kind in TIMESTAMP_TYPES else ""
    )
    where = f"topic='{original.topic()}', partition={original.partition()}, offset={original.offset()}"
    return f", where consumed record is {{{where}{when}}}"
