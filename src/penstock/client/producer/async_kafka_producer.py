"""`AsyncKafkaProducer`: a `KafkaProducer` for asyncio, whose futures are the event loop's."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, Unpack, overload

from penstock.client.config import ProducerConfig, ProducerKeywords
from penstock.client.librdkafka import BrokerTroubles, Producer
from penstock.client.producer.async_deliveries import LoopDelivery, MetadataFuture
from penstock.client.producer.forking import refuse, watch
from penstock.client.producer.kafka_producer import KafkaProducer
from penstock.client.producer.patience import abandoned
from penstock.client.producer.queueing import UNASSIGNED, native_arguments
from penstock.client.producer.transactions import GroupMember
from penstock.client.records import (
    HeadersInput,
    OffsetAndMetadata,
    ProduceCallback,
    ProducerRecord,
    RecordBatch,
    RecordMetadata,
    TopicPartition,
)
from penstock.wire_client.errors import FatalError, KafkaError, KafkaTimeoutError, RetriableError

P = ParamSpec("P")
T = TypeVar("T")

ROOM_SECONDS = 0.002
"""How long a sender sleeps before it looks again whether there is room for its record."""
RECORDS_PER_TURN = 500
"""How many records of a batch go out before the event loop has its turn."""


class _LoopProducer(KafkaProducer):
    """The producer behind the asynchronous one."""

    def __init__(self, config: ProducerConfig, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        super().__init__(config)

    def _make_delivery(self, native: Producer, troubles: BrokerTroubles) -> LoopDelivery:
        self.loop_delivery = LoopDelivery(native, troubles, self._loop)
        return self.loop_delivery


class AsyncKafkaProducer:
    """Sends records from an event loop. Takes what `KafkaProducer` takes; make it where the loop runs.

    `await send(...)` waits until the broker has the record. To have many records under way, start many `send`s, or use
    `send_nowait` and await its futures later.

    >>> import asyncio
    >>> from penstock import AsyncKafkaProducer
    >>> async def main():
    ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...         metadata = await producer.send("orders", b"2 cups", key=b"customer-7")
    ...         print(metadata.topic, metadata.partition, metadata.offset)
    >>> asyncio.run(main())
    orders 0 0
    """

    def __init__(
        self,
        config: ProducerConfig | Mapping[str, object] | None = None,
        /,
        **keywords: Unpack[ProducerKeywords],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._producer = _LoopProducer(ProducerConfig.of(config, keywords), self._loop)
        self.config = self._producer.config
        self._delivery = self._producer.loop_delivery
        self._native_produce = self._delivery.native.produce
        self._passes_through = self._producer._passes_through
        watch(self)

    def _after_fork(self) -> None:
        self._native_produce = refuse

    # --- one record

    @overload
    async def send(self, record: ProducerRecord, /) -> RecordMetadata: ...

    @overload
    async def send(
        self,
        topic: str,
        /,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput = (),
    ) -> RecordMetadata: ...

    async def send(
        self,
        topic: ProducerRecord | str,
        /,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput = (),
    ) -> RecordMetadata:
        """Sends a record, or the record that the arguments make, and returns where the broker has put it.

        Waits for room in the buffer, too, for `max.block.ms` at most. A `send` that is cancelled does not take its
        record back.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         several = await asyncio.gather(*(producer.send("letters", letter) for letter in (b"a", b"b", b"c")))
        ...         print([metadata.offset for metadata in several])
        >>> asyncio.run(main())
        [0, 1, 2]
        """
        if self._producer._placement.is_asked:
            name = topic.topic if isinstance(topic, ProducerRecord) else topic
            await self._in_thread(self._producer.partitions_of, name)
        deadline = 0.0
        while True:
            future = self._try_send(topic, value, key, partition, timestamp_ms, headers)
            if future is not None:
                return await future
            deadline = deadline or time.monotonic() + self.config.max_block_ms / 1000
            await self._wait_for_room(deadline)

    async def _wait_for_room(self, deadline: float) -> None:
        if time.monotonic() >= deadline:
            raise KafkaTimeoutError(
                self._delivery.why_waiting(
                    f"no room for the record after max.block.ms, which is {self.config.max_block_ms}"
                )
            )
        await asyncio.sleep(ROOM_SECONDS)

    @overload
    def send_nowait(self, record: ProducerRecord, /) -> MetadataFuture: ...

    @overload
    def send_nowait(
        self,
        topic: str,
        /,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput = (),
    ) -> MetadataFuture: ...

    def send_nowait(
        self,
        topic: ProducerRecord | str,
        /,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput = (),
    ) -> MetadataFuture:
        """Sends a record and returns an `asyncio.Future` of where it went; raises if the buffer is full.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         futures = [producer.send_nowait("letters", letter) for letter in (b"a", b"b", b"c")]
        ...         for future in futures:
        ...             print((await future).offset)
        >>> asyncio.run(main())
        0
        1
        2
        """
        future = self._try_send(topic, value, key, partition, timestamp_ms, headers)
        if future is None:
            raise self._full()
        return future

    def _try_send(
        self,
        topic: ProducerRecord | str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: HeadersInput,
    ) -> MetadataFuture | None:
        """None if there is no room now."""
        if isinstance(topic, ProducerRecord):
            record = topic
            topic, value, key = record.topic, record.value, record.key
            partition, timestamp_ms, headers = record.partition, record.timestamp_ms, record.headers
        if not self._passes_through:
            value, key, partition, headers = self._producer._prepare(topic, value, key, partition, headers)
        future: MetadataFuture = self._loop.create_future()
        callback: Any = partial(self._delivery.on_outcome, future)
        try:
            if timestamp_ms is None and not headers:
                place = UNASSIGNED if partition is None else partition
                self._native_produce(topic, value, key, place, callback)
            else:
                arguments = native_arguments(topic, value, key, partition, timestamp_ms, headers, callback)
                self._native_produce(*arguments)
        except BufferError:
            return None
        except Exception as error:
            future.set_exception(self._producer._queue.refusal(error, topic, value, key))
            return future
        self._delivery.sent()
        if self.config.on_delivery is not None:
            future.add_done_callback(self._tell)
        return future

    def _tell(self, future: MetadataFuture) -> None:
        """What `on.delivery` of the configuration names."""
        if self.config.on_delivery is None or future.cancelled():
            return
        error = future.exception()
        self.config.on_delivery(
            None if error else future.result(), error if isinstance(error, Exception) else None
        )

    def _full(self) -> RetriableError:
        what = f"the buffer is full: {len(self._delivery.native)} records wait; await send(), which waits for room"
        return RetriableError(self._delivery.why_waiting(what))

    def produce(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput | None = None,
        on_delivery: ProduceCallback | None = None,
    ) -> None:
        """Sends a record and forgets it; raises if the buffer is full. Failures are logged and counted.

        `on_delivery` is called in the event loop, as confluent-kafka does, with the error, which is None if the record
        was delivered, and the message.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         for number in range(1000):
        ...             producer.produce("clicks", b"click %d" % number)
        ...         await producer.flush()
        ...         print(producer.pending_records, producer.failed_records)
        >>> asyncio.run(main())
        0 0
        """
        if not self._passes_through:
            value, key, partition, headers = self._producer._prepare(
                topic, value, key, partition, headers or ()
            )
        if on_delivery is None:
            callback = self._producer._next_callback()
        else:
            callback = self._delivery.calling(on_delivery)
        arguments = native_arguments(topic, value, key, partition, timestamp_ms, headers, callback)
        try:
            self._native_produce(*arguments)
        except BufferError:
            raise self._full() from None
        except Exception as error:
            raise self._producer._queue.refusal(error, topic, value, key) from None
        if on_delivery is not None:
            self._delivery.sent()

    async def send_batch(self, batch: RecordBatch) -> int:
        """Sends many records to one topic, without a future for each, and returns their number; waits for room.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer, RecordBatch
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         print(await producer.send_batch(RecordBatch("readings", [b"21.5", b"21.7", b"21.6"])))
        >>> asyncio.run(main())
        3
        """
        for number, record in enumerate(batch.records(), 1):
            await self._produce_patiently(record)
            if number % RECORDS_PER_TURN == 0:
                await asyncio.sleep(0)
        return len(batch)

    async def _produce_patiently(self, record: ProducerRecord) -> None:
        deadline = 0.0
        while True:
            try:
                return self.produce(
                    record.topic, record.value, record.key, record.partition, record.timestamp_ms
                )
            except RetriableError:
                deadline = deadline or time.monotonic() + self.config.max_block_ms / 1000
                await self._wait_for_room(deadline)

    # --- all records

    async def flush(self, timeout: float | None = None) -> None:
        """Waits until every record that was sent has its outcome, at most `timeout` seconds.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         future = producer.send_nowait("letters", b"dear")
        ...         await producer.flush(timeout=30)
        ...         print((await future).offset)
        >>> asyncio.run(main())
        0
        """
        await self._in_thread(self._producer.flush, timeout)

    async def partitions_of(self, topic: str) -> int:
        """How many partitions a topic has; one that is not there is waited for, for `max.block.ms` at most.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         await producer.send("orders", b"2 cups")
        ...         print(await producer.partitions_of("orders"))
        >>> asyncio.run(main())
        1
        """
        return await self._in_thread(self._producer.partitions_of, topic)

    @property
    def pending_records(self) -> int:
        """How many records have no outcome yet.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         print(producer.pending_records)
        >>> asyncio.run(main())
        0
        """
        return self._producer.pending_records

    @property
    def failed_records(self) -> int:
        """How many records failed.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         print(producer.failed_records)
        >>> asyncio.run(main())
        0
        """
        return self._producer.failed_records

    def watch_every_record(self) -> None:
        """Has `failed_records` count every record that is sent without a future from now on, not a sample.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer, RecordBatch
        >>> async def main():
        ...     async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...         producer.watch_every_record()
        ...         sent = await producer.send_batch(RecordBatch("readings", [b"21.5"] * 5000))
        ...         await producer.flush()
        ...         print(sent - producer.failed_records, "arrived")
        >>> asyncio.run(main())
        5000 arrived
        """
        self._producer.watch_every_record()

    # --- transactions

    def transaction(self) -> "AsyncTransaction":
        """A transaction as a context: committed at its end, aborted if it ends with an exception.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "transactional.id": "transfers-1"}
        ...     async with AsyncKafkaProducer(settings) as producer:
        ...         async with producer.transaction():
        ...             debit = producer.send_nowait("accounts", b"-5", key=b"alice")
        ...             credit = producer.send_nowait("accounts", b"+5", key=b"bob")
        ...         print((await credit).offset - (await debit).offset)
        >>> asyncio.run(main())
        1
        """
        return AsyncTransaction(self)

    async def init_transactions(self) -> None:
        """Locks out an earlier producer of this `transactional.id`; the first transaction does so by itself.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "transactional.id": "transfers-1"}
        ...     async with AsyncKafkaProducer(settings) as producer:
        ...         await producer.init_transactions()
        >>> asyncio.run(main())
        """
        await self._in_thread(self._producer.init_transactions)

    async def begin_transaction(self) -> None:
        """Begins a transaction, which `commit_transaction` or `abort_transaction` ends; `transaction` does all three.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "transactional.id": "transfers-1"}
        ...     async with AsyncKafkaProducer(settings) as producer:
        ...         await producer.begin_transaction()
        ...         producer.produce("accounts", b"+1", key=b"alice")
        ...         await producer.commit_transaction()
        >>> asyncio.run(main())
        """
        await self._in_thread(self._producer.begin_transaction)

    async def commit_transaction(self) -> None:
        """Waits until all records of the transaction are delivered, and commits it.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "transactional.id": "transfers-1"}
        ...     async with AsyncKafkaProducer(settings) as producer:
        ...         await producer.begin_transaction()
        ...         future = producer.send_nowait("accounts", b"+1", key=b"alice")
        ...         await producer.commit_transaction()
        ...         print((await future).offset)
        >>> asyncio.run(main())
        0
        """
        await self._in_thread(self._producer.commit_transaction)

    async def abort_transaction(self) -> None:
        """Drops what was not sent yet of the transaction, and has the rest ignored by those who read committed records.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092", "transactional.id": "transfers-1"}
        ...     async with AsyncKafkaProducer(settings) as producer:
        ...         await producer.begin_transaction()
        ...         producer.produce("accounts", b"+1", key=b"alice")
        ...         await producer.abort_transaction()
        >>> asyncio.run(main())
        """
        await self._in_thread(self._producer.abort_transaction)

    async def _abort_soon(self) -> None:
        await self._in_thread(self._producer._abort_soon)

    async def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], consumer: GroupMember
    ) -> None:
        """Commits offsets of the consumer's group together with the transaction.

        >>> import asyncio
        >>> from penstock import AsyncKafkaConsumer, AsyncKafkaProducer, TopicPartition
        >>> async def main():
        ...     settings = {"bootstrap.servers": "localhost:9092"}
        ...     async with (
        ...         AsyncKafkaProducer(settings, transactional_id="transfers-1") as producer,
        ...         AsyncKafkaConsumer(settings, group_id="transfers") as consumer,
        ...     ):
        ...         async with producer.transaction():
        ...             request = await producer.send("requests", b"5 to bob")
        ...         async with producer.transaction():
        ...             producer.produce("accounts", b"+5", key=b"bob")
        ...             offsets = {TopicPartition("requests", 0): request.offset + 1}
        ...             await producer.send_offsets_to_transaction(offsets, consumer)
        >>> asyncio.run(main())
        """
        await self._in_thread(self._producer.send_offsets_to_transaction, offsets, consumer)

    # --- the end

    async def close(self, timeout: float | None = None) -> None:
        """Waits until all records have their outcome, at most `timeout` seconds, and lets go of everything.

        >>> import asyncio
        >>> from penstock import AsyncKafkaProducer
        >>> async def main():
        ...     producer = AsyncKafkaProducer(bootstrap_servers="localhost:9092")
        ...     producer.produce("letters", b"dear")
        ...     await producer.close(timeout=30)
        >>> asyncio.run(main())
        """
        await self._in_thread(self._producer.close, timeout)

    async def _in_thread(self, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
        """What librdkafka does before it returns; whoever is cancelled goes at once, and the thread soon."""
        has_gone = threading.Event()
        token = abandoned.set(has_gone)
        try:
            return await asyncio.to_thread(function, *arguments, **keywords)
        except asyncio.CancelledError:
            has_gone.set()
            raise
        finally:
            abandoned.reset(token)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            await self.close()
        else:
            await self._in_thread(self._producer._close_soon)

    def __repr__(self) -> str:
        return repr(self._producer).replace("KafkaProducer", "AsyncKafkaProducer", 1)


class AsyncTransaction:
    """What `async with producer.transaction()` gives: committed at its end, aborted if it ends with an exception.

    >>> import asyncio
    >>> from penstock import AsyncKafkaProducer
    >>> async def main():
    ...     settings = {"bootstrap.servers": "localhost:9092", "transactional.id": "billing-1"}
    ...     async with AsyncKafkaProducer(settings) as producer:
    ...         async with producer.transaction():
    ...             producer.produce("debits", b"-5")
    ...             producer.produce("credits", b"+5")
    >>> asyncio.run(main())
    """

    def __init__(self, producer: AsyncKafkaProducer) -> None:
        self._producer = producer

    async def __aenter__(self) -> Self:
        await self._producer.begin_transaction()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            await self._abort_after(error)
            return
        try:
            await self._producer.commit_transaction()
        except BaseException as reason:
            await self._abort_after(reason)
            raise

    async def _abort_after(self, error: BaseException) -> None:
        """What went wrong first is what the user needs to see."""
        if not isinstance(error, FatalError):
            await _quietly(self._producer._abort_soon())


async def _quietly(call: Awaitable[None]) -> None:
    try:
        await call
    except KafkaError as second:
        import logging

        logging.getLogger("penstock.client").error(
            "the transaction could not be aborted; the broker will do so: %s", second
        )
