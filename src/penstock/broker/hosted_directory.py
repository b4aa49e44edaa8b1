"""One log directory in use: the partitions in it, what of them is checkpointed, and whether it still works."""

import asyncio
import logging
import os
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.errors import ConfigError, StorageError
from penstock.log.fs import FileSystem
from penstock.log.log_dir import LogDirectory, MetaProperties
from penstock.log.partition_log import PartitionLog
from penstock.log.partition_metadata import read_partition_metadata
from penstock.settings.topic import TopicSettings
from penstock.types import TopicPartition

if TYPE_CHECKING:
    from penstock.broker.partition import Partition

log = logging.getLogger("penstock.broker.log_directories")

Offsets = dict[TopicPartition, int]

MOST_DAMAGES = 1000
"""That are told of, in the life of a broker."""


class Doomed(NamedTuple):
    """A file or directory that is to be removed when its time has come."""

    path: str
    due_ms: int


def free_space(path: str) -> str:
    """In words, for who reads why a disk failed."""
    try:
        disk = os.statvfs(path)
    except OSError as error:
        return error.strerror or str(error)
    return f"{disk.f_bavail * disk.f_frsize} bytes free"


class Wakes(Protocol):
    """Wakes who waits for a partition, see `broker.wakeups`."""

    def wake(self, partition: "Partition") -> None: ...

    def wake_followers(self, partition: "Partition") -> None: ...


