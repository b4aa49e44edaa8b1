"""Compaction against a dict; tombstones, lags, producers, transactions, crashes during the swap."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.log.cleaner import CleaningCancelled, apply_cleaning, measure, plan_cleaning
from penstock.log.partition_log import PartitionLog
from penstock.log.producer_state import AppendOrigin
from penstock.records.batch import Batch, split_batches
from penstock.records.builder import build_batch, build_end_transaction_marker
from penstock.records.compression import Codec
from penstock.records.reader import Record, iterate_records
from penstock.testing.memory_fs import Crash, MemoryFileSystem
from tests.log.support import NOW, open_log, read_all, topic
from tests.support.examples import examples

COMPACTED = topic(
    cleanup_policy=("compact",),
    internal_segment_bytes=600,
    index_interval_bytes=100,
    min_cleanable_dirty_ratio=0.0,
    delete_retention_ms=1_000,
)
Rows = list[tuple[bytes, bytes | None]]


def new_fs() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_directory("/logs")
    fs.sync_directory("/")
    return fs


def put(
    log: PartitionLog, rows: Rows, *, codec: Codec = Codec.NONE, timestamp: int = NOW, **fields: Any
) -> int:
    records = [Record(n, timestamp + n, key, value) for n, (key, value) in enumerate(rows)]
    batch = build_batch(records, codec=codec, **fields)
    return log.append_as_leader([batch], leader_epoch=0, now_ms=NOW).first_offset


def clean(log: PartitionLog, now_ms: int = NOW, first_dirty: int = 0) -> int:
    """One round of cleaning; returns the next dirty offset."""
    log.roll(now_ms)
    job = plan_cleaning(log, first_dirty_offset=first_dirty, high_watermark=log.log_end_offset, now_ms=now_ms)
    if job is None:
        return first_dirty
    job.run()
    retired = apply_cleaning(log, job)
    assert retired is not None
    for path in retired:
        log.segments[0].fs.remove(path)
    return job.next_dirty_offset


def contents(log: PartitionLog) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for record in read_all(log)}


def all_batches(log: PartitionLog) -> list[Batch]:
    found = []
    for segment in log.segments:
        found += split_batches(memoryview(segment.file.pread(segment.size, 0)))
    return found


keys = st.sampled_from([b"a", b"b", b"c", b"long key " * 5])
rows = st.lists(st.tuples(keys, st.none() | st.binary(max_size=30)), min_size=1, max_size=4)


@given(
    batches=st.lists(rows, min_size=1, max_size=15),
    codec=st.sampled_from(list(Codec)),
    rounds=st.integers(1, 3),
)
@settings(max_examples=examples(60))
def test_what_is_left_is_the_last_value_of_each_key(batches: list[Rows], codec: Codec, rounds: int) -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    expected: dict[bytes, tuple[int, bytes | None]] = {}
    dirty = 0
    per_round = max(len(batches) // rounds, 1)
    for number, batch_rows in enumerate(batches):
        first = put(log, batch_rows, codec=codec)
        for n, (key, value) in enumerate(batch_rows):
            expected[key] = (first + n, value)
        if number % per_round == per_round - 1:
            dirty = clean(log, first_dirty=dirty)
    clean(log, first_dirty=dirty)
    found = read_all(log)
    assert {record.key: (record.offset, record.value) for record in found} == expected
    assert len(found) == len(expected)
    assert all(batch.is_valid() for batch in all_batches(log))
    end = log.log_end_offset
    log.close()
    again = open_log(log.segments[0].fs, settings=COMPACTED)
    assert again.log_end_offset == end
    assert read_all(again) == found


def test_records_keep_offset_and_timestamp_when_a_horizon_is_set() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    put(log, [(b"a", b"1"), (b"b", None), (b"c", b"3")], timestamp=NOW - 50)
    clean(log)
    assert [(r.offset, r.timestamp) for r in read_all(log)] == [(n, NOW - 50 + n) for n in range(3)]
    (batch,) = [batch for batch in all_batches(log) if batch.record_count]
    assert batch.has_delete_horizon
    assert batch.base_timestamp == NOW + 1_000


def test_tombstones_stay_for_the_retention_and_then_go() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    put(log, [(b"a", b"1")])
    put(log, [(b"a", None)])
    dirty = clean(log)
    assert contents(log) == {b"a": None}
    put(log, [(b"x", b"1")])
    dirty = clean(log, NOW + 999, dirty)
    assert contents(log) == {b"a": None, b"x": b"1"}
    put(log, [(b"y", b"1")])
    clean(log, NOW + 1_000, dirty)
    assert contents(log) == {b"x": b"1", b"y": b"1"}


def test_the_active_segment_is_never_touched() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    put(log, [(b"a", b"1")])
    put(log, [(b"a", b"2")])
    assert plan_cleaning(log, first_dirty_offset=0, high_watermark=2, now_ms=NOW) is None


def test_nothing_above_the_high_watermark_is_cleaned() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    put(log, [(b"a", b"1")])
    log.roll(NOW)
    put(log, [(b"a", b"2")])
    log.roll(NOW)
    assert measure(log, 0, 1, NOW).end_offset == 1
    job = plan_cleaning(log, first_dirty_offset=0, high_watermark=1, now_ms=NOW)
    assert job is not None
    job.run()
    apply_cleaning(log, job)
    assert [record.value for record in read_all(log)] == [b"1", b"2"]


def test_lags_and_ratio_decide() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    put(log, [(b"a", b"1")])
    log.roll(NOW)
    put(log, [(b"a", b"2")])
    log.roll(NOW)

    def is_planned(now_ms: int, **overrides: Any) -> bool:
        log.settings = replace(COMPACTED, **overrides)
        return plan_cleaning(log, first_dirty_offset=0, high_watermark=2, now_ms=now_ms) is not None

    assert is_planned(NOW)
    assert not is_planned(NOW, cleanup_policy=("delete",))
    assert not is_planned(NOW + 10, min_compaction_lag_ms=1_000)
    assert is_planned(NOW + 2_000, min_compaction_lag_ms=1_000)
    assert not is_planned(NOW, min_cleanable_dirty_ratio=1.0)
    assert is_planned(NOW + 501, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=500)


def test_a_producers_last_batch_stays_as_an_empty_one() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    put(log, [(b"a", b"1")], producer_id=9, producer_epoch=2, base_sequence=0)
    put(log, [(b"a", b"2")], producer_id=9, producer_epoch=2, base_sequence=1)
    put(log, [(b"a", b"3")])
    put(log, [(b"b", b"4")])
    clean(log)
    assert contents(log) == {b"a": b"3", b"b": b"4"}
    empties = [batch for batch in all_batches(log) if batch.record_count == 0]
    assert [(b.base_offset, b.last_offset, b.producer_id, b.base_sequence) for b in empties] == [(1, 1, 9, 1)]
    log.close()
    for path in [
        name for name in log.segments[0].fs.list_directory("/logs/topic-0") if name.endswith(".snapshot")
    ]:
        log.segments[0].fs.remove(f"/logs/topic-0/{path}")
    again = open_log(log.segments[0].fs, settings=COMPACTED)
    assert again.producer_state.entries[9].last_sequence == 1


def test_a_full_key_map_leaves_the_rest_for_later() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    for n in range(6):
        put(log, [(b"k%d" % (n % 3), b"%d" % n)])
    log.roll(NOW)
    job = plan_cleaning(log, first_dirty_offset=0, high_watermark=6, now_ms=NOW, max_keys=2)
    assert job is not None
    job.run()
    apply_cleaning(log, job)
    assert job.next_dirty_offset == 2
    assert len(read_all(log)) == 6
    clean(log, first_dirty=job.next_dirty_offset)
    assert contents(log) == {b"k0": b"3", b"k1": b"4", b"k2": b"5"}


def test_segments_are_merged() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    for n in range(30):
        put(log, [(b"k%d" % (n % 2), b"v" * 40)])
    before = len(log.segments)
    dirty = clean(log)
    put(log, [(b"z", b"1")])
    clean(log, first_dirty=dirty)
    assert len(log.segments) < before
    assert [segment.base_offset for segment in log.segments] == sorted(s.base_offset for s in log.segments)
    assert set(contents(log)) == {b"k0", b"k1", b"z"}


def test_a_log_that_changed_under_the_job_is_left_alone() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    for n in range(20):
        put(log, [(b"k", b"%d" % n * 20)])
    log.roll(NOW)
    job = plan_cleaning(log, first_dirty_offset=0, high_watermark=20, now_ms=NOW)
    assert job is not None
    job.run()
    log.truncate_to(3)
    assert apply_cleaning(log, job) is None
    assert [record.offset for record in read_all(log)] == [0, 1, 2]
    assert not [
        name for name in log.segments[0].fs.list_directory("/logs/topic-0") if name.endswith(".cleaned")
    ]


def test_a_cancelled_job_leaves_nothing_behind() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    put(log, [(b"a", b"1")])
    log.roll(NOW)
    job = plan_cleaning(log, first_dirty_offset=0, high_watermark=1, now_ms=NOW)
    assert job is not None
    job.cancel()
    with pytest.raises(CleaningCancelled):
        job.run()
    assert not [
        name for name in log.segments[0].fs.list_directory("/logs/topic-0") if name.endswith(".cleaned")
    ]


def marker(log: PartitionLog, producer_id: int, *, is_commit: bool) -> None:
    batch = build_end_transaction_marker(
        is_commit=is_commit, producer_id=producer_id, producer_epoch=0, coordinator_epoch=1, timestamp=NOW
    )
    log.append_as_leader([batch], leader_epoch=0, now_ms=NOW, origin=AppendOrigin.COORDINATOR)


def test_aborted_records_go_and_do_not_shadow_committed_ones() -> None:
    log = open_log(new_fs(), settings=COMPACTED)
    put(log, [(b"a", b"kept")])
    put(log, [(b"a", b"aborted")], producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True)
    marker(log, 1, is_commit=False)
    put(log, [(b"b", b"committed")], producer_id=2, producer_epoch=0, base_sequence=0, is_transactional=True)
    marker(log, 2, is_commit=True)
    put(log, [(b"c", b"plain")])
    dirty = clean(log)
    data = {r.key: r.value for b in all_batches(log) if not b.is_control for r in _records(b)}
    assert data == {b"a": b"kept", b"b": b"committed", b"c": b"plain"}
    assert len([b for b in all_batches(log) if b.is_control and b.record_count]) == 2
    assert [t.producer_id for t in log.aborted_transactions(0, log.log_end_offset)] == [1]
    log.expire_producers(NOW + log.producer_expiration_ms)  # until then its last batch stays, if empty
    for now_ms in (NOW + 10, NOW + 20, NOW + 2_000):  # the batch goes; the marker gets its horizon; it goes
        put(log, [(b"d", b"%d" % now_ms)])
        dirty = clean(log, now_ms, dirty)
    assert [b.producer_id for b in all_batches(log) if b.is_control and b.record_count] == [2]


def _records(batch: Batch) -> list[Record]:
    return list(iterate_records(batch))


def test_a_crash_at_every_change_of_a_cleaning() -> None:
    """Whatever is there after recovery, it is the log before or after the cleaning."""

    def prepare() -> tuple[MemoryFileSystem, PartitionLog]:
        fs = new_fs()
        log = open_log(fs, settings=COMPACTED)
        for n in range(25):
            put(log, [(b"k%d" % (n % 4), b"%d" % n * 10)])
        log.roll(NOW)
        log.flush()
        return fs, log

    def work(log: PartitionLog) -> None:
        job = plan_cleaning(log, first_dirty_offset=0, high_watermark=25, now_ms=NOW)
        assert job is not None
        job.run()
        for path in apply_cleaning(log, job) or []:
            log.segments[0].fs.remove(path)

    fs, log = prepare()
    before = fs.changes
    expected = contents(log)
    work(log)
    for crash_at in range(fs.changes - before):
        for seed in range(3):
            fs, log = prepare()
            fs.crash_after(crash_at)
            with pytest.raises(Crash):
                work(log)
            if seed:
                fs.lose_power(Random(seed))
            else:
                fs.kill()
            again = open_log(fs, settings=COMPACTED, clean=False, recovery_point=25)
            assert again.log_end_offset == 25
            assert contents(again) == expected
            put(again, [(b"new", b"1")])
            assert contents(again) == expected | {b"new": b"1"}
