"""A sender that never pauses: it hears of deliveries by itself, and leaves callbacks to the thread."""

import threading
import time

import pytest

from penstock import KafkaProducer, RecordBatch
from tests.client.reading import records_of
from tests.support.processes import wait_for

FAST = {"linger_ms": 0, "enable_idempotence": False}
SMALL_BUFFER = 500


def test_it_needs_no_thread_to_make_room(servers: str, topic: str) -> None:
    with KafkaProducer(
        bootstrap_servers=servers, queue_buffering_max_messages=SMALL_BUFFER, **FAST
    ) as producer:
        producer.send(topic, b"").result(timeout=30)
        producer._delivery.stop()
        for number in range(5_000):
            producer.produce(topic, b"%d" % number, partition=0 if number % 2 else None)
        producer.send_batch(RecordBatch(topic, [b""] * 5_000))
        # librdkafka counts its notes of deliveries as well, at most one for each record that it holds
        assert producer.pending_records < 2 * SMALL_BUFFER
    assert not producer.failed_records
    records_of(servers, topic, 10_001)


@pytest.mark.parametrize("sending", ["one by one", "in batches", "with futures"])
def test_it_hears_of_deliveries_before_there_is_no_room(servers: str, topic: str, sending: str) -> None:
    batch = RecordBatch(topic, [b""] * 1_000)
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        producer.send(topic, b"").result(timeout=30)
        producer._delivery.stop()

        def pending_after_a_batch() -> int:
            if sending == "in batches":
                producer.send_batch(batch)
            else:
                send = producer.send if sending == "with futures" else producer.produce
                for value in batch.values:
                    send(topic, value)
            return producer.pending_records

        for _ in range(10):
            pending_after_a_batch()
        records_of(servers, topic, 10_001)
        for _ in range(50):
            if pending_after_a_batch() < 5_000:
                return
            time.sleep(0.1)
        raise AssertionError(f"{producer.pending_records} of 60,001 records are waiting")


def test_it_does_not_run_callbacks_of_the_application(servers: str, topic: str) -> None:
    """They may want a lock that the sender holds."""
    heard_in: list[threading.Thread] = []
    held = threading.Lock()

    def on_delivery(*_outcome: object) -> None:
        with held:
            heard_in.append(threading.current_thread())

    with KafkaProducer(
        bootstrap_servers=servers, queue_buffering_max_messages=SMALL_BUFFER, **FAST
    ) as producer:
        with held:
            producer.send(topic, b"", on_delivery=on_delivery)
            for _ in range(SMALL_BUFFER - 1):
                producer.produce(topic, b"")
        for _ in range(5_000):
            producer.produce(topic, b"")
        wait_for(lambda: heard_in)
    assert heard_in == [producer._delivery._thread]


@pytest.mark.parametrize("sending", ["one by one", "in batches"])
def test_one_failure_among_many_is_counted_if_all_are_watched(servers: str, topic: str, sending: str) -> None:
    values = [b""] * 20_000
    values[15_001] = b"x" * 2_000_000
    with KafkaProducer(bootstrap_servers=servers, max_request_size=5_000_000, **FAST) as producer:
        producer.watch_every_record()
        if sending == "one by one":
            for value in values:
                producer.produce(topic, value)
        else:
            producer.send_batch(RecordBatch(topic, values))
        producer.flush()
        assert producer.failed_records == 1


def test_who_waits_after_it_is_not_forgotten(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        for _ in range(20_000):
            producer.produce(topic, b"")
        assert producer.send(topic, b"").result(timeout=30).topic == topic


def test_all_its_failures_are_seen_once_it_is_slow_again(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, max_request_size=5_000_000, **FAST) as producer:
        for _ in range(5_000):
            producer.produce(topic, b"")
        producer.flush()
        for _ in range(5):
            producer.produce(topic, b"x" * 2_000_000)
            producer.flush()
        assert producer.failed_records == 5


def test_a_batch_has_columns(servers: str, topic: str) -> None:
    numbers = range(1_000)
    with KafkaProducer(
        bootstrap_servers=servers, queue_buffering_max_messages=SMALL_BUFFER, **FAST
    ) as producer:
        values, keys = [b"%d" % number for number in numbers], [b"k%d" % number for number in numbers]
        batch = RecordBatch(topic, values, keys, partition=1, timestamps_ms=[7_000 + n for n in numbers])
        assert producer.send_batch(batch) == len(numbers)
    got = [
        (message.value(), message.key(), message.timestamp()[1], message.partition())
        for message in records_of(servers, topic, len(numbers))
    ]
    assert got == [(b"%d" % number, b"k%d" % number, 7_000 + number, 1) for number in numbers]
