"""The producer state of a partition together with its snapshot files.

A snapshot is taken at each roll and at close, named by the offset it is as of. Load takes the newest one
that is whole and not beyond the log, and the caller replays what follows it.
"""

from bisect import bisect_right, insort

from penstock.log import names
from penstock.log.fs import File, FileSystem
from penstock.log.producer_snapshot import decode_snapshot, encode_snapshot
from penstock.log.producer_state import ProducerState, is_expired


class ProducerSnapshots:
    __slots__ = ("_fs", "_unsynced", "directory", "offsets")

    def __init__(self, fs: FileSystem, directory: str, offsets: list[int]) -> None:
        self._fs = fs
        self.directory = directory
        self._unsynced: list[int] = []
        self.offsets = sorted(offsets)

    def path(self, offset: int) -> str:
        return f"{self.directory}/{names.file_name(offset, names.PRODUCER_SNAPSHOT)}"

    def take(self, state: ProducerState, offset: int) -> None:
        """Write the state as of `offset`, unless that is on disk already."""
        if offset in self.offsets:
            return
        self._fs.write_file(self.path(offset), encode_snapshot(state.entries.values()), sync=False)
        insort(self.offsets, offset)
        self._unsynced.append(offset)

    def load_latest(
        self, state: ProducerState, up_to: int, log_start_offset: int, now_ms: int, expiration_ms: int
    ) -> None:
        """Put `state` back to the newest snapshot at or below `up_to`, or to nothing at the log's start."""
        while number := bisect_right(self.offsets, up_to):
            offset = self.offsets[number - 1]
            if offset <= log_start_offset and offset != up_to:
                break
            entries = decode_snapshot(self._fs.read_file(self.path(offset)))
            if entries is not None:
                state.load((e for e in entries if not is_expired(e, now_ms, expiration_ms)), offset)
                return
            self.remove(offset)
        state.load([], min(log_start_offset, up_to))

    def remove(self, offset: int) -> None:
        if offset in self.offsets:
            self.offsets.remove(offset)
            self._fs.remove(self.path(offset))

    def remove_beyond(self, end_offset: int) -> None:
        for offset in [offset for offset in self.offsets if offset > end_offset]:
            self.remove(offset)

    def remove_stray(self, segment_base_offsets: list[int], end_offset: int) -> None:
        """Keep those at a segment's start, and the newest, which close has left."""
        self.remove_beyond(end_offset)
        bases = set(segment_base_offsets)
        for offset in self.offsets[:-1]:
            if offset not in bases:
                self.remove(offset)

    def retire(self, offset: int) -> list[str]:
        """Mark a snapshot for deletion; its new path, if there was one."""
        if offset not in self.offsets:
            return []
        self.offsets.remove(offset)
        retired = self.path(offset) + names.DELETED
        self._fs.rename(self.path(offset), retired)
        return [retired]

    def unsynced_files(self) -> list[File]:
        offsets, self._unsynced = self._unsynced, []
        return [self._fs.open_file(self.path(offset)) for offset in offsets if offset in self.offsets]
