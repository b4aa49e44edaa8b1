"""The way of records into librdkafka's queue: patient while it is full, and with errors that help.

`fast_produce` and `produce_all` are for records that need nothing done to them. They are written for speed: they take
less than a tenth of the time that librdkafka's own call takes.
"""

import time
from collections.abc import Callable, Mapping
from itertools import islice, repeat
from typing import Any

from penstock.client.errors import KafkaError, KafkaTimeoutError, SerializationError
from penstock.client.librdkafka import KafkaException, NativeDelivery, client_error, error_of
from penstock.client.producer.delivery import WATCH_ONE_IN, Delivery
from penstock.client.records import HeadersInput, RecordBatch

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
    def __init__(self, delivery: Delivery, max_block_ms: int) -> None:
        self.delivery, self.max_block_ms = delivery, max_block_ms
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

    def refusal(self, error: Exception, topic: object, value: object, key: object) -> KafkaError:
        """Why librdkafka does not take a record, as an error of ours; raised at once if it is a mistake in the call."""
        if isinstance(error, KafkaException):
            return client_error(
                error_of(error), f"topic {topic}: the record was not sent", self.delivery.troubles
            )
        if isinstance(error, RuntimeError):
            raise KafkaError("this producer is closed; make another") from None
        for field, given in (("value", value), ("key", key)):
            if given is not None and not isinstance(given, bytes | str):
                raise _needs_a_serializer(topic, field, given) from None
        raise error

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


def fast_produce(queue: SendQueue) -> Callable[..., None]:
    """`KafkaProducer.produce` for bytes and text."""
    delivery, native_produce = queue.delivery, queue.native_produce

    def produce(
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput | None = None,
    ) -> None:
        unwatched = delivery.unwatched
        if unwatched and partition is None and timestamp_ms is None and headers is None:
            try:
                if key is None:
                    native_produce(topic, value)
                else:
                    native_produce(topic, value, key)
                delivery.unwatched = unwatched - 1
                return
            except BufferError:
                pass
            except Exception as error:
                raise queue.refusal(error, topic, value, key) from None
        if delivery.is_serving:
            delivery.look_up(topic)
        queue.must_put(
            native_arguments(topic, value, key, partition, timestamp_ms, headers, delivery.next_watched())
        )

    return produce


def produce_all(queue: SendQueue, batch: RecordBatch) -> None:
    """A batch of bytes or text, without times: one record is watched, the next ones go without a look around."""
    topic, partition = batch.topic, UNASSIGNED if batch.partition is None else batch.partition
    native_produce, put = queue.native_produce, queue.must_put
    pairs = zip(batch.values, repeat(None) if batch.keys is None else batch.keys, strict=False)
    for value, key in pairs:
        if queue.delivery.is_serving:
            queue.delivery.look_up(topic)
        put((topic, value, key, partition, queue.delivery.next_watched()))
        for value, key in islice(pairs, WATCH_ONE_IN - 1):
            try:
                native_produce(topic, value, key, partition)
            except BufferError:
                put((topic, value, key, partition))
            except Exception as error:
                raise queue.refusal(error, topic, value, key) from None
