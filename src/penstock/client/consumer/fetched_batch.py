"""Many records as columns: what `poll_batch` returns, for whoever does not need an object for each record."""

from collections.abc import Iterator, Sequence
from typing import Any

from penstock.client.librdkafka import Message
from penstock.client.records import ConsumerRecord
from penstock.types import TopicPartition


class FetchedBatch:
    """The records of one `poll_batch` as columns, in the order in which they were fetched.

    >>> from penstock import KafkaConsumer, KafkaProducer
    >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...     _ = producer.send("readings", b"21.5", key=b"kitchen").result(30)
    >>> with KafkaConsumer(
    ...     "readings", bootstrap_servers="localhost:9092", group_id="heating", auto_offset_reset="earliest"
    ... ) as consumer:
    ...     batch = consumer.poll_batch()
    >>> len(batch), batch.values, batch.keys, batch.partitions, batch.offsets
    (1, [b'21.5'], [b'kitchen'], [TopicPartition(topic='readings', partition=0)], [0])
    """

    __slots__ = ("_messages", "_records")

    def __init__(self, messages: Sequence[Message], records: Sequence[ConsumerRecord] | None = None) -> None:
        self._messages = messages
        self._records = records
        """What the deserializers made of them; None if they are bytes."""

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def values(self) -> list[Any]:
        if self._records is not None:
            return [record.value for record in self._records]
        return list(map(Message.value, self._messages))

    @property
    def keys(self) -> list[Any]:
        if self._records is not None:
            return [record.key for record in self._records]
        return list(map(Message.key, self._messages))

    @property
    def partitions(self) -> list[TopicPartition]:
        where = zip(map(Message.topic, self._messages), map(Message.partition, self._messages), strict=True)
        return list(map(TopicPartition._make, where))

    @property
    def offsets(self) -> list[int]:
        return list(map(Message.offset, self._messages))  # type: ignore[arg-type]

    @property
    def timestamps_ms(self) -> list[int]:
        return [timestamp_ms for _, timestamp_ms in map(Message.timestamp, self._messages)]

    def messages(self) -> Sequence[Message]:
        """librdkafka's own objects, for whoever passes records on as they came.

        >>> from penstock.client import FetchedBatch
        >>> FetchedBatch([]).messages()
        []
        """
        return self._messages

    def records(self) -> Iterator[ConsumerRecord]:
        """The same, record by record.

        >>> from penstock.client import FetchedBatch
        >>> list(FetchedBatch([]).records())
        []
        """
        from penstock.client.consumer.decode import plain_records

        return iter(plain_records(self._messages) if self._records is None else self._records)
