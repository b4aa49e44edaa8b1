"""The way of records into librdkafka's queue: patient while it is full, and with errors that help.

`fast_produce` and `produce_all` are for records that need nothing done to them. They are written for speed: they take
less than a tenth of the time that librdkafka's own call takes.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from penstock.client.delivery import WATCH_ONE_IN, Delivery
from penstock.client.errors import KafkaError, KafkaTimeoutError, SerializationError
from penstock.client.librdkafka import KafkaException, NativeDelivery, client_error, error_of
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

    def put(self, arguments: Arguments) -> None:
        """Waits for room for `max.block.ms` at most."""
        deadline = time.monotonic() + self.max_block_ms / 1000
        while True:
            try:
                return self.native_produce(*arguments)
            except BufferError:
                if not self.delivery.wait_for_room(deadline):
                    raise self._no_room(arguments[0]) from None
            except Exception as error:
                raise self.error_of(error, *arguments[:3]) from None

    def error_of(self, error: Exception, topic: object, value: object, key: object) -> Exception:
        """Why librdkafka did not take a record, as an error of ours."""
        if isinstance(error, KafkaException):
            return client_error(
                error_of(error), f"topic {topic}: the record was not sent", self.delivery.troubles
            )
        if isinstance(error, RuntimeError):
            return KafkaError("this producer is closed; make another")
        for field, given in (("value", value), ("key", key)):
            if given is not None and not isinstance(given, bytes | str):
                return _needs_a_serializer(topic, field, given)
        return error

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
    delivery, native_produce, on_watched = queue.delivery, queue.native_produce, queue.delivery.on_watched

    def produce(
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput | None = None,
    ) -> None:
        if delivery.is_serving:
            delivery.step_aside()
        left = delivery.to_watch
        delivery.to_watch = left - 1
        try:
            if left <= 0 and partition is None and timestamp_ms is None and headers is None:
                native_produce(topic, value, key)
                if left == -WATCH_ONE_IN:
                    delivery.to_watch = 1
                return
        except BufferError:
            pass
        except Exception as error:
            raise queue.error_of(error, topic, value, key) from None
        queue.put(native_arguments(topic, value, key, partition, timestamp_ms, headers, on_watched))

    return produce


def produce_all(queue: SendQueue, batch: RecordBatch) -> None:
    """A batch of bytes or text, without times."""
    delivery, native_produce = queue.delivery, queue.native_produce
    topic, values = batch.topic, batch.values
    partition = UNASSIGNED if batch.partition is None else batch.partition
    keys = [None] * len(values) if batch.keys is None else batch.keys
    for number, (value, key) in enumerate(zip(values, keys, strict=True)):
        try:
            if number & (WATCH_ONE_IN - 1):
                native_produce(topic, value, key, partition)
                continue
        except BufferError:
            pass
        except Exception as error:
            raise queue.error_of(error, topic, value, key) from None
        if delivery.is_serving:
            delivery.step_aside()
        queue.put((topic, value, key, partition, delivery.on_watched))
