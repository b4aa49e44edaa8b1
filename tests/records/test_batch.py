"""Batches by their header: what is read, what is refused, what is patched in place."""

import struct

import pytest
from crc32c import crc32c

from penstock.errors import ApiError, ErrorCode
from penstock.records.batch import (
    HEADER_SIZE,
    MAX_SEQUENCE,
    Batch,
    decode_batches,
    increment_sequence,
    split_batches,
)
from penstock.records.builder import build_batch, build_end_transaction_marker
from penstock.records.control import read_end_transaction_marker
from penstock.records.reader import Record, iterate_records

# One record (offset 0, timestamp 1600000000000, key k, value v, header h=1), put together by hand from the format.
GOLDEN = bytes.fromhex(
    "0000000000000000"  # base offset
    "0000003e"  # length
    "ffffffff"  # leader epoch
    "02"  # magic
    "64997606"  # crc
    "0000"  # attributes
    "00000000"  # last offset delta
    "00000174876e8000"  # base timestamp
    "00000174876e8000"  # max timestamp
    "ffffffffffffffff"  # producer id
    "ffff"  # producer epoch
    "ffffffff"  # base sequence
    "00000001"  # record count
    "18"  # record: length 12
    "00"  # attributes
    "00"  # timestamp delta
    "00"  # offset delta
    "026b"  # key
    "0276"  # value
    "02"  # one header
    "0268"  # its key
    "0231"  # its value
)


def a_batch(count: int = 3, **fields: int) -> bytearray:
    records = [Record(n, 1_000 + n, b"key%d" % n, b"value") for n in range(count)]
    return bytearray(build_batch(records, **fields).view)  # type: ignore[arg-type]


def patched(raw: bytearray, position: int, layout: str, value: int, *, with_crc: bool = True) -> memoryview:
    struct.pack_into(layout, raw, position, value)
    if with_crc:
        struct.pack_into(">I", raw, 17, crc32c(raw[21:]))
    return memoryview(raw)


def refusal(raw: bytes | bytearray | memoryview, produce_version: int = 11) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        decode_batches(memoryview(raw), produce_version=produce_version)
    return refused.value.code


def test_the_golden_bytes_are_built_and_read() -> None:
    record = Record(0, 1_600_000_000_000, b"k", b"v", (("h", b"1"),))
    assert bytes(build_batch([record]).view) == GOLDEN
    (batch,) = decode_batches(memoryview(bytearray(GOLDEN)))
    assert list(iterate_records(batch)) == [record]
    assert (batch.size, batch.base_timestamp, batch.record_count) == (len(GOLDEN), 1_600_000_000_000, 1)


def test_header_fields_come_as_they_were_written() -> None:
    raw = a_batch(producer_id=7, producer_epoch=3, base_sequence=40, is_transactional=True, codec=4)
    (batch,) = decode_batches(memoryview(raw))
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence) == (
        7,
        3,
        40,
        42,
    )
    assert batch.is_transactional
    assert not batch.is_control
    assert not batch.uses_log_append_time
    assert not batch.has_delete_horizon
    assert (batch.codec, batch.magic, batch.record_count) == (4, 2, 3)
    assert (batch.base_timestamp, batch.max_timestamp) == (1_000, 1_002)
    assert (batch.last_offset, batch.next_offset) == (2, 3)


def test_offset_and_epoch_are_patched_in_place_and_the_crc_still_holds() -> None:
    raw = a_batch()
    (batch,) = decode_batches(memoryview(raw))
    batch.assign(1 << 40, 9)
    again = Batch(memoryview(raw))
    assert (again.base_offset, again.leader_epoch, again.last_offset) == (1 << 40, 9, (1 << 40) + 2)
    assert again.is_valid()


def test_log_append_time_replaces_the_records_timestamps() -> None:
    raw = a_batch()
    (batch,) = decode_batches(memoryview(raw))
    batch.set_log_append_time(5_555)
    again = Batch(memoryview(raw))
    assert again.is_valid()
    assert again.uses_log_append_time
    assert {record.timestamp for record in iterate_records(again)} == {5_555}


