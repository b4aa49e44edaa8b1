"""Copies partitions: what is read from the source is handed on as it is, to the same partition of the copy.

Positions are source offsets of Connect, in the transaction of the records. They are those of the last record that was
copied, as in MirrorMaker 2, whose offsets topic can be taken over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.client import KafkaConsumer
from penstock.client.librdkafka import Message
from penstock.pipeline.connect.api.task import SourceTask
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.data.headers import Header, Headers
from penstock.pipeline.connect.data.schema import BYTES, OPTIONAL_BYTES
from penstock.pipeline.connect.errors import RetriableConnectError
from penstock.pipeline.mirror.configs import (
    SOURCE,
    SOURCE_CONFIG,
    TASK_PARTITIONS,
    TASK_STARTS,
    client_configs,
    replication_policy,
)
from penstock.pipeline.mirror.formats import OffsetSync
from penstock.pipeline.mirror.offset_syncs import OffsetSyncWriter
from penstock.types import TopicPartition
from penstock.wire_client.errors import RetriableError

MAX_POLL_SECONDS: Final = 1.0
NOTHING_COPIED: Final = -1
FROM_RESET: Final = -1
"""As an offset: where `auto.offset.reset` says."""


class MirrorSourceTask(SourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        parsed = SOURCE_CONFIG.parse(configs)
        self._alias: str = parsed["source.cluster.alias"]
        self._poll_seconds = min(parsed["consumer.poll.timeout.ms"] / 1000, MAX_POLL_SECONDS)
        self._policy = replication_policy(configs)
        self._copies: dict[str, str] = {}
        self._source_partitions = {
            each: {"cluster": self._alias, "partition": each.partition, "topic": each.topic}
            for each in decode_partitions(configs[TASK_PARTITIONS])
        }
        self._syncs: OffsetSyncWriter | None = None
        if parsed["emit.offset-syncs.enabled"]:
            self._syncs = OffsetSyncWriter(configs, parsed["offset.lag.max"])
        self._consumer = KafkaConsumer(client_configs(configs, SOURCE, "consumer", "replication-consumer"))
        self._consumer.assign(self._positions(json.loads(configs.get(TASK_STARTS, "{}"))))

    def _positions(self, starts: Mapping[str, int]) -> dict[TopicPartition, int]:
        stored = self.context.offsets.offsets(list(self._source_partitions.values()))
        copied = ((offset or {}).get("offset", NOTHING_COPIED) for offset in stored)
        positions = {
            partition: starts.get(str(partition), FROM_RESET) if last == NOTHING_COPIED else last + 1
            for partition, last in zip(self._source_partitions, copied, strict=True)
        }
        return positions | self._beginnings([each for each, at in positions.items() if at == FROM_RESET])

    def _beginnings(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        """Asked for before anything is fetched: librdkafka's own question would wait behind a fetch that waits for
        records of another partition, longer than a short tick lasts."""
        if not partitions or self._consumer.config.auto_offset_reset != "earliest":
            return {}
        return self._consumer.beginning_offsets(partitions)

    def poll(self) -> Sequence[SourceRecord] | None:
        try:
            batch = self._consumer.poll_batch(self._poll_seconds)
        except RetriableError as error:
            raise RetriableConnectError(f"{self._alias} cannot be read now: {error}") from error
        return [self._record(message) for message in batch.messages()]

    def _record(self, message: Message) -> SourceRecord:
        topic, partition = str(message.topic()), int(message.partition() or 0)
        kind, timestamp = message.timestamp()
        headers: Any = message.headers()
        return SourceRecord(
            self._source_partitions[TopicPartition(topic, partition)],
            {"offset": message.offset()},
            self._copies.get(topic) or self._name_copy(topic),
            message.value(),
            BYTES,
            message.key(),
            OPTIONAL_BYTES,
            partition,
            timestamp if kind else None,
            Headers(Header(key, value, BYTES) for key, value in headers) if headers else None,
        )

    def _name_copy(self, topic: str) -> str:
        self._copies[topic] = self._policy.remote_topic(self._alias, topic)
        return self._copies[topic]

    def commit_record(self, record: SourceRecord, topic: str, partition: int, offset: int) -> None:
        if self._syncs is None or offset < 0:
            return
        source, position = record.source_partition, record.source_offset
        assert source is not None
        assert position is not None
        upstream = TopicPartition(source["topic"], source["partition"])
        self._syncs.on_copied(OffsetSync(upstream, position["offset"], offset))

    def commit(self) -> None:
        if self._syncs is not None:
            self._syncs.on_commit()

    def stop(self) -> None:
        if self._syncs is not None:
            self._syncs.close()
        self._consumer.close()


def encode_partitions(partitions: Sequence[TopicPartition]) -> str:
    return ",".join(map(str, partitions))


def decode_partitions(text: str) -> list[TopicPartition]:
    pairs = (each.rpartition("-") for each in text.split(",") if each)
    return [TopicPartition(topic, int(number)) for topic, _, number in pairs]
