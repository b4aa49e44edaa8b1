import asyncio
import os
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from kazoo.client import KazooClient

from penstock.errors import ConfigError
from penstock.testing import AsyncInProcessBroker, InProcessBroker, InProcessRegistry, InProcessRestProxy
from penstock.wire.messages.metadata import MetadataRequest
from tests.support.wire_client import WireClient


def produce(bootstrap: str, topic: str, *values: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


def consume(bootstrap: str, topic: str, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    values = [message.value() for message in consumer.consume(count, timeout=30)]
    consumer.close()
    return values


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_client_produces_and_consumes() -> None:
    started = time.perf_counter()
    with InProcessBroker() as broker:
        print(f"started in {(time.perf_counter() - started) * 1000:.0f} ms")
        produce(broker.bootstrap_servers, "foods", b"bread", b"wine")
        assert consume(broker.bootstrap_servers, "foods", 2) == [b"bread", b"wine"]


def test_a_restart_finds_the_records_on_the_same_port() -> None:
    with InProcessBroker() as broker:
        produce(broker.bootstrap_servers, "foods", b"bread")
        bootstrap = broker.bootstrap_servers
        broker.restart({"num.partitions": "7"})
        assert broker.bootstrap_servers == bootstrap
        assert consume(bootstrap, "foods", 1) == [b"bread"]
        produce(bootstrap, "drinks", b"wine")
        with WireClient(bootstrap) as client:
            topics = client.send(MetadataRequest(topics=None)).topics
        counts = {topic.name: len(topic.partitions) for topic in topics if not topic.is_internal}
        assert counts == {"foods": 1, "drinks": 7}


def test_nothing_is_left_behind() -> None:
    InProcessBroker().stop()  # not started: nothing to do
    with InProcessBroker():
        pass  # what is imported and opened once for good
    threads, descriptors = set(threading.enumerate()), open_descriptors()
    with InProcessBroker() as broker:
        port = broker.port
        (log_dir,) = broker.log_dirs
        assert (log_dir / "meta.properties").exists()
    assert set(threading.enumerate()) == threads
    assert open_descriptors() == descriptors
    assert not log_dir.exists()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_services_leave_nothing_behind() -> None:
    with InProcessBroker() as broker:
        InProcessRegistry(broker.bootstrap_servers).stop()  # not started: nothing to do
        for kind in (InProcessRegistry, InProcessRestProxy):
            with kind(broker.bootstrap_servers):
                pass  # what is imported once for good
            threads = set(threading.enumerate())
            with kind(broker.bootstrap_servers) as service:
                host, port = urlsplit(service.url).hostname, urlsplit(service.url).port
                socket.create_connection((host, port)).close()
            assert set(threading.enumerate()) == threads
            with socket.socket() as probe:
                assert probe.connect_ex((host, port)) != 0


def test_a_service_that_can_not_start_says_why() -> None:
    threads = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listeners = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for kind in (InProcessRegistry, InProcessRestProxy):
            with pytest.raises(ConfigError, match="listeners: can't listen on"):
                kind("127.0.0.1:1", {"listeners": listeners}).start()
    with InProcessBroker() as broker:
        broker.create_topic("_schemas", 3)
        registry = InProcessRegistry(broker.bootstrap_servers)
        with pytest.raises(ConfigError, match="should have only 1 partition but has 3"):
            registry.start()
    assert set(threading.enumerate()) == threads


def test_given_log_dirs_stay(tmp_path: Path) -> None:
    log_dirs = [tmp_path / "a", tmp_path / "b"]
    with InProcessBroker({"num.partitions": "4"}, log_dirs=log_dirs) as broker:
        produce(broker.bootstrap_servers, "foods", b"bread")
    assert [len(list(directory.glob("foods-*"))) for directory in log_dirs] == [2, 2]


def test_a_start_that_fails_says_why_and_leaves_nothing() -> None:
    threads = set(threading.enumerate())
    with pytest.raises(ConfigError, match=r"num\.partitions: got '0'"):
        InProcessBroker({"num.partitions": "0"}).start()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listeners = f"PLAINTEXT://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConfigError, match="the port is in use"):
            InProcessBroker({"listeners": listeners}).start()
    assert set(threading.enumerate()) == threads


def test_its_zookeeper_is_reachable() -> None:
    with InProcessBroker({"broker.id": "7"}) as broker:
        client = KazooClient(broker.zookeeper_connect)
        client.start()
        assert client.get_children("/brokers/ids") == ["7"]
        client.stop()
        client.close()


def test_two_brokers_live_side_by_side() -> None:
    with InProcessBroker() as one, InProcessBroker() as other:
        assert one.bootstrap_servers != other.bootstrap_servers
        assert one.log_dirs != other.log_dirs
        produce(one.bootstrap_servers, "foods", b"bread")
        with WireClient(other.bootstrap_servers) as client:
            assert client.send(MetadataRequest(topics=None)).topics == []


def test_inside_a_running_loop() -> None:
    async def scenario() -> None:
        async with AsyncInProcessBroker() as broker:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, produce, broker.bootstrap_servers, "foods", b"bread")
            await broker.restart()
            values = await loop.run_in_executor(None, consume, broker.bootstrap_servers, "foods", 1)
            assert values == [b"bread"]

    asyncio.run(scenario())


def test_a_misspelt_setting_is_refused() -> None:
    says = "settings of the test's broker: num.partitons is no setting; did you mean num.partitions"
    for kind in (InProcessBroker, AsyncInProcessBroker):
        with pytest.raises(ConfigError, match=says):
            kind({"num.partitons": "3"})
