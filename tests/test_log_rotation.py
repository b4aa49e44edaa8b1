"""Logs are shortened while they are written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import log_rotation
from penstock.log_rotation import LOGS_KEPT, older, rotate
from tests.support.small_disk import mounted

WRITER = """
import os
for number in range(200_000):
    os.write(1, b"%d the quick brown fox\\n" % number)
"""


def all_that_was_written(log: Path) -> bytes:
    parts = [older(log, number) for number in range(LOGS_KEPT, 0, -1)]
    return b"".join(part.read_bytes() for part in [*parts, log] if part.exists())


def takes_blocks_out(probe: Path) -> bool:
    probe.write_bytes(bytes(3 * 4096))
    with probe.open("r+b") as file:
        return log_rotation._collapse(file.fileno(), 4096)


@pytest.mark.processes
def test_no_line_is_lost_while_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_rotation, "LOGS_KEPT", 1000)
    if not takes_blocks_out(tmp_path / "probe"):
        pytest.skip("the file system can't take blocks out of the front of a file")
    log = tmp_path / "x.log"
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    writer = subprocess.Popen([sys.executable, "-c", WRITER], stdout=descriptor)
    os.close(descriptor)
    turns = 0
    while writer.poll() is None:
        turns += rotate(log, largest_bytes=100_000) > 0
    assert turns > 3
    parts = sorted(tmp_path.glob("x.log.*"), key=lambda part: -int(part.suffix[1:]))
    numbers = [int(line.split()[0]) for line in b"".join(p.read_bytes() for p in [*parts, log]).splitlines()]
    assert numbers == list(range(200_000))


@pytest.mark.parametrize("size", [200_001, 204_800])
def test_only_a_few_are_kept(tmp_path: Path, size: int) -> None:
    log = tmp_path / "x.log"
    for number in range(LOGS_KEPT + 3):
        with log.open("ab") as file:
            file.write(b"%d" % number * size)
        assert rotate(log, largest_bytes=100_000) > 0
        assert log.stat().st_size <= 8192
    assert rotate(log, largest_bytes=100_000) == 0
    names = {log.name, *(older(log, number).name for number in range(1, LOGS_KEPT + 1))}
    assert {path.name for path in tmp_path.iterdir()} == names


@pytest.mark.processes
def test_a_file_system_that_can_only_truncate(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", 4 << 20) as disk:
        log = disk / "x.log"
        log.write_bytes(b"line\n" * 50_000)
        assert rotate(log, largest_bytes=100_000) == 250_000
        assert log.stat().st_size == 0
        assert all_that_was_written(log) == b"line\n" * 50_000


@pytest.mark.processes
def test_without_room_the_log_stays(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", 1 << 20) as disk:
        log = disk / "x.log"
        log.write_bytes(b"line\n" * 150_000)
        assert rotate(log, largest_bytes=100_000) == 0
        assert log.stat().st_size == 750_000
        assert [path.name for path in disk.iterdir()] == ["x.log"]
