"""`AsyncKafkaConsumer`: a `KafkaConsumer` for asyncio."""

import asyncio
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import ParamSpec, Self, TypeVar, Unpack

from penstock.client.config import ConsumerConfig, ConsumerKeywords
from penstock.client.consumer.arguments import ConsumerArgument, read_arguments, seconds_of
from penstock.client.consumer.async_thread import ConsumerThread, Job
from penstock.client.consumer.commits import Committed, OffsetsToCommit
from penstock.client.consumer.core import ConsumerCore
from penstock.client.consumer.decode import OnDeserializationError
from penstock.client.consumer.partitions import Topics
from penstock.client.consumer.rebalance import Listeners, PartitionsCallback
from penstock.client.consumer.state import ConsumerState
from penstock.client.records import ConsumerRecord, OffsetAndMetadata
from penstock.types import TopicPartition

P = ParamSpec("P")
T = TypeVar("T")


class AsyncKafkaConsumer:
    """Reads records in an event loop. Takes what `KafkaConsumer` takes; make it where the loop runs.

    It promises what `KafkaConsumer` does: at least once, by a commit that follows processing. Listeners of `subscribe`
    may be coroutine functions, and may await the consumer's methods. Whoever waits for records may be cancelled: none
    gets lost.

    >>> import asyncio
    >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer
    >>> async def main():
    ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...         await producer.send("orders", b"2 cups")
    ...     async with AsyncKafkaConsumer(
    ...         "orders", bootstrap_servers="localhost:9092", group_id="billing", auto_offset_reset="earliest"
    ...     ) as consumer:
    ...         async for record in consumer:
    ...             print(record.topic, record.partition, record.offset, record.value)
    ...             break
    >>> asyncio.run(main())
    orders 0 0 b'2 cups'
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
        self._core = ConsumerCore(self.config, on_deserialization_error, "AsyncKafkaConsumer")
        self._iteration_seconds = seconds_of(None, consumer_timeout_ms)
        self._loop = asyncio.get_running_loop()
        self._thread = ConsumerThread(self._loop)
        self._lost: list[Callable[[], object]] = []
        self._is_closing = False
        if topics is not None:
            self._core.subscribe(topics, self._listeners(listener, None, None, None))

    async def _call(self, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
        self._core.require_open(function.__name__)
        job = Job(self._loop, lambda: self._after_losses(function, *arguments, **keywords))
        self._thread.submit(job)
        return await job.future

    def _after_losses(self, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
        """In the thread: records that reached nobody go back first."""
        lost, self._lost = self._lost, []
        for take_back in lost:
            take_back()
        return function(*arguments, **keywords)

    # what to read

    async def subscribe(
        self,
        topics: Topics,
        *,
        listener: object | None = None,
        on_assigned: PartitionsCallback | None = None,
        on_revoked: PartitionsCallback | None = None,
        on_lost: PartitionsCallback | None = None,
    ) -> None:
        """Reads topics as a member of the group; see `KafkaConsumer.subscribe`.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         async def begin(partitions):
        ...             await consumer.seek_to_beginning(partitions)
        ...         await consumer.subscribe(["orders", "returns"], on_assigned=begin)
        ...         print(consumer.subscription())
        >>> asyncio.run(main())
        ['orders', 'returns']
        """
        listeners = self._listeners(listener, on_assigned, on_revoked, on_lost)
        await self._call(self._core.subscribe, topics, listeners)

    def _listeners(
        self,
        listener: object | None,
        on_assigned: PartitionsCallback | None,
        on_revoked: PartitionsCallback | None,
        on_lost: PartitionsCallback | None,
    ) -> Listeners:
        """The same, to be called by the thread."""
        given = Listeners(listener, on_assigned, on_revoked, on_lost)
        return Listeners(
            None,
            self._in_loop(given.on_assigned),
            self._in_loop(given.on_revoked),
            self._in_loop(given.on_lost),
        )

    def _in_loop(self, callback: PartitionsCallback | None) -> PartitionsCallback | None:
        if callback is None:
            return None
        return lambda partitions: self._thread.call_in_loop(callback, partitions)

    async def assign(self, partitions: Iterable[TopicPartition] | Mapping[TopicPartition, int]) -> None:
        """Reads these partitions, whatever others do; with a mapping, from the offsets that it has.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         await consumer.assign({TopicPartition("letters", 0): 7})
        ...         print(await consumer.position(TopicPartition("letters", 0)))
        >>> asyncio.run(main())
        7
        """
        await self._call(self._core.assign, partitions)

    async def unsubscribe(self) -> None:
        """Reads nothing any more, and leaves the group.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "group.id": "billing"}
        ...     async with AsyncKafkaConsumer("orders", settings) as consumer:
        ...         await consumer.unsubscribe()
        ...         print(consumer.subscription())
        >>> asyncio.run(main())
        []
        """
        await self._call(self._core.unsubscribe)

    def subscription(self) -> list[str]:
        """The topics that are subscribed; of a pattern, those that it has matched.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "group.id": "billing"}
        ...     async with AsyncKafkaConsumer("orders", settings) as consumer:
        ...         print(consumer.subscription())
        >>> asyncio.run(main())
        ['orders']
        """
        return self._core.subscription

    def assignment(self) -> list[TopicPartition]:
        """The partitions that this consumer reads now.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "group.id": "billing"}
        ...     async with AsyncKafkaConsumer("orders", settings) as consumer:
        ...         print(consumer.assignment())
        >>> asyncio.run(main())
        []
        """
        return self._core.assignment

    # records

    async def poll(
        self,
        timeout: float | None = None,
        *,
        timeout_ms: float | None = None,
        max_records: int | None = None,
    ) -> list[ConsumerRecord]:
        """The next records, as soon as there are any; none if the time is up. See `KafkaConsumer.poll`.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("orders", b"2 cups")
        ...     async with AsyncKafkaConsumer(
        ...         "orders", bootstrap_servers="localhost:9092", group_id="billing", auto_offset_reset="earliest"
        ...     ) as consumer:
        ...         for record in await consumer.poll(timeout=30):
        ...             print(record.value)
        >>> asyncio.run(main())
        b'2 cups'
        """
        if max_records is not None and max_records < 1:
            raise ValueError(f"max_records: got {max_records}; takes 1 or more")
        seconds = seconds_of(timeout, timeout_ms)
        return await self._wait(
            lambda stop: self._core.poll(seconds, max_records, stop), self._core.take_back
        )

    async def _wait(
        self, wait: Callable[[Callable[[], bool]], T], take_back: Callable[[T], object] | None = None
    ) -> T:
        """A job that may take long, and ends when nobody waits for it any more."""
        self._core.require_open("poll")
        job: Job[T] = Job(
            self._loop, lambda: self._after_losses(wait, lambda: job.is_abandoned or self._is_closing)
        )
        self._thread.submit(job, take_back)
        try:
            return await job.future
        except asyncio.CancelledError:
            for result in job.abandon():
                if take_back is not None:
                    self._lost.append(partial(take_back, result))
            raise

    async def __aiter__(self) -> AsyncIterator[ConsumerRecord]:
        """Record by record, until the consumer is closed or `consumer_timeout_ms` is over.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         for letter in "abc":
        ...             await producer.send("letters", letter)
        ...     async with AsyncKafkaConsumer(
        ...         "letters",
        ...         bootstrap_servers="localhost:9092",
        ...         group_id="readers",
        ...         auto_offset_reset="earliest",
        ...         value_deserializer="string",
        ...     ) as consumer:
        ...         async for record in consumer:
        ...             print(record.value)
        ...             if record.value == "c":
        ...                 await consumer.close()
        >>> asyncio.run(main())
        a
        b
        c
        """
        core, seconds = self._core, self._iteration_seconds
        while not core.is_closed:
            record = core.next_at_hand()
            if record is not None:
                yield record
            elif not await self._wait(lambda stop: core.fill(seconds, stop)):
                return

    # where in the partitions

    async def seek(self, partition: TopicPartition, offset: int) -> None:
        """Goes on with this offset in one of the partitions that are assigned.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         await consumer.assign([TopicPartition("letters", 0)])
        ...         await consumer.seek(TopicPartition("letters", 0), 2)
        ...         print(await consumer.position(TopicPartition("letters", 0)))
        >>> asyncio.run(main())
        2
        """
        await self._call(self._core.seek, {partition: offset})

    async def seek_to_beginning(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Goes on with the first record of these partitions, or of all that are assigned.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         await consumer.assign([TopicPartition("letters", 0)])
        ...         await consumer.seek_to_beginning()
        ...         print((await consumer.poll())[0].value)
        >>> asyncio.run(main())
        b'a'
        """
        await self._call(self._core.seek, await self.beginning_offsets(self._or_all(partitions)))

    async def seek_to_end(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Goes on with what will be written to these partitions, or to all that are assigned.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         await consumer.assign([TopicPartition("letters", 0)])
        ...         await consumer.seek_to_end()
        ...         print(await consumer.position(TopicPartition("letters", 0)))
        >>> asyncio.run(main())
        1
        """
        await self._call(self._core.seek, await self.end_offsets(self._or_all(partitions)))

    async def seek_to_time(
        self, timestamp_ms: int, partitions: Iterable[TopicPartition] | None = None
    ) -> None:
        """Goes on with the first record that is as late as this, in milliseconds since 1970; at the end if none is.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         await consumer.assign([TopicPartition("letters", 0)])
        ...         await consumer.seek_to_time(1_000)
        ...         print((await consumer.poll())[0].value)
        >>> asyncio.run(main())
        b'a'
        """
        chosen = self._or_all(partitions)
        found = await self.offsets_for_times(dict.fromkeys(chosen, timestamp_ms))
        known = {partition: offset for partition, offset in found.items() if offset is not None}
        ends = await self.end_offsets([partition for partition in chosen if partition not in known])
        await self._call(self._core.seek, {**ends, **known})

    def _or_all(self, partitions: Iterable[TopicPartition] | None) -> list[TopicPartition]:
        return self.assignment() if partitions is None else list(partitions)

    async def position(self, partition: TopicPartition) -> int:
        """The offset of the next record that will be returned.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         await consumer.assign({TopicPartition("letters", 0): 7})
        ...         print(await consumer.position(TopicPartition("letters", 0)))
        >>> asyncio.run(main())
        7
        """
        return await self._call(self._core.position, partition, self._timeout)

    async def positions(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Where this consumer is in all partitions that it has read of: what `commit` commits.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "group.id": "billing"}
        ...     async with AsyncKafkaConsumer("orders", settings) as consumer:
        ...         print(await consumer.positions())
        >>> asyncio.run(main())
        {}
        """
        return await self._call(self._core.positions)

    async def pause(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Returns no records of these partitions, or of all, until `resume`. `poll` on, to stay in the group.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         await consumer.assign([TopicPartition("letters", 0)])
        ...         await consumer.pause()
        ...         print(consumer.state)
        >>> asyncio.run(main())
        paused: letters-0
        """
        await self._call(self._core.pause, self._or_all(partitions))

    async def resume(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Returns records of these partitions, or of all that are paused, again.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         await consumer.assign([TopicPartition("letters", 0)])
        ...         await consumer.pause()
        ...         await consumer.resume()
        ...         print(consumer.paused())
        >>> asyncio.run(main())
        []
        """
        await self._call(self._core.resume, self.paused() if partitions is None else partitions)

    def paused(self) -> list[TopicPartition]:
        """The partitions that rest.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         print(consumer.paused())
        >>> asyncio.run(main())
        []
        """
        return self._core.paused

    # committing

    async def commit(self, offsets: OffsetsToCommit | None = None) -> Committed:
        """Commits, and returns when the broker has it: all that was returned, up to one record, or given offsets.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         committed = await consumer.commit({TopicPartition("letters", 0): 3})
        ...         print(committed[TopicPartition("letters", 0)].offset)
        >>> asyncio.run(main())
        3
        """
        return await self._call(self._core.commit, offsets)

    async def committed(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed; None where it has nothing.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         print(await consumer.committed([TopicPartition("letters", 0)]))
        >>> asyncio.run(main())
        {TopicPartition(topic='letters', partition=0): None}
        """
        return await self._call(self._core.committed, partitions, self._timeout)

    # asking

    async def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset of the first record of each partition.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         print(await consumer.beginning_offsets([TopicPartition("letters", 0)]))
        >>> asyncio.run(main())
        {TopicPartition(topic='letters', partition=0): 0}
        """
        found = await self._call(self._core.watermarks, partitions, self._timeout)
        return {partition: first for partition, (first, _) in found.items()}

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset that the next record of each partition will have.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         print(await consumer.end_offsets([TopicPartition("letters", 0)]))
        >>> asyncio.run(main())
        {TopicPartition(topic='letters', partition=0): 1}
        """
        found = await self._call(self._core.watermarks, partitions, self._timeout)
        return {partition: end for partition, (_, end) in found.items()}

    async def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int | None]:
        """The first offset at or after each time, in milliseconds since 1970; None where no record is so late.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer, TopicPartition
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         print(await consumer.offsets_for_times({TopicPartition("letters", 0): 1_000}))
        >>> asyncio.run(main())
        {TopicPartition(topic='letters', partition=0): 0}
        """
        return await self._call(self._core.offsets_for_times, times_ms, self._timeout)

    async def partitions_for(self, topic: str) -> list[TopicPartition]:
        """The partitions of a topic.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         print(await consumer.partitions_for("letters"))
        >>> asyncio.run(main())
        [TopicPartition(topic='letters', partition=0)]
        """
        return await self._call(self._core.partitions_for, topic, self._timeout)

    async def topics(self) -> dict[str, list[TopicPartition]]:
        """All topics that there are, with their partitions.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("letters", b"a")
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         print("letters" in await consumer.topics())
        >>> asyncio.run(main())
        True
        """
        return await self._call(self._core.topics, self._timeout)

    def group_metadata(self) -> object:
        """Who this member is, for a producer that commits this consumer's offsets in a transaction.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         metadata = consumer.group_metadata()
        >>> asyncio.run(main())
        """
        return self._core.group_metadata()

    @property
    def state(self) -> ConsumerState:
        """What this consumer waits for, if it does.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     async with AsyncKafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
        ...         print(consumer.state)
        >>> asyncio.run(main())
        nothing is subscribed or assigned: call subscribe() or assign()
        """
        return self._core.state

    @property
    def _timeout(self) -> float:
        return self.config.default_api_timeout_ms / 1000

    # the end

    async def close(self) -> None:
        """Commits what was processed (if `enable.auto.commit` is on), and leaves the group; see `KafkaConsumer.close`.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer
        >>> async def main():
        ...     consumer = AsyncKafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing")
        ...     await consumer.close()
        ...     print(consumer.state)
        >>> asyncio.run(main())
        the consumer is closed
        """
        await self._close(all_processed=sys.exc_info()[0] is None)

    async def _close(self, *, all_processed: bool) -> None:
        if self._core.is_closed:
            return
        self._is_closing = True
        try:
            await asyncio.shield(self._call(self._core.close, all_processed=all_processed))
        finally:
            self._thread.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._close(all_processed=kind is None)

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None and not core.is_closed:
            warnings.warn(f"{self!r} was never closed", ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        group = f"group {self.config.group_id!r}" if self.config.group_id else "no group"
        return f"<AsyncKafkaConsumer of {group}: {self.state}>"
