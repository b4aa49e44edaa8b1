"""A broker that cannot be reached: the error names the address, and tells who said that it is there."""

import logging

import pytest

from penstock import BrokerUnreachableError, KafkaProducer, KafkaTimeoutError
from penstock.testing import InProcessBroker
from tests.support.processes import free_port

IMPATIENT = {"linger_ms": 0, "delivery_timeout_ms": 1500, "enable_idempotence": False}


def test_a_wrongly_advertised_broker_is_named(topic: str, caplog: pytest.LogCaptureFixture) -> None:
    port, nowhere = free_port(), free_port()
    listeners = {
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{nowhere}",
    }
    with (
        InProcessBroker(listeners),
        KafkaProducer(bootstrap_servers=f"127.0.0.1:{port}", **IMPATIENT) as producer,
    ):
        error = producer.send(topic, b"").exception(timeout=30)
    advertised = f"broker 0 advertises itself as 127.0.0.1:{nowhere}, which cannot be reached: "
    assert isinstance(error, KafkaTimeoutError)
    assert str(error).startswith(
        f"topic {topic}: the record was not delivered: Message timed out; {advertised}"
    )
    assert "Connection refused" in str(error)
    assert str(error).endswith("its advertised.listeners must name an address that works from here")
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len([line for line in warnings if line.startswith(advertised)]) == 1


@pytest.mark.parametrize("partitioner", [None, "round_robin"])
def test_a_broker_that_is_not_there_is_named(topic: str, partitioner: str | None) -> None:
    port = free_port()
    config = {**IMPATIENT, "bootstrap_servers": f"127.0.0.1:{port}", "max_block_ms": 1000}
    if partitioner is None:
        with KafkaProducer(**config) as producer:
            message = str(producer.send(topic, b"").exception(timeout=30))
    else:
        with (
            KafkaProducer(partitioner_class=partitioner, **config) as producer,
            pytest.raises(BrokerUnreachableError) as raised,
        ):
            producer.send(topic, b"")
        message = str(raised.value)
    assert f"127.0.0.1:{port} (of bootstrap.servers) cannot be reached: Connection refused" in message
    assert message.endswith("is `penstock up` running?")


def test_a_name_that_does_not_resolve_is_named(topic: str) -> None:
    with KafkaProducer(bootstrap_servers="nowhere.invalid:9092", **IMPATIENT) as producer:
        error = producer.send(topic, b"").exception(timeout=30)
    assert "nowhere.invalid:9092 (of bootstrap.servers) cannot be reached: Failed to resolve" in str(error)


def test_records_wait_for_a_broker_that_comes_back(topic: str) -> None:
    with (
        InProcessBroker() as broker,
        KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=0) as producer,
    ):
        assert producer.send(topic, b"before").result(timeout=30).offset == 0
        broker.stop_broker()
        future = producer.send(topic, b"during")
        broker.start_broker()
        assert future.result(timeout=60).offset == 1
