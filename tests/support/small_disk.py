"""A file system of a few megabytes, which a test can fill."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

FULL = 0
"""The size of a disk that has no room left."""
MOST_LOOKS = 100
"""At a disk that somebody writes to while it is made full."""


def can_be_mounted() -> bool:
    return os.geteuid() == 0


@contextmanager
def mounted(place: Path, size_bytes: int) -> Iterator[Path]:
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small disk can be mounted only by root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def resize(place: Path, size_bytes: int) -> None:
    """Of what is mounted there; what is full already can't be made smaller than what it holds."""
    if size_bytes != FULL:
        _remount(place, size_bytes).check_returncode()
        return
    for _ in range(MOST_LOOKS):
        disk = os.statvfs(place)
        holds = max((disk.f_blocks - disk.f_bfree) * disk.f_frsize, disk.f_frsize)
        if _remount(place, holds).returncode == 0:
            return
    raise OSError(f"{place} takes more than it held, each time it is looked at")


def _remount(place: Path, size_bytes: int) -> subprocess.CompletedProcess[bytes]:
    command = ["mount", "-o", f"remount,size={size_bytes}", str(place)]
    return subprocess.run(command, check=False, capture_output=True)


def free_bytes(place: Path) -> int:
    disk = os.statvfs(place)
    return disk.f_bavail * disk.f_frsize


def fill(file: Path, leave_bytes: int = 0) -> None:
    """Writes to a file until that much is free."""
    with file.open("wb", buffering=0) as filler, suppress(OSError):
        while (left := free_bytes(file.parent) - leave_bytes) > 0:
            filler.write(bytes(min(left, 1 << 20)))
