"""The producer over a real broker: what arrives, what its futures say, and how it ends."""

import gc
import logging
import threading
import time

import pytest

from penstock import (
    KafkaError,
    KafkaProducer,
    KafkaTimeoutError,
    PriorityPartitioner,
    ProducerRecord,
    RecordBatch,
    RecordMetadata,
    SerializationError,
)
from penstock.client import SendFuture, partition_of_key
from penstock.client.librdkafka import Message
from penstock.errors import ConfigError, ErrorCode
from tests.client.conftest import PARTITIONS
from tests.client.reading import records_of
from tests.support.processes import free_port, wait_for
from tests.support.times import RECENTLY_MS

FAST = {"linger_ms": 0, "enable_idempotence": False}
"""Saves the half second that librdkafka takes to ask for a producer id."""


def test_a_record_arrives_as_it_was_sent(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers) as producer:
        record = ProducerRecord(
            topic,
            b"value",
            key=b"key",
            partition=1,
            timestamp_ms=RECENTLY_MS,
            headers=[("a", b"1"), ("a", None), ("b", "2")],
        )
        metadata = producer.send(record).result(timeout=30)
    assert metadata == RecordMetadata(topic, 1, 0, RECENTLY_MS)
    [message] = records_of(servers, topic, 1)
    assert (message.key(), message.value(), message.partition()) == (b"key", b"value", 1)
    assert message.timestamp()[1] == RECENTLY_MS
    assert message.headers() == [("a", b"1"), ("a", None), ("b", b"2")]


def test_config_mapping_and_keywords_make_the_same_producer(servers: str, topic: str) -> None:
    with KafkaProducer(
        {"bootstrap.servers": servers, "linger.ms": "0"}, enable_idempotence=False
    ) as producer:
        assert (producer.config.linger_ms, producer.config.enable_idempotence) == (0.0, False)
        assert producer.send(topic, "text").result(timeout=30).offset == 0
    with KafkaProducer(producer.config, linger_ms=1) as second:
        assert second.config.linger_ms == 1.0


