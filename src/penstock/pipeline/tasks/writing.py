"""The transactions of a pack: results, changes of stores and positions are seen together, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from penstock.client import KafkaAdmin, KafkaProducer, OffsetAndMetadata, ProducerConfig, RecordBatch
from penstock.client.advice import ADVICE
from penstock.errors import ErrorCode
from penstock.pipeline.operators.task import Produced
from penstock.pipeline.tasks.internal_topics import names_of
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError, TransactionAbortableError

_OURS: Final = {"linger.ms": "0", "compression.type": "lz4"}


class _Membership:
    """Stands for the consumer that the process which planned the pack has in the group."""

    def __init__(self, group_metadata: bytes) -> None:
        self._metadata = group_metadata

    def group_metadata(self) -> object:
        return self._metadata


class Writer:
    def __init__(
        self, settings: StreamsSettings, transactional_id: str, client_id: str, group_metadata: bytes
    ) -> None:
        self._settings = settings
        self._written: set[str] = set()
        self._membership = _Membership(group_metadata)
        self._producer = KafkaProducer(
            ProducerConfig(
                {
                    **_OURS,
                    "request.timeout.ms": str(settings.transaction_timeout_ms),
                    **settings.client_configs("producer"),
                    "client.id": client_id,
                    "transactional.id": transactional_id,
                    "transaction.timeout.ms": str(settings.transaction_timeout_ms),
                }
            )
        )
        self.is_open = False

    def lock_out_earlier(self) -> None:
        """Whoever had this transactional id can't commit any more, and what it left open is gone."""
        self._producer.init_transactions()

    def begin(self) -> None:
        if not self.is_open:
            self._producer.begin_transaction()
            self.is_open = True

    def write(self, produced: Sequence[Produced]) -> None:
        """What sinks made."""
        self.begin()
        of_topics: dict[str, list[Produced]] = {}
        for each in produced:
            of_topics.setdefault(each[0], []).append(each)
        self._written.update(of_topics)
        for topic, records in of_topics.items():
            if any(each.headers for each in records):
                for each in records:
                    self._send_alone(each)
            elif any(each.partition for each in records):
                for partition, group in self._by_partition(topic, records).items():
                    self._send(topic, partition, group)
            else:
                self._send(topic, None, records)

    def _send(self, topic: str, partition: int | None, records: Sequence[Produced]) -> None:
        _, keys, values, timestamps, *_ = zip(*records, strict=True)
        self._producer.send_batch(RecordBatch(topic, values, keys, partition, timestamps))

    def _by_partition(self, topic: str, records: Sequence[Produced]) -> dict[int | None, list[Produced]]:
        """In the order of each partition; None is for the producer to choose."""
        partitions = self._producer.partitions_of(topic)
        groups: dict[int | None, list[Produced]] = {}
        for each in records:
            chosen = None if each.partition is None else each.partition(partitions)
            groups.setdefault(chosen, []).append(each)
        return groups

    def write_changes(
        self, changelog: TopicPartition, changes: Mapping[bytes, tuple[bytes | None, int]]
    ) -> None:
        """Of a store."""
        self.begin()
        values, timestamps = zip(*changes.values(), strict=True)
        self._producer.send_batch(
            RecordBatch(changelog.topic, values, list(changes), changelog.partition, timestamps)
        )

    def _send_alone(self, each: Produced) -> None:
        chosen = None
        if each.partition is not None:
            chosen = each.partition(self._producer.partitions_of(each.topic))
        self._producer.produce(each.topic, each.value, each.key, chosen, each.timestamp, list(each.headers))

    def send_aside(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: list[tuple[str, bytes]],
    ) -> None:
        """A record that was read and is of no use, with what is wrong with it."""
        self._written.add(topic)
        self._producer.produce(topic, value, key, None, timestamp, headers)

    def commit(self, positions: Mapping[TopicPartition, tuple[int, str]]) -> None:
        self.begin()
        offsets = {where: OffsetAndMetadata(offset, note) for where, (offset, note) in positions.items()}
        try:
            self._producer.send_offsets_to_transaction(offsets, self._membership)
            self._producer.commit_transaction()
        except TransactionAbortableError as error:
            self._refuse_missing_topics(error)
            raise
        self._written.clear()
        self.is_open = False

    def _refuse_missing_topics(self, error: KafkaError) -> None:
        """For a topic that is not there librdkafka waits, until it says no more than that its time is over."""
        with KafkaAdmin(self._settings.client_configs("admin")) as admin:
            missing = sorted(self._written - names_of(admin))
        if missing:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            told = f"topic {missing[0]} is written, and there is no such topic; {ADVICE[code]}"
            raise KafkaError(told, code) from error

    def abort(self) -> None:
        if self.is_open:
            self._producer.abort_transaction()
            self.is_open = False

    def close(self) -> None:
        self._producer.close(timeout=1.0)
