"""Logs that are kept small while they are written.

A service writes its log itself, through a descriptor that it has inherited: neither the supervisor's end nor its delay
may cost a line or hold a service up, as a pipe between the two would. So the log is shortened under its writer, which
appends and so goes on at the new end, and Spark's JVM, which holds the same descriptor, with it. What is old is copied
beside first; then the kernel takes just these blocks out of the front of the file (ext4, XFS), whatever is written
meanwhile. Where a file system can't, the file is emptied in the moment after the last byte of it was copied: a line
that is written in that moment, some microseconds, is lost.

The cut is at a block, in the middle of a line: `x.log.1` and `x.log` one after the other are what was written.
"""

import ctypes
import os
from pathlib import Path

LARGEST_LOG_BYTES = 10 * 1024 * 1024
LOGS_KEPT = 3
"""Older ones, beside the one that is written."""
COPY_BYTES = 1024 * 1024
COLLAPSE_RANGE = 0x08
_libc = ctypes.CDLL(None, use_errno=True)


def set_aside(path: Path) -> None:
    """Gives a log that nobody writes the name of an older one."""
    _make_room(path)
    path.replace(older(path, 1))


def older(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def rotate(path: Path, largest_bytes: int = LARGEST_LOG_BYTES) -> int:
    """Shortens a log that is written and too large. By how many bytes; 0 if it is not, or if there is no room."""
    try:
        if path.stat().st_size <= largest_bytes:
            return 0
        return _rotate(path)
    except OSError:
        _aside(path).unlink(missing_ok=True)
        return 0


def _rotate(path: Path) -> int:
    log = os.open(path, os.O_RDWR)
    try:
        block = os.fstatvfs(log).f_bsize
        copied = (os.fstat(log).st_size - 1) // block * block
        with _aside(path).open("wb", buffering=0) as copy:
            _copy(log, copy.fileno(), 0, copied)
            _make_room(path)
            _aside(path).rename(older(path, 1))
            if not _collapse(log, copied):
                copied = _empty(log, copy.fileno(), copied)
        return copied
    finally:
        os.close(log)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.tmp")


def _make_room(path: Path) -> None:
    for number in range(LOGS_KEPT, 1, -1):
        if older(path, number - 1).exists():
            older(path, number - 1).replace(older(path, number))


def _copy(source: int, target: int, start: int, end: int) -> None:
    while start < end:
        start += os.write(target, os.pread(source, min(COPY_BYTES, end - start), start))


def _collapse(log: int, size: int) -> bool:
    zero, length = ctypes.c_int64(0), ctypes.c_int64(size)
    return bool(_libc.fallocate(log, COLLAPSE_RANGE, zero, length) == 0)


def _empty(log: int, target: int, copied: int) -> int:
    while (size := os.fstat(log).st_size) > copied:
        _copy(log, target, copied, size)
        copied = size
    os.ftruncate(log, 0)
    return copied
