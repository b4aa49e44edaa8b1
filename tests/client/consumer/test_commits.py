"""At least once: what is committed, when, and what a consumer that dies leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from penstock.client.consumer.kafka_consumer import KafkaConsumer
from penstock.client.records import OffsetAndMetadata
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError
from tests.client.consumer.conftest import MakeConsumer, Produce
from tests.client.consumer.reading import committed_offset, numbers, poll_until, read, values
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for


class Interrupted(Exception):
    pass


def iterate_until(one: KafkaConsumer, offset: int) -> None:
    for record in one:
        if record.offset == offset:
            raise Interrupted


def poll_to(one: KafkaConsumer, offset: int) -> None:
    while True:
        for record in one.poll(10):
            if record.offset >= offset:
                raise Interrupted


def test_what_was_read_is_committed_on_close(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(10))
    with consumer(topic, group_id=group) as one:
        read(one, 10)
    assert committed_offset(consumer(group_id=group), topic) == 10


def test_an_iteration_that_was_left_commits_up_to_the_record_it_was_at(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(10))
    with consumer(topic, group_id=group) as one:
        for record in one:
            if record.offset == 3:
                break
    assert committed_offset(consumer(group_id=group), topic) == 4


def test_an_exception_leaves_the_record_of_an_iteration_uncommitted(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(10))
    with pytest.raises(Interrupted), consumer(topic, group_id=group) as one:
        iterate_until(one, 3)
    assert committed_offset(consumer(group_id=group), topic) == 3


def test_an_exception_leaves_the_records_of_the_last_poll_uncommitted(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(10))
    with pytest.raises(Interrupted), consumer(topic, group_id=group, max_poll_records=4) as one:
        poll_to(one, 5)
    committed = committed_offset(consumer(group_id=group), topic)
    assert committed is not None
    assert committed <= 5


def test_close_in_a_finally_block_knows_of_the_exception(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(10))
    one = consumer(topic, group_id=group)

    def work() -> None:
        try:
            iterate_until(one, 6)
        finally:
            one.close()

    with pytest.raises(Interrupted):
        work()
    assert committed_offset(consumer(group_id=group), topic) == 6


def test_nothing_is_committed_ahead_of_the_next_poll(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(4))
    one = consumer(topic, group_id=group, auto_commit_interval_ms=0, max_poll_records=2)
    watcher = consumer(group_id=group)
    first = read(one, 2)
    assert values(first) == numbers(2)
    assert committed_offset(watcher, topic) is None
    assert values(read(one, 2)) == numbers(2, 2)
    wait_for(lambda: committed_offset(watcher, topic) == 2, what="the first two records to be committed")
    poll_until(lambda: committed_offset(watcher, topic) == 4, one)


def test_without_auto_commit_nothing_is_committed_by_itself(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(4))
    with consumer(topic, group_id=group, enable_auto_commit=False) as one:
        read(one, 4)
    assert committed_offset(consumer(group_id=group), topic) is None


def test_commit_what_was_returned_a_record_or_offsets(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(10))
    partition = TopicPartition(topic, 0)
    one = consumer(topic, group_id=group, enable_auto_commit=False)
    records = []
    for record in one:
        records.append(record)
        if len(records) == 5:
            break
    assert {key: each.offset for key, each in one.commit().items()} == {partition: 5}
    assert committed_offset(one, topic) == 5
    one.commit(records[1])
    assert committed_offset(one, topic) == 2
    one.commit({partition: OffsetAndMetadata(7, "half past")})
    found = one.committed([partition])[partition]
    assert found is not None
    assert (found.offset, found.metadata) == (7, "half past")
    with pytest.raises(ValueError, match="got offset -3"):
        one.commit({partition: -3})


def test_commit_of_nothing_is_nothing(consumer: MakeConsumer, topic: str, group: str) -> None:
    assert consumer(topic, group_id=group).commit() == {}


def test_commit_async_calls_back_from_poll(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(3))
    one = consumer(topic, group_id=group, enable_auto_commit=False)
    read(one, 3)
    done: list[tuple[int, KafkaError | None]] = []
    one.commit_async(
        callback=lambda offsets, error: done.append((next(iter(offsets.values())).offset, error))
    )
    one.commit_async({TopicPartition(topic, 0): 1})
    assert not done
    poll_until(lambda: done, one)
    assert done == [(3, None)]
    wait_for(lambda: committed_offset(one, topic) == 1, what="the commit without a callback")


def test_an_exception_in_a_commit_callback_comes_out_of_poll_and_costs_no_record(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(3))
    one = consumer(topic, group_id=group, max_poll_records=1)
    first = read(one, 1)

    def fail(offsets: object, error: object) -> None:
        raise Interrupted

    one.commit_async(callback=fail)
    with pytest.raises(Interrupted):
        first += read(one, 3)
    seen = [*values(first), *values(poll_until(lambda: one.position(TopicPartition(topic, 0)) == 3, one))]
    assert b"0" in seen
    assert set(numbers(3)) - set(seen) <= {b"1", b"2"}


def test_seek_moves_what_is_committed(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(10))
    with consumer(topic, group_id=group) as one:
        read(one, 10)
        one.seek(TopicPartition(topic, 0), 4)
    assert committed_offset(consumer(group_id=group), topic) == 4


def test_unsubscribe_commits_and_leaves(
    consumer: MakeConsumer, topic: str, group: str, produce: Produce
) -> None:
    produce(topic, numbers(5))
    one = consumer(topic, group_id=group)
    read(one, 5)
    one.unsubscribe()
    assert (one.assignment(), one.subscription()) == ([], [])
    assert committed_offset(one, topic) == 5
    one.assign({TopicPartition(topic, 0): 3})
    assert values(read(one, 2)) == numbers(2, 3)


WORKER = textwrap.dedent(
    """
    import sys
    from penstock.client.consumer.kafka_consumer import KafkaConsumer

    bootstrap, topic, group, path = sys.argv[1:]
    with KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        auto_commit_interval_ms=5,
        session_timeout_ms=6000,
        max_poll_records=20,
    ) as consumer, open(path, "ab", buffering=0) as processed:
        for record in consumer:
            processed.write(record.value + b"\\n")
    """
)


MOST_KILLS = 3


@pytest.mark.processes
def test_a_consumer_that_is_killed_loses_nothing(
    kafka: KafkaServer, topic: str, group: str, produce: Produce, tmp_path: Path
) -> None:
    """The record that was being processed is processed again by the next process, and so is what came after it."""
    count, path = 20_000, tmp_path / "processed"
    produce(topic, numbers(count))
    path.touch()
    kills = 0
    while len(set(path.read_bytes().split())) < count:
        before = len(path.read_bytes()) if kills < MOST_KILLS else sys.maxsize
        worker = subprocess.Popen([sys.executable, "-c", WORKER, kafka.bootstrap, topic, group, path])
        try:
            wait_for(
                lambda before=before: (
                    len(path.read_bytes()) > before + 1_500 or len(set(path.read_bytes().split())) == count
                ),
                60,
                "records to be processed",
                interval=0.001,
            )
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
        kills += 1
    assert kills > 1
    lines = path.read_bytes().split()
    assert set(lines) == set(numbers(count))
