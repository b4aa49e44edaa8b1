"""What a broker does beside answering: flushing, checkpoints, retention, cleaning, removing old files.

Each task runs by itself in its own interval; what would block on the disk runs in a thread. A task that fails is
logged and tried again in its next turn.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from penstock.broker.hosted_directory import Doomed
from penstock.broker.in_sync import MOST_BETWEEN_LOOKS_MS
from penstock.broker.log_cleaning import LogCleaning
from penstock.broker.turns import Turns
from penstock.errors import ApiError, StorageError

if TYPE_CHECKING:
    from penstock.broker.broker import Broker
    from penstock.broker.partition import Partition

log = logging.getLogger("penstock.broker.maintenance")

TICK_MS = 1000
IDLE_SWEEP_MS = 10_000


class Maintenance:
    def __init__(self, broker: "Broker") -> None:
        self.broker = broker
        self.cleaning = LogCleaning(lambda: broker.settings, broker.clock, broker.partitions)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        settings = self.broker.settings
        for run, interval_ms in (
            (self.flush_rolled_and_due, TICK_MS),
            (self.remove_doomed, TICK_MS),
            (self.close_idle_connections, IDLE_SWEEP_MS),
            (self.checkpoint_recovery_points, settings.log_flush_offset_checkpoint_interval_ms),
            (self.checkpoint_log_starts, settings.log_flush_start_offset_checkpoint_interval_ms),
            (self.checkpoint_high_watermarks, settings.replica_high_watermark_checkpoint_interval_ms),
            (self.apply_retention, settings.log_retention_check_interval_ms),
            (self.cleaning.clean_all, settings.log_cleaner_backoff_ms),
            (
                self.broker.in_sync.drop_those_that_lag,
                min(settings.replica_lag_time_max_ms // 2, MOST_BETWEEN_LOOKS_MS),
            ),
            (self.expire_producers, settings.producer_id_expiration_check_interval_ms),
            (self.broker.leader_balance.restore, settings.leader_imbalance_check_interval_seconds * 1000),
        ):
            first_ms = min(interval_ms, settings.log_initial_task_delay_ms)
            self._tasks.append(self.broker.loop.create_task(self._repeat(run, first_ms, interval_ms)))

    async def stop(self) -> None:
        self.cleaning.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _repeat(self, run: Callable[[], Awaitable[None]], first_ms: int, interval_ms: int) -> None:
        await asyncio.sleep(first_ms / 1000)
        while True:
            try:
                await run()
            except Exception:
                log.exception("%s failed; it is tried again in %d ms", run.__name__, interval_ms)
            await asyncio.sleep(interval_ms / 1000)

    def _online(self) -> "list[Partition]":
        return [partition for partition in self.broker.partitions if not partition.directory.offline]

    # flushing and checkpoints

    async def flush_rolled_and_due(self) -> None:
        """Syncs finished segments, and the active one of topics whose flush.ms has passed."""
        now_ms = self.broker.clock.monotonic_ms()
        for partition in self._online():
            is_due = partition.is_flush_due(now_ms)
            if partition.is_deleted or not (is_due or partition.log.has_unflushed_segments):
                continue
            try:
                await partition.flush(include_active=is_due)
            except ApiError:
                pass  # its directory is offline now, or it was deleted meanwhile; the others go on

    async def checkpoint_recovery_points(self) -> None:
        for directory in self.broker.directories.online:
            await directory.checkpoint_recovery_points()

    async def checkpoint_log_starts(self) -> None:
        for directory in self.broker.directories.online:
            await directory.checkpoint_log_starts()

    async def checkpoint_high_watermarks(self) -> None:
        partitions = self._online()
        for directory in self.broker.directories.online:
            await directory.checkpoint_high_watermarks(partitions)

    # retention

    async def apply_retention(self) -> None:
        now_ms = self.broker.clock.now_ms()
        for partition in self._online():
            if partition.is_deleted:
                continue
            try:
                partition.log.maybe_roll(now_ms)
                retired = partition.log.delete_old_segments(now_ms, partition.high_watermark)
            except StorageError as error:
                partition.directory.on_failure(error)
                continue
            due_ms = now_ms + partition.log.settings.file_delete_delay_ms
            partition.directory.doomed += [Doomed(path, due_ms) for path in retired]
            await asyncio.sleep(0)

    async def expire_producers(self) -> None:
        now_ms = self.broker.clock.now_ms()
        turns = Turns()
        for partition in self._online():
            partition.log.expire_producers(now_ms)
            if turns.is_over:
                await turns.let_others()

    async def remove_doomed(self) -> None:
        now_ms = self.broker.clock.now_ms()
        for directory in self.broker.directories.online:
            due = [doomed for doomed in directory.doomed if doomed.due_ms <= now_ms]
            directory.doomed = [doomed for doomed in directory.doomed if doomed.due_ms > now_ms]
            for doomed in due:
                await asyncio.to_thread(self._remove, doomed.path)

    def _remove(self, path: str) -> None:
        if self.broker.fs.is_directory(path):
            self.broker.fs.remove_tree(path)
        else:
            self.broker.fs.remove(path)

    # connections

    async def close_idle_connections(self) -> None:
        limit_ms = self.broker.settings.connections_max_idle_ms
        if limit_ms < 0:
            return
        oldest = self.broker.loop.time() - limit_ms / 1000
        for connection in list(self.broker.router.connections):
            if connection.last_active < oldest and not connection.at_work:
                connection.close()
