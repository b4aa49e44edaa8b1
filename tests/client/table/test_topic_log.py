"""Topics of state: made, refused, followed, written and fenced, with a real broker."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import pytest

from penstock.client import AsyncKafkaProducer
from penstock.client.admin.topic_changes import NewTopic, create_topics, delete_topics
from penstock.client.admin.topic_descriptions import TopicDescription, describe_topics
from penstock.client.table.topic import TableTopic, WrongTopic
from penstock.client.table.topic_log import TopicLog
from penstock.client.table.writer import Fenced, FencedWriter, PlainWriter
from penstock.testing import InProcessBroker
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for

SECONDS = 60.0
_numbers = count()


def new_topic(partitions: int = 1, **more: bool) -> TableTopic:
    name = f"state-{next(_numbers)}"
    return TableTopic(
        "some.topic",
        name,
        partitions,
        1,
        "some states",
        "some service",
        "its settings",
        configs={"cleanup.policy": "compact"},
        **more,
    )


class Followed:
    def __init__(self, kafka: KafkaServer, topic: TableTopic) -> None:
        self.records: list[tuple[bytes | None, bytes | None]] = []
        self.forgotten = 0
        configs = {"bootstrap.servers": kafka.bootstrap}
        self.log = TopicLog(
            configs, topic, lambda each: self.records.append((each.key, each.value)), self._forget
        )

    def _forget(self) -> None:
        self.records.clear()
        self.forgotten += 1


@asynccontextmanager
async def following(kafka: KafkaServer, topic: TableTopic) -> AsyncIterator[Followed]:
    followed = Followed(kafka, topic)
    task = asyncio.create_task(followed.log.run())
    try:
        async with asyncio.timeout(SECONDS):
            await followed.log.ready.wait()
            yield followed
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def admin_of(kafka: KafkaServer) -> AsyncIterator[Cluster]:
    async with asyncio_cluster(ClusterConfig.from_configs({"bootstrap.servers": kafka.bootstrap})) as cluster:
        yield cluster


def in_event_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*arguments: Any, **keywords: Any) -> None:
        asyncio.run(test(*arguments, **keywords))

    return run


@in_event_loop
async def test_all_partitions_are_read_and_ones_own_writes_seen(kafka: KafkaServer) -> None:
    topic = new_topic(3)
    async with following(kafka, topic) as first, following(kafka, topic) as second, admin_of(kafka) as admin:
        described = (await describe_topics(admin, [topic.name]))[topic.name]
        assert isinstance(described, TopicDescription)
        assert len(described.partitions) == 3
        writer = PlainWriter({"bootstrap.servers": kafka.bootstrap}, "test", topic.name)
        try:
            for number in range(20):
                written = await writer.write(b"key-%d" % number, b"%d" % number)
                await first.log.replayed(*written)
                assert (b"key-%d" % number, b"%d" % number) in first.records
        finally:
            await writer.close()
        await second.log.read_to_end(admin)
        assert sorted(second.records) == sorted(first.records)
    async with following(kafka, topic) as third:
        assert sorted(third.records) == sorted(first.records)


@in_event_loop
async def test_what_is_not_committed_is_not_read_and_does_not_hold_up(kafka: KafkaServer) -> None:
    topic = new_topic()
    configs = {"bootstrap.servers": kafka.bootstrap}
    async with following(kafka, topic) as followed, admin_of(kafka) as admin:
        async with AsyncKafkaProducer({**configs, "transactional.id": f"{topic.name}-aborts"}) as producer:
            await producer.init_transactions()
            await producer.begin_transaction()
            await producer.send(topic.name, b"aborted", b"key")
            await producer.abort_transaction()
        await followed.log.read_to_end(admin)
        assert followed.records == []


@in_event_loop
async def test_whoever_claims_last_writes(kafka: KafkaServer) -> None:
    topic = new_topic()
    configs = {"bootstrap.servers": kafka.bootstrap}
    async with following(kafka, topic) as followed:
        old, new = (FencedWriter(configs, f"{topic.name}-leader", topic.name) for _ in range(2))
        try:
            await followed.log.replayed(*next(iter((await old.write([(b"a", b"1")])).items())))
            await new.claim()
            with pytest.raises(Fenced):
                await old.write([(b"a", b"2")])
            written = await new.write([(b"a", b"3"), (b"b", b"4")])
            await followed.log.replayed(*next(iter(written.items())))
            assert followed.records == [(b"a", b"1"), (b"a", b"3"), (b"b", b"4")]
        finally:
            await old.close()
            await new.close()


@in_event_loop
async def test_a_topic_that_was_deleted_is_read_anew(kafka: KafkaServer) -> None:
    topic = new_topic()
    async with following(kafka, topic) as followed, admin_of(kafka) as admin:
        writer = PlainWriter({"bootstrap.servers": kafka.bootstrap}, "test", topic.name)
        try:
            await followed.log.replayed(*await writer.write(b"a", b"1"))
            assert (await delete_topics(admin, [topic.name]))[topic.name] is None
            await asyncio.to_thread(
                wait_for, lambda: followed.forgotten == 1 and followed.log.ready.is_set(), SECONDS
            )
            assert followed.records == []
        finally:
            await writer.close()


@pytest.mark.parametrize(
    ("partitions", "configs", "message"),
    [
        (1, {"cleanup.policy": "delete"}, "is required to have 'cleanup.policy=compact'"),
        (2, {"cleanup.policy": "compact"}, "is required to have a single partition"),
    ],
)
@in_event_loop
async def test_a_topic_that_would_lose_state_is_refused(
    kafka: KafkaServer, partitions: int, configs: dict[str, str], message: str
) -> None:
    topic = new_topic(has_one_partition=True)
    async with admin_of(kafka) as admin:
        made = await create_topics(admin, [NewTopic(topic.name, partitions, 1, configs=configs)])
        assert not isinstance(made[topic.name], Exception)
    with pytest.raises(WrongTopic, match=message):
        async with asyncio.timeout(SECONDS):
            await Followed(kafka, topic).log.run()


@in_event_loop
async def test_a_topic_that_the_broker_asked_has_not_heard_of_yet_is_looked_at_all_the_same() -> None:
    """Somebody has just made it, by way of another broker."""
    topic = new_topic()
    with InProcessBroker() as broker:
        async with asyncio_cluster(
            ClusterConfig.from_configs({"bootstrap.servers": broker.bootstrap_servers})
        ) as admin:
            await create_topics(admin, [NewTopic(topic.name, 1, 1, configs={"cleanup.policy": "delete"})])
            broker.interceptor.answer("DescribeTopicPartitions", "UNKNOWN_TOPIC_OR_PARTITION", times=1)
            log = TopicLog(
                {"bootstrap.servers": broker.bootstrap_servers}, topic, lambda each: None, lambda: None
            )
            with pytest.raises(WrongTopic, match=r"cleanup\.policy=compact"):
                async with asyncio.timeout(SECONDS):
                    await log.run()
