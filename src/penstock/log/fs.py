"""The only file IO of the core.

`FileSystem` is the seam: `RealFileSystem` is the disk, tests bring one that loses unsynced writes. Every
failure comes out as a `StorageError` that names the path and the cause. A file closes when the last reference
to it goes, so a segment can be retired while a slice of it is still on its way to a socket.
"""

import fcntl
import os
import shutil
import uuid
from typing import NoReturn, Protocol

from penstock.errors import StorageError

Bytes = bytes | bytearray | memoryview
WARM_CHUNK_BYTES = 1024 * 1024
BOOT_ID = "/proc/sys/kernel/random/boot_id"
UNKNOWN_BOOT = uuid.uuid4().hex
"""Where the system doesn't tell: each process counts as a start of the machine."""


class File(Protocol):
    @property
    def path(self) -> str: ...

    def fileno(self) -> int: ...

    def pwrite(self, data: Bytes, position: int) -> None:
        """Write all of `data`, or raise; after an error any part of it may be in the file."""
        ...

    def pread(self, size: int, position: int) -> bytes:
        """Up to `size` bytes; less only at the end of the file."""
        ...

    def is_cached(self, size: int, position: int) -> bool:
        """Whether reading these bytes will hardly wait for the disk, judged by the last of them."""
        ...

    def warm(self, size: int, position: int) -> None:
        """Read the bytes into the page cache; blocks on the disk."""
        ...

    def size(self) -> int: ...

    def truncate(self, size: int) -> None: ...

    def allocate(self, size: int) -> None: ...

    def sync(self) -> None: ...

    def close(self) -> None: ...


class FileSystem(Protocol):
    def boot_id(self) -> str:
        """Another one when the machine was started anew: what was written and not synced by then may be lost."""
        ...

    def open_file(self, path: str, *, create: bool = False) -> File: ...

    def exists(self, path: str) -> bool: ...

    def file_size(self, path: str) -> int: ...

    def modified_ms(self, path: str) -> int: ...

    def read_file(self, path: str) -> bytes: ...

    def write_file(self, path: str, data: Bytes, *, sync: bool) -> None:
        """Replace the file at once: written beside it, then renamed over it."""
        ...

    def list_directory(self, path: str) -> list[str]: ...

    def is_directory(self, path: str) -> bool: ...

    def make_directory(self, path: str) -> None: ...

    def rename(self, source: str, target: str) -> None: ...

    def remove(self, path: str) -> None:
        """Remove a file; one that is not there is fine."""
        ...

    def remove_tree(self, path: str) -> None: ...

    def sync_directory(self, path: str) -> None: ...

    def lock(self, path: str) -> File: ...


def _fail(action: str, path: str, error: OSError) -> NoReturn:
    raise StorageError(f"{path}: can't {action}: {error.strerror or error}", error.errno) from error


class RealFile:
    __slots__ = ("_descriptor", "path")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def pwrite(self, data: Bytes, position: int) -> None:
        try:
            written = os.pwrite(self._descriptor, data, position)
            if written != len(data):
                self._write_rest(memoryview(data), written, position)
        except OSError as error:
            _fail("write", self.path, error)

    def _write_rest(self, data: memoryview, written: int, position: int) -> None:
        while written < len(data):
            written += os.pwrite(self._descriptor, data[written:], position + written)

    def pread(self, size: int, position: int) -> bytes:
        try:
            data = os.pread(self._descriptor, size, position)
            while len(data) < size:
                more = os.pread(self._descriptor, size - len(data), position + len(data))
                if not more:
                    break
                data += more
            return data
        except OSError as error:
            _fail("read", self.path, error)

    def is_cached(self, size: int, position: int) -> bool:
        try:
            os.preadv(self._descriptor, [bytearray(1)], position + size - 1, os.RWF_NOWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True  # the file system can't tell; one that fails will say so when it is read
        return True

    def warm(self, size: int, position: int) -> None:
        for start in range(position, position + size, WARM_CHUNK_BYTES):
            self.pread(min(WARM_CHUNK_BYTES, position + size - start), start)

    def size(self) -> int:
        try:
            return os.fstat(self._descriptor).st_size
        except OSError as error:
            _fail("stat", self.path, error)

    def truncate(self, size: int) -> None:
        try:
            os.ftruncate(self._descriptor, size)
        except OSError as error:
            _fail("truncate", self.path, error)

    def allocate(self, size: int) -> None:
        try:
            os.posix_fallocate(self._descriptor, 0, size)
        except OSError as error:
            _fail("allocate", self.path, error)

    def sync(self) -> None:
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            _fail("fsync", self.path, error)

    def close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            try:
                os.close(descriptor)
            except OSError as error:
                _fail("close", self.path, error)

    def __del__(self) -> None:
        if self._descriptor >= 0:
            try:
                os.close(self._descriptor)
            except OSError:
                pass


class RealFileSystem:
    def boot_id(self) -> str:
        try:
            with open(BOOT_ID, encoding="ascii") as file:
                return file.read().strip()
        except OSError:
            return UNKNOWN_BOOT

    def open_file(self, path: str, *, create: bool = False) -> RealFile:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        try:
            return RealFile(path, os.open(path, flags, 0o644))
        except OSError as error:
            _fail("open", path, error)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def file_size(self, path: str) -> int:
        try:
            return os.stat(path).st_size
        except OSError as error:
            _fail("stat", path, error)

    def modified_ms(self, path: str) -> int:
        try:
            return os.stat(path).st_mtime_ns // 1_000_000
        except OSError as error:
            _fail("stat", path, error)

    def read_file(self, path: str) -> bytes:
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            _fail("read", path, error)

    def write_file(self, path: str, data: Bytes, *, sync: bool) -> None:
        temporary = path + ".tmp"
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            _fail("write", path, error)
        if sync:
            self.sync_directory(os.path.dirname(path))

    def list_directory(self, path: str) -> list[str]:
        try:
            return os.listdir(path)
        except OSError as error:
            _fail("list", path, error)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def make_directory(self, path: str) -> None:
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as error:
            _fail("create", path, error)

    def rename(self, source: str, target: str) -> None:
        try:
            os.rename(source, target)
        except OSError as error:
            _fail(f"rename to {target}", source, error)

    def remove(self, path: str) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            _fail("remove", path, error)

    def remove_tree(self, path: str) -> None:
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            _fail("remove", path, error)

    def sync_directory(self, path: str) -> None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            _fail("fsync", path, error)

    def lock(self, path: str) -> RealFile:
        """Hold the lock file until it is closed; another process that has it is an error."""
        file = self.open_file(path, create=True)
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            _fail("lock (is another broker using this directory?)", path, error)
        return file
