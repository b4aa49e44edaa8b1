"""Requests leave nothing for the garbage collector, whose pauses every client would feel."""

import gc
import struct

from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.broker.connection import Connection
from penstock.testing import InProcessBroker
from penstock.wire.messages.metadata import MetadataRequest
from tests.broker.asking import FETCH_BY_NAME, fetch_request, unique_topic, wanted
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient, request_bytes

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


def connections_alive() -> int:
    return sum(isinstance(each, Connection) for each in gc.get_objects())


def test_closed_connections_are_freed_without_the_collector() -> None:
    """Idle ones, those in the middle of a frame, and those whose fetch is parked."""
    half_a_frame = struct.pack(">i", 100_000) + bytes(100)
    with InProcessBroker({"auto.create.topics.enable": "false"}) as broker:
        with WireClient(broker.bootstrap_servers) as client:
            topic = unique_topic(client)
        gc.collect()
        before = connections_alive()
        gc.disable()
        try:
            parking = request_bytes(fetch_request(wanted(topic), max_wait_ms=60_000), FETCH_BY_NAME)
            for last_words in (b"", half_a_frame, parking):
                with WireClient(broker.bootstrap_servers) as client:
                    client.send(MetadataRequest(topics=[]), 12)
                    client.send_bytes(last_words)
                    client.end_sending()
                    client.expect_closed()
            wait_for(lambda: connections_alive() <= before, 5, "connections to be freed")
        finally:
            gc.enable()
