"""The data directory: journal and snapshots together, and how a tree comes back from them."""

import fcntl
import os
from pathlib import Path

from penstock.errors import StorageError
from penstock.zookeeper.journal import Journal, read_journals
from penstock.zookeeper.snapshot import Snapshot, read_snapshot, snapshot_files, write_snapshot
from penstock.zookeeper.tree import Tree

_SUBDIRECTORY = "penstock-zookeeper"


class Storage:
    """Owns the directories from `open` to `close`; a second server on them is refused."""

    def __init__(self, data_dir: Path, data_log_dir: Path | None = None, *, force_sync: bool = True) -> None:
        self._snapshots = data_dir / _SUBDIRECTORY
        self._journals = (data_log_dir or data_dir) / _SUBDIRECTORY
        self._force_sync = force_sync
        self._lock = -1
        self._journal: Journal | None = None
        self.transactions_since_snapshot = 0

    def open(self) -> Tree:
        """The tree as of the last durable transaction."""
        try:
            self._snapshots.mkdir(parents=True, exist_ok=True)
            self._journals.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            return self._recover()
        except OSError as error:
            self.close()
            where = error.filename or self._snapshots
            raise StorageError(f"{where}: {error.strerror}", error.errno) from error
        except StorageError:
            self.close()
            raise

    def _take_lock(self) -> None:
        path = self._snapshots / "lock"
        self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(f"{self._snapshots} is in use by another ZooKeeper server") from None

    def _recover(self) -> Tree:
        for leftover in self._snapshots.glob("snapshot.*.tmp"):
            leftover.unlink()
        snapshots = snapshot_files(self._snapshots)
        tree = read_snapshot(snapshots[-1]).tree() if snapshots else Tree.fresh()
        history = read_journals(self._journals, tree.last_zxid)
        for record in history.records:
            tree.replay(record)
        self.transactions_since_snapshot = len(history.records)
        next_zxid = tree.last_zxid + 1
        self._journal = Journal(self._journals, history.newest, next_zxid, force_sync=self._force_sync)
        return tree

    @property
    def journal_bytes(self) -> int:
        return self._open_journal().size

    @property
    def waits_for_disk(self) -> bool:
        return self._force_sync

    def _open_journal(self) -> Journal:
        assert self._journal is not None, "the storage is not open"
        return self._journal

    def append(self, records: list[bytes]) -> None:
        self._open_journal().append(records)
        self.transactions_since_snapshot += len(records)

    def begin_snapshot(self, next_zxid: int) -> None:
        """From now on transactions, the first of them `next_zxid`, go to a new journal."""
        self._open_journal().roll(next_zxid)
        self.transactions_since_snapshot = 0

    def write_snapshot(self, snapshot: Snapshot) -> None:
        """Writes the snapshot for which `begin_snapshot` was called, then removes what it replaces."""
        written = write_snapshot(self._snapshots, snapshot)
        for path in snapshot_files(self._snapshots):
            if path.name < written.name:
                path.unlink(missing_ok=True)
        self._open_journal().remove_older()

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
