"""The log on real files: appends, reads, rolls, producers, transactions, times, retention, flushes."""

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from penstock.errors import ApiError, ErrorCode
from penstock.log.fs import RealFileSystem
from penstock.log.partition_log import PartitionLog
from penstock.log.producer_state import AppendOrigin
from penstock.records.batch import Batch, decode_batches
from penstock.records.builder import build_batch, build_end_transaction_marker
from penstock.records.compression import Codec
from penstock.records.reader import Record
from tests.log.support import NOW, append, batch_of, open_log, read_all, read_batches, topic, values

FS = RealFileSystem()
SMALL = topic(internal_segment_bytes=600, index_interval_bytes=100)
TOPIC_ID = UUID("12345678-1234-5678-1234-567812345678")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[PartitionLog]:
    log = open_log(FS, str(tmp_path / "topic-0"), settings=SMALL)
    yield log
    log.close_after_failure()


def reopen(log: PartitionLog, **options: object) -> PartitionLog:
    return open_log(FS, str(log.directory), settings=log.settings, **options)


def refusal(log: PartitionLog, *batches: Batch, origin: AppendOrigin = AppendOrigin.CLIENT) -> ErrorCode:
    end = log.log_end_offset
    with pytest.raises(ApiError) as refused:
        log.append_as_leader(list(batches), leader_epoch=0, now_ms=NOW, origin=origin)
    assert log.log_end_offset == end
    return refused.value.code


# Append and read


def test_appended_batches_come_back_with_offsets_and_epoch(log: PartitionLog) -> None:
    first = log.append_as_leader([batch_of(b"a", b"b")], leader_epoch=3, now_ms=NOW)
    second = log.append_as_leader([batch_of(b"c")], leader_epoch=3, now_ms=NOW)
    assert (first.first_offset, first.last_offset, first.log_append_time_ms, first.duplicate) == (
        0,
        1,
        -1,
        False,
    )
    assert (second.first_offset, second.last_offset, second.log_start_offset) == (2, 2, 0)
    batches = read_batches(log, 0)
    assert [(b.base_offset, b.last_offset, b.leader_epoch, b.is_valid()) for b in batches] == [
        (0, 1, 3, True),
        (2, 2, 3, True),
    ]
    assert log.epochs.latest_epoch == 3


def test_several_batches_in_one_append(log: PartitionLog) -> None:
    raw = bytearray(batch_of(b"a", b"b").view) + batch_of(b"c").view
    view = memoryview(raw)
    side_by_side = [Batch(view), Batch(view, Batch(view).size)]
    apart = [batch_of(b"d"), batch_of(b"e")]
    assert log.append_as_leader(side_by_side, leader_epoch=0, now_ms=NOW).last_offset == 2
    assert log.append_as_leader(apart, leader_epoch=0, now_ms=NOW).last_offset == 4
    assert values(log) == {0: b"a", 1: b"b", 2: b"c", 3: b"d", 4: b"e"}


def test_a_producers_batch_is_stored_as_it_came(log: PartitionLog) -> None:
    raw = bytearray(batch_of(b"v" * 50, codec=Codec.ZSTD).view)
    log.append_as_leader(decode_batches(memoryview(raw)), leader_epoch=0, now_ms=NOW)
    assert (log.directory / "00000000000000000000.log").read_bytes() == bytes(raw)


def test_log_append_time_is_reported(log: PartitionLog) -> None:
    batch = batch_of(b"a")
    batch.set_log_append_time(NOW + 5)
    assert log.append_as_leader([batch], leader_epoch=0, now_ms=NOW).log_append_time_ms == NOW + 5


def test_reads_stop_at_the_limit(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 20)
    assert log.read(20, 1000, max_offset=20, at_least_one=True) is None
    assert log.read(7, 1000, max_offset=7, at_least_one=True) is None
    for limit in range(1, 21):
        offset, seen = 0, []
        while batches := read_batches(log, offset, limit, max_bytes=200):
            seen += [batch.base_offset for batch in batches]
            offset = batches[-1].next_offset
        assert seen == list(range(limit))


def test_the_first_batch_is_whole_if_asked_for(log: PartitionLog) -> None:
    append(log, b"x" * 200)
    append(log, b"y" * 200)
    whole = log.read(0, 10, max_offset=2, at_least_one=True)
    assert whole is not None
    assert whole.size == read_batches(log, 0)[0].size
    cut = log.read(0, 10, max_offset=2, at_least_one=False)
    assert cut is not None
    assert (cut.size, cut.read()) == (0, b"")


