"""Records inside a batch: hostile lengths and counts are refused, never followed."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ApiError, ErrorCode
from penstock.records.batch import Batch
from penstock.records.builder import build_batch, with_payload
from penstock.records.reader import Record, iterate_records
from penstock.records.varint import read_varint, read_varlong, write_varlong
from tests.support.examples import examples

RECORDS = [Record(n, n, b"k%d" % n, None if n == 1 else b"v", (("h", b"x"), ("n", None))) for n in range(3)]


def refusal(batch: Batch) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        list(iterate_records(batch))
    return refused.value.code


def test_records_come_back() -> None:
    assert list(iterate_records(build_batch(RECORDS))) == RECORDS


def test_more_or_fewer_records_than_declared() -> None:
    payload = build_batch(RECORDS).records_view
    for count in (2, 4, 2**31 - 1):
        assert (
            refusal(with_payload(build_batch(RECORDS), payload, record_count=count))
            == ErrorCode.INVALID_RECORD
        )


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x80",
        b"\xff" * 12,
        b"\x02\x00",
        b"\x10\x00\x00\x00\x7e",  # a key longer than the record
        b"\x0c\x00\x00\x00\x01\x7e\x00",  # a value longer than the record
        b"\x0c\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f",  # 2^31 headers
        b"\x0e\x00\x00\x00\x01\x01\x02\x01",  # a header without a key
        b"\x10\x00\x00\x00\x01\x01\x00\x00\x00",  # bytes after the headers
        b"\x01",  # negative length
    ],
)
def test_hostile_records(payload: bytes) -> None:
    batch = with_payload(build_batch(RECORDS[:1]), payload, record_count=1)
    assert refusal(batch) == ErrorCode.INVALID_RECORD


@given(data=st.binary(max_size=100), count=st.integers(-5, 2**31 - 1))
@settings(max_examples=examples(200))
def test_garbage_never_escapes(data: bytes, count: int) -> None:
    batch = with_payload(build_batch(RECORDS), data, record_count=count)
    if data or count > 0:
        assert refusal(batch) == ErrorCode.INVALID_RECORD or list(iterate_records(batch))


@given(value=st.integers(-(2**63), 2**63 - 1))
def test_varlongs_round_trip(value: int) -> None:
    out = bytearray()
    write_varlong(out, value)
    assert read_varlong(bytes(out), 0) == (value, len(out))


@pytest.mark.parametrize(
    ("value", "encoded"), [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (-64, "7f"), (64, "8001")]
)
def test_varints_match_the_zigzag_table(value: int, encoded: str) -> None:
    out = bytearray()
    write_varlong(out, value)
    assert out.hex() == encoded
    assert read_varint(bytes(out), 0)[0] == value


def test_the_last_word_of_the_header_is_the_count() -> None:
    assert struct.unpack_from(">i", build_batch(RECORDS).view, 57) == (3,)
