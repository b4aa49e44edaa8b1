"""Compaction, as the broker does it: the dirtiest log first, the work itself in a thread.

A log with records that can't be read is left as it is until the next start, as Kafka does; the others are cleaned on.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from penstock.broker.hosted_directory import Doomed
from penstock.broker.partition import Partition
from penstock.clock import Clock
from penstock.errors import ApiError, StorageError
from penstock.log.cleaner import CleaningCancelled, CleaningJob, apply_cleaning, measure, plan_cleaning
from penstock.settings.broker import BrokerSettings

log = logging.getLogger("penstock.broker.log_cleaning")

BYTES_PER_KEY = 24
"""What Kafka's map of keys takes for each; log.cleaner.dedupe.buffer.size is understood in these terms."""


class LogCleaning:
    def __init__(
        self, settings: Callable[[], BrokerSettings], clock: Clock, partitions: Iterable[Partition]
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.partitions = partitions
        self._job: CleaningJob | None = None
        self._uncleanable: set[Partition] = set()

    async def clean_all(self) -> None:
        """Cleans until nothing is dirty enough any more."""
        if not self.settings().log_cleaner_enable:
            return
        tried = set(self._uncleanable)
        while (partition := self._dirtiest(tried)) is not None:
            tried.add(partition)
            await self._clean(partition)

    def cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _dirtiest(self, tried: set[Partition]) -> Partition | None:
        now_ms = self.clock.now_ms()
        dirty = [
            (measure(p.log, self._first_dirty(p), p.high_watermark, now_ms).ratio, p)
            for p in self.partitions
            if "compact" in p.log.settings.cleanup_policy
            and not (p.directory.offline or p in tried)
            and p.future is None
        ]
        return max(dirty, key=lambda found: found[0])[1] if dirty else None

    def _first_dirty(self, partition: Partition) -> int:
        return partition.directory.cleaner_offsets.get(partition.topic_partition, 0)

    async def _clean(self, partition: Partition) -> None:
        settings = self.settings()
        now_ms = self.clock.now_ms()
        keys = settings.log_cleaner_dedupe_buffer_size * settings.log_cleaner_io_buffer_load_factor
        try:
            job = plan_cleaning(
                partition.log,
                first_dirty_offset=self._first_dirty(partition),
                high_watermark=partition.high_watermark,
                now_ms=now_ms,
                max_keys=int(keys / BYTES_PER_KEY),
            )
            if job is None:
                return
            self._job = job
            cleaned = partition.log
            await asyncio.to_thread(job.run)
            if cleaned is partition.log and partition.future is None:
                await self._finish(partition, job, now_ms)
            else:  # it moves to another log directory, or has moved
                job.discard()
        except CleaningCancelled:
            return
        except StorageError as error:
            partition.on_failure(error)
        except ApiError as error:
            self._uncleanable.add(partition)
            log.error(
                "partition %s can't be compacted and is left alone: %s", partition.topic_partition, error
            )
        finally:
            self._job = None

    async def _finish(self, partition: Partition, job: CleaningJob, now_ms: int) -> None:
        if partition.is_deleted:
            return
        retired = apply_cleaning(partition.log, job)
        if retired is None:
            return
        due_ms = now_ms + partition.log.settings.file_delete_delay_ms
        partition.directory.doomed += [Doomed(path, due_ms) for path in retired]
        await partition.directory.checkpoint_cleaner(partition.topic_partition, job.next_dirty_offset)
        log.info("compacted %s up to offset %d", partition.topic_partition, job.next_dirty_offset)
