"""A topic that is deleted while its files are being worked on: nothing but the topic goes."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from penstock.broker.broker import Broker
from penstock.errors import ApiError, ErrorCode
from penstock.log.fs import RealFileSystem
from penstock.testing import InProcessBroker

LONG_AGO_MS = 1_000_000_000_000
"""Before every retention time."""


class WaitingDisk(RealFileSystem):
    """Syncs the directory of the second topic only when it is told to."""

    def __init__(self) -> None:
        self.is_waiting = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def sync_directory(self, path: str) -> None:
        if path.endswith("/second-0"):
            self.is_waiting.set()
            assert self.may_go_on.wait(30)
        super().sync_directory(path)


@pytest.fixture
def disk() -> WaitingDisk:
    return WaitingDisk()


@pytest.fixture
def broker(disk: WaitingDisk) -> Iterator[InProcessBroker]:
    with InProcessBroker(file_system=disk) as broker:
        for topic in ("first", "second"):
            broker.create_topic(topic)
            produce(broker, topic)
        yield broker


def produce(broker: InProcessBroker, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(topic, b"value", timestamp=LONG_AGO_MS)
    assert producer.flush(30) == 0


def remove(broker: Broker, topic: str) -> None:
    image = broker.image.topics[topic]
    broker.image.remove_topic(topic)
    for _ in broker.on_topic_removed(image):
        pass


def assert_sound(broker: InProcessBroker) -> None:
    assert len(broker.broker.directories.online) == 1
    produce(broker, "first")


def test_retention_on_its_way_to_a_deleted_topic(broker: InProcessBroker) -> None:
    async def delete_in_between() -> None:
        retention = asyncio.create_task(broker.broker.maintenance.apply_retention())
        await asyncio.sleep(0)  # it has done with the first topic
        remove(broker.broker, "second")
        await retention

    broker.run(delete_in_between())
    assert_sound(broker)


def test_a_flush_under_way(broker: InProcessBroker, disk: WaitingDisk) -> None:
    partition = broker.broker.partitions.by_name["second"].partitions[0]

    async def delete_meanwhile() -> None:
        disk.is_waiting.clear()
        disk.may_go_on.clear()
        flush = asyncio.create_task(partition.flush(include_active=True))
        await asyncio.to_thread(disk.is_waiting.wait, 30)
        remove(broker.broker, "second")
        disk.may_go_on.set()
        with pytest.raises(ApiError) as raised:
            await flush
        assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    broker.run(delete_meanwhile())
    assert_sound(broker)
