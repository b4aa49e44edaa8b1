"""`AsyncKafkaConsumer`: what `KafkaConsumer` promises, in an event loop that is never blocked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from penstock.client.consumer.async_kafka_consumer import AsyncKafkaConsumer
from penstock.client.consumer.decode import RecordDeserializationError
from penstock.client.records import ConsumerRecord
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError
from tests.client.consumer.conftest import Produce
from tests.client.consumer.reading import numbers, values
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for

PATIENCE_SECONDS = 30
Settings = dict[str, Any]


@pytest.fixture
def settings(kafka: KafkaServer, group: str) -> Settings:
    return {"bootstrap_servers": kafka.bootstrap, "group_id": group, "auto_offset_reset": "earliest"}


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    async def in_time() -> Any:
        return await asyncio.wait_for(main(), 90)

    return asyncio.run(in_time())


async def read(consumer: AsyncKafkaConsumer, count: int) -> list[ConsumerRecord]:
    records: list[ConsumerRecord] = []
    while len(records) < count:
        records += await consumer.poll(PATIENCE_SECONDS)
    assert len(records) == count
    return records


async def committed(settings: Settings, topic: str) -> int | None:
    async with AsyncKafkaConsumer(**settings) as one:
        found = (await one.committed([TopicPartition(topic, 0)]))[TopicPartition(topic, 0)]
        return None if found is None else found.offset


def test_poll_and_iteration(settings: Settings, topic: str, produce: Produce) -> None:
    produce(topic, numbers(1_000))

    async def main() -> None:
        async with AsyncKafkaConsumer(topic, **settings, max_poll_records=100) as one:
            seen = values(await one.poll(PATIENCE_SECONDS, max_records=7))
            async for record in one:
                seen.append(record.value)
                if len(seen) == 1_000:
                    break
            assert seen == numbers(1_000)
        assert await committed(settings, topic) == 1_000

    run(main)


def test_the_loop_goes_on_while_a_poll_waits(settings: Settings, topic: str) -> None:
    async def main() -> None:
        async with AsyncKafkaConsumer(topic, **settings) as one:
            poll = asyncio.create_task(one.poll(1.0))
            turns = 0
            while not poll.done():
                await asyncio.sleep(0.01)
                turns += 1
            assert await poll == []
            assert turns > 10

    run(main)


def test_a_cancelled_poll_loses_nothing(settings: Settings, topic: str, produce: Produce) -> None:
    """Cancelled at all kinds of moments, while it waits and when records are on their way."""

    async def main() -> None:
        async with AsyncKafkaConsumer(topic, **settings, max_poll_records=3) as one:
            seen: list[bytes] = []
            for number in range(40):
                produce(topic, numbers(2, 2 * number))
                poll = asyncio.create_task(one.poll(PATIENCE_SECONDS))
                for _ in range(number % 7):
                    await asyncio.sleep(0.001)
                poll.cancel()
                try:
                    seen += values(await poll)
                except asyncio.CancelledError:
                    pass
            while len(seen) < 80:
                seen += values(await one.poll(PATIENCE_SECONDS))
            assert seen == numbers(80)

    run(main)


def test_what_a_cancelled_poll_had_is_not_committed(settings: Settings, topic: str, produce: Produce) -> None:
    produce(topic, numbers(200))

    async def main() -> None:
        async with AsyncKafkaConsumer(topic, **settings, max_poll_records=2) as one:
            seen = await read(one, 2)
            for number in range(30):
                poll = asyncio.create_task(one.poll(PATIENCE_SECONDS))
                await asyncio.sleep(0.0002 * number)
                poll.cancel()
                found = await asyncio.gather(poll, return_exceptions=True)
                seen += found[0] if isinstance(found[0], list) else []
        assert await committed(settings, topic) == len(seen)

    run(main)


def test_an_exception_leaves_the_record_uncommitted(settings: Settings, topic: str, produce: Produce) -> None:
    produce(topic, numbers(10))

    async def work() -> None:
        async with AsyncKafkaConsumer(topic, **settings) as one:
            async for record in one:
                if record.offset == 3:
                    raise LookupError

    async def main() -> None:
        with pytest.raises(LookupError):
            await work()
        assert await committed(settings, topic) == 3

    run(main)


def test_listeners_may_be_coroutines_and_use_the_consumer(
    settings: Settings, topic: str, produce: Produce
) -> None:
    produce(topic, numbers(10))
    told: list[str] = []

    class Listener:
        consumer: AsyncKafkaConsumer

        async def on_assigned(self, partitions: list[TopicPartition]) -> None:
            await asyncio.sleep(0.01)
            await self.consumer.seek(partitions[0], 6)
            told.append(f"assigned at {await self.consumer.position(partitions[0])}")

        async def on_revoked(self, partitions: list[TopicPartition]) -> None:
            await self.consumer.commit()
            told.append("revoked")

    async def main() -> None:
        listener = Listener()
        async with AsyncKafkaConsumer(**settings, enable_auto_commit=False) as one:
            listener.consumer = one
            await one.subscribe(topic, listener=listener)
            assert values(await read(one, 4)) == numbers(4, 6)
        assert told == ["assigned at 6", "revoked"]
        assert await committed(settings, topic) == 10

    run(main)


def test_an_exception_in_an_asynchronous_listener_comes_out_of_poll(
    settings: Settings, topic: str, produce: Produce
) -> None:
    produce(topic, numbers(3))

    async def fail(partitions: list[TopicPartition]) -> None:
        raise LookupError("no disk for these")

    async def main() -> None:
        async with AsyncKafkaConsumer(**settings) as one:
            await one.subscribe(topic, on_assigned=fail)
            with pytest.raises(LookupError, match="no disk"):
                await read(one, 3)
            assert values(await read(one, 3)) == numbers(3)

    run(main)


def test_two_members_share(settings: Settings, make_topic: Callable[[int], str], produce: Produce) -> None:
    topic = make_topic(2)
    for partition in range(2):
        produce(topic, numbers(20, 100 * partition), partition)
    seen: set[bytes] = set()

    async def member(name: str, both: asyncio.Barrier, done: asyncio.Event) -> None:
        async with AsyncKafkaConsumer(topic, **settings, heartbeat_interval_ms=200) as one:
            while len(one.assignment()) != 1:
                seen.update(values(await one.poll(0.1)))
            await both.wait()
            while not done.is_set():
                seen.update(values(await one.poll(0.1)))
                if len(seen) == 40:
                    done.set()

    async def main() -> None:
        done, both = asyncio.Event(), asyncio.Barrier(1)
        await asyncio.gather(member("a", both, done), member("b", both, done))

    run(main)
    assert len(seen) == 40


def test_seeking_pausing_and_asking(settings: Settings, topic: str, produce: Produce) -> None:
    produce(topic, numbers(10), timestamp=1_000)
    partition = TopicPartition(topic, 0)

    async def main() -> None:
        async with AsyncKafkaConsumer(**settings) as one:
            await one.assign([partition])
            assert await one.beginning_offsets([partition]) == {partition: 0}
            assert await one.end_offsets([partition]) == {partition: 10}
            assert await one.offsets_for_times({partition: 500}) == {partition: 0}
            assert await one.partitions_for(topic) == [partition]
            await one.seek(partition, 8)
            assert values(await read(one, 2)) == numbers(2, 8)
            await one.pause()
            await one.seek_to_beginning()
            assert await one.poll(0.2) == []
            await one.resume()
            assert values(await read(one, 10)) == numbers(10)
            await one.seek_to_time(2_000)
            assert await one.position(partition) == 10
            await one.commit({partition: 4})
            assert (await one.committed([partition]))[partition].offset == 4  # type: ignore[union-attr]

    run(main)


def test_a_poison_record(settings: Settings, topic: str, produce: Produce) -> None:
    produce(topic, [b"1", b"poison", b"3"])

    async def main() -> None:
        async with AsyncKafkaConsumer(topic, **settings, value_deserializer=int) as one:
            seen: list[object] = []
            while len(seen) < 3:
                try:
                    async for record in one:
                        seen.append(record.value)
                        if len(seen) == 3:
                            break
                except RecordDeserializationError as error:
                    seen.append(error.offset)
            assert seen == [1, 1, 3]

    run(main)


def test_close_ends_a_poll_of_another_task_and_the_thread(settings: Settings, topic: str) -> None:
    async def main() -> None:
        one = AsyncKafkaConsumer(topic, **settings)
        poll = asyncio.create_task(one.poll())
        await asyncio.sleep(0.2)
        await one.close()
        await one.close()
        assert await poll == []
        with pytest.raises(KafkaError, match="the consumer is closed"):
            await one.poll(0)

    before = set(threading.enumerate())
    run(main)

    def is_gone() -> bool:
        return not [each for each in set(threading.enumerate()) - before if each.name == "penstock-consumer"]

    wait_for(is_gone, what="the end of the thread")
