"""Where each leader epoch started: the history that followers truncate by.

`leader-epoch-checkpoint` holds it as text. The file is replaced at once but not synced by each change:
recovery takes epochs from the batches it reads, and a flush of the log syncs the file.
"""

from collections.abc import Callable
from typing import NamedTuple

from penstock.log import names
from penstock.log.checkpoint import CheckpointError, decode_lines, encode_lines
from penstock.log.fs import File, FileSystem

UNDEFINED_EPOCH = -1
UNDEFINED_EPOCH_OFFSET = -1


class EpochEntry(NamedTuple):
    epoch: int
    start_offset: int


class LeaderEpochCache:
    __slots__ = ("_fs", "_log_end_offset", "_unsynced", "entries", "is_damaged", "path")

    def __init__(self, fs: FileSystem, directory: str, log_end_offset: Callable[[], int]) -> None:
        self._fs = fs
        self._log_end_offset = log_end_offset
        self._unsynced = False
        self.relocate(directory)
        self.entries: list[EpochEntry] = []
        self.is_damaged = False

    def relocate(self, directory: str) -> None:
        self.path = f"{directory}/{names.LEADER_EPOCH_CHECKPOINT}"

    def load(self) -> None:
        """Read the file; a damaged one leaves the cache empty and `is_damaged` set, for a rebuild."""
        try:
            lines = decode_lines(self._fs.read_file(self.path), self.path)
            self.entries = [EpochEntry(int(line[0]), int(line[1])) for line in map(str.split, lines)]
        except (CheckpointError, ValueError, IndexError):
            self.entries, self.is_damaged = [], True

    @property
    def latest_epoch(self) -> int:
        return self.entries[-1].epoch if self.entries else UNDEFINED_EPOCH

    def assign(self, epoch: int, start_offset: int) -> None:
        """A leader with a new epoch starts at `start_offset`; entries that contradict it go."""
        if epoch < 0 or (
            self.entries and self.latest_epoch >= epoch and self.entries[-1].start_offset <= start_offset
        ):
            return
        kept = [e for e in self.entries if e.epoch < epoch and e.start_offset < start_offset]
        self._replace([*kept, EpochEntry(epoch, start_offset)])

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """The largest known epoch up to `epoch` and where it ended; (-1, -1) if it is not known."""
        if epoch == UNDEFINED_EPOCH or not self.entries:
            return UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET
        if epoch == self.latest_epoch:
            return epoch, self._log_end_offset()
        higher = next((entry for entry in self.entries if entry.epoch > epoch), None)
        if higher is None:
            return UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET
        floor = max((entry.epoch for entry in self.entries if entry.epoch <= epoch), default=epoch)
        return floor, higher.start_offset

    def epoch_for_offset(self, offset: int) -> int:
        """The epoch under which `offset` was written, -1 if it is not known."""
        return max((e.epoch for e in self.entries if e.start_offset <= offset), default=UNDEFINED_EPOCH)

    def truncate_from_end(self, end_offset: int) -> None:
        kept = [entry for entry in self.entries if entry.start_offset < end_offset]
        self._replace(kept)

    def truncate_from_start(self, start_offset: int) -> None:
        """The oldest epoch that still has records then starts at `start_offset`."""
        older = [entry for entry in self.entries if entry.start_offset <= start_offset]
        if older:
            kept = [EpochEntry(older[-1].epoch, start_offset), *self.entries[len(older) :]]
            self._replace(kept)

    def clear(self) -> None:
        self._replace([])

    def take_over(self, other: "LeaderEpochCache") -> None:
        """Of a log with the same records: it may know of epochs without any."""
        self._replace(list(other.entries))

    def _replace(self, entries: list[EpochEntry]) -> None:
        """Written first: if that fails, nothing has changed."""
        if entries != self.entries:
            lines = [f"{entry.epoch} {entry.start_offset}" for entry in entries]
            self._fs.write_file(self.path, encode_lines(lines), sync=False)
            self.entries = entries
            self._unsynced = True

    def unsynced_files(self) -> list[File]:
        """The file, if it changed since the last flush."""
        if not self._unsynced:
            return []
        self._unsynced = False
        return [self._fs.open_file(self.path)]
