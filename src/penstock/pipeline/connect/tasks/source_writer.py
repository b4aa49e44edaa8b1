"""The way of a source's records into Kafka, and of the offsets behind them.

`TransactionWriter` puts both into one transaction, so that an attempt that dies leaves nothing behind and the next one
goes on where the last committed transaction ended. `AcknowledgedWriter` (`exactly.once.source.support=disabled`) stores
offsets when all records before them are acknowledged: what dies in between is read and sent again.

Connect commits after every poll. A commit takes some milliseconds, in which a source with a backlog could have been
polled again; so as long as polls return at once, their records share a transaction, for `SHARED_SECONDS` at most, or
for `BACKLOG_SECONDS` if so many come that there is a backlog: what is that far behind can wait. A poll's records are
never divided. If the next poll then takes its time, another thread commits what is waiting: that is why there is a
lock, which is held by whoever writes and free while the task polls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, Final

from penstock.client import KafkaProducer, RecordBatch, RecordMetadata, SendFuture
from penstock.pipeline.connect.api.task import SourceTask
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.tasks.clock import TickClock
from penstock.pipeline.connect.tasks.error_policy import (
    ErrorPolicy,
    FailedRecord,
    Stage,
    coordinates,
)
from penstock.pipeline.connect.tasks.source_encoding import EncodedBatch
from penstock.pipeline.connect.tasks.source_offsets import OffsetRecord, SourceOffsets, SourcePosition
from penstock.pipeline.connect.tasks.tally import Tally
from penstock.wire_client.errors import KafkaError, RetriableError

SHARED_SECONDS: Final = 0.04
BACKLOG_SECONDS: Final = 0.2
BACKLOG_RECORDS: Final = 4000
QUICK_POLL_SECONDS: Final = 0.005
CLOSE_SECONDS: Final = 5.0
ACKNOWLEDGE_SECONDS: Final = 60.0
MAX_UNACKNOWLEDGED: Final = 50_000
PRODUCER_CLASS: Final = "org.apache.kafka.clients.producer.KafkaProducer"

Due = Callable[[float, int], float | None]
"""How long a transaction of so many records may stay open after a poll that took so many seconds; None: until the task
says."""


def due_after_poll(poll_seconds: float, records: int) -> float | None:
    if poll_seconds >= QUICK_POLL_SECONDS:
        return 0.0
    return BACKLOG_SECONDS if records >= BACKLOG_RECORDS else SHARED_SECONDS


def due_after_interval(interval_ms: int) -> Due:
    return lambda poll_seconds, records: interval_ms / 1000


def due_when_told(poll_seconds: float, records: int) -> float | None:
    return None


class SourceWriter:
    def __init__(
        self,
        producer: KafkaProducer,
        offsets: SourceOffsets,
        offsets_topic: str,
        task: SourceTask,
        policy: ErrorPolicy,
        tally: Tally,
        clock: TickClock,
        due: Due,
    ) -> None:
        self._producer, self._offsets, self._offsets_topic = producer, offsets, offsets_topic
        self._task, self._policy, self._tally, self._clock = task, policy, tally, clock
        self._due = due
        self._tells_records = type(task).commit_record is not SourceTask.commit_record
        self._state = threading.Condition()
        self._is_open = False
        self._opened_at, self._records = 0.0, 0
        self._due_at: float | None = None
        self._positions: dict[str, SourcePosition] = {}
        self._sent: list[tuple[SourceRecord, SendFuture | None]] = []
        self._committed: list[tuple[SourceRecord, RecordMetadata | None]] = []
        self._commits_to_tell = 0
        self._failure: BaseException | None = None
        self._is_stopped = False
        self._thread = threading.Thread(target=self._commit_when_due, name="source-commits", daemon=True)
        self._thread.start()

    # --- the task's thread

    @property
    def is_open(self) -> bool:
        return self._is_open

    def write(self, batch: EncodedBatch) -> None:
        with self._state:
            self._check()
            self._open()
            self._send(batch)
            self._positions.update(self._offsets.last_of(batch.positions))
            self._tally.topics.update(batch.topics)

    def poll_ended(self, poll_seconds: float) -> None:
        """Commits if it is time, or sees to it that it is done in time."""
        with self._state:
            self._check()
            seconds = self._due(poll_seconds, self._records)
            if seconds is None or not self._is_open:
                return
            due_before, self._due_at = self._due_at, self._opened_at + seconds
            if time.monotonic() >= self._due_at or self._is_full():
                self._commit()
            elif due_before is None or self._due_at < due_before:
                self._state.notify()  # else the other thread looks early enough

    def commit(self) -> None:
        with self._state:
            self._check()
            self._commit()

    def abort(self) -> None:
        """What was written since the last commit is not seen by anybody; its offsets count all the same."""
        with self._state:
            self._check()
            self._abort()

    def tell(self) -> None:
        """The task hears of what was committed."""
        with self._state:
            committed, self._committed = self._committed, []
            commits, self._commits_to_tell = self._commits_to_tell, 0
        for record, metadata in committed:
            place = (record.topic, -1, -1) if metadata is None else metadata[:3]
            self._task.commit_record(record, *place)
        if commits:
            self._task.commit()

    def stop(self) -> None:
        """Nothing is committed any more."""
        with self._state:
            self._is_stopped = True
            self._state.notify()
        self._thread.join()

    # --- the other thread

    def _commit_when_due(self) -> None:
        with self._state:
            while not self._is_stopped:
                left = None if self._due_at is None else self._due_at - time.monotonic()
                if left is None or left > 0:
                    self._state.wait(left)
                    continue
                try:
                    self._commit()
                except Exception as error:
                    self._failure, self._due_at = error, None

    # --- with the lock

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._clock.is_abandoned:
            raise ConnectError("the tick ended long ago: nothing is written any more")

    def _open(self) -> None:
        if not self._is_open:
            self._begin()
            self._is_open, self._opened_at, self._records = True, time.monotonic(), 0

    def _commit(self) -> None:
        self._due_at = None
        if not self._is_open and not self._positions:
            return
        self._check()
        self._open()
        records = self._offsets.records_for(self._positions.values())
        self._finish(records)
        self._offsets.committed(records)
        self._is_open = False
        self._positions = {}
        self._committed += [
            (record, None if future is None else future.result(0)) for record, future in self._told()
        ]
        self._sent = []
        self._commits_to_tell += 1
        self._tally.transactions += 1

    def _told(self) -> Iterable[tuple[SourceRecord, SendFuture | None]]:
        return self._sent if self._tells_records else ()

    def _send(self, batch: EncodedBatch) -> None:
        if self._needs_futures():
            self._send_with_futures(batch)
        elif batch.is_plain and not self._policy.tolerates_all:
            self._send_columns(batch)
        else:
            self._send_one_by_one(batch)
        self._records += len(batch.values)
        self._tally.records += len(batch.values)
        self._tally.bytes += _bytes_of(batch.values)

    def _send_columns(self, batch: EncodedBatch) -> None:
        try:
            for columns in _by_topic(batch):
                self._producer.send_batch(columns)
        except RetriableError:
            raise
        except KafkaError:
            self._send_one_by_one(batch)  # in vain, but for the record that it names
            raise

    def _send_one_by_one(self, batch: EncodedBatch) -> None:
        produce = self._producer.produce
        for number, record in enumerate(batch.records):
            try:
                produce(
                    *(record.topic, batch.values[number], batch.keys[number] if batch.keys else None),
                    *(record.partition, record.timestamp),
                    batch.headers[number] if batch.headers is not None else None,
                )
            except RetriableError:
                raise
            except KafkaError as error:
                self._refused(batch.originals[number], error)

    def _send_with_futures(self, batch: EncodedBatch) -> None:
        for number, record in enumerate(batch.records):
            future = self._producer.send(
                *(record.topic, batch.values[number], batch.keys[number] if batch.keys else None),
                partition=record.partition,
                timestamp_ms=record.timestamp,
                headers=batch.headers[number] if batch.headers is not None else (),
            )
            self._sent.append((batch.originals[number], future))
        self._sent += [(record, None) for record in batch.dropped]

    def _refused(self, original: SourceRecord, error: KafkaError) -> None:
        if not self._policy.tolerates_all:
            raise ConnectError(
                f"Unrecoverable exception trying to send: {coordinates(original)}: {error}"
            ) from error
        self._policy.failed(FailedRecord(Stage.KAFKA_PRODUCE, PRODUCER_CLASS, original, error))
        self._tally.records -= 1

    # --- what differs

    def _needs_futures(self) -> bool:
        return self._tells_records

    def _is_full(self) -> bool:
        return False

    def _begin(self) -> None:
        raise NotImplementedError

    def _finish(self, offsets: list[OffsetRecord]) -> None:
        raise NotImplementedError

    def _abort(self) -> None:
        raise NotImplementedError


class TransactionWriter(SourceWriter):
    def _begin(self) -> None:
        self._producer.begin_transaction()

    def _finish(self, offsets: list[OffsetRecord]) -> None:
        for key, value in offsets:
            self._producer.produce(self._offsets_topic, value, key)
        self._producer.commit_transaction()

    def _abort(self) -> None:
        if self._is_open:
            self._producer.abort_transaction()
            self._is_open, self._sent, self._due_at = False, [], None


class AcknowledgedWriter(SourceWriter):
    def _needs_futures(self) -> bool:
        return True

    def _is_full(self) -> bool:
        return len(self._sent) >= MAX_UNACKNOWLEDGED

    def _begin(self) -> None:
        pass

    def _finish(self, offsets: list[OffsetRecord]) -> None:
        self._producer.flush(ACKNOWLEDGE_SECONDS)
        self._sent = [pair for pair in self._sent if self._is_acknowledged(*pair)]
        stored = [self._producer.send(self._offsets_topic, value, key) for key, value in offsets]
        self._producer.flush(ACKNOWLEDGE_SECONDS)
        for future in stored:
            future.result(0)

    def _is_acknowledged(self, record: SourceRecord, future: SendFuture | None) -> bool:
        error = None if future is None else future.exception(0)
        if error is None:
            return True
        if isinstance(error, RetriableError) or not isinstance(error, KafkaError):
            raise error
        self._refused(record, error)
        return False

    def _abort(self) -> None:
        """There is no taking back: what was sent is seen."""


def _by_topic(batch: EncodedBatch) -> Iterable[RecordBatch]:
    topics = batch.topics
    if len(topics) == 1:
        return [RecordBatch(topics.pop(), batch.values, batch.keys)]
    columns: dict[str, tuple[list[object], list[object]]] = {topic: ([], []) for topic in topics}
    for record, value, key in zip(batch.records, batch.values, batch.keys or repeat(None), strict=False):
        values, keys = columns[record.topic]
        values.append(value)
        keys.append(key)
    return [RecordBatch(topic, values, keys) for topic, (values, keys) in columns.items()]


def _bytes_of(values: Sequence[Any]) -> int:
    """What they are in UTF-8."""
    kinds = set(map(type, values))
    if kinds == {str}:
        text = "".join(values)
        return len(text) if text.isascii() else len(text.encode())
    if str in kinds:
        values = [each.encode() if isinstance(each, str) else each for each in values]
    return sum(map(len, filter(None, values)))