@pytest.mark.parametrize("offset", [-1, 3, 100])
def test_offsets_outside_of_the_log(log: PartitionLog, offset: int) -> None:
    append(log, b"a", b"b")
    with pytest.raises(ApiError) as refused:
        log.read(offset, 100, max_offset=2, at_least_one=True)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_batch_larger_than_a_segment_is_refused(log: PartitionLog) -> None:
    assert refusal(log, batch_of(b"x" * 700)) == ErrorCode.RECORD_LIST_TOO_LARGE


def test_a_slice_outlives_its_segment(log: PartitionLog) -> None:
    append(log, b"kept in a slice")
    found = log.read(0, 1000, max_offset=1, at_least_one=True)
    log.truncate_to(0)
    assert found is not None
    assert os.fstat(found.file.fileno()).st_nlink <= 1


# Followers


def test_a_follower_takes_the_leaders_bytes(log: PartitionLog, tmp_path: Path) -> None:
    for n in range(5):
        append(log, b"%d" % n, leader_epoch=n // 2)
    found = log.read(0, 1 << 20, max_offset=5, at_least_one=True)
    assert found is not None
    follower = open_log(FS, str(tmp_path / "follower-0"), settings=SMALL)
    data = found.read()
    result = follower.append_as_follower(memoryview(data + data[:30]))
    assert (result.first_offset, result.last_offset) == (0, 4)
    assert read_all(follower) == read_all(log)
    assert follower.epochs.entries == log.epochs.entries
    with pytest.raises(ApiError):
        follower.append_as_follower(memoryview(data))
    damaged = bytearray(data)
    damaged[-1] ^= 1
    follower.truncate_to(0)
    with pytest.raises(ApiError):
        follower.append_as_follower(memoryview(damaged))
    assert follower.log_end_offset == 0


# Segments


def test_rolls_by_size(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 30)
    assert len(log.segments) > 3
    assert all(segment.size <= 600 for segment in log.segments)
    assert values(log) == {n: b"%d" % n * 30 for n in range(20)}


def test_rolls_by_time_and_jitter(tmp_path: Path) -> None:
    log = open_log(FS, str(tmp_path / "t-0"), settings=topic(segment_ms=1_000))
    append(log, b"a", timestamp=NOW)
    append(log, b"b", timestamp=NOW + 1_000)
    assert len(log.segments) == 1
    append(log, b"c", timestamp=NOW + 1_001)
    assert [segment.base_offset for segment in log.segments] == [0, 2]
    assert not log.maybe_roll(NOW + 2_001)
    assert log.maybe_roll(NOW + 2_002)
    assert not log.maybe_roll(NOW + 9_999)
    log.settings = topic(segment_ms=1_000, segment_jitter_ms=1_000)
    assert 0 <= log.segments[-1].roll_jitter_ms(1_000) < 1_000


def test_rolls_when_the_index_is_full(tmp_path: Path) -> None:
    log = open_log(FS, str(tmp_path / "t-0"), settings=topic(index_interval_bytes=0, segment_index_bytes=80))
    for n in range(30):
        append(log, b"%d" % n, timestamp=NOW + n)
    assert len(log.segments) > 2
    assert values(log) == {n: b"%d" % n for n in range(30)}


def test_settings_change_live(log: PartitionLog) -> None:
    append(log, b"a")
    log.settings = topic(internal_segment_bytes=100)
    append(log, b"b")
    assert len(log.segments) == 2


def test_preallocated_space_is_given_back(tmp_path: Path) -> None:
    settings = topic(preallocate=True, internal_segment_bytes=8192)
    log = open_log(FS, str(tmp_path / "t-0"), settings=settings)
    append(log, b"a")
    path = log.directory / "00000000000000000000.log"
    assert path.stat().st_size == 8192
    log.close()
    assert path.stat().st_size < 200
    assert values(open_log(FS, str(log.directory), settings=settings)) == {0: b"a"}


# Restart


def test_a_clean_restart_finds_everything(tmp_path: Path) -> None:
    log = open_log(FS, str(tmp_path / "t-0"), settings=SMALL, topic_id=TOPIC_ID)
    for n in range(30):
        append(log, b"%d" % n * 10, leader_epoch=n // 10, producer_id=1, producer_epoch=0, base_sequence=n)
    log.close()
    again = reopen(log, topic_id=TOPIC_ID)
    assert (again.log_end_offset, again.recovery_point, again.topic_id) == (30, 30, TOPIC_ID)
    assert read_all(again) == read_all(log)
    assert again.epochs.entries == log.epochs.entries
    assert again.append_as_leader(
        [batch_of(b"29" * 10, producer_id=1, producer_epoch=0, base_sequence=29)], leader_epoch=2, now_ms=NOW
    ).duplicate
    assert append(again, b"next", producer_id=1, producer_epoch=0, base_sequence=30) == 30


def test_an_unclean_restart_cuts_the_torn_tail(log: PartitionLog) -> None:
    for n in range(10):
        append(log, b"%d" % n * 10)
    last = log.segments[-1].path(".log")
    with open(last, "ab") as file:
        file.write(bytes(batch_of(b"torn").view)[:50])
    again = reopen(log, clean=False)
    assert values(again) == {n: b"%d" % n * 10 for n in range(10)}
    assert os.stat(last).st_size == again.segments[-1].size


def test_corruption_in_the_middle_ends_the_log_there(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 20)
    second = log.segments[1]
    with open(second.path(".log"), "r+b") as file:
        file.seek(70)
        file.write(b"\xff")
    again = reopen(log, clean=False)
    assert values(again) == {n: b"%d" % n * 20 for n in range(second.base_offset)}


def test_lost_index_files_are_rebuilt(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 20, timestamp=NOW + n)
    log.close()
    expected = [bytes(segment.offset_index.entries) for segment in log.segments]
    for name in os.listdir(log.directory):
        if name.endswith(("index",)):
            os.unlink(log.directory / name)
    again = reopen(log)
    assert [bytes(segment.offset_index.entries) for segment in again.segments] == expected
    assert values(again) == values(log)
    found = again.offset_for_timestamp(NOW + 7, 20)
    assert found is not None
    assert found.offset == 7


def test_another_topic_id_is_refused(tmp_path: Path) -> None:
    log = open_log(FS, str(tmp_path / "t-0"), topic_id=TOPIC_ID)
    log.close()
    with pytest.raises(ApiError) as refused:
        reopen(log, topic_id=UUID(int=5))
    assert refused.value.code == ErrorCode.INCONSISTENT_TOPIC_ID
    assert (
        log.directory / "partition.metadata"
    ).read_text() == "version: 0\ntopic_id: EjRWeBI0VngSNFZ4EjRWeA"


# Producers


def numbered(sequence: int, *, epoch: int = 0, count: int = 1, transactional: bool = False) -> Batch:
    contents = [b"s%d" % (sequence + n) for n in range(count)]
    return batch_of(
        *contents, producer_id=7, producer_epoch=epoch, base_sequence=sequence, is_transactional=transactional
    )


def test_duplicates_are_answered_with_the_first_offsets(log: PartitionLog) -> None:
    for sequence in range(0, 14, 2):
        log.append_as_leader([numbered(sequence, count=2)], leader_epoch=0, now_ms=NOW)
    again = log.append_as_leader([numbered(6, count=2)], leader_epoch=0, now_ms=NOW)
    assert (again.first_offset, again.last_offset, again.duplicate) == (6, 7, True)
    assert log.log_end_offset == 14
    assert refusal(log, numbered(2, count=2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_must_go_on(log: PartitionLog) -> None:
    log.append_as_leader([numbered(5)], leader_epoch=0, now_ms=NOW)  # unknown producers may start anywhere
    assert refusal(log, numbered(7)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.append_as_leader([numbered(6)], leader_epoch=0, now_ms=NOW)
    assert refusal(log, numbered(3, epoch=1)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.append_as_leader([numbered(0, epoch=1)], leader_epoch=0, now_ms=NOW)
    assert refusal(log, numbered(7)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_several_producer_batches_in_one_append(log: PartitionLog) -> None:
    log.append_as_leader([numbered(0), numbered(1)], leader_epoch=0, now_ms=NOW)
    assert refusal(log, numbered(2), numbered(4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.producers()[0].last_sequence == 1


def test_idle_producers_expire(log: PartitionLog) -> None:
    append(log, b"a", producer_id=1, producer_epoch=0, base_sequence=0, timestamp=NOW)
    log.expire_producers(NOW + log.producer_expiration_ms - 1)
    assert [entry.producer_id for entry in log.producers()] == [1]
    log.expire_producers(NOW + log.producer_expiration_ms)
    assert log.producers() == []


# Transactions


def end_transaction(log: PartitionLog, *, is_commit: bool, coordinator_epoch: int = 1) -> None:
    marker = build_end_transaction_marker(
        is_commit=is_commit,
        producer_id=7,
        producer_epoch=0,
        coordinator_epoch=coordinator_epoch,
        timestamp=NOW,
    )
    log.append_as_leader([marker], leader_epoch=0, now_ms=NOW, origin=AppendOrigin.COORDINATOR)


def test_open_transactions_hold_the_last_stable_offset(log: PartitionLog) -> None:
    append(log, b"plain")
    log.append_as_leader([numbered(0, transactional=True)], leader_epoch=0, now_ms=NOW)
    append(log, b"plain")
    assert log.last_stable_offset(3) == 1
    end_transaction(log, is_commit=True)
    assert log.last_stable_offset(3) == 1, "the marker is not replicated yet"
    assert log.last_stable_offset(4) == 4
    assert log.aborted_transactions(0, 4) == []


def test_aborted_transactions_are_indexed_and_survive_restarts(log: PartitionLog) -> None:
    log.append_as_leader([numbered(0, transactional=True)], leader_epoch=0, now_ms=NOW)
    end_transaction(log, is_commit=False)
    append(log, b"x" * 300)
    log.append_as_leader([numbered(1, transactional=True)], leader_epoch=0, now_ms=NOW)
    append(log, b"x" * 300)
    end_transaction(log, is_commit=False)
    expected = [(7, 0, 1, 2), (7, 3, 5, 6)]
    assert [tuple(entry) for entry in log.aborted_transactions(0, 6)] == expected
    assert [tuple(entry) for entry in log.aborted_transactions(2, 6)] == expected[1:]
    assert [tuple(entry) for entry in log.aborted_transactions(0, 2)] == expected[:1]
    for clean in (True, False):
        log.close()
        assert [tuple(e) for e in reopen(log, clean=clean).aborted_transactions(0, 6)] == expected


def test_an_open_transaction_survives_restarts(log: PartitionLog) -> None:
    append(log, b"plain")
    log.append_as_leader([numbered(0, transactional=True)], leader_epoch=0, now_ms=NOW)
    log.close()
    for clean in (True, False):
        again = reopen(log, clean=clean)
        assert again.last_stable_offset(2) == 1
        assert again.producers()[0].current_transaction_first_offset == 1


def test_bad_transactional_writes(log: PartitionLog) -> None:
    log.append_as_leader([numbered(0, transactional=True)], leader_epoch=0, now_ms=NOW)
    assert refusal(log, numbered(1)) == ErrorCode.INVALID_TXN_STATE
    end_transaction(log, is_commit=True, coordinator_epoch=5)
    zombie = build_end_transaction_marker(
        is_commit=True, producer_id=7, producer_epoch=0, coordinator_epoch=4, timestamp=NOW
    )
    assert refusal(log, zombie, origin=AppendOrigin.COORDINATOR) == ErrorCode.TRANSACTION_COORDINATOR_FENCED


# Times


def test_offsets_by_timestamp(log: PartitionLog) -> None:
    for n in range(30):
        append(log, b"a" * 20, b"b" * 20, timestamp=NOW + 10 * n, leader_epoch=n // 10)
    for n in range(30):
        for timestamp in (NOW + 10 * n, NOW + 10 * n - 9):
            assert log.offset_for_timestamp(timestamp, 60) == (2 * n, NOW + 10 * n, n // 10)
    assert log.offset_for_timestamp(NOW + 291, 60) is None
    assert log.offset_for_timestamp(NOW + 290, 58) is None
    log.delete_records_before(5)
    assert log.offset_for_timestamp(NOW, 60) == (5, NOW + 20, 0)
    assert log.offset_of_max_timestamp(60) == (58, NOW + 290, 2)
    assert log.offset_of_max_timestamp(58) is None


def test_the_newest_record_is_found_inside_its_batch(log: PartitionLog) -> None:
    records = [Record(n, NOW + (5, 9, 9, 1)[n], b"k", b"v") for n in range(4)]
    log.append_as_leader([build_batch(records, codec=Codec.GZIP)], leader_epoch=0, now_ms=NOW)
    append(log, b"older", timestamp=NOW)
    assert log.offset_of_max_timestamp(5) == (1, NOW + 9, 0)
    assert log.offset_for_timestamp(NOW + 6, 5) == (1, NOW + 9, 0)


def test_an_empty_log_has_no_times(log: PartitionLog) -> None:
    assert log.offset_for_timestamp(0, 0) is None
    assert log.offset_of_max_timestamp(0) is None


# Retention and deletion


def test_old_segments_go_by_time(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 30, timestamp=NOW + n)
    log.settings = topic(internal_segment_bytes=600, retention_ms=10)
    third = log.segments[2].base_offset
    retired = log.delete_old_segments(NOW + third - 1 + 11, 20)
    assert log.log_start_offset == third
    assert all(path.endswith(".deleted") and os.path.exists(path) for path in retired)
    assert sorted(values(log)) == list(range(third, 20))
    log.delete_old_segments(NOW + 10_000, 20)
    assert (log.log_start_offset, log.log_end_offset, len(log.segments)) == (20, 20, 1)
    assert append(log, b"new") == 20


def test_the_high_watermark_protects_segments(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 30)
    log.settings = topic(internal_segment_bytes=600, retention_ms=10)
    second = log.segments[1].base_offset
    log.delete_old_segments(NOW + 10_000, second)
    assert log.log_start_offset == second


def test_old_segments_go_by_size(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 30)
    log.settings = topic(internal_segment_bytes=600, retention_bytes=1_000, retention_ms=-1)
    log.delete_old_segments(NOW, 20)
    assert 1_000 <= log.size_bytes() < 1_600


def test_deleted_records_are_out_of_range_and_their_segments_go(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 30, leader_epoch=n // 5)
    log.delete_records_before(12)
    with pytest.raises(ApiError):
        log.read(11, 100, max_offset=20, at_least_one=True)
    assert sorted(values(log)) == list(range(12, 20))
    log.delete_old_segments(NOW, 20)
    assert log.segments[0].base_offset <= 12
    assert log.epochs.entries[0] == (2, 12)
    with pytest.raises(ApiError):
        log.delete_records_before(21)


def test_truncation(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 30, leader_epoch=n // 5, timestamp=NOW + n)
    log.flush()
    log.truncate_to(8)
    assert (log.log_end_offset, log.epochs.latest_epoch) == (8, 1)
    assert log.recovery_point <= 8
    assert sorted(values(log)) == list(range(8))
    assert log.offset_of_max_timestamp(20) == (7, NOW + 7, 1)
    assert append(log, b"again", leader_epoch=4) == 8
    log.truncate_fully_and_start_at(100)
    assert (log.log_start_offset, log.log_end_offset, log.epochs.entries) == (100, 100, [])
    assert append(log, b"far") == 100


def test_an_epoch_without_records_goes_with_a_truncation_that_drops_none(log: PartitionLog) -> None:
    append(log, b"a", leader_epoch=1)
    log.epochs.assign(3, 1)  # it led for a while, and nobody wrote
    log.truncate_to(1)
    assert (log.log_end_offset, log.epochs.latest_epoch) == (1, 1)


# Flush


def test_a_flush_in_two_halves(log: PartitionLog) -> None:
    for n in range(20):
        append(log, b"%d" % n * 30)
    assert log.has_unflushed_segments
    assert log.unflushed_records == 20
    plan = log.plan_flush(include_active=False)
    append(log, b"meanwhile")
    plan.run()
    log.mark_flushed(plan)
    assert log.recovery_point == log.segments[-1].base_offset
    assert not log.has_unflushed_segments
    overtaken = log.plan_flush()
    overtaken.run()
    log.truncate_to(3)
    log.mark_flushed(overtaken)
    assert log.recovery_point <= 3


def test_idle_files_are_closed_and_opened_again(log: PartitionLog) -> None:
    for n in range(40):
        append(log, b"%d" % n * 30)
    expected = values(log)
    log.flush()
    before = len(os.listdir("/proc/self/fd"))
    log.release_idle_files()
    assert len(os.listdir("/proc/self/fd")) <= before
    assert values(log) == expected


# Leader epochs


def test_where_epochs_end(log: PartitionLog) -> None:
    for n in range(9):
        append(log, b"v", leader_epoch=2 * (n // 3 + 1))  # epochs 2, 4, 6 from 0, 3, 6
    assert log.epochs.end_offset_for(6) == (6, 9)
    assert log.epochs.end_offset_for(4) == (4, 6)
    assert log.epochs.end_offset_for(3) == (2, 3)
    assert log.epochs.end_offset_for(1) == (1, 0)
    assert log.epochs.end_offset_for(7) == (-1, -1)
    assert log.epochs.end_offset_for(-1) == (-1, -1)
    assert [log.epochs.epoch_for_offset(offset) for offset in (0, 2, 3, 8)] == [2, 2, 4, 6]
    assert (log.directory / "leader-epoch-checkpoint").read_text() == "0\n3\n2 0\n4 3\n6 6\n"


def test_a_damaged_epoch_file_is_rebuilt_from_the_batches(log: PartitionLog) -> None:
    for n in range(6):
        append(log, b"v" * 100, leader_epoch=n // 2)
    log.close()
    expected = list(log.epochs.entries)
    for damage in (b"", b"0\n9\n1 1\n", b"\0" * 20, None):
        path = log.directory / "leader-epoch-checkpoint"
        path.unlink() if damage is None else path.write_bytes(damage)
        assert reopen(log).epochs.entries == expected
