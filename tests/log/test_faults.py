"""A disk that fills up or fails: the log stays what it was, and goes on when the disk does."""

import errno
import os
from pathlib import Path

import pytest

from penstock.errors import StorageError
from penstock.log.fs import RealFileSystem
from penstock.log.partition_log import PartitionLog
from penstock.testing.memory_fs import MemoryFileSystem
from tests.log.support import append, open_log, topic, values

SMALL = topic(internal_segment_bytes=600, index_interval_bytes=100)


def new_fs() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_directory("/logs")
    return fs


def append_until_it_fails(log: PartitionLog, acknowledged: dict[int, bytes]) -> None:
    for n in range(100):
        value = b"more%d" % n * 10
        acknowledged[append(log, value, leader_epoch=1)] = value


@pytest.mark.parametrize("passes", range(25))
def test_a_full_disk_loses_nothing_acknowledged(passes: int) -> None:
    fs = new_fs()
    log = open_log(fs, settings=SMALL)
    acknowledged: dict[int, bytes] = {}
    for n in range(5):
        acknowledged[append(log, b"%d" % n * 30)] = b"%d" % n * 30
    fs.fail_after(passes)
    with pytest.raises(StorageError, match="No space left"):
        append_until_it_fails(log, acknowledged)
    assert log.log_end_offset == len(acknowledged)
    fs.heal()
    assert values(log) == acknowledged
    acknowledged[append(log, b"space again")] = b"space again"
    assert values(log) == acknowledged
    log.close()
    assert values(open_log(fs, settings=SMALL)) == acknowledged


@pytest.mark.parametrize("passes", range(25))
def test_a_full_disk_and_then_a_kill(passes: int) -> None:
    fs = new_fs()
    log = open_log(fs, settings=SMALL)
    acknowledged = {append(log, b"first" * 30): b"first" * 30}
    fs.fail_after(passes)
    with pytest.raises(StorageError):
        append_until_it_fails(log, acknowledged)
    fs.kill()
    again = open_log(fs, settings=SMALL, clean=False)
    assert values(again) == acknowledged


def test_a_failed_append_does_not_count_for_its_producer() -> None:
    fs = new_fs()
    log = open_log(fs)
    append(log, b"0", producer_id=1, producer_epoch=0, base_sequence=0)
    fs.fail_after(0)
    with pytest.raises(StorageError):
        append(log, b"1", producer_id=1, producer_epoch=0, base_sequence=1)
    fs.heal()
    assert append(log, b"1", producer_id=1, producer_epoch=0, base_sequence=1) == 1


def test_errors_name_the_path_and_the_cause(tmp_path: Path) -> None:
    fs = RealFileSystem()
    with pytest.raises(StorageError, match=r"nowhere/x: can't open: No such file"):
        fs.open_file(str(tmp_path / "nowhere" / "x"), create=True)
    file = fs.open_file(str(tmp_path / "f"), create=True)
    os.close(file.fileno())
    for action in (lambda: file.pwrite(b"x", 0), lambda: file.pread(1, 0), file.sync, file.size):
        with pytest.raises(StorageError, match=f"{tmp_path}/f: .*Bad file descriptor"):
            action()
    file.__init__("f", -1)  # type: ignore[misc]


def test_a_real_full_device_is_a_storage_error() -> None:
    file = RealFileSystem().open_file("/dev/full")
    with pytest.raises(StorageError, match="No space left on device") as failure:
        file.pwrite(b"x", 0)
    assert isinstance(failure.value.__cause__, OSError)
    assert failure.value.__cause__.errno == errno.ENOSPC
