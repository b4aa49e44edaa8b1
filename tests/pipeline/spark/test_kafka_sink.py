"""The sink's way into Kafka, without Spark: what is not delivered fails the task."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from penstock.client import KafkaError, KafkaProducer
from penstock.pipeline.spark.kafka_sink import Outgoing, send_all
from penstock.testing import InProcessBroker


def test_one_refused_record_among_many_fails_the_task(penstock_broker: InProcessBroker) -> None:
    topic = f"refusing-{uuid.uuid4().hex[:6]}"
    penstock_broker.create_topic(topic, 1, {"max.message.bytes": "2000"})

    def rows(large_at: int | None) -> Iterator[Outgoing]:
        for number in range(30_000):
            yield topic, b"x" * (50_000 if number == large_at else 10), None, None, None, ()

    with KafkaProducer(bootstrap_servers=penstock_broker.bootstrap_servers, batch_size=1_000) as producer:
        send_all(producer, rows(None))
        with pytest.raises(KafkaError, match="1 records were not delivered"):
            send_all(producer, rows(20_001))
        send_all(producer, rows(None))