def test_a_read_only_buffer_is_copied() -> None:
    (batch,) = decode_batches(memoryview(bytes(a_batch())))
    batch.assign(5, 1)
    assert Batch(batch.buffer).base_offset == 5


def test_bytes_after_the_batch_that_make_no_batch_are_ignored() -> None:
    raw = a_batch()
    size = len(raw)
    (batch,) = decode_batches(memoryview(raw + b"\0" * 11))
    assert batch.size == size
    (batch,) = decode_batches(memoryview(raw + a_batch()[:-1]))
    assert batch.size == size


@pytest.mark.parametrize("length", [0, 1, 11, 12, 16, 17, 60, 61, 70])
def test_a_batch_cut_short_is_no_batch(length: int) -> None:
    assert refusal(a_batch()[:length]) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("position", "layout", "value", "code"),
    [
        (8, ">i", 13, ErrorCode.CORRUPT_MESSAGE),
        (8, ">i", -1, ErrorCode.CORRUPT_MESSAGE),
        (8, ">i", 20, ErrorCode.CORRUPT_MESSAGE),
        (8, ">i", 2**31 - 1, ErrorCode.INVALID_RECORD),
        (16, ">b", 0, ErrorCode.INVALID_RECORD),
        (16, ">b", 1, ErrorCode.INVALID_RECORD),
        (16, ">b", 3, ErrorCode.CORRUPT_MESSAGE),
        (16, ">b", -1, ErrorCode.CORRUPT_MESSAGE),
        (0, ">q", 1, ErrorCode.INVALID_RECORD),
        (21, ">h", 0x20, ErrorCode.INVALID_RECORD),
        (21, ">h", 5, ErrorCode.UNKNOWN_SERVER_ERROR),
        (23, ">i", -1, ErrorCode.INVALID_RECORD),
        (23, ">i", 1, ErrorCode.INVALID_RECORD),
        (57, ">i", 0, ErrorCode.INVALID_RECORD),
        (57, ">i", -3, ErrorCode.INVALID_RECORD),
        (57, ">i", 4, ErrorCode.INVALID_RECORD),
        (43, ">q", 12, ErrorCode.INVALID_RECORD),
    ],
)
def test_bad_headers_get_kafkas_answers(position: int, layout: str, value: int, code: ErrorCode) -> None:
    assert refusal(patched(a_batch(), position, layout, value)) == code


@pytest.mark.parametrize("position", [17, 21, 30, 61, 80])
def test_a_flipped_bit_under_the_crc_is_corrupt(position: int) -> None:
    raw = a_batch()
    raw[position] ^= 0x40
    assert refusal(raw) == ErrorCode.CORRUPT_MESSAGE


def test_a_second_batch_is_refused() -> None:
    assert refusal(a_batch() + a_batch()) == ErrorCode.INVALID_RECORD


def test_zstd_needs_a_newer_produce_version() -> None:
    assert refusal(a_batch(codec=4), produce_version=6) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert decode_batches(memoryview(a_batch(codec=4)), produce_version=7)


def test_split_takes_all_whole_batches() -> None:
    raw = a_batch() + a_batch(1) + a_batch()[:-3]
    assert [batch.record_count for batch in split_batches(memoryview(raw))] == [3, 1]
    assert split_batches(memoryview(b"")) == []


def test_sequences_wrap_around() -> None:
    assert increment_sequence(MAX_SEQUENCE, 1) == 0
    (batch,) = decode_batches(
        memoryview(a_batch(producer_id=1, producer_epoch=0, base_sequence=MAX_SEQUENCE - 1))
    )
    assert batch.last_sequence == 0
    assert Batch(memoryview(a_batch())).last_sequence == -1


@pytest.mark.parametrize("is_commit", [True, False])
def test_transaction_markers_are_read_back(is_commit: bool) -> None:
    batch = build_end_transaction_marker(
        is_commit=is_commit, producer_id=9, producer_epoch=2, coordinator_epoch=5, timestamp=77
    )
    assert batch.is_control
    assert batch.is_transactional
    assert batch.is_valid()
    assert read_end_transaction_marker(batch) == (is_commit, 5)


def test_the_header_is_61_bytes() -> None:
    assert HEADER_SIZE == 61
