"""`KafkaConsumer`: reads records of topics, alone or as a member of a group. It works with any Kafka."""

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Self, Unpack

from penstock.client.config import ConsumerConfig, ConsumerKeywords
from penstock.client.consumer.arguments import ConsumerArgument, read_arguments, seconds_of
from penstock.client.consumer.commits import CommitCallback, Committed, OffsetsToCommit
from penstock.client.consumer.core import ConsumerCore
from penstock.client.consumer.decode import OnDeserializationError
from penstock.client.consumer.fetched_batch import FetchedBatch
from penstock.client.consumer.partitions import Topics
from penstock.client.consumer.rebalance import Listeners, PartitionsCallback
from penstock.client.consumer.state import ConsumerState
from penstock.client.records import ConsumerRecord, OffsetAndMetadata
from penstock.types import TopicPartition


class KafkaConsumer:
    """Reads records, at least once each: a record's offset is committed after the next one was asked for.

    Takes names of topics (or a pattern, or none), then a `ConsumerConfig`, a mapping or keywords. `with` closes it. An
    exception that leaves the `with` block keeps what was being processed uncommitted, so that it is read again.

    >>> from penstock import KafkaConsumer, KafkaProducer
    >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...     _ = producer.send("orders", b"2 cups").result(30)
    >>> with KafkaConsumer(
    ...     "orders", bootstrap_servers="localhost:9092", group_id="billing", auto_offset_reset="earliest"
    ... ) as consumer:
    ...     for record in consumer:
    ...         print(record.topic, record.partition, record.offset, record.value)
    ...         break
    orders 0 0 b'2 cups'

    One consumer is for one thread; only `wakeup` may be called from another.

    `on_deserialization_error` says what happens to a record that its deserializer cannot read: "raise" a
    `RecordDeserializationError` (and go on behind it with the next `poll`), "skip" it with a warning, or call a
    function with that error. `consumer_timeout_ms` ends an iteration when no record came for so long.
    """

    def __init__(
        self,
        *topics_and_config: ConsumerArgument,
        on_deserialization_error: OnDeserializationError = "raise",
        consumer_timeout_ms: float | None = None,
        listener: object | None = None,
        **keywords: Unpack[ConsumerKeywords],
    ) -> None:
        topics, config = read_arguments(topics_and_config)
        self.config = ConsumerConfig.of(config, keywords)
        self._core = ConsumerCore(self.config, on_deserialization_error)
        self._iteration_seconds = seconds_of(None, consumer_timeout_ms)
        if topics is not None:
            self.subscribe(topics, listener=listener)

    # what to read

    def subscribe(
        self,
        topics: Topics,
        *,
        listener: object | None = None,
        on_assigned: PartitionsCallback | None = None,
        on_revoked: PartitionsCallback | None = None,
        on_lost: PartitionsCallback | None = None,
    ) -> None:
        """Reads topics as a member of the group, instead of those that were subscribed before.

        A name that begins with `^`, or a compiled pattern, subscribes all topics that it matches from their first
        letter on, also those that are made later: they are looked for every `metadata.max.age.ms`. What the group
        assigns is told to `listener`, an object as `RebalanceListener` is, or to functions.

        >>> import re
        >>> from penstock import KafkaConsumer
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...     consumer.subscribe(["orders", "returns"], on_assigned=lambda partitions: print(*partitions))
        ...     consumer.subscribe(re.compile(r"orders-\\d+"))
        ...     consumer.subscribe("^orders-")
        """
        self._core.subscribe(topics, Listeners(listener, on_assigned, on_revoked, on_lost))

    def assign(self, partitions: Iterable[TopicPartition] | Mapping[TopicPartition, int]) -> None:
        """Reads these partitions, whatever others do; with a mapping, from the offsets that it has.

        >>> from penstock import KafkaConsumer, KafkaProducer, TopicPartition
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     for value in (b"a", b"b", b"c"):
        ...         _ = producer.send("letters", value)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign({TopicPartition("letters", 0): 1})
        ...     print(consumer.poll()[0].value)
        b'b'
        """
        self._core.assign(partitions)

    def unsubscribe(self) -> None:
        """Reads nothing any more, and leaves the group.

        >>> from penstock import KafkaConsumer
        >>> with KafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...     consumer.unsubscribe()
        ...     consumer.subscription()
        []
        """
        self._core.unsubscribe()

    def subscription(self) -> list[str]:
        """The topics that are subscribed; of a pattern, those that it has matched.

        >>> from penstock import KafkaConsumer
        >>> with KafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...     consumer.subscription()
        ['orders']
        """
        return self._core.subscription

    def assignment(self) -> list[TopicPartition]:
        """The partitions that this consumer reads now.

        >>> from penstock import KafkaConsumer, TopicPartition
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign([TopicPartition("orders", 0)])
        ...     consumer.assignment()
        [TopicPartition(topic='orders', partition=0)]
        """
        return self._core.assignment

    # records

    def poll(
        self,
        timeout: float | None = None,
        *,
        timeout_ms: float | None = None,
        max_records: int | None = None,
    ) -> list[ConsumerRecord]:
        """The next records, at most `max_records` (default: `max.poll.records`), as soon as there are any.

        Waits for `timeout` seconds (or `timeout_ms`), and without either until there is one; returns none if the time
        is up. With this call all records that were returned before count as processed.

        >>> from penstock import KafkaConsumer, KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("orders", b"2 cups").result(30)
        >>> with KafkaConsumer(
        ...     "orders", bootstrap_servers="localhost:9092", group_id="billing", auto_offset_reset="earliest"
        ... ) as consumer:
        ...     for record in consumer.poll(timeout=30):
        ...         print(record.value)
        b'2 cups'
        """
        if max_records is not None and max_records < 1:
            raise ValueError(f"max_records: got {max_records}; takes 1 or more")
        return self._core.poll(seconds_of(timeout, timeout_ms), max_records)

    def poll_batch(
        self,
        timeout: float | None = None,
        *,
        timeout_ms: float | None = None,
        max_records: int | None = None,
    ) -> FetchedBatch:
        """As `poll`, but as columns instead of a list of records: the fastest way to read.

        >>> from penstock import KafkaConsumer, KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("readings", b"21.5").result(30)
        >>> with KafkaConsumer(
        ...     "readings", bootstrap_servers="localhost:9092", group_id="heating", auto_offset_reset="earliest"
        ... ) as consumer:
        ...     for value in consumer.poll_batch(timeout=30).values:
        ...         print(value)
        b'21.5'
        """
        return self._core.poll_batch(seconds_of(timeout, timeout_ms), max_records)

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """Record by record, until the consumer is closed or `consumer_timeout_ms` is over.

        >>> from penstock import KafkaConsumer, KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = [producer.send("letters", letter.encode()) for letter in "abc"]
        >>> with KafkaConsumer(
        ...     "letters",
        ...     bootstrap_servers="localhost:9092",
        ...     group_id="readers",
        ...     auto_offset_reset="earliest",
        ...     value_deserializer="string",
        ... ) as consumer:
        ...     for record in consumer:
        ...         print(record.value)
        ...         if record.value == "c":
        ...             consumer.close()
        a
        b
        c
        """
        return self._core.iterate(self._iteration_seconds)

    def wakeup(self) -> None:
        """Ends a `poll` that waits in another thread, or the next one, with a `WakeupError`.

        >>> import threading
        >>> from penstock import KafkaConsumer
        >>> from penstock.client import WakeupError
        >>> with KafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...     threading.Timer(0.1, consumer.wakeup).start()
        ...     try:
        ...         consumer.poll()
        ...     except WakeupError as error:
        ...         print(error)
        wakeup() was called
        """
        self._core.wakeup()

    # where in the partitions

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Goes on with this offset in one of the partitions that are assigned.

        >>> from penstock import KafkaConsumer, KafkaProducer, TopicPartition
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = [producer.send("letters", letter.encode()) for letter in "abc"]
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign([TopicPartition("letters", 0)])
        ...     consumer.seek(TopicPartition("letters", 0), 2)
        ...     print(consumer.poll()[0].value)
        b'c'
        """
        self._core.seek({partition: offset})

    def seek_to_beginning(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Goes on with the first record of these partitions, or of all that are assigned.

        >>> from penstock import KafkaConsumer, KafkaProducer, TopicPartition
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("letters", b"a").result(30)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign([TopicPartition("letters", 0)])
        ...     consumer.seek_to_beginning()
        ...     print(consumer.poll()[0].value)
        b'a'
        """
        self._core.seek(self.beginning_offsets(self._or_all(partitions)))

    def seek_to_end(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Goes on with what will be written to these partitions, or to all that are assigned.

        >>> from penstock import KafkaConsumer, KafkaProducer, TopicPartition
        >>> letters = TopicPartition("letters", 0)
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("letters", b"a").result(30)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign([letters])
        ...     consumer.seek_to_end()
        ...     consumer.position(letters)
        1
        """
        self._core.seek(self.end_offsets(self._or_all(partitions)))

    def seek_to_time(self, timestamp_ms: int, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Goes on with the first record that is as late as this, in milliseconds since 1970; at the end if none is.

        >>> from penstock import KafkaConsumer, KafkaProducer, ProducerRecord, TopicPartition
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     for hour in (1, 2, 3):
        ...         _ = producer.send(ProducerRecord("hours", b"%d" % hour, timestamp_ms=hour * 3_600_000))
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign([TopicPartition("hours", 0)])
        ...     consumer.seek_to_time(2 * 3_600_000)
        ...     print(consumer.poll()[0].value)
        b'2'
        """
        chosen = self._or_all(partitions)
        found = self.offsets_for_times(dict.fromkeys(chosen, timestamp_ms))
        ends = self.end_offsets([partition for partition in chosen if found[partition] is None])
        self._core.seek({partition: _known(found[partition], ends, partition) for partition in chosen})

    def _or_all(self, partitions: Iterable[TopicPartition] | None) -> list[TopicPartition]:
        return self.assignment() if partitions is None else list(partitions)

    def position(self, partition: TopicPartition) -> int:
        """The offset of the next record that will be returned.

        >>> from penstock import KafkaConsumer, TopicPartition
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign({TopicPartition("letters", 0): 7})
        ...     consumer.position(TopicPartition("letters", 0))
        7
        """
        return self._core.position(partition, self._timeout)

    def positions(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Where this consumer is in all partitions that it has read of: what `commit` commits.

        >>> from penstock import KafkaConsumer
        >>> with KafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...     consumer.positions()
        {}
        """
        return self._core.positions()

    def pause(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Returns no records of these partitions, or of all, until `resume`. `poll` on, to stay in the group.

        >>> from penstock import KafkaConsumer, TopicPartition
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign([TopicPartition("orders", 0)])
        ...     consumer.pause()
        ...     print(consumer.state)
        paused: orders-0
        """
        self._core.pause(self._or_all(partitions))

    def resume(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Returns records of these partitions, or of all that are paused, again.

        >>> from penstock import KafkaConsumer, TopicPartition
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign([TopicPartition("orders", 0)])
        ...     consumer.pause()
        ...     consumer.resume()
        ...     consumer.paused()
        []
        """
        self._core.resume(self.paused() if partitions is None else partitions)

    def paused(self) -> list[TopicPartition]:
        """The partitions that rest.

        >>> from penstock import KafkaConsumer, TopicPartition
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.assign([TopicPartition("orders", 0), TopicPartition("orders", 1)])
        ...     consumer.pause([TopicPartition("orders", 1)])
        ...     consumer.paused()
        [TopicPartition(topic='orders', partition=1)]
        """
        return self._core.paused

    # committing

    def commit(self, offsets: OffsetsToCommit | None = None) -> Committed:
        """Commits, and returns when the broker has it: all that was returned, up to one record, or given offsets.

        >>> from penstock import KafkaConsumer, KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = [producer.send("letters", letter.encode()) for letter in "abc"]
        >>> with KafkaConsumer(
        ...     "letters",
        ...     bootstrap_servers="localhost:9092",
        ...     group_id="readers",
        ...     auto_offset_reset="earliest",
        ...     enable_auto_commit=False,
        ... ) as consumer:
        ...     for record in consumer:
        ...         if record.value == b"b":
        ...             break
        ...     [offset.offset for offset in consumer.commit().values()]
        ...     [offset.offset for offset in consumer.commit({record.topic_partition: 1}).values()]
        ...     [offset.offset for offset in consumer.commit(record).values()]
        [2]
        [1]
        [2]
        """
        return self._core.commit(offsets)

    def commit_async(
        self, offsets: OffsetsToCommit | None = None, callback: CommitCallback | None = None
    ) -> None:
        """Commits without waiting; `callback` gets the offsets and an error or None, from within a later `poll`.

        >>> from penstock import KafkaConsumer, KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("letters", b"a").result(30)
        >>> done = []
        >>> with KafkaConsumer(
        ...     "letters", bootstrap_servers="localhost:9092", group_id="readers", auto_offset_reset="earliest"
        ... ) as consumer:
        ...     records = consumer.poll()
        ...     consumer.commit_async(callback=lambda offsets, error: done.append(error))
        ...     while not done:
        ...         records = consumer.poll(timeout=0.1)
        >>> done
        [None]
        """
        self._core.commit_async(offsets, callback)

    def committed(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed; None where it has nothing.

        >>> from penstock import KafkaConsumer, KafkaProducer, TopicPartition
        >>> letters = TopicPartition("letters", 0)
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("letters", b"a").result(30)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092", group_id="readers") as consumer:
        ...     consumer.commit({letters: 3})[letters].offset
        ...     consumer.committed([letters])[letters].offset
        3
        3
        """
        return self._core.committed(partitions, self._timeout)

    # asking

    def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset of the first record of each partition.

        >>> from penstock import KafkaConsumer, KafkaProducer, TopicPartition
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("letters", b"a").result(30)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.beginning_offsets([TopicPartition("letters", 0)])
        {TopicPartition(topic='letters', partition=0): 0}
        """
        found = self._core.watermarks(partitions, self._timeout)
        return {partition: first for partition, (first, _) in found.items()}

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset that the next record of each partition will have; with `read_committed`, before open transactions.

        >>> from penstock import KafkaConsumer, KafkaProducer, TopicPartition
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("letters", b"a").result(30)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.end_offsets([TopicPartition("letters", 0)])
        {TopicPartition(topic='letters', partition=0): 1}
        """
        found = self._core.watermarks(partitions, self._timeout)
        return {partition: end for partition, (_, end) in found.items()}

    def offsets_for_times(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """The first offset at or after each time, in milliseconds since 1970; None where no record is so late.

        >>> from penstock import KafkaConsumer, KafkaProducer, ProducerRecord, TopicPartition
        >>> hours = TopicPartition("hours", 0)
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send(ProducerRecord("hours", b"1", timestamp_ms=3_600_000)).result(30)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.offsets_for_times({hours: 1_000})[hours], consumer.offsets_for_times({hours: 4_000_000})[hours]
        (0, None)
        """
        return self._core.offsets_for_times(times_ms, self._timeout)

    def partitions_for(self, topic: str) -> list[TopicPartition]:
        """The partitions of a topic.

        >>> from penstock import KafkaConsumer, KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("letters", b"a").result(30)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     consumer.partitions_for("letters")
        [TopicPartition(topic='letters', partition=0)]
        """
        return self._core.partitions_for(topic, self._timeout)

    def topics(self) -> dict[str, list[TopicPartition]]:
        """All topics that there are, with their partitions.

        >>> from penstock import KafkaConsumer, KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     _ = producer.send("letters", b"a").result(30)
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092") as consumer:
        ...     "letters" in consumer.topics()
        True
        """
        return self._core.topics(self._timeout)

    def group_metadata(self) -> object:
        """Who this member is, for a producer that commits this consumer's offsets in a transaction.

        >>> from penstock import KafkaConsumer
        >>> with KafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...     metadata = consumer.group_metadata()
        """
        return self._core.group_metadata()

    @property
    def state(self) -> ConsumerState:
        """What this consumer waits for, if it does. May be asked from any thread.

        >>> from penstock import KafkaConsumer
        >>> with KafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...     print(consumer.state)
        waiting for group 'billing' to assign partitions of orders
        """
        return self._core.state

    @property
    def _timeout(self) -> float:
        return self.config.default_api_timeout_ms / 1000

    # the end

    def close(self) -> None:
        """Commits what was processed (if `enable.auto.commit` is on), and leaves the group.

        Records that were returned count as processed, unless an exception is being handled: then the last record of an
        iteration, or all of the last `poll`, stay uncommitted.

        >>> from penstock import KafkaConsumer
        >>> consumer = KafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing")
        >>> consumer.close()
        >>> print(consumer.state)
        the consumer is closed
        """
        self._core.close(all_processed=sys.exc_info()[0] is None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._core.close(all_processed=kind is None)

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None and not core.is_closed:
            warnings.warn(f"{self!r} was never closed", ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        group = f"group {self.config.group_id!r}" if self.config.group_id else "no group"
        return f"<KafkaConsumer of {group}: {self.state}>"


def _known(offset: int | None, otherwise: Mapping[TopicPartition, int], partition: TopicPartition) -> int:
    return otherwise[partition] if offset is None else offset
