"""A topic read without a group: from given offsets, up to its end or for good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import TracebackType
from typing import Self

from penstock.cli.cluster_arguments import Configs
from penstock.cli.first_contact import tool_cluster_config
from penstock.cli.records.record_json import TopicRecord
from penstock.client.admin.list_offsets import IsolationLevel, OffsetSpec, list_offsets
from penstock.client.admin.topic_descriptions import describe_topics
from penstock.client.admin.topics import list_topics
from penstock.client.config import ConsumerConfig
from penstock.client.librdkafka import (
    TIMESTAMP_NOT_AVAILABLE,
    BrokerTroubles,
    Consumer,
    KafkaException,
    Message,
    NativeError,
    NativeTopicPartition,
    client_error,
    error_of,
    with_diagnostics,
)
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, blocking_cluster, now
from penstock.wire_client.errors import KafkaError

BATCH = 5_000
POLL_SECONDS = 0.1
OWN_SETTINGS = {
    "group.id": "penstock-reads-without-a-group",
    "enable.auto.commit": "false",
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
    "enable.partition.eof": "true",
    "exclude.internal.topics": "false",
    "fetch.queue.backoff.ms": "5",
}


class Extent:
    """Where the partitions of a topic begin and end, as far as what is committed goes."""

    def __init__(self, topic: str, begins: Mapping[int, int], ends: Mapping[int, int]) -> None:
        self.topic = topic
        self.begins = begins
        self.ends = ends


def extent_of(configs: Configs, topic: str) -> Extent:
    with blocking_cluster(tool_cluster_config(configs)) as cluster:
        return now(find_extent(cluster, topic))


async def find_extent(cluster: Cluster, topic: str) -> Extent:
    described = (await describe_topics(cluster, [topic]))[topic]
    if isinstance(described, KafkaError):
        if described.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise await _no_topic(cluster, topic)
        raise KafkaError(f"topic {topic}: {described.message}", described.code)
    partitions = [TopicPartition(topic, each.partition) for each in described.partitions]
    return Extent(
        topic,
        await _offsets(cluster, partitions, OffsetSpec.EARLIEST),
        await _offsets(cluster, partitions, OffsetSpec.LATEST),
    )


async def _no_topic(cluster: Cluster, topic: str) -> KafkaError:
    near = get_close_matches(topic, [each.name for each in await list_topics(cluster)], 1)
    advice = f"is {near[0]!r} meant?" if near else "`penstock topics --list` shows those that there are"
    return KafkaError(f"there is no topic {topic!r}; {advice}", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


async def _offsets(cluster: Cluster, partitions: list[TopicPartition], spec: OffsetSpec) -> dict[int, int]:
    listed = await list_offsets(
        cluster, dict.fromkeys(partitions, spec), isolation_level=IsolationLevel.READ_COMMITTED
    )
    found = {}
    for partition, result in listed.items():
        if isinstance(result, KafkaError):
            raise result
        found[partition.partition] = result.offset
    return found


class TopicReader:
    def __init__(self, configs: Configs, topic: str) -> None:
        self.topic = topic
        self._troubles = BrokerTroubles()
        native = ConsumerConfig({**configs, **OWN_SETTINGS}).for_librdkafka()
        self._consumer = Consumer(with_diagnostics(native, self._troubles))

    def read(self, starts: Mapping[int, int], ends: Mapping[int, int]) -> Iterator[TopicRecord]:
        """Each partition from its start up to its end, which may lie behind records that nobody can read."""
        left = {partition for partition, start in starts.items() if start < ends[partition]}
        self._assign({partition: starts[partition] for partition in left})
        while left:
            for message in self._next():
                partition, offset = message.partition() or 0, message.offset() or 0
                is_end = self._is_end(message)
                if not is_end and offset < ends[partition]:
                    yield _record(message)
                if is_end or offset >= ends[partition] - 1:
                    left.discard(partition)

    def follow(self, starts: Mapping[int, int]) -> Iterator[list[TopicRecord]]:
        """What comes from the starts on, for good: a list whenever there is something, now and then an empty one."""
        self._assign(starts)
        while True:
            yield [_record(message) for message in self._next() if not self._is_end(message)]

    def _assign(self, starts: Mapping[int, int]) -> None:
        self._consumer.assign([NativeTopicPartition(self.topic, *each) for each in starts.items()])

    def _next(self) -> list[Message]:
        try:
            found = self._consumer.consume(BATCH, 0)
            if not found:
                first = self._consumer.poll(POLL_SECONDS)
                found = [] if first is None else [first]
        except KafkaException as error:
            raise client_error(error_of(error), f"reading {self.topic}", self._troubles) from None
        return found

    def _is_end(self, message: Message) -> bool:
        """Whether it only says that there is no more for now; raises what else it may say."""
        error = message.error()
        if error is None:
            return False
        if error.code() != NativeError._PARTITION_EOF:
            raise client_error(error, f"reading {self.topic}", self._troubles)
        return True

    def close(self) -> None:
        self._consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _record(message: Message) -> TopicRecord:
    kind, timestamp = message.timestamp()
    return TopicRecord(
        message.topic() or "",
        message.partition() or 0,
        message.offset() or 0,
        None if kind == TIMESTAMP_NOT_AVAILABLE else timestamp,
        message.key(),
        message.value(),
        tuple(message.headers() or ()),  # type: ignore[arg-type]  # never a mapping in what was read
    )
