"""Signals, wakeups and other threads."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from penstock.client.consumer.use import ConcurrentUseError, WakeupError
from penstock.types import TopicPartition
from tests.client.consumer.conftest import MakeConsumer, Produce
from tests.client.consumer.reading import committed_offset, numbers, read, values
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import Process, free_port, wait_for

WAITER = textwrap.dedent(
    """
    import sys
    from penstock.client.consumer.kafka_consumer import KafkaConsumer

    bootstrap, topic, group = sys.argv[1:]
    with KafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest") as consumer:
        print("starts", flush=True)
        for record in consumer:
            print(record.value, flush=True)
    """
)


def started(log: Path, *arguments: str) -> Process:
    process = Process([sys.executable, "-c", WAITER, *arguments], log)
    process.wait_until(lambda: "starts" in process.log_text(), what="the consumer")
    return process


@pytest.mark.processes
def test_ctrl_c_ends_a_consumer_that_waits_and_commits_what_it_processed(
    kafka: KafkaServer, topic: str, group: str, produce: Produce, consumer: MakeConsumer, tmp_path: Path
) -> None:
    produce(topic, numbers(3))
    with started(tmp_path / "log", kafka.bootstrap, topic, group) as process:
        process.wait_until(lambda: "b'2'" in process.log_text(), what="the records")
        process.signal(signal.SIGINT)
        assert process.wait(20) == -signal.SIGINT
        assert "KeyboardInterrupt" in process.log_text()
    # it waited for the fourth record, so that the third counts as processed
    assert committed_offset(consumer(group_id=group), topic) == 3


@pytest.mark.processes
def test_ctrl_c_ends_a_consumer_that_finds_no_broker(tmp_path: Path) -> None:
    with started(tmp_path / "log", f"127.0.0.1:{free_port()}", "orders", "billing") as process:
        process.wait_until(lambda: "cannot be reached" in process.log_text(), what="the first warning")
        process.signal(signal.SIGINT)
        assert process.wait(20) == -signal.SIGINT


def test_wakeup_ends_a_poll_that_waits(consumer: MakeConsumer, topic: str, produce: Produce) -> None:
    one = consumer()
    one.assign([TopicPartition(topic, 0)])
    ended: list[BaseException] = []

    def wait() -> None:
        try:
            one.poll()
        except WakeupError as error:
            ended.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    one.wakeup()
    thread.join(20)
    assert ended
    produce(topic, numbers(2))
    assert values(read(one, 2)) == numbers(2)


def test_wakeup_of_a_consumer_that_does_not_wait_is_for_the_next_poll_and_costs_no_record(
    consumer: MakeConsumer, topic: str, produce: Produce
) -> None:
    produce(topic, numbers(5))
    one = consumer()
    one.assign([TopicPartition(topic, 0)])
    one.wakeup()
    with pytest.raises(WakeupError, match=r"wakeup\(\) was called"):
        one.poll(10)
    assert values(read(one, 5)) == numbers(5)


def test_two_threads_at_once_get_a_clear_error(consumer: MakeConsumer, topic: str) -> None:
    one = consumer()
    one.assign([TopicPartition(topic, 0)])
    ended = threading.Event()

    def wait() -> None:
        with pytest.raises(WakeupError):
            one.poll()
        ended.set()

    thread = threading.Thread(target=wait, name="first", daemon=True)
    thread.start()

    def is_refused() -> bool:
        try:
            one.poll(0)
        except ConcurrentUseError:
            return True
        return False

    wait_for(is_refused, what="the first thread to poll")
    with pytest.raises(ConcurrentUseError, match="while thread 'first' does; give each thread its own"):
        one.pause()
    assert one.state.waits_for.value != "closed"
    one.wakeup()
    assert ended.wait(20)
    thread.join()
    assert one.poll(0) == []


def test_a_consumer_may_move_to_another_thread(consumer: MakeConsumer, topic: str, produce: Produce) -> None:
    produce(topic, numbers(4))
    one = consumer(max_poll_records=2)
    one.assign([TopicPartition(topic, 0)])
    seen = values(read(one, 2))
    thread = threading.Thread(target=lambda: seen.extend(values(read(one, 2))))
    thread.start()
    thread.join()
    assert seen == numbers(4)


@pytest.mark.processes
def test_a_process_that_forgets_to_close_still_ends(kafka: KafkaServer, topic: str, group: str) -> None:
    code = (
        "import sys; from penstock.client.consumer.kafka_consumer import KafkaConsumer; "
        "c = KafkaConsumer(sys.argv[2], bootstrap_servers=sys.argv[1], group_id=sys.argv[3]); c.poll(0.2)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, kafka.bootstrap, topic, group], timeout=60, check=False
    )
    assert done.returncode == 0