def test_offsets_follow_each_other(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        futures = [producer.send(topic, b"%d" % number, partition=0) for number in range(500)]
        assert [future.result(timeout=30).offset for future in futures] == list(range(500))


@pytest.mark.parametrize("idempotent", [True, False])
def test_keys_land_where_java_puts_them(servers: str, topic: str, idempotent: bool) -> None:
    keys = [b"", b"a", b"customer-7", "käse".encode(), b"x" * 100, *(b"%d" % number for number in range(50))]
    with KafkaProducer(bootstrap_servers=servers, enable_idempotence=idempotent) as producer:
        producer.send(topic, b"first").result(timeout=30)
        futures = {key: producer.send(topic, b"", key=key) for key in keys}
        landed = {key: future.result(timeout=30).partition for key, future in futures.items()}
    assert landed == {key: partition_of_key(key, PARTITIONS) for key in keys}


def test_records_without_a_key_stick_and_spread(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, sticky_partitioning_linger_ms=0, **FAST) as producer:
        producer.send(topic, b"first").result(timeout=30)
        futures = [producer.send(topic, b"") for _ in range(200)]
        assert {future.result(timeout=30).partition for future in futures} == {0, 1, 2}


def test_partitioners_in_python(servers: str, topic: str) -> None:
    def by_length(topic: str, key: object, value: str, partitions: int) -> int:
        return len(value) % partitions

    with KafkaProducer(bootstrap_servers=servers, partitioner_class=by_length, **FAST) as producer:
        assert [producer.send(topic, "x" * length).result(timeout=30).partition for length in range(4)] == [
            0,
            1,
            2,
            0,
        ]
        assert producer.send(topic, "x", partition=2).result(timeout=30).partition == 2
        producer.produce(topic, "xxxx")
    with KafkaProducer(bootstrap_servers=servers, partitioner_class="round_robin", **FAST) as producer:
        assert [producer.send(topic, b"").result(timeout=30).partition for _ in range(4)] == [0, 1, 2, 0]
    urgent = PriorityPartitioner({"high": [0], "low": [1, 2]}, default="low")
    with KafkaProducer(bootstrap_servers=servers, partitioner_class=urgent, **FAST) as producer:
        assert producer.send(topic, b"", headers={"priority": b"high"}).result(timeout=30).partition == 0
        assert producer.send(topic, b"").result(timeout=30).partition == 1


def test_a_partitioner_that_misses(servers: str, topic: str) -> None:
    refusal = f"topic {topic}: the partitioner .*lambda.* chose 3; takes 0 to 2"
    with (
        KafkaProducer(bootstrap_servers=servers, partitioner_class=lambda *_: 3, **FAST) as producer,
        pytest.raises(KafkaError, match=refusal),
    ):
        producer.send(topic, b"")


def test_serializers_are_applied(servers: str, topic: str) -> None:
    with KafkaProducer(
        bootstrap_servers=servers, key_serializer="long", value_serializer="json", **FAST
    ) as producer:
        producer.send(topic, {"cups": 2}, key=7, partition=0).result(timeout=30)
        producer.produce(topic, None, key=8, partition=0)
        producer.send_batch(RecordBatch(topic, [[1], [2]], keys=[1, 2], partition=0, timestamps_ms=[5, 6]))
        with pytest.raises(
            SerializationError, match=f"^topic {topic}: the key is a str, which LongSerializer"
        ):
            producer.send(topic, {}, key="seven")
    messages = records_of(servers, topic, 4)
    assert [message.value() for message in messages] == [b'{"cups":2}', None, b"[1]", b"[2]"]
    assert messages[0].key() == b"\x00" * 7 + b"\x07"
    assert [message.timestamp()[1] for message in messages[2:]] == [5, 6]


def test_what_needs_a_serializer_says_so(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        for send in (producer.send, producer.produce):
            with pytest.raises(SerializationError, match=r"the value is a dict.*value_serializer=\"json\""):
                send(topic, {"cups": 2})
        with pytest.raises(SerializationError, match="the key is a int"):
            producer.send_batch(RecordBatch(topic, [b"", b""], keys=[b"", 7]))


def test_batches_and_single_records_arrive_in_order(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers) as producer:
        assert (
            producer.send_batch(RecordBatch(topic, [b"%d" % number for number in range(1000)], partition=0))
            == 1000
        )
        for number in range(1000, 2000):
            producer.produce(topic, b"%d" % number, partition=0)
    values = [int(message.value()) for message in records_of(servers, topic, 2000)]
    assert values == list(range(2000))


def test_a_batch_has_as_many_keys_as_values() -> None:
    with pytest.raises(ValueError, match="keys: got 1; takes as many as there are values: 2"):
        RecordBatch("t", [b"", b""], keys=[b""])


def test_callbacks_hear_of_each_record(servers: str, topic: str) -> None:
    heard: list[tuple[str, object, object]] = []
    with KafkaProducer(
        bootstrap_servers=servers, on_delivery=lambda *outcome: heard.append(("all", *outcome)), **FAST
    ) as producer:
        future = producer.send(
            topic, b"", partition=0, on_delivery=lambda *outcome: heard.append(("one", *outcome))
        )
        metadata = future.result(timeout=30)
        producer.flush()
    assert heard == [("one", metadata, None), ("all", metadata, None)]


def test_produce_tells_as_confluent_kafka_does(servers: str, topic: str) -> None:
    """Code that was written for it works: the error first, then its message."""
    heard: list[tuple[Exception | None, object, object, object]] = []

    def acked(error: Exception | None, message: Message) -> None:
        heard.append((error, message.topic(), message.offset(), message.value()))

    with KafkaProducer(bootstrap_servers=servers, value_serializer="json", **FAST) as producer:
        producer.produce(topic, value=1, key=b"k", partition=0, on_delivery=acked)
        producer.produce(topic, value=[2], partition=0, headers={"h": b"x"}, on_delivery=acked)
        producer.produce(topic, 3, partition=0, on_delivery=lambda *_: 1 / 0)  # is logged, and stops nothing
        producer.produce(topic, 4)
        producer.flush(30)
        wait_for(lambda: len(heard) == 2)
    assert heard == [(None, topic, 0, b"1"), (None, topic, 1, b"[2]")]


def test_produce_tells_why_a_record_did_not_arrive() -> None:
    heard: list[Exception | None] = []
    with KafkaProducer(
        bootstrap_servers="127.0.0.1:9", delivery_timeout_ms=500, request_timeout_ms=400, linger_ms=0
    ) as producer:
        producer.produce("t", b"", on_delivery=lambda error, message: heard.append(error))
    assert isinstance(heard[0], KafkaTimeoutError)
    assert "127.0.0.1:9" in str(heard[0])
    assert producer.failed_records == 1


def test_a_done_callback_runs_once_whenever_it_is_added(servers: str, topic: str) -> None:
    heard: list[SendFuture] = []
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        future = producer.send(topic, b"")
        future.add_done_callback(heard.append)
        future.result(timeout=30)
        wait_for(lambda: heard)
        future.add_done_callback(heard.append)
    assert heard == [future, future]


def test_a_callback_may_send(servers: str, topic: str) -> None:
    answers: list[SendFuture] = []
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        for _ in range(100):
            producer.send(
                topic, b"ping", on_delivery=lambda *_: answers.append(producer.send(topic, b"pong"))
            )
        wait_for(lambda: len(answers) == 100)
    assert all(answer.result().topic == topic for answer in answers)


def test_a_callback_that_fails_is_logged(servers: str, topic: str, caplog: pytest.LogCaptureFixture) -> None:
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        future = producer.send(topic, b"", on_delivery=lambda *_: 1 / 0)
        assert future.result(timeout=30).topic == topic
        wait_for(lambda: "a callback of `send` failed" in caplog.messages)
        assert producer.send(topic, b"").result(timeout=30)


def test_many_threads_share_a_producer(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers) as producer:
        futures: list[SendFuture] = []

        def send() -> None:
            futures.extend(producer.send(topic, b"x") for _ in range(2000))
            producer.send_batch(RecordBatch(topic, [b"y"] * 500))
            producer.flush()

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        places = {(future.result(timeout=30).partition, future.result().offset) for future in futures}
        assert len(places) == 8000
    records_of(servers, topic, 10_000)


# --- what fails


def test_errors_are_in_the_future(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        producer.send(topic, b"").result(timeout=30)
        too_large = producer.send(topic, b"x" * 2_000_000)
        with pytest.raises(
            KafkaError, match=r"Message size too large; raise max\.request\.size of the producer"
        ) as raised:
            too_large.result(timeout=30)
        assert raised.value.code is ErrorCode.MESSAGE_TOO_LARGE
        no_partition = producer.send(topic, b"", partition=99).exception(timeout=30)
        assert isinstance(no_partition, KafkaError)
        assert no_partition.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert producer.failed_records == 2


def test_what_the_broker_refuses_says_what_to_do(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, max_request_size=5_000_000, **FAST) as producer:
        error = producer.send(topic, b"x" * 2_000_000).exception(timeout=30)
    assert str(error) == (
        f"topic {topic}: the record was not delivered: Message size too large; "
        "raise max.message.bytes of the topic, or send smaller records"
    )


def test_failures_that_nobody_looks_at_are_logged(
    servers: str, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    with KafkaProducer(bootstrap_servers=servers, max_request_size=5_000_000, **FAST) as producer:
        producer.send(topic, b"x" * 2_000_000)
        producer.flush()
        gc.collect()
        wait_for(lambda: caplog.messages)
        producer.produce(topic, b"x" * 2_000_000)
        assert producer.send(topic, b"x" * 2_000_000).exception(timeout=30)
    assert producer.failed_records == 3
    assert len(caplog.messages) == 2
    assert caplog.messages[0].startswith(
        "1 record was not delivered, and nobody has looked at it, the last one: topic"
    )
    assert caplog.messages[1] == "1 record was not delivered, and nobody has looked at it"


def test_a_future_that_takes_long(topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=f"127.0.0.1:{free_port()}", **FAST)
    future = producer.send(topic, b"")
    with pytest.raises(KafkaTimeoutError, match=r"the record has no outcome after 0\.3 s"):
        future.result(timeout=0.3)
    with pytest.raises(KafkaTimeoutError, match=r"1 records are not acknowledged after 0\.1 s"):
        producer.flush(timeout=0.1)
    with pytest.raises(KafkaTimeoutError, match="1 records were not delivered when the producer was closed"):
        producer.close(timeout=0.1)
    assert "dropped" in str(future.exception())


def test_a_full_buffer_waits_and_then_says_so(topic: str) -> None:
    port = free_port()
    producer = KafkaProducer(
        bootstrap_servers=f"127.0.0.1:{port}", queue_buffering_max_messages=2, max_block_ms=300, **FAST
    )
    for _ in range(2):
        producer.produce(topic, b"")
    wait_for(lambda: producer._delivery.troubles.explain())
    for send in (producer.produce, producer.send):
        with pytest.raises(KafkaTimeoutError) as raised:
            send(topic, b"")
        assert str(raised.value).startswith(
            f"topic {topic}: no room for the record after max.block.ms, which is 300: 2 records wait; raise buffer"
        )
        assert f"127.0.0.1:{port} (of bootstrap.servers) cannot be reached: " in str(raised.value)
    with pytest.raises(KafkaTimeoutError):
        producer.close(timeout=0)


def test_a_full_buffer_empties(servers: str, topic: str) -> None:
    """Far more records than the buffer holds; the sender waits for room, and loses none."""
    with KafkaProducer(bootstrap_servers=servers, queue_buffering_max_messages=100, **FAST) as producer:
        producer.send_batch(RecordBatch(topic, [b"%d" % number for number in range(3000)], partition=0))
        futures = [producer.send(topic, b"", partition=0) for _ in range(1000)]
        for _ in range(1000):
            producer.produce(topic, b"", partition=0)
        assert futures[-1].result(timeout=30).offset == 3999
    records_of(servers, topic, 5000)


def test_a_setting_that_librdkafka_refuses() -> None:
    with pytest.raises(ConfigError, match=r"broker\.address\.family"):
        KafkaProducer(bootstrap_servers="localhost:9092", broker_address_family="v5")


# --- how it ends


def test_with_delivers_everything(servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, linger_ms=60_000) as producer:
        futures = [producer.send(topic, b"") for _ in range(10)]
    assert all(future.done() for future in futures)
    assert producer.pending_records == 0


def test_a_closed_producer_is_closed(servers: str, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=servers)
    producer.close()
    producer.close()
    for call in (producer.send, producer.produce, lambda topic: producer.flush(), producer.partitions_of):
        with pytest.raises(KafkaError, match="this producer is closed; make another"):
            call(topic)


def test_a_producer_that_is_dropped_warns(servers: str, topic: str, caplog: pytest.LogCaptureFixture) -> None:
    threads = threading.active_count()
    producers = [KafkaProducer(bootstrap_servers=servers, linger_ms=60_000)]
    producers[0].produce(topic, b"lost")
    with pytest.warns(ResourceWarning, match="unclosed <KafkaProducer to .*, open>"):
        producers.clear()
    assert "was dropped without close(); 1 records may not be delivered" in caplog.text
    wait_for(lambda: threading.active_count() <= threads)


def test_a_producer_that_cannot_be_made_leaves_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(ConfigError):
        KafkaProducer(bootstrap_servers="localhost:9092", value_serializer="strng")
    gc.collect()
    assert not recwarn.list


def test_logging_of_librdkafka_goes_to_python(servers: str, caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.DEBUG, "penstock.client.librdkafka"),
        KafkaProducer(bootstrap_servers=servers, debug="broker", log_level=7, **FAST),
    ):
        wait_for(lambda: "Broker changed state" in caplog.text)


def test_senders_do_not_starve_their_futures(servers: str, topic: str) -> None:
    """A sender that never pauses: its futures are done while it sends, not after."""
    with KafkaProducer(bootstrap_servers=servers, **FAST) as producer:
        producer.send(topic, b"").result(timeout=30)
        first, sent, deadline = producer.send(topic, b""), 0, time.monotonic() + 30
        while not first.done() and time.monotonic() < deadline:
            producer.send(topic, b"")
            sent += 1
        assert first.done()


def test_a_record_over_the_producers_own_limit_names_that_limit(topic: str, servers: str) -> None:
    with KafkaProducer(bootstrap_servers=servers, max_request_size=2000) as producer:
        error = producer.send(topic, b"x" * 5000).exception(30)
    assert isinstance(error, KafkaError)
    assert "raise max.request.size of the producer, or send smaller records" in str(error)
    assert "max.message.bytes" not in str(error)
