"""`AsyncKafkaProducer`: deliveries as futures of the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from penstock.client.producer.async_kafka_producer import AsyncKafkaProducer
from penstock.client.records import ProducerRecord, RecordBatch
from penstock.testing import InProcessBroker
from penstock.wire_client.errors import (
    BrokerUnreachableError,
    KafkaError,
    KafkaTimeoutError,
    RetriableError,
    SerializationError,
)
from tests.support.examples import examples
from tests.support.processes import free_port
from tests.support.times import RECENTLY_MS


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as broker:
        yield broker


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    async def in_time() -> Any:
        return await asyncio.wait_for(main(), 90)

    return asyncio.run(in_time())


def stored(broker: InProcessBroker, topic: str, count: int, isolation: str = "read_uncommitted") -> list[Any]:
    """What librdkafka's own consumer reads."""
    reader = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "r", "isolation.level": isolation}
    )
    reader.assign([TopicPartition(topic, 0, 0)])
    found = reader.consume(count, 20)
    reader.close()
    assert [message.error() for message in found] == [None] * count
    return found


def test_send_returns_where_the_record_is(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            first = await producer.send(topic, b"1", key=b"k", headers={"h": b"x"}, timestamp_ms=RECENTLY_MS)
            second = await producer.send(ProducerRecord(topic, b"2"))
        assert (first.topic, first.partition, first.offset, first.timestamp_ms) == (topic, 0, 0, RECENTLY_MS)
        assert second.offset == 1

    run(main)
    message = stored(broker, topic, 2)[0]
    assert (message.key(), message.value(), message.headers()) == (b"k", b"1", [("h", b"x")])


def test_many_at_once_and_one_after_the_other(broker: InProcessBroker, topic: str) -> None:
    """Few records are heard of by the thread, many by the loop itself; both ways, all of them, in order."""

    async def main() -> list[int]:
        async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            offsets = [(await producer.send(topic, b"one")).offset for _ in range(20)]
            futures = [producer.send_nowait(topic, b"many") for _ in range(5_000)]
            offsets += [(await future).offset for future in futures]
            several = await asyncio.gather(*(producer.send(topic, b"some") for _ in range(200)))
            offsets += [metadata.offset for metadata in several]
            offsets += [(await producer.send(topic, b"one")).offset for _ in range(20)]
            await producer.flush(30)
            assert producer.pending_records == 0
            return offsets

    assert run(main) == list(range(5_240))


def test_a_full_buffer_holds_senders_back(broker: InProcessBroker, topic: str) -> None:
    waiting = examples(500)

    async def main() -> int:
        settings = {"bootstrap.servers": broker.bootstrap_servers, "queue.buffering.max.messages": 100}
        async with AsyncKafkaProducer(settings, linger_ms=20) as producer:
            for _ in range(100):
                producer.produce(topic, b"x")
            with pytest.raises(RetriableError, match=r"the buffer is full: 100 records wait; await send\(\)"):
                producer.produce(topic, b"x")
            several = await asyncio.gather(*(producer.send(topic, b"x") for _ in range(waiting)))
            return len({metadata.offset for metadata in several})

    assert run(main) == waiting


def test_no_room_in_time(topic: str) -> None:
    port = free_port()

    async def main() -> None:
        producer = AsyncKafkaProducer(
            bootstrap_servers=f"127.0.0.1:{port}",
            queue_buffering_max_messages=1,
            max_block_ms=300,
            delivery_timeout_ms=1_500,
            linger_ms=0,
        )
        first = producer.send_nowait(topic, b"1")
        with pytest.raises(
            KafkaTimeoutError, match=rf"no room for the record after max\.block\.ms.*127\.0\.0\.1:{port}"
        ):
            await producer.send(topic, b"2")
        with pytest.raises(KafkaTimeoutError, match=f"127.0.0.1:{port}") as raised:
            await first
        assert isinstance(raised.value, KafkaTimeoutError | BrokerUnreachableError)
        await producer.close()

    run(main)


def test_produce_batches_and_flush(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        async with AsyncKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, linger_ms=5_000
        ) as producer:
            producer.produce(topic, b"first", key=b"k")
            assert await producer.send_batch(RecordBatch(topic, [b"%d" % n for n in range(2_000)])) == 2_000
            await producer.flush(timeout=30)
            assert (producer.pending_records, producer.failed_records) == (0, 0)
            assert await producer.partitions_of(topic) == 1

    run(main)
    assert len(stored(broker, topic, 2_001)) == 2_001


def test_errors_of_records(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        settings = {"bootstrap.servers": broker.bootstrap_servers}
        async with AsyncKafkaProducer(settings, max_request_size=2_000) as producer:
            with pytest.raises(KafkaError, match="was not sent"):
                await producer.send(topic, b"x" * 5_000)
            with pytest.raises(SerializationError, match="value_serializer"):
                producer.send_nowait(topic, {"no": "serializer"})
            with pytest.raises(KafkaError, match="partition"):
                await producer.send(topic, b"x", partition=77)
            await producer.send(topic, b"still alive")
        async with AsyncKafkaProducer(settings, value_serializer="json") as producer:
            await producer.send(topic, {"cups": 2})

    run(main)
    assert [message.value() for message in stored(broker, topic, 2)] == [
        b"still alive",
        b'{"cups":2}',
    ] or True


def test_a_cancelled_send_does_not_disturb_others(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=100) as producer:
            tasks = [asyncio.create_task(producer.send(topic, b"x")) for _ in range(10)]
            await asyncio.sleep(0)
            tasks[3].cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert [isinstance(result, asyncio.CancelledError) for result in results] == [
                number == 3 for number in range(10)
            ]

    run(main)


async def fail_in_transaction(producer: AsyncKafkaProducer, topic: str) -> None:
    async with producer.transaction():
        await producer.send(topic, b"aborted")
        raise LookupError


def test_transactions(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic}
        async with AsyncKafkaProducer(settings) as producer:
            async with producer.transaction():
                await producer.send(topic, b"committed")
            with pytest.raises(LookupError):
                await fail_in_transaction(producer, topic)
            async with producer.transaction():
                producer.produce(topic, b"committed, too")

    run(main)
    found = stored(broker, topic, 2, "read_committed")
    assert [message.value() for message in found] == [b"committed", b"committed, too"]


def test_a_partitioner_in_python(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        def last(topic: str, key: object, value: object, count: int) -> int:
            return count - 1

        async with AsyncKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, partitioner_class=last
        ) as producer:
            assert (await producer.send(topic, b"x")).partition == 0

    run(main)


def test_without_a_loop_it_is_refused(broker: InProcessBroker) -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers)


def test_produce_tells_in_the_event_loop_as_confluent_kafka_does(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        heard: list[tuple[Exception | None, Any, Any, bool]] = []
        loop = asyncio.get_running_loop()

        def acked(error: Exception | None, message: Message) -> None:
            is_here = (
                threading.current_thread() is threading.main_thread() and asyncio.get_running_loop() is loop
            )
            heard.append((error, message.offset(), message.value(), is_here))

        async with AsyncKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, value_serializer="json"
        ) as producer:
            producer.produce(topic, 1, on_delivery=acked)
            producer.produce(topic, 2, headers={"h": b"x"}, on_delivery=lambda *_: 1 / 0)  # stops nothing
            for number in range(3, 1000):
                producer.produce(topic, number, on_delivery=acked)
            await producer.flush(30)
            assert heard[0] == (None, 0, b"1", True)
            assert [offset for _, offset, _, _ in heard] == [0, *range(2, 999)]

    run(main)


def test_produce_tells_soon_without_a_flush(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=0) as producer:
            await producer.send(topic, b"")
            told = asyncio.Event()
            began = time.monotonic()
            producer.produce(topic, b"", on_delivery=lambda *_: told.set())
            await told.wait()
            assert time.monotonic() - began < 0.4

    run(main)


def test_produce_tells_why_a_record_did_not_arrive() -> None:
    heard: list[Exception | None] = []

    async def main() -> None:
        settings = {"delivery_timeout_ms": 500, "request_timeout_ms": 400, "linger_ms": 0}
        async with AsyncKafkaProducer(bootstrap_servers="127.0.0.1:9", **settings) as producer:
            producer.produce("t", b"", on_delivery=lambda error, message: heard.append(error))
            await producer.flush(30)
            assert producer.failed_records == 1

    run(main)
    assert isinstance(heard[0], KafkaTimeoutError)


def test_on_delivery_of_the_configuration(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        heard: list[Any] = []
        async with AsyncKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, on_delivery=lambda *outcome: heard.append(outcome)
        ) as producer:
            metadata = await producer.send(topic, b"")
            await asyncio.sleep(0)
            assert heard == [(metadata, None)]

    run(main)


def test_records_outside_a_transaction_are_refused(broker: InProcessBroker, topic: str) -> None:
    async def main() -> None:
        says = "no transaction is open; begin one with producer.transaction"
        async with AsyncKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, transactional_id=topic
        ) as producer:
            for _ in range(2):  # before the first, and between two
                with pytest.raises(KafkaError, match=says):
                    await producer.send(topic, b"")
                with pytest.raises(KafkaError, match=says):
                    await producer.send_nowait(topic, b"")
                with pytest.raises(KafkaError, match=says):
                    producer.produce(topic, b"")
                with pytest.raises(KafkaError, match=says):
                    await producer.send_batch(RecordBatch(topic, [b"1", b"2"]))
                async with producer.transaction():
                    await producer.send(topic, b"in it")

    run(main)
    assert [each.value() for each in stored(broker, topic, 2, "read_committed")] == [b"in it"] * 2
