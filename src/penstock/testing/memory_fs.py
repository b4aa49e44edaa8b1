"""A file system in memory that can fail and crash, for tests of everything that writes files.

What survives a crash. `kill -9` loses nothing that was written. A power failure loses what was not synced, in the
ways disks do it: the creations, renames and removals since the last directory sync happen up to some point in their
order; of each file's writes since its last sync some arrive, the last one perhaps in part, and holes read as zeros.

What fails. `fail_after(n)` lets n more changes pass; then writes end half-way with "no space left" until
`heal()`. `crash_after(n)` raises `Crash` instead, at the n-th change, wherever that is.
"""

import errno
from collections.abc import Callable
from random import Random

from penstock.errors import StorageError
from penstock.log.fs import Bytes


class Crash(BaseException):
    """The process ends here; not an `Exception`, so that no handler survives it."""


class _Inode:
    """A file's contents: as synced, and the changes since: (position, bytes), or (size, None) for a truncation."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.synced = b""
        self.unsynced: list[tuple[int, bytes | None]] = []

    def write(self, data: bytes, position: int) -> None:
        _write_at(self.data, data, position)
        self.unsynced.append((position, data))

    def truncate(self, size: int) -> None:
        _truncate(self.data, size)
        self.unsynced.append((size, None))

    def sync(self) -> None:
        self.synced = bytes(self.data)
        self.unsynced.clear()

    def lose_unsynced(self, random: Random) -> None:
        survived = bytearray(self.synced)
        count = random.randint(0, len(self.unsynced))
        for number, (position, data) in enumerate(self.unsynced[:count]):
            if data is None:
                _truncate(survived, position)
            elif number == count - 1:
                _write_at(survived, data[: random.randint(0, len(data))], position)
            elif random.random() < 0.9:
                _write_at(survived, data, position)
        self.data = survived
        self.sync()


def _write_at(target: bytearray, data: bytes, position: int) -> None:
    if not data:
        return
    _truncate(target, max(len(target), position))
    target[position : position + len(data)] = data


def _truncate(target: bytearray, size: int) -> None:
    if size <= len(target):
        del target[size:]
    else:
        target.extend(bytes(size - len(target)))


class MemoryFile:
    def __init__(self, fs: "MemoryFileSystem", path: str, inode: _Inode) -> None:
        self._fs = fs
        self._inode = inode
        self.path = path
        self.is_closed = False

    def fileno(self) -> int:
        raise StorageError(f"{self.path}: a file in memory has no descriptor")

    def pwrite(self, data: Bytes, position: int) -> None:
        payload = bytes(data)
        self._fs.change(self.path, lambda: self._inode.write(payload[: len(payload) // 2], position))
        self._inode.write(payload, position)

    def pread(self, size: int, position: int) -> bytes:
        assert not self.is_closed, f"{self.path} is closed"
        return bytes(self._inode.data[position : position + size])

    def is_cached(self, size: int, position: int) -> bool:
        return True

    def warm(self, size: int, position: int) -> None:
        """It is in memory already."""

    def size(self) -> int:
        return len(self._inode.data)

    def truncate(self, size: int) -> None:
        self._fs.change(self.path)
        self._inode.truncate(size)

    def allocate(self, size: int) -> None:
        self._fs.change(self.path)
        if size > len(self._inode.data):
            self._inode.truncate(size)

    def sync(self) -> None:
        self._fs.change(self.path)
        self._inode.sync()

    def close(self) -> None:
        self.is_closed = True


class MemoryFileSystem:
    def __init__(self) -> None:
        self._files: dict[str, _Inode] = {}
        self._directories: set[str] = {"/"}
        self._durable_files: dict[str, _Inode] = {}
        self._durable_directories: set[str] = {"/"}
        self._pending: list[tuple[dict[str, _Inode], set[str]]] = []
        self._locks: set[str] = set()
        self._changes_left: int | None = None
        self._crashes = False
        self.changes = 0
        self._power_cuts = 0

    def boot_id(self) -> str:
        return f"after {self._power_cuts} power cuts"

    # Faults

    def fail_after(self, changes: int) -> None:
        self._changes_left, self._crashes = changes, False

    def crash_after(self, changes: int) -> None:
        self._changes_left, self._crashes = changes, True

    def heal(self) -> None:
        self._changes_left = None

    def change(self, path: str, half: Callable[[], None] | None = None) -> None:
        """Every change of the disk passes here first; `half` is what it does if it fails half-way."""
        self.changes += 1
        if self._changes_left is None:
            return
        if self._changes_left > 0:
            self._changes_left -= 1
            return
        if half is not None:
            half()
        if self._crashes:
            raise Crash(path)
        cause = OSError(errno.ENOSPC, "No space left on device")
        raise StorageError(f"{path}: can't write: {cause.strerror}") from cause

    def kill(self) -> None:
        """The process is gone, the machine is not: all that was written is there."""
        self.heal()
        self._locks.clear()

    def lose_power(self, random: Random) -> None:
        """The machine is gone: what was not synced is there in part."""
        self.kill()
        self._power_cuts += 1
        survivors = random.randint(0, len(self._pending))
        if survivors:
            self._durable_files, self._durable_directories = self._pending[survivors - 1]
        self._files = dict(self._durable_files)
        self._directories = set(self._durable_directories)
        self._pending.clear()
        for inode in {id(inode): inode for inode in self._files.values()}.values():
            inode.lose_unsynced(random)

    def _changed_names(self) -> None:
        self._pending.append((dict(self._files), set(self._directories)))

    # Files

    def open_file(self, path: str, *, create: bool = False) -> MemoryFile:
        if path not in self._files:
            if not create or _parent(path) not in self._directories:
                raise StorageError(f"{path}: can't open: No such file or directory")
            self.change(path)
            self._files[path] = _Inode()
            self._changed_names()
        return MemoryFile(self, path, self._files[path])

    def exists(self, path: str) -> bool:
        return path in self._files or path in self._directories

    def file_size(self, path: str) -> int:
        return len(self._inode(path).data)

    def modified_ms(self, path: str) -> int:
        self._inode(path)
        return 0

    def read_file(self, path: str) -> bytes:
        return bytes(self._inode(path).data)

    def write_file(self, path: str, data: Bytes, *, sync: bool) -> None:
        temporary = self.open_file(path + ".tmp", create=True)
        temporary.truncate(0)
        temporary.pwrite(data, 0)
        if sync:
            temporary.sync()
        self.rename(path + ".tmp", path)
        if sync:
            self.sync_directory(_parent(path))

    def _inode(self, path: str) -> _Inode:
        if path not in self._files:
            raise StorageError(f"{path}: No such file or directory")
        return self._files[path]

    # Names

    def list_directory(self, path: str) -> list[str]:
        if path not in self._directories:
            raise StorageError(f"{path}: can't list: No such file or directory")
        inside = [
            name for name in (*self._files, *self._directories) if _parent(name) == path and name != "/"
        ]
        return [name.rpartition("/")[2] for name in inside]

    def is_directory(self, path: str) -> bool:
        return path in self._directories

    def make_directory(self, path: str) -> None:
        if path not in self._directories:
            self.make_directory(_parent(path))
            self.change(path)
            self._directories.add(path)
            self._changed_names()

    def rename(self, source: str, target: str) -> None:
        self.change(source)
        if source in self._files:
            self._files[target] = self._files.pop(source)
        elif source in self._directories:
            self._rename_directory(source, target)
        else:
            raise StorageError(f"{source}: can't rename: No such file or directory")
        self._changed_names()

    def _rename_directory(self, source: str, target: str) -> None:
        self._directories = {_moved(path, source, target) for path in self._directories}
        self._files = {_moved(path, source, target): inode for path, inode in self._files.items()}

    def remove(self, path: str) -> None:
        if path in self._files:
            self.change(path)
            del self._files[path]
            self._changed_names()

    def remove_tree(self, path: str) -> None:
        self.change(path)
        self._files = {name: inode for name, inode in self._files.items() if not name.startswith(path + "/")}
        self._directories = {n for n in self._directories if n != path and not n.startswith(path + "/")}
        self._changed_names()

    def sync_directory(self, path: str) -> None:
        self.change(path)
        self._durable_files, self._durable_directories = dict(self._files), set(self._directories)
        self._pending.clear()

    def lock(self, path: str) -> MemoryFile:
        if path in self._locks:
            raise StorageError(f"{path}: can't lock (is another broker using this directory?)")
        self._locks.add(path)
        return self.open_file(path, create=True)


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _moved(path: str, source: str, target: str) -> str:
    return target + path[len(source) :] if path == source or path.startswith(source + "/") else path
