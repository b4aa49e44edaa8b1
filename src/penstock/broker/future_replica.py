"""A partition's copy in another log directory of this broker, which is to replace it; see `broker.log_dir_moves`.

When its disk fails, its directory goes offline and the copy is given up; the partition serves on.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.broker.hosted_directory import HostedDirectory
from penstock.errors import StorageError
from penstock.log import log_copy
from penstock.log.partition_log import PartitionLog


class FutureReplica:
    __slots__ = ("directory", "log")

    def __init__(self, log: PartitionLog, directory: HostedDirectory) -> None:
        self.log = log
        self.directory = directory

    @contextmanager
    def _using_its_disk(self) -> Iterator[None]:
        try:
            yield
        except StorageError as error:
            self.directory.on_failure(error)
            raise

    # what happens to the partition happens to its copy, at once

    def truncate_to(self, offset: int, now_ms: int) -> None:
        if offset <= self.log.log_start_offset:
            self.start_anew_at(offset, now_ms)
        elif not self.directory.offline:
            try:
                self.log.truncate_to(offset, now_ms=now_ms)
            except StorageError as error:
                self.directory.on_failure(error)

    def start_anew_at(self, offset: int, now_ms: int) -> None:
        if not self.directory.offline:
            try:
                self.log.truncate_fully_and_start_at(offset, now_ms=now_ms)
            except StorageError as error:
                self.directory.on_failure(error)

    # copying

    def cut_to_common(self, source: PartitionLog, now_ms: int) -> None:
        with self._using_its_disk():
            log_copy.cut_to_common(source, self.log, now_ms=now_ms)

    def follow_start(self, source: PartitionLog, now_ms: int) -> None:
        with self._using_its_disk():
            log_copy.follow_start(source, self.log, now_ms=now_ms)

    def append(self, records: memoryview, now_ms: int) -> None:
        with self._using_its_disk():
            log_copy.append(self.log, records, now_ms=now_ms)

    # the end

    def can_replace(self, source: PartitionLog) -> bool:
        """Whether it has all, and the next start would find it so."""
        has_all = self.log.log_end_offset == source.log_end_offset
        begins_alike = self.log.log_start_offset == source.log_start_offset
        return has_all and begins_alike and self.directory.has_noted_start_of(self.log)

    def replace(self, source: PartitionLog, directory: HostedDirectory, now_ms: int) -> bool:
        """Takes the place of the partition's log in its directory; False if a disk fails. What that log had may long be
        on stable storage, so the copy has to be: syncing the last moment's records is short."""
        with self._using_its_disk():
            log_copy.take_over(source, self.log)
            self.log.flush()
        return self.directory.replace(directory, source, now_ms)

    def close(self) -> None:
        try:
            if not self.directory.offline:
                self.log.close()
                return
        except StorageError as error:
            self.directory.on_failure(error)
        self.log.close_after_failure()
