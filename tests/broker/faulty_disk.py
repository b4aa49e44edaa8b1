"""A disk on which the logs of some partitions can't be written, or can't be read for a while."""

import os
import threading
from pathlib import Path

from penstock.errors import StorageError
from penstock.log.fs import Bytes, RealFile, RealFileSystem


class FaultyDisk(RealFileSystem):
    """Partitions go by the name of their directory."""

    def __init__(self) -> None:
        self.broken: set[str] = set()
        self.slow: set[str] = set()
        """Coordinators over these load only when `is_fast` is set."""
        self.is_fast = threading.Event()

    def open_file(self, path: str, *, create: bool = False) -> RealFile:
        plain = super().open_file(path, create=create)
        return WatchedFile(plain, self) if path.endswith(".log") else plain


class WatchedFile(RealFile):
    def __init__(self, plain: RealFile, disk: FaultyDisk) -> None:
        super().__init__(plain.path, os.dup(plain.fileno()))
        plain.close()
        self.disk = disk

    @property
    def partition(self) -> str:
        return Path(self.path).parent.name

    def pread(self, size: int, position: int) -> bytes:
        is_loading = threading.current_thread().name.startswith(("asyncio", "uvloop"))
        if is_loading and self.partition in self.disk.slow:
            assert self.disk.is_fast.wait(30)
        return super().pread(size, position)

    def pwrite(self, data: Bytes, position: int) -> None:
        if self.partition in self.disk.broken:
            raise StorageError(f"can't write {self.path}: Input/output error")
        super().pwrite(data, position)
