"""The way of records into librdkafka's queue: patient while it is full, and with errors that help.

`produce_all` is for records that need nothing done to them. It is written for speed: it takes less than a tenth of the
time that librdkafka's own call takes.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, repeat
from typing import Any

from penstock.client.advice import OWN_LIMIT_ADVICE
from penstock.client.librdkafka import KafkaException, NativeDelivery, NativeError, client_error, error_of
from penstock.client.producer.delivery import WATCH_ONE_IN, Delivery
from penstock.client.records import HeadersInput, RecordBatch
from penstock.wire_client.errors import KafkaError, KafkaTimeoutError, SerializationError

UNASSIGNED = -1
NOW = 0

Arguments = tuple[Any, ...]
"""What librdkafka's `produce` takes: topic, value, key, partition, callback, the callback's old name, time, headers."""


def native_arguments(
    topic: str,
    value: Any,
    key: Any,
    partition: int | None,
    timestamp_ms: int | None,
    headers: HeadersInput | None,
    callback: NativeDelivery | None,
) -> Arguments:
    place = UNASSIGNED if partition is None else partition
    if timestamp_ms is None and not headers:
        return topic, value, key, place, callback
    plain = (dict(headers) if isinstance(headers, Mapping) else list(headers)) if headers else None
    return topic, value, key, place, callback, None, NOW if timestamp_ms is None else timestamp_ms, plain


class SendQueue:
    def __init__(self, delivery: Delivery, max_block_ms: int, lacks_transaction: Callable[[], bool]) -> None:
        self.delivery, self.max_block_ms = delivery, max_block_ms
        self.lacks_transaction = lacks_transaction
        self.native_produce: Callable[..., None] = delivery.native.produce

    def put(self, arguments: Arguments) -> KafkaError | None:
        """Waits for room, for `max.block.ms` at most; returns the error of a record that librdkafka refuses."""
        deadline = time.monotonic() + self.max_block_ms / 1000
        while True:
            try:
                self.native_produce(*arguments)
                return None
            except BufferError:
                if not self.delivery.wait_for_room(deadline):
                    raise self._no_room(arguments[0]) from None
            except Exception as error:
                return self.refusal(error, *arguments[:3])

    def must_put(self, arguments: Arguments) -> None:
        if (refusal := self.put(arguments)) is not None:
            raise refusal

    def refusal(self, error: Exception, topic: object, value: object, key: object = None) -> KafkaError:
        """Why librdkafka does not take a record, as an error of ours; raised at once if it is a mistake in the call."""
        if isinstance(error, KafkaException):
            return self._native_refusal(error_of(error), f"topic {topic}: the record was not sent")
        if isinstance(error, RuntimeError):
            raise KafkaError("this producer is closed; make another") from None
        for field, given in (("value", value), ("key", key)):
            if given is not None and not isinstance(given, bytes | str):
                raise _needs_a_serializer(topic, field, given) from None
        raise error

    def _native_refusal(self, error: NativeError, what: str) -> KafkaError:
        if self.lacks_transaction() and error.code() == NativeError._STATE:
            raise KafkaError(f"{what}: no transaction is open; begin one with producer.transaction()")
        is_too_large = error.code() == NativeError.MSG_SIZE_TOO_LARGE
        return client_error(error, what, self.delivery.troubles, OWN_LIMIT_ADVICE if is_too_large else "")

    def _no_room(self, topic: str) -> KafkaTimeoutError:
        waiting = len(self.delivery.native)
        what = (
            f"topic {topic}: no room for the record after max.block.ms, which is {self.max_block_ms}: "
            f"{waiting} records wait; raise buffer.memory or queue.buffering.max.messages, or send less"
        )
        return KafkaTimeoutError(self.delivery.why_waiting(what))


def _needs_a_serializer(topic: object, field: str, given: object) -> SerializationError:
    return SerializationError(
        f"topic {topic}: the {field} is a {type(given).__name__}, and without a serializer it takes bytes or str; "
        f'{field}_serializer sets one, as in {field}_serializer="json"'
    )


def produce_all(queue: SendQueue, batch: RecordBatch) -> None:
    """A batch of bytes or text: one record is watched, the next ones go without a look around."""
    rows, delivery, native_produce = _rows(batch), queue.delivery, queue.native_produce
    at_once = 1 if delivery.watches_all else WATCH_ONE_IN
    for sent, row in zip(range(0, len(batch), at_once), rows, strict=False):
        if delivery.is_serving:
            delivery.look_up(batch.topic)
        queue.must_put(_with_callback(row, delivery.watch(min(at_once, len(batch) - sent))))
        for row in islice(rows, at_once - 1):
            try:
                native_produce(*row)
            except BufferError:
                queue.must_put(row)
            except Exception as error:
                raise queue.refusal(error, *row[:3]) from None


def _rows(batch: RecordBatch) -> Iterator[Arguments]:
    """The arguments of each record, no more than are needed: librdkafka's `produce` takes time to read them."""
    columns: list[Iterable[Any]] = [repeat(batch.topic), batch.values]
    if any(column is not None for column in (batch.keys, batch.partition, batch.timestamps_ms)):
        columns.append(repeat(None) if batch.keys is None else batch.keys)
        columns.append(repeat(UNASSIGNED if batch.partition is None else batch.partition))
    if batch.timestamps_ms is not None:
        columns.extend((repeat(None), repeat(None), batch.timestamps_ms))
    return zip(*columns, strict=False)


def _with_callback(row: Arguments, callback: NativeDelivery) -> Arguments:
    place = row[:4] if len(row) > 2 else (*row, None, UNASSIGNED)
    return *place, callback, *row[5:]
