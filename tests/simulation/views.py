"""What stands in a replica's log, as its bytes say: read once, and then what is new."""

from __future__ import annotations

from typing import NamedTuple

from penstock.log.partition_log import PartitionLog
from penstock.records.batch import split_batches

MOST_BYTES = 1 << 20


class Stored(NamedTuple):
    """A batch. Two replicas have the same one if all of this is the same."""

    base_offset: int
    next_offset: int
    leader_epoch: int
    crc: int
    producer_id: int
    base_sequence: int


class LogView:
    def __init__(self) -> None:
        self.batches: list[Stored] = []
        self.end = 0
        self.matching = 0
        """How many of them are known to be as committed."""

    def read_anew(self, log: PartitionLog) -> None:
        known, matching = self.batches, self.matching
        self.batches, self.end, self.matching = [], log.log_start_offset, 0
        self.read(log)
        for stored, before in zip(self.batches[:matching], known, strict=False):
            if stored != before:
                break
            self.matching += 1

    def read(self, log: PartitionLog) -> None:
        """What has come since; all, if the log was cut."""
        end = log.log_end_offset
        if end < self.end:
            self.read_anew(log)
            return
        while self.end < end:
            found = log.read(self.end, MOST_BYTES, max_offset=end, at_least_one=True)
            assert found is not None, f"nothing to read at {self.end} of {end}"
            assert found.size, f"nothing to read at {self.end} of {end}"
            for batch in split_batches(memoryview(found.read())):
                assert batch.is_valid(), f"a batch at {batch.base_offset} has another checksum than it says"
                self._take(
                    Stored(
                        batch.base_offset,
                        batch.next_offset,
                        batch.leader_epoch,
                        batch.crc,
                        batch.producer_id,
                        batch.base_sequence,
                    )
                )

    def _take(self, stored: Stored) -> None:
        assert stored.base_offset == self.end, f"{stored} follows {self.end}"
        self.batches.append(stored)
        self.end = stored.next_offset
