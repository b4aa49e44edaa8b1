"""What is found in a partition's directory after work that was interrupted."""

import os
from pathlib import Path

import pytest

from penstock.errors import ApiError, ErrorCode
from penstock.log.fs import RealFileSystem
from penstock.log.partition_log import PartitionLog
from tests.log.support import NOW, append, batch_of, open_log, read_batches, topic, values

FS = RealFileSystem()
SMALL = topic(internal_segment_bytes=400, index_interval_bytes=100)


@pytest.fixture
def closed(tmp_path: Path) -> PartitionLog:
    """A log of ten records, in several segments, closed."""
    log = open_log(FS, str(tmp_path / "topic-0"), settings=SMALL)
    for n in range(10):
        append(log, b"%d" % n * 30, timestamp=NOW + n, producer_id=4, producer_epoch=0, base_sequence=n)
    log.close()
    return log


def reopen(log: PartitionLog, **options: object) -> PartitionLog:
    return open_log(FS, str(log.directory), settings=SMALL, **options)


TEN = {n: b"%d" % n * 30 for n in range(10)}


@pytest.mark.parametrize("clean", [True, False])
def test_leftovers_are_removed(closed: PartitionLog, clean: bool) -> None:
    leftovers = [
        "00000000000000000000.log.deleted",
        "00000000000000000003.log.cleaned",
        "00000000000000000003.index.cleaned",
        "leader-epoch-checkpoint.tmp",
        "00000000000000000777.index",
        "00000000000000000777.timeindex",
    ]
    for name in leftovers:
        (closed.directory / name).write_bytes(b"left over")
    again = reopen(closed, clean=clean)
    assert values(again) == TEN
    assert not set(leftovers) & set(os.listdir(closed.directory))


def test_a_finished_compaction_is_completed(closed: PartitionLog) -> None:
    """All segments but the last were merged into one, which was not renamed yet."""
    merged = b"".join(Path(segment.path(".log")).read_bytes() for segment in closed.segments[:-1])
    (closed.directory / "00000000000000000000.log.swap").write_bytes(merged)
    again = reopen(closed)
    assert [segment.base_offset for segment in again.segments] == [0, closed.segments[-1].base_offset]
    assert values(again) == TEN


def test_a_swap_next_to_unfinished_files_is_undone(closed: PartitionLog) -> None:
    (closed.directory / "00000000000000000000.log.swap").write_bytes(b"")
    (closed.directory / "00000000000000000000.index.cleaned").write_bytes(b"")
    again = reopen(closed)
    assert values(again) == TEN
    assert len(again.segments) == len(closed.segments)


@pytest.mark.parametrize("cut", [1, 11, 12, 16, 17, 60, 61, 70])
def test_a_tail_cut_anywhere_is_dropped(closed: PartitionLog, cut: int) -> None:
    with open(closed.segments[-1].path(".log"), "ab") as file:
        file.write(bytes(batch_of(b"never acknowledged").view)[:cut])
    for clean in (True, False):
        again = reopen(closed, clean=clean)
        assert values(again) == TEN
        assert append(again, b"next", producer_id=4, producer_epoch=0, base_sequence=10) == 10
        assert values(again)[10] == b"next"
        again.truncate_to(10)
        again.close()


def test_zeros_at_the_end_are_dropped(closed: PartitionLog) -> None:
    with open(closed.segments[-1].path(".log"), "ab") as file:
        file.write(bytes(5000))
    assert values(reopen(closed, clean=False)) == TEN


def test_a_damaged_snapshot_is_replaced_by_a_replay(closed: PartitionLog) -> None:
    for path in closed.directory.glob("*.snapshot"):
        path.write_bytes(b"\0" * 20)
    again = reopen(closed)
    assert again.producers()[0].last_sequence == 9


def test_a_log_that_ends_before_its_start_begins_anew(closed: PartitionLog) -> None:
    again = reopen(closed, log_start_offset=50)
    assert (again.log_start_offset, again.log_end_offset) == (50, 50)
    assert append(again, b"x") == 50


def test_only_unflushed_segments_are_read(closed: PartitionLog) -> None:
    """Damage below the recovery point is not looked for."""
    with open(closed.segments[0].path(".log"), "r+b") as file:
        file.seek(80)
        file.write(b"\xff\xff")
    assert reopen(closed, clean=False, recovery_point=10).log_end_offset == 10
    assert reopen(closed, clean=False, recovery_point=0).log_end_offset == 0


