"""Transactions over a real server, Penstock or Apache Kafka: all of a transaction is seen, or nothing."""

import uuid

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as NativePartition

from penstock import FatalError, KafkaError, KafkaProducer, OffsetAndMetadata, RecordBatch, TopicPartition
from tests.client.reading import all_committed_values
from tests.support.cluster_fixture import KafkaServer


@pytest.fixture
def transactional_id() -> str:
    return f"transfers-{uuid.uuid4().hex[:12]}"


def fail_after(_work: object) -> None:
    raise ZeroDivisionError


def producer_to(kafka: KafkaServer, transactional_id: str, **more: object) -> KafkaProducer:
    return KafkaProducer(
        bootstrap_servers=kafka.bootstrap, transactional_id=transactional_id, linger_ms=0, **more
    )


def test_what_is_committed_is_seen_and_what_is_aborted_is_not(
    kafka: KafkaServer, topic: str, transactional_id: str
) -> None:
    with producer_to(kafka, transactional_id) as producer:
        with producer.transaction():
            committed = [producer.send(topic, value) for value in (b"1", b"2")]
        assert all(future.done() for future in committed)
        with pytest.raises(ZeroDivisionError), producer.transaction():
            fail_after(producer.send(topic, b"never").result(timeout=30))
        with producer.transaction():
            producer.produce(topic, b"3")
    assert all_committed_values(kafka.bootstrap, topic) == [b"1", b"2", b"3"]


def test_an_earlier_producer_is_locked_out(kafka: KafkaServer, topic: str, transactional_id: str) -> None:
    with producer_to(kafka, transactional_id) as first, producer_to(kafka, transactional_id) as second:
        first.begin_transaction()
        first.send(topic, b"never").result(timeout=30)
        second.init_transactions()
        with pytest.raises(FatalError, match="the transaction was not committed: "):
            first.commit_transaction()
        with second.transaction():
            second.send(topic, b"mine")
    assert all_committed_values(kafka.bootstrap, topic) == [b"mine"]


class Member:
    """A consumer of librdkafka, as the producer needs it."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer

    def group_metadata(self) -> object:
        return self.consumer.consumer_group_metadata()


def test_offsets_are_committed_with_the_records(
    kafka: KafkaServer, topic: str, transactional_id: str
) -> None:
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": transactional_id})
    place = TopicPartition(topic, 0)
    with producer_to(kafka, transactional_id) as producer:
        with producer.transaction():
            producer.send(topic, b"1")
            producer.send_offsets_to_transaction({place: OffsetAndMetadata(17, "note")}, Member(consumer))
        with pytest.raises(ZeroDivisionError), producer.transaction():
            fail_after(producer.send_offsets_to_transaction({place: 18}, Member(consumer)))
    [committed] = consumer.committed([NativePartition(topic, 0)], timeout=30)
    consumer.close()
    assert (committed.offset, committed.metadata) == (17, "note")


def test_transactions_need_an_id(kafka: KafkaServer) -> None:
    with (
        KafkaProducer(bootstrap_servers=kafka.bootstrap) as producer,
        pytest.raises(KafkaError, match=r"transactions need a transactional\.id; give the producer one"),
    ):
        producer.begin_transaction()


def test_transactions_come_one_after_the_other(kafka: KafkaServer, transactional_id: str) -> None:
    with producer_to(kafka, transactional_id) as producer:
        producer.begin_transaction()
        with pytest.raises(KafkaError, match="no transaction can begin"):
            producer.begin_transaction()
        producer.abort_transaction()
        with pytest.raises(KafkaError, match="the transaction was not committed"):
            producer.commit_transaction()


def test_an_open_transaction_ends_with_its_producer(
    kafka: KafkaServer, topic: str, transactional_id: str
) -> None:
    with producer_to(kafka, transactional_id) as producer:
        producer.begin_transaction()
        producer.send(topic, b"never").result(timeout=30)
    with producer_to(kafka, transactional_id) as producer, producer.transaction():
        producer.send(topic, b"next")
    assert all_committed_values(kafka.bootstrap, topic) == [b"next"]


def test_a_record_outside_a_transaction_is_refused(
    kafka: KafkaServer, topic: str, transactional_id: str
) -> None:
    with producer_to(kafka, transactional_id) as producer:
        with pytest.raises(
            KafkaError, match=r"no transaction is open; begin one with producer\.transaction\(\)"
        ):
            producer.send(topic, b"before the first")
        with producer.transaction():
            producer.send(topic, b"in it")
        for send in (producer.send, producer.produce):
            with pytest.raises(KafkaError, match=f"topic {topic}: .* no transaction is open"):
                send(topic, b"between two")  # type: ignore[operator]
        for batch in (RecordBatch(topic, [b"1", b"2"]), RecordBatch(topic, [b"1", b"2"], keys=[b"a", b"b"])):
            with pytest.raises(KafkaError, match=f"topic {topic}: .* no transaction is open"):
                producer.send_batch(batch)
    assert all_committed_values(kafka.bootstrap, topic) == [b"in it"]