class HostedDirectory:
    def __init__(
        self,
        fs: FileSystem,
        path: str,
        wakeups: "Wakes",
        on_offline: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_offline` may be called from any thread."""
        self.fs = fs
        self.path = os.path.abspath(path)
        self.wake = wakeups.wake
        self.wake_followers = wakeups.wake_followers
        self.on_offline = on_offline
        self.failure: StorageError | None = None
        self.stored: set[TopicPartition] = set()
        self.doomed: list[Doomed] = []
        self.meta: MetaProperties | None = None
        self.recovery_points: Offsets = {}
        self.log_starts: Offsets = {}
        self.high_watermarks: Offsets = {}
        self.cleaner_offsets: Offsets = {}
        self._logs: dict[TopicPartition, PartitionLog] = {}
        self._checkpointing = asyncio.Lock()
        self._opened = False
        self._damages: set[str] = set()
        self._directory: LogDirectory

    # working or not

    @property
    def offline(self) -> bool:
        return self.failure is not None

    def on_failure(self, error: StorageError) -> None:
        """Takes the directory offline; the rest of the broker serves on. It stays so until the next start, as in
        Kafka: what could not be written may be missing anywhere in it, and only a start looks everywhere."""
        if self.failure is None:
            self.failure = StorageError(f"{error} ({free_space(self.path)})", error.errno)
            log.error("log directory %s goes offline: %s", self.path, self.failure)
            self.on_offline()

    def tell_of_damage(self, what: str) -> None:
        """Logs, once, what a read has found: a consumer comes back to it again and again."""
        if what not in self._damages and len(self._damages) < MOST_DAMAGES:
            self._damages.add(what)
            log.error("%s; readers are answered CORRUPT_MESSAGE there", what)

    def open(self) -> None:
        try:
            self._directory = LogDirectory.open(self.fs, self.path)
            self._opened = True
            self.meta = self._directory.read_meta()
            self.stored = set(self._directory.partitions())
            self.doomed = [Doomed(path, 0) for path in self._directory.deleted_partitions()]
            self.recovery_points = self._directory.read_recovery_points()
            self.log_starts = self._directory.read_log_start_offsets()
            self.high_watermarks = self._directory.read_high_watermarks()
            self.cleaner_offsets = self._directory.read_cleaner_offsets()
            self._directory.mark_in_use()
        except StorageError as error:
            self.on_failure(error)

    def claim(self, meta: MetaProperties) -> None:
        """Refuses a directory that belongs to another broker or cluster; marks one that belongs to none."""
        if self.meta is None:
            try:
                self._directory.write_meta(meta)
                self.meta = meta
            except StorageError as error:
                self.on_failure(error)
        elif self.meta.broker_id != meta.broker_id:
            raise ConfigError(
                f"broker.id: got {meta.broker_id}, but {self.path} belongs to broker {self.meta.broker_id}; "
                "takes the same number, or an empty log directory"
            )
        elif self.meta.cluster_id != meta.cluster_id:
            raise ConfigError(
                f"log.dirs: {self.path} belongs to the cluster {self.meta.cluster_id}, but zookeeper.connect "
                f"leads to the cluster {meta.cluster_id}; takes a directory of the same cluster, or an empty one"
            )

    # logs

    def open_log(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        settings: TopicSettings,
        now_ms: int,
        producer_expiration_ms: int,
    ) -> PartitionLog:
        opened = PartitionLog.open(
            self.fs,
            self._directory.partition_path(topic_partition),
            topic_partition,
            settings,
            topic_id=uuid.UUID(bytes=topic_id),
            now_ms=now_ms,
            recovery_point=self.recovery_points.get(topic_partition, 0),
            log_start_offset=self.log_starts.get(topic_partition, 0),
            clean=self._directory.was_clean or topic_partition not in self.stored,
            producer_expiration_ms=producer_expiration_ms,
        )
        self.stored.add(topic_partition)
        self._logs[topic_partition] = opened
        return opened

    def set_aside(self, topic_partition: TopicPartition) -> None:
        """Renames the directory of an earlier topic of the same name, which ZooKeeper no longer knows."""
        source = self._directory.partition_path(topic_partition)
        target = f"{self.path}/{uuid.uuid4().hex}-stray"
        log.warning("%s belongs to an earlier topic of that name; it is kept as %s", source, target)
        self.fs.rename(source, target)
        self._forget(topic_partition)

    def retire(self, partition: "Partition", now_ms: int) -> None:
        """Takes a deleted partition's files out of the way."""
        topic_partition = partition.topic_partition
        assert partition.is_deleted  # what is at work on its files may fail now; the disk is sound
        try:
            path = self._directory.retire_partition(topic_partition, uuid.uuid4().hex)
        except StorageError as error:
            self.on_failure(error)
            return
        partition.log.close_after_failure()
        self.doomed.append(Doomed(path, now_ms + partition.log.settings.file_delete_delay_ms))
        self._forget(topic_partition)

    def retire_unopened(self, topic_partition: TopicPartition, topic_id: bytes, now_ms: int) -> None:
        """Of a partition that other brokers have by now; of an earlier topic of that name it is left alone."""
        try:
            path = self._directory.partition_path(topic_partition)
            if read_partition_metadata(self.fs, path) != uuid.UUID(bytes=topic_id):
                return
            log.info("%s has no replica here any more", topic_partition)
            path = self._directory.retire_partition(topic_partition, uuid.uuid4().hex)
        except StorageError as error:
            self.on_failure(error)
            return
        self.doomed.append(Doomed(path, now_ms))
        self._forget(topic_partition)

    def _forget(self, topic_partition: TopicPartition) -> None:
        self.stored.discard(topic_partition)
        self._logs.pop(topic_partition, None)
        for offsets in (self.recovery_points, self.log_starts, self.high_watermarks, self.cleaner_offsets):
            offsets.pop(topic_partition, None)

    # checkpoints

    async def checkpoint_recovery_points(self) -> None:
        await self._checkpoint(
            LogDirectory.write_recovery_points,
            self.recovery_points,
            lambda: {partition: log.recovery_point for partition, log in self._logs.items()},
        )

    async def checkpoint_log_starts(self) -> None:
        """Only those that lie inside a segment; the others are seen from the files."""
        await self._checkpoint(
            LogDirectory.write_log_start_offsets,
            self.log_starts,
            lambda: {
                partition: log.log_start_offset
                for partition, log in self._logs.items()
                if log.log_start_offset > log.segments[0].base_offset
            },
        )

    async def checkpoint_high_watermarks(self, partitions: "Iterable[Partition]") -> None:
        await self._checkpoint(
            LogDirectory.write_high_watermarks,
            self.high_watermarks,
            lambda: {p.topic_partition: p.high_watermark for p in partitions if p.directory is self},
        )

    async def checkpoint_cleaner(self, topic_partition: TopicPartition, first_dirty_offset: int) -> None:
        await self._checkpoint(
            LogDirectory.write_cleaner_offsets,
            self.cleaner_offsets,
            lambda: {**self.cleaner_offsets, topic_partition: first_dirty_offset},
        )

    async def _checkpoint(
        self, write: Callable[[LogDirectory, Offsets], None], last: Offsets, collect: Callable[[], Offsets]
    ) -> None:
        """Writes what changed since the last time, in a thread; one write at a time, so the newest is last."""
        async with self._checkpointing:
            now = collect()
            if now == last or self.offline:
                return
            try:
                await asyncio.to_thread(write, self._directory, now)
            except StorageError as error:
                self.on_failure(error)
                return
            last.clear()
            last.update(now)

    # the end

    async def close_cleanly(self, partitions: "Iterable[Partition]") -> None:
        """All logs are written out: says so to the next start."""
        await self.checkpoint_high_watermarks(partitions)
        await self.checkpoint_recovery_points()
        await self.checkpoint_log_starts()
        if self.offline:
            return
        try:
            self._directory.mark_clean()
        except StorageError as error:
            self.on_failure(error)

    def release(self) -> None:
        """Gives the directory back, also one that failed: its lock must not outlive the broker."""
        if self._opened:
            self._opened = False
            self._directory.close()
