"""`.index` and `.timeindex`: their entries, and whether the log agrees with them."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct

from penstock.cli.tool import err
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.dump_log.errors import DumpError
from penstock.cli.tools.dump_log.legacy import LegacyMessage
from penstock.cli.tools.dump_log.log_file import LARGEST_FILE, LogFile, read_whole, records_of
from penstock.log import names
from penstock.records.batch import NO_TIMESTAMP, Batch

_OFFSET_ENTRY = Struct(">ii")
_TIME_ENTRY = Struct(">qi")
NOT_FOUND = -1

Pairs = list[tuple[int, int]]
AnyBatch = Batch | LegacyMessage


@dataclass
class Findings:
    """What is wrong, by the absolute path of the file; said when all files have been dumped."""

    wrong_offsets: dict[str, dict[int, int]] = field(default_factory=dict)
    wrong_timestamps: dict[str, Pairs] = field(default_factory=dict)
    out_of_order: dict[str, Pairs] = field(default_factory=dict)
    offsets_not_found: dict[str, Pairs] = field(default_factory=dict)
    gaps: dict[str, dict[int, int]] = field(default_factory=dict)

    def report(self) -> None:
        for file in _in_order(self.wrong_offsets):
            err(f"Mismatches in :{file}")
            for in_index, in_log in sorted(self.wrong_offsets[file].items(), reverse=True):
                err(f"  Index offset: {in_index}, log offset: {in_log}")
        _report(
            self.wrong_timestamps, "Found timestamp mismatch in :", "  Index timestamp: {}, log timestamp: {}"
        )
        _report(
            self.out_of_order,
            "Found out of order timestamp in :",
            "  Index timestamp: {}, Previously indexed timestamp: {}",
        )
        _report(
            self.offsets_not_found,
            "The following indexed offsets are not found in :",
            "Indexed offset: {}, found log offset: {}",
        )
        for file in _in_order(self.gaps):
            err(f"Non-consecutive offsets in {file}")
            for offset, following in sorted(self.gaps[file].items()):
                err(f"  {offset} is followed by {following}")


def _in_order(files: Collection[str]) -> list[str]:
    """Java's `computeIfAbsent` puts the newest first among those that share a bucket."""
    return in_hash_order(reversed(list(files)))


def _report(pairs_by_file: dict[str, Pairs], title: str, line: str) -> None:
    for file in _in_order(pairs_by_file):
        err(f"{title}{file}")
        for pair in pairs_by_file[file]:
            err(line.format(*pair))


@dataclass(frozen=True)
class IndexFile:
    path: Path
    base_offset: int
    length: int
    entries: Pairs
    """As they stand in the file, offsets made absolute; a part of an entry at the end is left out."""


def read_offset_index(path: Path) -> IndexFile:
    """(offset, position) of each entry."""
    base, data = base_offset_of(path), read_whole(path)
    whole = len(data) - len(data) % _OFFSET_ENTRY.size
    entries = [(base + relative, position) for relative, position in _OFFSET_ENTRY.iter_unpack(data[:whole])]
    return IndexFile(path, base, len(data), entries)


def read_time_index(path: Path) -> IndexFile:
    """(timestamp, offset) of each entry."""
    base, data = base_offset_of(path), read_whole(path)
    whole = len(data) - len(data) % _TIME_ENTRY.size
    entries = [(timestamp, base + relative) for timestamp, relative in _TIME_ENTRY.iter_unpack(data[:whole])]
    return IndexFile(path, base, len(data), entries)


def base_offset_of(path: Path) -> int:
    text = path.name.partition(".")[0]
    try:
        return int(text) if text.isascii() else _no_number(text)
    except ValueError:
        return _no_number(text)


def _no_number(text: str) -> int:
    raise DumpError(f'For input string: "{text}"')


def sibling(path: Path, suffix: str) -> Path:
    return path.parent / f"{path.name.partition('.')[0]}{suffix}"


# --- .index


def dump_offset_index(
    path: Path, shown: str, *, sanity_only: bool, verify_only: bool, max_message_size: int, findings: Findings
) -> None:
    log = LogFile(sibling(path, names.LOG))
    index = read_offset_index(path)
    if not index.entries:
        print(f"{shown} is empty.")
        return
    if sanity_only:
        _check_offset_index(index)
        print(f"{shown} passed sanity check.")
        return
    for number, (offset, position) in enumerate(index.entries):
        if offset == index.base_offset and number > 0:
            return  # zeros that a crash left behind
        last_offset = _first_batch(log, position, max_message_size).last_offset
        if last_offset != offset:
            findings.wrong_offsets.setdefault(str(path.absolute()), {})[offset] = last_offset
        if not verify_only:
            print(f"offset: {offset} position: {position}")