@pytest.mark.parametrize("cut", [1, 40, 90])
def test_a_torn_last_batch_after_a_clean_stop(
    tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Its index entry leads to the torn batch itself; what lies before it is still there."""
    settings = topic(index_interval_bytes=100)
    log = open_log(FS, str(tmp_path / "topic-0"), settings=settings)
    for n in range(20):
        append(log, b"%d" % n * 30, timestamp=NOW + n)
    log.close()
    path = log.segments[-1].path(".log")
    os.truncate(path, os.path.getsize(path) - cut)
    again = open_log(FS, str(log.directory), settings=settings)
    assert (again.log_start_offset, again.log_end_offset) == (0, 19)
    assert path in caplog.text
    assert append(again, b"next", timestamp=NOW + 99) == 19
    again.close()
    last = open_log(FS, str(log.directory), settings=settings)
    assert values(last) == {n: b"%d" % n * 30 for n in range(19)} | {19: b"next"}


def damage(path: str, position: int, field: str) -> None:
    """Of a batch header: a length that is beyond the file, or bytes of no batch at all."""
    start, data = {"length": (8, b"\x00\x7f\xff\xff"), "magic": (16, b"\x55")}[field]
    with open(path, "r+b") as file:
        file.seek(position + start)
        file.write(data)


@pytest.mark.parametrize("interval", [100, 1_000_000], ids=["with index entries", "without"])
@pytest.mark.parametrize("field", ["length", "magic"])
def test_a_damaged_header_after_a_clean_stop(
    tmp_path: Path, field: str, interval: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The first of a segment, below the recovery point: it is named, nothing is cut off, no offset used again."""
    settings = topic(index_interval_bytes=interval)
    log = open_log(FS, str(tmp_path / "topic-0"), settings=settings)
    for n in range(20):
        append(log, b"%d" % n * 30, timestamp=NOW + n)
    log.close()
    path = log.segments[-1].path(".log")
    damage(path, 0, field)
    before = Path(path).read_bytes()
    again = open_log(FS, str(log.directory), settings=settings, recovery_point=20)
    assert (again.log_start_offset, again.log_end_offset) == (0, 20)
    with pytest.raises(ApiError, match=f"{path}: the batch header at position 0 is damaged") as refused:
        read_batches(again, 0)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    if interval > 100:  # without an index entry the header is met at the start
        assert f"{path}: the batch header at position 0 is damaged" in caplog.text
    assert append(again, b"next", timestamp=NOW + 99) == 20
    for clean in (True, False):
        again.flush()
        if clean:
            again.close()
        again = open_log(FS, str(log.directory), settings=settings, recovery_point=21, clean=clean)
        assert again.log_end_offset == 21
        assert [batch.base_offset for batch in read_batches(again, 20)] == [20]
    assert Path(path).read_bytes()[: len(before)] == before


def test_a_torn_batch_that_was_acknowledged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A clean stop says that twenty were safe: nineteen can be read, and the offset of the last is lost."""
    settings = topic(index_interval_bytes=100)
    log = open_log(FS, str(tmp_path / "topic-0"), settings=settings)
    for n in range(20):
        append(log, b"%d" % n * 30, timestamp=NOW + n)
    log.close()
    assert os.path.getsize(log.segments[-1].path(".index")) > 0
    path = log.segments[-1].path(".log")
    os.truncate(path, os.path.getsize(path) - 40)
    again = open_log(FS, str(log.directory), settings=settings, recovery_point=20)
    assert [record.levelname for record in caplog.records if path in record.message] == ["WARNING"]
    assert values(again) == {n: b"%d" % n * 30 for n in range(19)}
    assert append(again, b"next", timestamp=NOW + 99) == 20
    again.flush()
    for clean in (True, False):
        if clean:
            again.close()
        again = open_log(FS, str(log.directory), settings=settings, recovery_point=21, clean=clean)
        assert values(again) == {n: b"%d" % n * 30 for n in range(19)} | {20: b"next"}
        assert again.log_end_offset == 21


def test_the_offset_of_a_torn_batch_is_not_used_again(tmp_path: Path) -> None:
    log = open_log(FS, str(tmp_path / "topic-0"))
    for n in range(5):
        append(log, b"%d" % n, timestamp=NOW + n)
    log.close()
    path = log.segments[-1].path(".log")
    os.truncate(path, os.path.getsize(path) - 1)
    again = open_log(FS, str(log.directory), recovery_point=5)
    assert append(again, b"next", timestamp=NOW + 99) == 5
    again.flush()
    for clean in (True, False):
        last = open_log(FS, str(log.directory), recovery_point=6, clean=clean)
        assert values(last) == {n: b"%d" % n for n in range(4)} | {5: b"next"}
