"""One share fetch at work: acquires what there is for its member, and waits if that is not enough.

It waits for the log (new records) and for the share partitions (records that come back, a state that is read) until
the records on hand reach min_bytes, a partition has an error, or its time is up. Records are acquired only when it
answers, so that a fetch that waits keeps nothing from others.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from penstock.broker.partitions import LedElsewhere
from penstock.broker.share_partition import SharePartition
from penstock.broker.share_read import ShareRead, scan
from penstock.broker.share_sessions import PartitionKey
from penstock.errors import ApiError, ErrorCode, StorageError
from penstock.log.file_slice import FileSlice
from penstock.share.in_flight import Wanted
from penstock.wire.messages.share_acknowledge import PartitionData as AcknowledgedData
from penstock.wire.messages.share_fetch import AcquiredRecords, LeaderIdAndEpoch, PartitionData

HEAD_BYTES = 1024 * 1024


class FetchLimits(NamedTuple):
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    max_records: int
    batch_size: int
    is_strict: bool


Found = dict[SharePartition, FileSlice | ApiError | None]
Reads = dict[SharePartition, ShareRead | ApiError | None]
"""Of each partition that is ready: what it has to offer, if anything, or why it can't."""


class ShareFetch:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        member_id: str,
        partitions: Sequence[SharePartition],
        limits: FetchLimits,
    ) -> None:
        self._loop = loop
        self._member_id = member_id
        self._partitions = partitions
        self._limits = limits
        self._progress = asyncio.Event()

    async def run(self) -> dict[PartitionKey, PartitionData]:
        """The partitions that have something to say."""
        if not self._partitions or self._limits.max_records <= 0 or self._limits.max_bytes <= 0:
            return {}
        self._wait_in_all()
        try:
            async with asyncio.timeout(max(self._limits.max_wait_ms, 0) / 1000):
                while True:
                    self._progress.clear()
                    reads = await self._read()
                    if self._is_enough(reads):
                        return self._acquire(reads)
                    await self._progress.wait()
        except TimeoutError:
            return self._acquire(await self._read())
        finally:
            self._stop_waiting()

    def on_progress(self) -> None:
        self._progress.set()

    def _wait_in_all(self) -> None:
        for one in self._partitions:
            one.waiters[self] = None
            one.partition.waiters[self] = None

    def _stop_waiting(self) -> None:
        for one in self._partitions:
            one.waiters.pop(self, None)
            one.partition.waiters.pop(self, None)

    # reading

    async def _read(self) -> Reads:
        """What there is; a thread has fetched it from the disk before its batches are looked at."""
        found = self._find()
        cold = [
            piece for piece in found.values() if isinstance(piece, FileSlice) and not _head(piece).is_cached()
        ]
        if cold:
            await self._loop.run_in_executor(None, _warm, cold)
            found = self._find()  # for the world has moved on
        return {
            one: self._scan(one, piece) if isinstance(piece, FileSlice) else piece
            for one, piece in found.items()
        }

    def _find(self) -> Found:
        ready = [one for one in self._partitions if self._is_ready(one)]
        found: Found = {}
        size = 0
        for one in ready:
            try:
                piece = self._find_piece(one, self._limits.max_bytes // len(ready), at_least_one=size == 0)
            except ApiError as error:
                found[one] = error
            else:
                found[one] = piece
                size += 0 if piece is None else piece.size
        return found

    def _is_ready(self, one: SharePartition) -> bool:
        if one.error is not None:
            return True
        return one.in_flight is not None and one.in_flight.can_acquire(one.limits())

    def _find_piece(self, one: SharePartition, max_bytes: int, *, at_least_one: bool) -> FileSlice | None:
        if one.error is not None:
            raise one.error
        assert one.in_flight is not None
        partition = one.partition
        partition.check_leader(one.leader_epoch)
        if one.in_flight.next_fetch_offset() < partition.log.log_start_offset:
            one.on_log_start()
        offset = one.in_flight.next_fetch_offset()
        if offset > partition.log.log_end_offset:
            return None  # where the group begins is yet to be written
        piece = partition.read(
            offset,
            max_bytes,
            max_offset=partition.readable_end(-1, int(one.config.share_reads_committed)),
            at_least_one=at_least_one,
        )
        return piece if piece is not None and piece.size else None

    def _scan(self, one: SharePartition, piece: FileSlice) -> ShareRead | ApiError:
        assert one.in_flight is not None
        offset = one.in_flight.next_fetch_offset()
        last_offset = max(offset, one.in_flight.next_offset) + self._limits.max_records - 1
        try:
            return scan(one.partition, offset, piece, last_offset, committed=one.config.share_reads_committed)
        except StorageError as error:
            return one.partition.on_failure(error)
        except ApiError as error:
            return error

    def _is_enough(self, reads: Reads) -> bool:
        if any(isinstance(read, ApiError) for read in reads.values()):
            return True
        pieces = [read.piece.size for read in reads.values() if isinstance(read, ShareRead)]
        return bool(pieces) and sum(pieces) >= self._limits.min_bytes

    # acquiring

    def _acquire(self, reads: Reads) -> dict[PartitionKey, PartitionData]:
        answers: dict[PartitionKey, PartitionData] = {}
        left = self._limits.max_records
        for one, read in reads.items():
            key = PartitionKey(one.key.topic_id, one.key.partition)
            if isinstance(read, ApiError):
                answers[key] = refusal(one.key.partition, read, one)
                continue
            answers[key] = data = empty_data(one.key.partition)
            acquired = (
                one.acquire(
                    self._member_id,
                    read.fetched(),
                    Wanted(left, self._limits.batch_size, self._limits.is_strict),
                )
                if read is not None and left > 0
                else []
            )
            if read is not None and acquired:
                left -= sum(run.last_offset - run.first_offset + 1 for run in acquired)
                data.records = read.cut(acquired)
                data.acquired_records = [AcquiredRecords(*run) for run in acquired]
        return answers


def _head(piece: FileSlice) -> FileSlice:
    """As much of a piece as is surely looked at."""
    return FileSlice(piece.file, piece.position, min(piece.size, HEAD_BYTES), piece.first_offset)


def _warm(pieces: Sequence[FileSlice]) -> None:
    for piece in pieces:
        with contextlib.suppress(StorageError):  # whoever looks at it will see
            _head(piece).warm()


def empty_data(partition: int) -> PartitionData:
    return PartitionData(partition, current_leader=LeaderIdAndEpoch(), records=b"")


LEADER_ERRORS = {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH}


def refusal(partition: int, error: ApiError, one: SharePartition | None = None) -> PartitionData:
    data = empty_data(partition)
    data.error_code = error.code
    data.error_message = error.message
    known = error if isinstance(error, LedElsewhere) else one.partition if one is not None else None
    if known is not None and error.code in LEADER_ERRORS:
        replica_set = known.replica_set
        data.current_leader = LeaderIdAndEpoch(replica_set.leader, replica_set.leader_epoch)
    return data


def leaders_told(answers: Iterable[PartitionData | AcknowledgedData]) -> list[int]:
    """Who leads the partitions that a client has to look for elsewhere."""
    return [
        each.current_leader.leader_id
        for each in answers
        if each.error_code in LEADER_ERRORS and each.current_leader is not None
    ]
