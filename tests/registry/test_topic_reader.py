"""The reader over the wire: committed records only, and where it is."""

from __future__ import annotations

import asyncio

from penstock.client import AsyncKafkaProducer, KafkaAdmin, NewTopic, TopicPartition
from penstock.registry.topic_reader import Fetched, TopicReader
from penstock.wire_client import ClusterConfig, asyncio_cluster
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import free_port


def make_topic(kafka: KafkaServer) -> str:
    name = f"read-{free_port()}"
    with KafkaAdmin(bootstrap_servers=kafka.bootstrap) as admin:
        admin.create_topics([NewTopic(name, 1, 1)])
    return name


async def read_to_the_end(kafka: KafkaServer, topic: str) -> Fetched:
    config = ClusterConfig.from_configs({"bootstrap.servers": kafka.bootstrap})
    async with asyncio_cluster(config) as cluster:
        reader = TopicReader(cluster, topic)
        await reader.seek_to_beginning()
        records = []
        while True:
            fetched = await reader.fetch(0)
            records += fetched.records
            if fetched.is_at_end:
                return fetched._replace(records=records)


def values(fetched: Fetched) -> list[bytes | None]:
    return [record.value for record in fetched.records]


async def send(kafka: KafkaServer, topic: str, words: list[bytes], *, commit: bool) -> None:
    async with AsyncKafkaProducer(
        bootstrap_servers=kafka.bootstrap, transactional_id=f"{topic}-{commit}"
    ) as producer:
        await producer.begin_transaction()
        for word in words:
            await producer.send(topic, word, b"key", 0)
        await (producer.commit_transaction() if commit else producer.abort_transaction())


def test_an_empty_topic_is_at_its_end(registry_kafka: KafkaServer) -> None:
    fetched = asyncio.run(read_to_the_end(registry_kafka, make_topic(registry_kafka)))
    assert (values(fetched), fetched.next_offset) == ([], 0)


def test_aborted_transactions_are_left_out(registry_kafka: KafkaServer) -> None:
    topic = make_topic(registry_kafka)

    async def run() -> Fetched:
        await send(registry_kafka, topic, [b"a", b"b"], commit=True)
        await send(registry_kafka, topic, [b"lost"], commit=False)
        await send(registry_kafka, topic, [b"c"], commit=True)
        await send(registry_kafka, topic, [b"lost", b"too"], commit=False)
        return await read_to_the_end(registry_kafka, topic)

    fetched = asyncio.run(run())
    assert values(fetched) == [b"a", b"b", b"c"]
    assert fetched.next_offset == fetched.end_offset == 10, "six records and four markers"


def test_an_open_transaction_is_the_end(registry_kafka: KafkaServer) -> None:
    topic = make_topic(registry_kafka)

    async def run() -> tuple[Fetched, Fetched]:
        async with AsyncKafkaProducer(
            bootstrap_servers=registry_kafka.bootstrap, transactional_id=topic
        ) as producer:
            await producer.begin_transaction()
            await producer.send(topic, b"open", b"key", 0)
            during = await read_to_the_end(registry_kafka, topic)
            await producer.commit_transaction()
        return during, await read_to_the_end(registry_kafka, topic)

    during, after = asyncio.run(run())
    assert values(during) == []
    assert values(after) == [b"open"]


def test_a_log_that_begins_late_is_read_from_its_beginning(registry_kafka: KafkaServer) -> None:
    topic = make_topic(registry_kafka)

    async def run() -> Fetched:
        async with AsyncKafkaProducer(bootstrap_servers=registry_kafka.bootstrap) as producer:
            for number in range(5):
                await producer.send(topic, b"%d" % number, b"key", 0)
        return await read_to_the_end(registry_kafka, topic)

    asyncio.run(run())
    with KafkaAdmin(bootstrap_servers=registry_kafka.bootstrap) as admin:
        admin.delete_records({TopicPartition(topic, 0): 3})
    assert values(asyncio.run(read_to_the_end(registry_kafka, topic))) == [b"3", b"4"]
