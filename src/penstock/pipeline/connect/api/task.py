"""Tasks do the copying. They live on Spark's executors: what they hold must not outlive `stop`.

A task is started, asked again and again for a bounded time, and stopped; then the next one goes on where its
offsets say, maybe elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.pipeline.connect.api.contexts import SinkTaskContext, SourceTaskContext, TopicPartition
from penstock.pipeline.connect.data import SinkRecord, SourceRecord


class SourceTask:
    context: SourceTaskContext

    def start(self, configs: Mapping[str, str]) -> None:
        self.configs = configs

    def poll(self) -> Sequence[SourceRecord] | None:
        """The next records; none, after a short wait (at most a second), when there are none now. Many that are alike
        go faster as `SourceColumns`."""
        raise NotImplementedError

    def commit(self) -> None:
        """What polls before the last one returned is in Kafka, with its offsets; of the last one it is not certain."""

    def commit_record(self, record: SourceRecord, topic: str, partition: int, offset: int) -> None:
        """This record is in Kafka. Called only where a task overrides it; -1 for a record that a transform dropped."""

    def stop(self) -> None:
        pass


class SinkTask:
    context: SinkTaskContext
    takes_columns: bool = False
    """Whether `put` is better given `SinkColumns`, where records can be; asked after `start`."""

    def start(self, configs: Mapping[str, str]) -> None:
        self.configs = configs

    def open(self, partitions: Sequence[TopicPartition]) -> None:
        """These partitions are ours now; a sink that remembers positions says them with `context.offset`."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        raise NotImplementedError

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """All that was put is safe when this returns; then `offsets`, the next ones to read, are committed."""

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """The offsets that may be committed; a sink that writes behind says fewer."""
        self.flush(offsets)
        return offsets

    def close(self, partitions: Sequence[TopicPartition]) -> None:
        """These partitions go to somebody else."""

    def stop(self) -> None:
        pass
