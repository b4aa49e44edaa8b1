"""A consumer that gets nothing says what it waits for, in its state and in the log."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator

import pytest

from penstock.client.consumer import stall
from penstock.client.consumer.kafka_consumer import KafkaConsumer
from penstock.client.consumer.state import WaitsFor
from penstock.testing import InProcessBroker
from penstock.types import TopicPartition
from penstock.wire_client import ClusterConfig, blocking_cluster, now
from tests.client.consumer.conftest import MakeConsumer, Produce
from tests.client.consumer.reading import numbers, poll_until, read
from tests.support.processes import free_port


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks and lines come after a part of the usual time."""
    for name in ("FIRST_LOOK_SECONDS", "LOOK_INTERVAL_SECONDS"):
        monkeypatch.setattr(stall, name, 0.3)
    monkeypatch.setattr(stall, "FIRST_LINE_SECONDS", 0.6)


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, "penstock.client"):
        yield caplog


def wait_for_state(
    one: KafkaConsumer, waits_for: WaitsFor, message: str, log: pytest.LogCaptureFixture
) -> None:
    """Polls until the state is this one, and a line in the log says the same."""

    def is_said() -> bool:
        state = one.state
        if state.waits_for is not waits_for or not re.search(message, str(state)):
            return False
        return any(re.search(rf"no records for \d+ s: .*{message}", line) for line in log.messages)

    poll_until(is_said, one)


def test_nothing_subscribed(consumer: MakeConsumer, log: pytest.LogCaptureFixture) -> None:
    wait_for_state(consumer(), WaitsFor.SUBSCRIPTION, "nothing is subscribed or assigned", log)


@pytest.mark.parametrize("settings", [{"group_protocol": "classic"}, {"group_protocol": "consumer"}])
def test_a_topic_that_does_not_exist(
    consumer: MakeConsumer, group: str, settings: dict[str, str], log: pytest.LogCaptureFixture
) -> None:
    one = consumer("no-such-topic", group_id=group, **settings)
    wait_for_state(one, WaitsFor.TOPIC, "topic no-such-topic does not exist", log)


def test_a_pattern_that_matches_nothing(
    consumer: MakeConsumer, group: str, log: pytest.LogCaptureFixture
) -> None:
    one = consumer("^no-such-topic", group_id=group)
    wait_for_state(one, WaitsFor.TOPIC, r"no topic matches \^no-such-topic", log)


def test_a_partition_that_does_not_exist(
    consumer: MakeConsumer, topic: str, log: pytest.LogCaptureFixture
) -> None:
    one = consumer()
    one.assign([TopicPartition(topic, 7)])
    wait_for_state(one, WaitsFor.TOPIC, f"{topic}-7 does not exist: topic {topic} has 1 partitions", log)


@pytest.mark.parametrize("settings", [{"group_protocol": "classic"}, {"group_protocol": "consumer"}])
def test_more_members_than_partitions(
    consumer: MakeConsumer, topic: str, group: str, settings: dict[str, str], log: pytest.LogCaptureFixture
) -> None:
    first = consumer(topic, group_id=group, **settings)
    poll_until(lambda: first.assignment(), first)
    idle = consumer(topic, group_id=group, **settings)
    message = f"no partition for this member: group '{group}' has 2 members for 1 partition of {topic}"
    poll_until(lambda: WaitsFor.FREE_PARTITION in (first.state.waits_for, idle.state.waits_for), first, idle)
    poll_until(lambda: any(message in line for line in log.messages), first, idle)
    assert message in {str(first.state), str(idle.state)}


def test_paused_partitions(
    consumer: MakeConsumer, topic: str, produce: Produce, log: pytest.LogCaptureFixture
) -> None:
    produce(topic, numbers(3))
    one = consumer()
    one.assign([TopicPartition(topic, 0)])
    one.pause()
    wait_for_state(one, WaitsFor.RESUME, f"paused: {topic}-0", log)
    assert not [record for record in log.records if record.levelno >= logging.WARNING]
    one.resume()
    assert len(read(one, 3)) == 3


def test_the_end_is_nothing_to_talk_about(
    consumer: MakeConsumer, make_topic: Callable[[int], str], produce: Produce, log: pytest.LogCaptureFixture
) -> None:
    topic = make_topic(2)
    produce(topic, numbers(3))
    one = consumer()
    one.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])  # the second is empty
    read(one, 3)
    poll_until(lambda: one.state.waits_for is WaitsFor.RECORDS, one)
    log.clear()
    since = one.state.seconds
    poll_until(lambda: one.state.seconds > since + 1.5, one)
    assert str(one.state) == f"at the end of {topic}-0, {topic}-1"
    assert not [line for line in log.messages if "no records" in line]


def test_an_address_where_nobody_listens(consumer: MakeConsumer, log: pytest.LogCaptureFixture) -> None:
    port = free_port()
    one = consumer("orders", bootstrap_servers=f"127.0.0.1:{port}", group_id="billing")
    message = rf"127\.0\.0\.1:{port} \(.*bootstrap\.servers\) cannot be reached"
    wait_for_state(one, WaitsFor.BROKERS, message, log)


def test_an_address_that_was_advertised_wrongly(
    consumer: MakeConsumer, log: pytest.LogCaptureFixture
) -> None:
    port, wrong = free_port(), free_port()
    bootstrap = f"127.0.0.1:{port}"
    settings = {
        "listeners": f"PLAINTEXT://{bootstrap}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{wrong}",
    }
    with InProcessBroker(settings):
        with blocking_cluster(ClusterConfig.from_configs({"bootstrap.servers": bootstrap})) as cluster:
            now(cluster.metadata(["orders"], create_topics=True))
        by_hand = consumer(bootstrap_servers=bootstrap)
        by_hand.assign([TopicPartition("orders", 0)])
        in_group = consumer("orders", bootstrap_servers=bootstrap, group_id="billing")
        for one in (by_hand, in_group):
            log.clear()
            wait_for_state(one, WaitsFor.BROKERS, rf"127\.0\.0\.1:{wrong}.*advertise", log)
            one.close()


def test_a_broker_that_went_away_and_came_back(log: pytest.LogCaptureFixture) -> None:
    with InProcessBroker() as broker, KafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as one:
        one.assign({TopicPartition("orders", 0): 0})
        producer = _producer(broker.bootstrap_servers)
        producer.produce("orders", b"1")
        producer.flush(30)
        read(one, 1)
        broker.stop_broker()
        wait_for_state(one, WaitsFor.BROKERS, f"127.0.0.1:{broker.port}.* cannot be reached", log)
        broker.start_broker()
        poll_until(lambda: one.state.waits_for is WaitsFor.RECORDS, one)
        producer.produce("orders", b"2")
        producer.flush(30)
        read(one, 1)


def _producer(bootstrap: str):  # type: ignore[no-untyped-def]
    from confluent_kafka import Producer

    return Producer({"bootstrap.servers": bootstrap, "log_level": 0})


def test_an_open_transaction_is_named_as_a_reason(
    consumer: MakeConsumer, topic: str, kafka: object, log: pytest.LogCaptureFixture
) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": f"open-{topic}"})  # type: ignore[attr-defined]
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"not yet")
    producer.flush(30)
    one = consumer(isolation_level="read_committed")
    one.assign([TopicPartition(topic, 0)])
    wait_for_state(one, WaitsFor.FETCH, "an open transaction may hold them back", log)
    producer.commit_transaction(30)
    assert [record.value for record in read(one, 1)] == [b"not yet"]
