"""A producer in the child of a fork says what is wrong, at once, and the parent's goes on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.client.reading import records_of

pytestmark = pytest.mark.processes

PROGRAM = """
import asyncio, os, sys, warnings
from penstock import AsyncKafkaProducer, KafkaError, KafkaProducer, RecordBatch

warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of threads and forks
servers, topic = sys.argv[1:]

def child(calls):
    for call in calls:
        try:
            call()
        except KafkaError as error:
            print("was made before os.fork()" in str(error), flush=True)
        else:
            print("nothing said", flush=True)

def fork(run, end=sys.exit):
    if (pid := os.fork()) == 0:
        run()
        end(7)  # as any script: what is registered for the exit is run, and objects are freed
    _, status = os.waitpid(pid, 0)
    print("ended with", os.waitstatus_to_exitcode(status), flush=True)

producer = KafkaProducer(bootstrap_servers=servers, linger_ms=0)
for number in range(2000):
    producer.produce(topic, b"of the parent")
pending = producer.send(topic, b"of the parent")
fork(lambda: child([
    lambda: producer.send(topic, b"of the child"),
    lambda: producer.produce(topic, b"of the child"),
    lambda: producer.produce(topic, b"of the child", on_delivery=print),
    lambda: producer.send_batch(RecordBatch(topic, [b"of the child"])),
    lambda: producer.flush(5),
    lambda: pending.result(),
    lambda: producer.partitions_of(topic),
    lambda: producer.__enter__(),
    lambda: producer.close(),
]))
print(pending.result(30).topic == topic)
producer.close()

async def main():
    async with AsyncKafkaProducer(bootstrap_servers=servers, linger_ms=0) as producer:
        await producer.send(topic, b"of the parent")
        calls = [lambda: producer.produce(topic, b"of the child"), lambda: producer.send_nowait(topic)]
        fork(lambda: child(calls), os._exit)
        await producer.send(topic, b"of the parent")

asyncio.run(main())
"""


def test_a_producer_after_a_fork(servers: str, topic: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, servers, topic],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = done.stdout.splitlines()
    assert said[:8] == ["True"] * 8, (said, done.stderr)
    assert said[8:11] == ["nothing said", "ended with 7", "True"], (said, done.stderr)
    assert said[11:] == ["True", "True", "ended with 7"], (said, done.stderr)
    assert (done.returncode, done.stderr) == (0, "")
    assert {record.value() for record in records_of(servers, topic, 2003)} == {b"of the parent"}
