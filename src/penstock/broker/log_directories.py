"""The log directories of a broker: which partition lies where, and what happens when a disk fails.

A directory that can't be read or written goes offline as a whole: its partitions answer KAFKA_STORAGE_ERROR,
those in other directories serve on. When none is left the broker has nothing to serve, and ends, as Kafka halts:
whoever supervises it starts it again until the disk can be written, and the start recovers what the failure left.
"""

import asyncio
import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from penstock.broker.hosted_directory import HostedDirectory, Wakes
from penstock.broker.partition import Partition
from penstock.errors import DISK_ERRNOS, ApiError, ErrorCode, StorageError
from penstock.log.fs import FileSystem
from penstock.log.log_dir import MetaProperties
from penstock.log.partition_log import PartitionLog
from penstock.settings.topic import TopicSettings
from penstock.types import TopicPartition

log = logging.getLogger("penstock.broker.log_directories")


CLOSING_THREADS = 16
"""They wait for the disk, which is quicker when it has many syncs to do at once."""


MOST_WANTED = 10_000
"""Partitions that are to come into a certain directory; of more, the eldest wishes are forgotten."""


class OpenedLog(NamedTuple):
    log: PartitionLog
    directory: HostedDirectory
    high_watermark: int


class LogDirectories:
    def __init__(self, fs: FileSystem, paths: Iterable[str], wakeups: Wakes) -> None:
        self.fs = fs
        self._loop = asyncio.get_running_loop()
        self.all_offline = asyncio.Event()
        self.directories = [HostedDirectory(fs, path, wakeups, self._on_offline) for path in paths]
        for directory in self.directories:
            directory.open()
        self.refuse_if_all_offline()
        for directory in self.online:
            directory.finish_replacements(self.online)
        self._wanted: dict[TopicPartition, HostedDirectory] = {}

    def _on_offline(self) -> None:
        """Comes from the threads that write, too."""
        if not self.online:
            self._loop.call_soon_threadsafe(self.all_offline.set)

    def refuse_if_all_offline(self) -> None:
        failures = [directory.failure for directory in self.directories if directory.failure is not None]
        if len(failures) == len(self.directories):
            reasons = "; ".join(map(str, failures))
            numbers = [failure.errno for failure in failures if failure.errno in DISK_ERRNOS]
            raise StorageError(
                f"log.dirs: none of the directories can be used: {reasons}", numbers[0] if numbers else None
            )

    def _refuse_if_any_offline(self) -> None:
        offline = [directory.path for directory in self.directories if directory.offline]
        if offline:
            raise StorageError(f"it is in no directory that works, and may be in {', '.join(offline)}")

    @property
    def online(self) -> list[HostedDirectory]:
        return [directory for directory in self.directories if not directory.offline]

    # identity

    def stored_broker_id(self) -> int | None:
        """The id in meta.properties; they must agree."""
        ids = {directory.path: directory.meta.broker_id for directory in self.online if directory.meta}
        known = set(ids.values())
        if len(known) > 1:
            raise StorageError(f"log.dirs: the directories belong to different brokers: {ids}")
        return known.pop() if known else None

    def claim(self, broker_id: int, cluster_id: str) -> None:
        """Writes meta.properties; refuses a directory that belongs to another broker or cluster."""
        for directory in self.online:
            directory.claim(MetaProperties(broker_id, cluster_id))

    @property
    def whole_since(self) -> int | None:
        """The first life of the broker of which nothing that was written is lost; None if that is the one to come."""
        of_each = [directory.whole_since for directory in self.online]
        known = [since for since in of_each if since is not None]
        return max(known) if known and len(known) == len(of_each) else None

    def mark_whole_since(self, epoch: int) -> None:
        for directory in self.online:
            directory.mark_whole_since(epoch)

    # logs

    def open_log(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        settings: TopicSettings,
        *,
        is_new: bool,
        now_ms: int,
        producer_expiration_ms: int,
    ) -> OpenedLog:
        """Opens the partition's log where it lies, or makes one where there are the fewest.

        A partition that is not new and not found may lie in a directory that is offline: making it again
        elsewhere would lose what it holds.
        """
        directory = self._directory_of(topic_partition)
        if directory is None:
            if not is_new:
                self._refuse_if_any_offline()
            directory = self._wanted.get(topic_partition)
            if directory is None or directory.offline:
                directory = self._emptiest()
        self._wanted.pop(topic_partition, None)
        try:
            opened = directory.open_log(topic_partition, topic_id, settings, now_ms, producer_expiration_ms)
        except StorageError as error:
            directory.on_failure(error)
            raise
        except ApiError as error:
            if error.code != ErrorCode.INCONSISTENT_TOPIC_ID:
                raise
            directory.set_aside(topic_partition)
            opened = directory.open_log(topic_partition, topic_id, settings, now_ms, producer_expiration_ms)
        return OpenedLog(opened, directory, directory.high_watermarks.get(topic_partition, 0))

    def at(self, path: str) -> HostedDirectory:
        """The directory that somebody names; ApiError if it can't be used."""
        for directory in self.directories:
            if directory.path == path:
                if directory.offline:
                    raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"Log directory {path} is offline")
                return directory
        raise ApiError(ErrorCode.LOG_DIR_NOT_FOUND, f"Log dir {path} is not found in the config.")

    def prefer(self, topic_partition: TopicPartition, directory: HostedDirectory) -> None:
        """For a partition that has no replica here yet."""
        self._wanted.pop(topic_partition, None)
        if len(self._wanted) >= MOST_WANTED:
            del self._wanted[next(iter(self._wanted))]
        self._wanted[topic_partition] = directory

    def _directory_of(self, topic_partition: TopicPartition) -> HostedDirectory | None:
        for directory in self.online:
            if topic_partition in directory.stored:
                return directory
        return None

    def _emptiest(self) -> HostedDirectory:
        if not self.online:
            raise StorageError("log.dirs: all directories are offline")
        return min(self.online, key=lambda directory: len(directory.stored))

    # the end

    async def close(self, partitions: list[Partition]) -> None:
        """Writes everything out, so that the next start needs no recovery."""
        await asyncio.to_thread(_close_logs, partitions)
        for directory in self.online:
            await directory.close_cleanly(partitions)
        self.release()

    def release(self) -> None:
        for directory in self.directories:
            directory.release()


def _close_logs(partitions: list[Partition]) -> None:
    with ThreadPoolExecutor(CLOSING_THREADS) as threads:
        list(threads.map(_close_log, partitions))


def _close_log(partition: Partition) -> None:
    try:
        if not partition.directory.offline:
            partition.log.close()
    except StorageError as error:
        partition.directory.on_failure(error)
    if partition.directory.offline:
        partition.log.close_after_failure()
    if partition.future is not None:
        partition.future.close()
