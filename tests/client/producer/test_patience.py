"""Leaving a producer whose broker is gone: after an error, by Ctrl-C or a cancelled coroutine, it takes moments."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from penstock import AsyncKafkaProducer, KafkaProducer
from penstock.testing import InProcessBroker
from tests.support.processes import free_port

MOMENTS = 8.0
"""Two seconds for the close, two for the abort of a transaction, and a slow machine."""


class WorkError(Exception):
    pass


@contextmanager
def work_error() -> Iterator[None]:
    """What the user raised comes out, and nothing else."""
    try:
        yield
    except WorkError:
        return
    raise AssertionError("the error is lost")


@contextmanager
def moments(limit: float = MOMENTS) -> Iterator[None]:
    before = time.monotonic()
    yield
    assert time.monotonic() - before < limit


@pytest.fixture
def nowhere() -> str:
    return f"127.0.0.1:{free_port()}"


def test_an_error_leaves_soon_and_is_what_is_seen(nowhere: str, topic: str) -> None:
    with moments(), work_error(), KafkaProducer(bootstrap_servers=nowhere) as producer:
        future = producer.send(topic, b"never")
        raise WorkError
    assert future.done()


def test_an_error_still_delivers_to_a_broker_that_answers(topic: str) -> None:
    with InProcessBroker() as broker:
        with work_error(), KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            future = producer.send(topic, b"before the error")
            raise WorkError
        assert future.result(0).offset == 0


def test_an_error_in_a_transaction_leaves_soon(topic: str) -> None:
    with InProcessBroker() as broker, moments(MOMENTS + 5):
        config = {"bootstrap_servers": broker.bootstrap_servers, "transactional_id": topic}
        with work_error(), KafkaProducer(**config) as producer, producer.transaction():
            producer.send(topic, b"there").result(30)
            broker.stop_broker()
            producer.send(topic, b"never")
            raise WorkError


def test_what_was_not_aborted_in_time_is_aborted_by_the_next_transaction(topic: str) -> None:
    with InProcessBroker() as broker:
        config = {"bootstrap_servers": broker.bootstrap_servers, "transactional_id": topic}
        with KafkaProducer(**config) as producer:
            with work_error(), producer.transaction():
                producer.send(topic, b"never").result(30)
                broker.stop_broker()
                raise WorkError
            broker.start_broker()
            with producer.transaction():
                future = producer.send(topic, b"second")
            assert future.done()


def leave(main: Coroutine[Any, Any, None], expected: type[BaseException]) -> None:
    """`asyncio.run` waits for the threads that a cancelled coroutine left, too."""
    with moments(), pytest.raises(expected):
        asyncio.run(main)


def test_a_send_that_takes_too_long_leaves_soon(nowhere: str, topic: str) -> None:
    async def main() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=nowhere) as producer:
            await asyncio.wait_for(producer.send(topic, b"never"), 0.2)

    leave(main(), asyncio.TimeoutError)


async def cancel(server: str, topic: str, call: str) -> None:
    more = {"transactional_id": topic} if call == "init_transactions" else {}
    producer = AsyncKafkaProducer(bootstrap_servers=server, **more)  # type: ignore[arg-type]
    if not more:
        producer.produce(topic, b"never")
    arguments = (topic,) if call == "partitions_of" else ()
    try:
        with moments(1):
            await asyncio.wait_for(getattr(producer, call)(*arguments), 0.2)
    finally:
        await producer._in_thread(producer._producer._close_soon)


def test_a_cancelled_call_returns_at_once(nowhere: str, topic: str) -> None:
    """Each in a loop of its own, all at the same time, as each takes its moments to leave."""
    calls = ("flush", "close", "partitions_of", "init_transactions")
    with ThreadPoolExecutor(len(calls)) as pool:
        leaving = {
            call: pool.submit(leave, cancel(nowhere, topic, call), asyncio.TimeoutError) for call in calls
        }
    for call, left in leaving.items():
        assert left.exception() is None, call


CALLS = {
    "a future": "with KafkaProducer(bootstrap_servers=server) as p: p.send('t', b'x').result()",
    "flush": "with KafkaProducer(bootstrap_servers=server) as p: p.produce('t', b'x'); p.flush()",
    "the end of with": "with KafkaProducer(bootstrap_servers=server) as p: p.produce('t', b'x')",
    "a transaction": "with KafkaProducer(bootstrap_servers=server, transactional_id='t') as p: p.init_transactions()",
    "partitions_of": "with KafkaProducer(bootstrap_servers=server) as p: p.partitions_of('t')",
    "a coroutine": """
import asyncio
async def main():
    async with AsyncKafkaProducer(bootstrap_servers=server) as p: await p.send('t', b'x')
asyncio.run(main())""",
}


@pytest.mark.processes
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_ctrl_c_once_is_enough(nowhere: str, call: str) -> None:
    program = (
        "from penstock import AsyncKafkaProducer, KafkaProducer\n"
        f"print('running', flush=True)\nserver = {nowhere!r}\n{call}"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "running\n"
        time.sleep(0.7)
        with moments():
            running.send_signal(signal.SIGINT)
            try:
                _, said = running.communicate(timeout=MOMENTS)
            finally:
                running.kill()
    assert "KeyboardInterrupt" in said


def test_a_close_beside_a_flush_of_another_thread(nowhere: str, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=nowhere)
    producer.produce(topic, b"never")
    flushing = threading.Thread(target=producer.flush)
    flushing.start()
    with moments():
        producer._close_soon()
        flushing.join()
