"""What goes in and what comes out: records to send, records received, and where they stand."""

from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from penstock.client.librdkafka import Message
from penstock.types import TopicPartition

__all__ = [
    "ConsumerRecord",
    "DeliveryCallback",
    "Headers",
    "HeadersInput",
    "OffsetAndMetadata",
    "ProduceCallback",
    "ProducerRecord",
    "RecordBatch",
    "RecordMetadata",
    "TimestampType",
    "TopicPartition",
]

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
HeadersInput: TypeAlias = Mapping[str, bytes | str | None] | Sequence[tuple[str, bytes | str | None]]
DeliveryCallback: TypeAlias = Callable[["RecordMetadata | None", Exception | None], object]
ProduceCallback: TypeAlias = Callable[[Exception | None, Message], object]
"""As confluent-kafka has it: the error comes first, and the message is librdkafka's."""


def with_headers(headers: HeadersInput, added: Sequence[tuple[str, bytes | None]]) -> HeadersInput:
    """Those of the user, and behind them what the serializers added."""
    return [*(headers.items() if isinstance(headers, Mapping) else headers), *added]


class TimestampType(IntEnum):
    """Whose clock a record's timestamp is of.

    >>> from penstock.client import TimestampType
    >>> TimestampType.CREATE_TIME.name
    'CREATE_TIME'
    """

    NO_TIMESTAMP = 0
    CREATE_TIME = 1
    LOG_APPEND_TIME = 2


@dataclass(slots=True)
class ProducerRecord:
    """A record to send. Without a partition the producer's partitioner picks one; without a time it is now.

    >>> from penstock import ProducerRecord
    >>> ProducerRecord("orders", b"2 cups", key=b"customer-7", headers={"source": b"web"}).topic
    'orders'
    """

    topic: str
    value: Any = None
    key: Any = None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: HeadersInput = ()


class RecordMetadata(NamedTuple):
    """Where a record that was sent stands. The offset is -1 where the broker was not asked to acknowledge (acks=0).

    >>> from penstock import KafkaProducer
    >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...     metadata = producer.send("readings", b"21.5").result(timeout=30)
    >>> metadata.topic, metadata.partition, metadata.offset
    ('readings', 0, 0)
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int | None


class OffsetAndMetadata(NamedTuple):
    """A position to commit: the offset of the next record to read, and a note.

    >>> from penstock import OffsetAndMetadata
    >>> OffsetAndMetadata(42, "before lunch").offset
    42
    """

    offset: int
    metadata: str = ""
    leader_epoch: int | None = None


class _RecordFields:
    """What records have in common. All but the value, which everybody reads, stays in librdkafka's message until it is
    asked for."""

    __slots__ = ()

    _message: Message
    value: Any

    @property
    def topic(self) -> str:
        return self._message.topic()  # type: ignore[return-value]

    @property
    def partition(self) -> int:
        return self._message.partition()  # type: ignore[return-value]

    @property
    def offset(self) -> int:
        return self._message.offset()  # type: ignore[return-value]

    @property
    def key(self) -> Any:
        return self._message.key()

    @property
    def headers(self) -> Headers:
        return tuple(self._message.headers() or ())  # type: ignore[arg-type]

    @property
    def timestamp_ms(self) -> int:
        """Milliseconds since 1970; -1 if the record has no timestamp."""
        kind, timestamp_ms = self._message.timestamp()
        return timestamp_ms if kind else -1

    @property
    def timestamp(self) -> int:
        """`timestamp_ms` under the name that other clients give it."""
        return self.timestamp_ms

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType(self._message.timestamp()[0])

    @property
    def leader_epoch(self) -> int | None:
        return self._message.leader_epoch()

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    def header(self, name: str) -> bytes | None:
        """The last header of that name, as Kafka's `lastHeader`; None if there is none.

        >>> from penstock import ConsumerRecord
        >>> ConsumerRecord("orders", 0, 17).header("source") is None
        True
        """
        return next((value for key, value in reversed(self.headers) if key == name), None)

    def _fields(self) -> tuple[Any, ...]:
        where = (self.topic, self.partition, self.offset)
        when = (self.timestamp_ms, self.timestamp_type, self.leader_epoch)
        return (*where, self.key, self.value, self.headers, *when)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RecordFields) and self._fields() == other._fields()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        where = f"{self.topic!r}, {self.partition}, {self.offset}"
        return f"ConsumerRecord({where}, key={self.key!r}, value={self.value!r})"


class ConsumerRecord(_RecordFields, metaclass=ABCMeta):
    """A record that was received; key and value are what the deserializers made of them.

    >>> from penstock import ConsumerRecord
    >>> record = ConsumerRecord("orders", 0, 17, value=b"2 cups", headers=(("source", b"web"),))
    >>> record.topic_partition, record.header("source")
    (TopicPartition(topic='orders', partition=0), b'web')
    """

    __slots__ = ("_message", "value")

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        key: Any = None,
        value: Any = None,
        headers: Headers = (),
        timestamp_ms: int = -1,
        timestamp_type: TimestampType = TimestampType.NO_TIMESTAMP,
        leader_epoch: int | None = None,
    ) -> None:
        self.value = value
        self._message = Message(
            topic=topic,
            partition=partition,
            offset=offset,
            key=key,
            value=value,
            headers=list(headers),
            timestamp=(timestamp_type, timestamp_ms),
            leader_epoch=-1 if leader_epoch is None else leader_epoch,
        )


@ConsumerRecord.register
class FetchedRecord(_RecordFields, Struct, gc=False, eq=False):
    """As consumers make them, millions: in C, and without the work of garbage collection. Bytes cannot refer back."""

    _message: Message
    value: bytes | None


@dataclass(slots=True)
class RecordBatch:
    """Many values for one topic, with as many keys or none, to be sent with `KafkaProducer.send_batch`.

    All go to `partition` if it is given, else each to where its key belongs.

    >>> from penstock import RecordBatch
    >>> batch = RecordBatch("readings", [b"21.5", b"21.7"], keys=[b"kitchen", b"cellar"])
    >>> len(batch)
    2
    """

    topic: str
    values: Sequence[Any]
    keys: Sequence[Any] | None = None
    partition: int | None = None
    timestamps_ms: Sequence[int] | None = None

    def __post_init__(self) -> None:
        for name in ("keys", "timestamps_ms"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.values):
                raise ValueError(
                    f"{name}: got {len(column)}; takes as many as there are values: {len(self.values)}"
                )

    def __len__(self) -> int:
        return len(self.values)

    def records(self) -> Iterator[ProducerRecord]:
        """The same, record by record.

        >>> from penstock import RecordBatch
        >>> [record.key for record in RecordBatch("readings", [b"21.5"], [b"kitchen"]).records()]
        [b'kitchen']
        """
        for number, value in enumerate(self.values):
            key = None if self.keys is None else self.keys[number]
            timestamp = None if self.timestamps_ms is None else self.timestamps_ms[number]
            yield ProducerRecord(self.topic, value, key, self.partition, timestamp)
