"""Replicas that move from one log directory of this broker to another (AlterReplicaLogDirs).

Beside the partition's log a copy is made in the other directory, piece by piece, while the partition is served as ever
and whatever its role. As soon as the copy has all, it takes the log's place: within one turn of the event loop, so
nobody sees anything between. A kill on the way costs nothing: the copy is found at the next start, and goes on where it
was; and of the two renames at the end, the second one is made up for (`HostedDirectory.replace`).

Compaction leaves a partition alone as long as it is copied. `replica.alter.log.dirs.io.max.bytes.per.second` holds for
all moves together.
"""

import asyncio
import logging
from collections.abc import Callable

from penstock.broker.future_replica import FutureReplica
from penstock.broker.hosted_directory import HostedDirectory
from penstock.broker.log_directories import LogDirectories
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.clock import Clock
from penstock.errors import ApiError, ErrorCode, StorageError
from penstock.log.file_slice import FileSlice
from penstock.log.log_dir import can_be_copied
from penstock.replica.throttle import Throttle
from penstock.settings.broker import BrokerSettings
from penstock.types import TopicPartition

log = logging.getLogger("penstock.broker.log_dir_moves")

THROTTLED_SECONDS = 0.1
NOT_HERE = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


class LogDirMoves:
    def __init__(
        self,
        settings: Callable[[], BrokerSettings],
        static: BrokerSettings,
        clock: Clock,
        directories: LogDirectories,
        partitions: Partitions,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._directories = directories
        self._partitions = partitions
        self._throttle = Throttle(
            static.alter_log_dirs_replication_quota_window_num,
            static.alter_log_dirs_replication_quota_window_size_seconds * 1000,
        )
        at_once = static.num_replica_alter_log_dirs_threads or len(directories.directories)
        self._turns = asyncio.Semaphore(at_once)
        self._moving: dict[Partition, asyncio.Task[None]] = {}

    # asked for

    def alter(self, topic_partition: TopicPartition, path: str) -> None:
        """Begins to move a replica, or brings one that is still to come into that directory; ApiError if it does
        not."""
        if not can_be_copied(topic_partition):
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic name is too long.")
        directory = self._directories.at(path)
        try:
            partition = self._partitions.find(*topic_partition)
        except ApiError as error:
            if error.code not in NOT_HERE:
                raise
            self._directories.prefer(topic_partition, directory)
            if error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                raise ApiError(ErrorCode.REPLICA_NOT_AVAILABLE) from error
            raise
        partition.check_online()
        if partition.future is not None and partition.future.directory is not directory:
            self.give_up(partition)
        if partition.future is None and partition.directory is not directory:
            self._begin(partition, directory)

    def resume(self) -> None:
        """What a stop has interrupted; copies of what is no replica here any more go."""
        for directory in self._directories.online:
            for where in list(directory.futures):
                try:
                    partition = self._partitions.find(*where)
                except ApiError as error:
                    if error.code in NOT_HERE:
                        directory.drop_future(where, self._clock.now_ms())
                    continue
                if partition.future is not None or partition.directory is directory:
                    directory.drop_future(where, self._clock.now_ms())
                else:
                    self._resume(partition, directory)

    def _resume(self, partition: Partition, directory: HostedDirectory) -> None:
        try:
            self._begin(partition, directory)
        except ApiError as error:
            log.error("%s does not move on to %s: %s", partition.topic_partition, directory.path, error)

    def _begin(self, partition: Partition, directory: HostedDirectory) -> None:
        where, now_ms = partition.topic_partition, self._clock.now_ms()
        try:
            future = FutureReplica(directory.open_future(partition.log, now_ms), directory)
            future.cut_to_common(partition.log, now_ms)
        except StorageError as error:
            directory.on_failure(error)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        except ApiError:
            directory.drop_future(where, now_ms)
            raise
        log.info("%s moves from %s to %s", where, partition.directory.path, directory.path)
        partition.future = future
        self._moving[partition] = asyncio.get_running_loop().create_task(self._move(partition, future))

    def give_up(self, partition: Partition) -> None:
        """The partition stays where it is, or goes altogether."""
        future, partition.future = partition.future, None
        task = self._moving.pop(partition, None)
        if task is not None:
            task.cancel()
        if future is not None:
            future.log.close_after_failure()
            future.directory.drop_future(partition.topic_partition, self._clock.now_ms())

    def close(self) -> None:
        """The copies stay, and go on at the next start."""
        for task in self._moving.values():
            task.cancel()
        self._moving.clear()

    # moving

    async def _move(self, partition: Partition, future: FutureReplica) -> None:
        where, source = partition.topic_partition, partition.directory
        try:
            async with self._turns:
                await self._note_where_it_is(future)
                await self._catch_up(partition, future)
                while not self._try_to_replace(partition, future):
                    await self._catch_up(partition, future)
            log.info("%s has moved to %s", where, future.directory.path)
            await self._note_where_it_is(future)
        except (ApiError, StorageError) as error:
            log.error("%s stays in %s: %s", where, source.path, error)
            await self._put_aside(partition, future)
        except Exception:
            log.exception("%s stays in %s", where, source.path)
            self.give_up(partition)
        finally:
            if self._moving.get(partition) is asyncio.current_task():
                del self._moving[partition]

    async def _put_aside(self, partition: Partition, future: FutureReplica) -> None:
        """If a disk has failed, the copy waits for the next start; else the log can't be copied."""
        if partition.directory.offline or future.directory.offline:
            partition.future = None
            await asyncio.to_thread(future.close)
        else:
            self.give_up(partition)

    async def _note_where_it_is(self, future: FutureReplica) -> None:
        directory = future.directory
        await directory.checkpoint_recovery_points()
        await directory.checkpoint_log_starts()
        await directory.checkpoint_high_watermarks(self._partitions)

    async def _catch_up(self, partition: Partition, future: FutureReplica) -> None:
        """All that there is by now; and what was copied is on stable storage then."""
        has_all = False
        while not has_all:
            await self._wait_for_throttle()
            await self._warm_next(partition, future)
            has_all = self._copy_piece(partition, future)
        plan = future.log.plan_flush()
        try:
            await asyncio.to_thread(plan.run)
        except StorageError as error:
            future.directory.on_failure(error)
            raise
        future.log.mark_flushed(plan)
        await self._note_where_it_is(future)
        await self._wait_for_throttle()

    def _next_piece(self, partition: Partition, future: FutureReplica) -> FileSlice | None:
        """What is to be copied next; None if the copy has all."""
        partition.check_online()
        future.follow_start(partition.log, self._clock.now_ms())
        position, end = future.log.log_end_offset, partition.log.log_end_offset
        if position == end:
            return None
        max_bytes = self._settings().replica_fetch_max_bytes
        piece = partition.read(position, max_bytes, max_offset=end, at_least_one=True)
        if piece is None:
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"there is nothing from offset {position} to {end}")
        return piece

    async def _warm_next(self, partition: Partition, future: FutureReplica) -> None:
        """Only that: the source may be cut meanwhile."""
        piece = self._next_piece(partition, future)
        if piece is not None and not piece.is_cached():
            try:
                await asyncio.to_thread(piece.warm)
            except StorageError as error:
                raise partition.on_failure(error) from error

    def _copy_piece(self, partition: Partition, future: FutureReplica) -> bool:
        """True if that was all."""
        piece = self._next_piece(partition, future)
        if piece is not None:
            try:
                records = memoryview(piece.read())
            except StorageError as error:
                raise partition.on_failure(error) from error
            future.append(records, self._clock.now_ms())
            self._throttle.record(len(records), self._clock.monotonic_ms())
        return future.log.log_end_offset == partition.log.log_end_offset

    async def _wait_for_throttle(self) -> None:
        pause = 0.0  # others are served
        while True:
            await asyncio.sleep(pause)
            limit = self._settings().replica_alter_log_dirs_io_max_bytes_per_second
            if not self._throttle.is_exceeded(limit, self._clock.monotonic_ms()):
                return
            pause = THROTTLED_SECONDS

    def _try_to_replace(self, partition: Partition, future: FutureReplica) -> bool:
        """If one piece is left at most: then that, and the end, in this very turn."""
        if not self._copy_piece(partition, future) or not future.can_replace(partition.log):
            return False
        if not future.replace(partition.log, partition.directory, self._clock.now_ms()):
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "a log directory has failed")
        partition.log, partition.directory, partition.future = future.log, future.directory, None
        partition.wake_all()
        return True
