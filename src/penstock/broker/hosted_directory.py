"""One log directory in use: the partitions in it, what of them is checkpointed, and whether it still works."""

import asyncio
import logging
import os
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.errors import ConfigError, StorageError
from penstock.log.fs import FileSystem
from penstock.log.log_dir import Future, LogDirectory, MetaProperties
from penstock.log.partition_log import PartitionLog
from penstock.log.partition_metadata import read_partition_metadata
from penstock.settings.topic import TopicSettings
from penstock.types import TopicPartition

if TYPE_CHECKING:
    from penstock.broker.partition import Partition

log = logging.getLogger("penstock.broker.log_directories")


class Offsets(dict[TopicPartition, int]):
    """What a checkpoint file has, but for what was forgotten since it was written."""

    is_outdated = False

    def forget(self, topic_partition: TopicPartition) -> None:
        if self.pop(topic_partition, None) is not None:
            self.is_outdated = True


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
        self.futures: dict[TopicPartition, Future] = {}
        """Copies that are to replace partitions in other directories."""
        self.doomed: list[Doomed] = []
        self.meta: MetaProperties | None = None
        self.recovery_points = Offsets()
        self.log_starts = Offsets()
        self.high_watermarks = Offsets()
        self.cleaner_offsets = Offsets()
        self._logs: dict[TopicPartition, PartitionLog] = {}
        self._checkpointing = asyncio.Lock()
        self._writing: set[asyncio.Task[None]] = set()
        self._correcting: asyncio.Task[None] | None = None
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
            self.futures = {future.partition: future for future in self._directory.futures()}
            self.doomed = [Doomed(path, 0) for path in self._directory.deleted_partitions()]
            self.recovery_points = Offsets(self._directory.read_recovery_points())
            self.log_starts = Offsets(self._directory.read_log_start_offsets())
            self.high_watermarks = Offsets(self._directory.read_high_watermarks())
            self.cleaner_offsets = Offsets(self._directory.read_cleaner_offsets())
            self._directory.mark_in_use()
        except StorageError as error:
            self.on_failure(error)

    @property
    def whole_since(self) -> int | None:
        return self._directory.whole_since

    def mark_whole_since(self, epoch: int) -> None:
        try:
            self._directory.mark_whole_since(epoch)
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
        if topic_partition not in self.stored:
            self._forget_offsets(topic_partition)
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

    # copies that are to replace partitions in other directories

    def open_future(self, source: PartitionLog, now_ms: int) -> PartitionLog:
        """The copy as it was left, or a new one."""
        where = source.topic_partition
        future = self.futures.get(where)
        if future is None:
            future = Future(where, uuid.uuid4().hex)
            self._forget_offsets(where)
        opened = PartitionLog.open(
            self.fs,
            self._directory.future_path(future),
            where,
            source.settings,
            topic_id=source.topic_id,
            now_ms=now_ms,
            recovery_point=self.recovery_points.get(where, 0),
            log_start_offset=self.log_starts.get(where, 0),
            clean=where not in self.futures or (self._directory.was_clean and where not in self._logs),
            producer_expiration_ms=source.producer_expiration_ms,
        )
        self.futures[where] = future
        self._logs[where] = opened
        return opened

    def drop_future(self, topic_partition: TopicPartition, now_ms: int) -> None:
        """The files go; who works on them has stopped."""
        future = self.futures.pop(topic_partition, None)
        self._logs.pop(topic_partition, None)
        self._forget_offsets(topic_partition)
        if future is None or self.offline:
            return
        try:
            path = self._directory.retire_future(future, uuid.uuid4().hex)
        except StorageError as error:
            self.on_failure(error)
        else:
            self.doomed.append(Doomed(path, now_ms))

    def replace(self, other: "HostedDirectory", source: PartitionLog, now_ms: int) -> bool:
        """The copy here becomes the partition in place of the one in the other directory; False if a disk fails.

        The other one is retired under a name by which the next start knows that this copy has all, should it be
        interrupted between the two; the source can be read until its files are removed."""
        where = source.topic_partition
        future, copy = self.futures[where], self._logs[where]
        try:
            retired = other._directory.retire_partition(where, future.unique)
        except StorageError as error:
            other.on_failure(error)
            return False
        source.relocate(retired)
        try:
            copy.relocate(self._directory.promote(future))
        except StorageError as error:
            self.on_failure(error)
            other._bring_back(retired, source)
            return False
        cleaned_to = other.cleaner_offsets.get(where)
        other._forget(where)
        other.doomed.append(Doomed(retired, now_ms + source.settings.file_delete_delay_ms))
        self.stored.add(where)
        del self.futures[where]
        if cleaned_to is not None:
            self.cleaner_offsets[where] = cleaned_to
        return True

    def _bring_back(self, retired: str, source: PartitionLog) -> None:
        try:
            self._directory.restore(retired, source.topic_partition)
        except StorageError as error:
            self.on_failure(error)
        else:
            source.relocate(self._directory.partition_path(source.topic_partition))

    def finish_replacements(self, directories: "Iterable[HostedDirectory]") -> None:
        """What a crash has interrupted."""
        for where, future in list(self.futures.items()):
            if not any(each._directory.has_been_replaced_by(future) for each in directories):
                continue
            try:
                self._directory.promote(future)
            except StorageError as error:
                self.on_failure(error)
                return
            log.info("%s has moved to %s", where, self.path)
            self.stored.add(where)
            del self.futures[where]

    def has_noted_start_of(self, copied: PartitionLog) -> bool:
        """Whether the next start would find the log's first record."""
        first = self.log_starts.get(copied.topic_partition, copied.segments[0].base_offset)
        return first >= copied.log_start_offset

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
        self._forget_offsets(topic_partition)

    def _forget_offsets(self, topic_partition: TopicPartition) -> None:
        """They were of a log that is here no more, and must not be taken for those of another one to come."""
        for offsets in (self.recovery_points, self.log_starts, self.high_watermarks, self.cleaner_offsets):
            offsets.forget(topic_partition)
        if self.log_starts.is_outdated and self._correcting is None:
            self._correcting = asyncio.get_running_loop().create_task(self._correct_log_starts())

    async def _correct_log_starts(self) -> None:
        """At once: a new log would be thought to begin behind its end, and would be emptied, by the next start."""
        self._correcting = None
        await self.checkpoint_log_starts()

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
            lambda: {p.topic_partition: p.high_watermark for p in partitions if self._has_log_of(p)},
        )

    def _has_log_of(self, partition: "Partition") -> bool:
        return partition.directory is self or (
            partition.future is not None and partition.future.directory is self
        )

    async def checkpoint_cleaner(self, topic_partition: TopicPartition, first_dirty_offset: int) -> None:
        await self._checkpoint(
            LogDirectory.write_cleaner_offsets,
            self.cleaner_offsets,
            lambda: {**self.cleaner_offsets, topic_partition: first_dirty_offset},
        )

    async def _checkpoint(
        self,
        write: Callable[[LogDirectory, dict[TopicPartition, int]], None],
        last: Offsets,
        collect: Callable[[], dict[TopicPartition, int]],
    ) -> None:
        """Writes what changed since the last time, in a thread; one write at a time, so the newest is last. One that
        has begun comes to its end, whatever becomes of who wants it."""
        writing = asyncio.get_running_loop().create_task(self._write(write, last, collect))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        await asyncio.shield(writing)

    async def _write(
        self,
        write: Callable[[LogDirectory, dict[TopicPartition, int]], None],
        last: Offsets,
        collect: Callable[[], dict[TopicPartition, int]],
    ) -> None:
        async with self._checkpointing:
            now = collect()
            if (now == last and not last.is_outdated) or self.offline:
                return
            last.is_outdated = False
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
