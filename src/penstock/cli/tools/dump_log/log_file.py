"""A `.log` file as it lies on disk, damaged or not.

The broker's own readers refuse what the broker does not write. This one goes as far as Kafka's does, which is how far
people see into a file that something is wrong with: batches are walked by their lengths alone, whatever the rest
says; a torn end stops the walk, a length that can't be one ends the tool.
"""

import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from struct import Struct

from penstock.cli.tools.dump_log.errors import DumpError
from penstock.cli.tools.dump_log.legacy import LegacyMessage
from penstock.records.batch import HEADER_SIZE, MIN_MESSAGE_SIZE, PREFIX_SIZE, SIZE_UP_TO_MAGIC, Batch
from penstock.records.reader import Record, iterate_records

FIRST_MAGIC_OF_BATCHES = 2
MAGIC_POSITION = 16
LARGEST_FILE = 2**31 - 1

_unpack_prefix = Struct(">qi").unpack_from
_unpack_magic = Struct(">b").unpack_from


def read_whole(path: Path) -> memoryview:
    """The bytes of a file, not read before they are looked at."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise DumpError(f"{path}: {error.strerror}") from None


class LogFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = read_whole(path)

    def end_of_slice(self, position: int, size: int) -> int:
        """Where a slice ends that begins at `position`: after `size` bytes, or with the file."""
        if position < 0:
            raise DumpError(f"Invalid position: {position} in read from {self.path}")
        if position > len(self.data):
            raise DumpError(f"Slice from position {position} exceeds end position of {self.path}")
        if size < 0:
            raise DumpError(f"Invalid size: {size} in read from {self.path}")
        return min(position + size, len(self.data))

    def batches(self, position: int, end: int) -> Iterator[Batch | LegacyMessage]:
        """What looks like a whole batch, one after the other."""
        while position < end - SIZE_UP_TO_MAGIC:
            offset, length = _unpack_prefix(self.data, position)
            if length < MIN_MESSAGE_SIZE:
                raise DumpError(
                    f"Found record size {length} smaller than minimum record overhead ({MIN_MESSAGE_SIZE}) "
                    f"in file {self.path}."
                )
            if position > end - PREFIX_SIZE - length:
                return
            magic = _unpack_magic(self.data, position + MAGIC_POSITION)[0]
            following = position + PREFIX_SIZE + length
            if magic < FIRST_MAGIC_OF_BATCHES:
                message = self.data[position + PREFIX_SIZE : following]
                yield LegacyMessage(message, magic, offset, position)
            else:
                yield self._batch(position)
            position = following

    def _batch(self, position: int) -> Batch:
        if len(self.data) - position < HEADER_SIZE:
            raise DumpError(f"Failed to load record batch at position {position} from {self.path}")
        return Batch(self.data, position)


def records_of(batch: Batch) -> Iterator[Record]:
    """The records of a batch; a compressed one gives all or none, as it is decompressed as a whole."""
    if batch.record_count < 0:
        raise DumpError(f"Found invalid record count {batch.record_count} in magic v{batch.magic} batch")
    if batch.record_count == 0:
        return
    if batch.is_compressed:
        yield from list(iterate_records(batch))
        return
    records = iterate_records(batch)
    for _ in range(batch.record_count - 1):
        yield next(records)
    last = next(records)
    next(records, None)  # bytes that are left over are found before the last record is given
    yield last
