"""Requests leave nothing for the garbage collector, whose pauses every client would feel."""

import gc

from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.testing import InProcessBroker

ROUNDS = 100


def test_produce_and_a_parked_fetch_make_no_cycles() -> None:
    with InProcessBroker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0})
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "unused"})
        producer.produce("topic", b"first")
        producer.flush()
        consumer.committed([TopicPartition("topic", 0)], 10)  # has the group's coordinator made, once
        consumer.assign([TopicPartition("topic", 0, 0)])
        assert consumer.poll(10) is not None
        gc.collect()
        gc.disable()
        try:
            for _ in range(ROUNDS):
                producer.produce("topic", b"value")
                producer.flush()
                assert consumer.poll(10) is not None
            found = gc.collect()
        finally:
            gc.enable()
            consumer.close()
        assert found < ROUNDS
