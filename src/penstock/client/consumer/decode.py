"""From librdkafka's messages to records, and what becomes of those that cannot be read."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from penstock.client.librdkafka import Message
from penstock.client.records import ConsumerRecord, FetchedRecord, _RecordFields
from penstock.client.serializers import Decode
from penstock.errors import ConfigError
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError, RetriableError, SerializationError

logger = logging.getLogger("penstock.client")


class RecordDeserializationError(SerializationError):
    """A record that its deserializer cannot read: where it is, and what it holds.

    The consumer goes on behind it with the next `poll`; so whoever wants to keep it does so here.

    >>> from penstock import KafkaConsumer, KafkaProducer
    >>> from penstock.client import RecordDeserializationError
    >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...     _ = producer.send("orders", b"not a number").result(30)
    >>> with KafkaConsumer(
    ...     "orders",
    ...     bootstrap_servers="localhost:9092",
    ...     group_id="billing",
    ...     auto_offset_reset="earliest",
    ...     value_deserializer=int,
    ... ) as consumer:
    ...     try:
    ...         consumer.poll()
    ...     except RecordDeserializationError as error:
    ...         print(error.topic_partition, error.offset, error.raw_record.value)
    orders-0 0 b'not a number'
    """

    def __init__(self, record: ConsumerRecord, field: str, cause: Exception) -> None:
        reason = cause.message if isinstance(cause, KafkaError) else str(cause)
        reason = reason.removeprefix(f"topic {record.topic}: ")
        where = f"{record.topic}-{record.partition} at offset {record.offset}"
        super().__init__(f"{where}: {reason}; poll goes on behind it")
        self.raw_record = record
        """With key and value as bytes."""
        self.field = field
        """"key" or "value"."""
        self.topic_partition: TopicPartition = record.topic_partition
        self.offset: int = record.offset


@ConsumerRecord.register
class DecodedRecord(_RecordFields, Struct, eq=False):
    """A record whose key and value are other things than the bytes in its message."""

    _message: Message
    value: Any
    key: Any  # in place of the property


OnDeserializationError: TypeAlias = Literal["raise", "skip"] | Callable[[RecordDeserializationError], object]


class Decoder:
    def __init__(
        self, key: Decode | None, value: Decode | None, on_error: OnDeserializationError = "raise"
    ) -> None:
        if on_error not in ("raise", "skip") and not callable(on_error):
            raise ConfigError(f"on_deserialization_error: got {on_error!r}; takes raise, skip or a function")
        self._key = key
        self._value = value
        self._on_error = on_error
        self.is_plain = key is None and value is None
        """Whether records are nothing but their bytes, so that none can fail."""

    def records(self, messages: Iterable[Message]) -> tuple[list[ConsumerRecord], int]:
        """Those up to the first that fails, and how many messages that were. If it is the first of all, it raises."""
        records: list[ConsumerRecord] = []
        done = 0
        for message in messages:
            try:
                record = self.record(message)
            except (RecordDeserializationError, RetriableError):
                if not done:
                    raise
                break
            done += 1
            if record is not None:
                records.append(record)
        return records, done

    def record(self, message: Message) -> ConsumerRecord | None:
        """None if it cannot be read, and is not to be raised."""
        key, value = message.key(), message.value()
        field: Literal["key", "value"] = "key"
        try:
            if self._key is not None and key is not None:
                key = self._key(message.topic() or "", key, message.headers)
            field = "value"
            if self._value is not None and value is not None:
                value = self._value(message.topic() or "", value, message.headers)
        except RetriableError:
            raise  # nothing is wrong with the record
        except Exception as error:
            self._failed(message, field, error)
            return None
        return DecodedRecord(message, value, key)  # type: ignore[return-value]

    def _failed(self, message: Message, field: str, cause: Exception) -> None:
        error = RecordDeserializationError(plain_records([message])[0], field, cause)
        if self._on_error == "raise":
            raise error from cause
        if self._on_error == "skip":
            logger.warning("skipped %s", error.message)
            return
        assert callable(self._on_error)
        self._on_error(error)


_value_of = Message.value


def plain_records(messages: Sequence[Message]) -> list[ConsumerRecord]:
    """The short way for bytes: nothing of it is done in Python."""
    return list(map(FetchedRecord, messages, map(_value_of, messages)))  # type: ignore[arg-type]


def plain_turn(messages: Iterator[Message], again: Iterable[Message]) -> Iterator[ConsumerRecord]:
    """The same, one by one, of messages that can be gone through twice at the same time."""
    return map(FetchedRecord, messages, map(_value_of, again))  # type: ignore[arg-type]