def _first_batch(log: LogFile, position: int, max_message_size: int) -> AnyBatch:
    end = log.end_of_slice(position, max_message_size)
    for batch in log.batches(position, end):
        return batch
    raise DumpError(f"{log.path}: no batch of at most {max_message_size} bytes at position {position}")


def _check_offset_index(index: IndexFile) -> None:
    last_offset = index.entries[-1][0]
    if last_offset < index.base_offset:
        raise DumpError(
            f"Corrupt index found, index file {index.path.absolute()} has non-zero size but the last offset is "
            f"{last_offset} which is less than the base offset {index.base_offset}"
        )
    _check_whole_entries("Index file", index, _OFFSET_ENTRY.size)


def _check_whole_entries(what: str, index: IndexFile, entry_size: int) -> None:
    if index.length % entry_size:
        raise DumpError(
            f"{what} {index.path.absolute()} is corrupt, found {index.length} bytes which is neither positive "
            f"nor a multiple of {entry_size}"
        )


# --- .timeindex


def dump_time_index(
    path: Path, shown: str, *, sanity_only: bool, verify_only: bool, findings: Findings
) -> None:
    log = LogFile(sibling(path, names.LOG))
    offset_index = read_offset_index(sibling(path, names.OFFSET_INDEX))
    index = read_time_index(path)
    if sanity_only:
        _check_time_index(index)
        print(f"{shown} passed sanity check.")
        return
    lookup = _BatchLookup(log, offset_index)
    file = str(path.absolute())
    previous = NO_TIMESTAMP
    for number, (timestamp, offset) in enumerate(index.entries):
        if offset == index.base_offset and number > 0:
            return  # zeros that a crash left behind
        batch = lookup.find(offset)
        if batch is None or batch.last_offset != offset:
            found = NOT_FOUND if batch is None else batch.last_offset
            findings.offsets_not_found.setdefault(file, []).append((offset, found))
        else:
            largest = max((NO_TIMESTAMP, *_timestamps(batch)))
            if largest != timestamp:
                findings.wrong_timestamps.setdefault(file, []).append((timestamp, largest))
            if previous >= timestamp:
                findings.out_of_order.setdefault(file, []).append((timestamp, previous))
        if not verify_only:
            print(f"timestamp: {timestamp} offset: {offset}")
        previous = timestamp


def _timestamps(batch: AnyBatch) -> Iterator[int]:
    records = batch.messages() if isinstance(batch, LegacyMessage) else records_of(batch)
    return (record.timestamp for record in records)


def _check_time_index(index: IndexFile) -> None:
    if index.entries:
        (first_timestamp, _), (last_timestamp, last_offset) = index.entries[0], index.entries[-1]
        found = f"Corrupt time index found, time index file ({index.path.absolute()}) has non-zero size but"
        if last_timestamp < first_timestamp:
            raise DumpError(
                f"{found} the last timestamp is {last_timestamp} which is less than the first timestamp "
                f"{first_timestamp}"
            )
        if last_offset < index.base_offset:
            raise DumpError(
                f"{found} the last offset is {last_offset} which is less than the first offset {index.base_offset}"
            )
    _check_whole_entries("Time index file", index, _TIME_ENTRY.size)


class _BatchLookup:
    """Finds batches by offset, from where the offset index points. The log is walked once, not for each entry."""

    def __init__(self, log: LogFile, index: IndexFile) -> None:
        self._log = log
        self._index = index
        self._walks: dict[int, list[AnyBatch]] = {}

    def find(self, offset: int) -> AnyBatch | None:
        """The first batch, from the indexed position on, that ends at or after `offset`."""
        number = bisect_right(self._index.entries, offset, key=lambda entry: entry[0])
        batches, start = self._batches_from(self._index.entries[number - 1][1] if number else 0)
        for at in range(start, len(batches)):
            if batches[at].last_offset >= offset:
                return batches[at]
        return None

    def _batches_from(self, position: int) -> tuple[list[AnyBatch], int]:
        """All batches of a walk, and the number of the one at `position`."""
        end = self._log.end_of_slice(position, LARGEST_FILE)
        whole = self._walk(0, len(self._log.data))
        start = bisect_left(whole, position, key=lambda batch: batch.position)
        if position == 0 or (start < len(whole) and whole[start].position == position):
            return whole, start
        return self._walk(position, end), 0

    def _walk(self, position: int, end: int) -> list[AnyBatch]:
        if position not in self._walks:
            self._walks[position] = list(self._log.batches(position, end))
        return self._walks[position]
