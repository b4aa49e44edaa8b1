"""A log that becomes a copy of another one, in another directory, while that one is written, cut and shortened.

The copy has what the source has from its start up to some offset, batch by batch, offsets and epochs as they are. So
what cuts the source has to cut the copy as well, at once; where it begins is seen to with each piece. Compaction has
to leave the source alone as long as it is copied: a record that was copied might outlive the one that deleted it.

After a crash both may have lost something of their ends, and the source may have got other records since; then the
copy is cut to what both have in common, by leader epochs, as a follower is.
"""

from penstock.log.partition_log import PartitionLog
from penstock.records.batch import split_batches

UNDEFINED = -1


def cut_to_common(source: PartitionLog, copy: PartitionLog, *, now_ms: int) -> None:
    """Drops what the source does not have."""
    while True:
        epoch = copy.epochs.latest_epoch
        if epoch == UNDEFINED:
            end = 0
        else:
            known, known_end = source.epochs.end_offset_for(epoch)
            _, own_end = copy.epochs.end_offset_for(known)
            end = 0 if known == UNDEFINED or own_end == UNDEFINED else min(known_end, own_end)
        if end >= copy.log_end_offset:
            return
        if end <= copy.log_start_offset:
            copy.truncate_fully_and_start_at(source.log_start_offset, now_ms=now_ms)
            return
        copy.truncate_to(end, now_ms=now_ms)


def follow_start(source: PartitionLog, copy: PartitionLog, *, now_ms: int) -> None:
    """Begins where the source begins by now."""
    start = source.log_start_offset
    if not copy.log_start_offset <= start <= copy.log_end_offset:
        copy.truncate_fully_and_start_at(start, now_ms=now_ms)
    else:
        copy.delete_records_before(start)


def append(copy: PartitionLog, records: memoryview, *, now_ms: int) -> None:
    """What the source has from where the copy ends; a batch that is cut off at the end is left for the next time."""
    first, start = next(iter(split_batches(records)), None), copy.log_start_offset
    if first is not None and first.base_offset < copy.log_end_offset == start:
        # The log begins within a batch, whose earlier records were deleted.
        copy.truncate_fully_and_start_at(first.base_offset, now_ms=now_ms)
    copy.append_as_follower(records, now_ms=now_ms)
    if start > copy.log_start_offset:
        copy.delete_records_before(start)


def take_over(source: PartitionLog, copy: PartitionLog) -> None:
    """The copy has all: it gets what the source knows besides its records."""
    copy.epochs.take_over(source.epochs)
    copy.producer_state = source.producer_state
