"""Records walked by their lengths, beside the parser."""

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ApiError, ErrorCode
from penstock.records.batch import HEADER_SIZE, Batch
from penstock.records.builder import build_batch
from penstock.records.layout import check_layout
from penstock.records.reader import Record, iterate_records

LENGTH_AT = 8


def records_of(sizes: list[int]) -> bytearray:
    records = [Record(n, n // 7, None, bytes(size)) for n, size in enumerate(sizes)]
    return bytearray(build_batch(records).records_view)


def is_sound(data: bytes | bytearray, count: int) -> bool:
    try:
        check_layout(memoryview(data), count)
    except ApiError as error:
        return error.code != ErrorCode.INVALID_RECORD
    return True


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 57, 58, 100, 8_300]), st.integers(1, 40)), min_size=1, max_size=8
    )
)
def test_only_the_right_number_is_right(runs: list[tuple[int, int]]) -> None:
    sizes = [size for size, count in runs for _ in range(count)]
    data = records_of(sizes)
    assert is_sound(data, len(sizes))
    assert not is_sound(data, len(sizes) + 1)
    assert len(sizes) == 1 or not is_sound(data, len(sizes) - 1)
    assert not is_sound(data[:-1], len(sizes))
    assert not is_sound(data + b"\0", len(sizes))


@pytest.mark.parametrize("broken", [0, 1, 30, 63, 64, 500, 998, 999])
def test_one_length_among_many(broken: int) -> None:
    data = records_of([100] * 1000)
    position = len(records_of([100] * broken)) if broken else 0
    data[position] ^= 2
    assert not is_sound(data, 1000)


def test_random_sizes() -> None:
    chance = random.Random(7)
    sizes = [chance.randint(0, 20_000) for _ in range(700)]
    assert is_sound(records_of(sizes), 700)


@pytest.mark.parametrize("count", [1, 17, 2**31 - 1])
def test_noise(count: int) -> None:
    chance = random.Random(count)
    for _ in range(200):
        assert not is_sound(chance.randbytes(chance.randint(0, 400)), count)


HEADERS = (("a", b"1"), ("b", None))


@given(
    st.sampled_from([None, b"", b"k", bytes(80)]),
    st.sampled_from([None, b"", b"v", bytes(9_000)]),
    st.sampled_from([(), HEADERS]),
    st.sampled_from([0, 1, -70, 2**40]),
    st.lists(st.tuples(st.integers(0, 30) | st.integers(-12, -1), st.integers(0, 255)), max_size=2),
)
def test_one_record_is_judged_as_the_parser_does(
    key: bytes | None,
    value: bytes | None,
    headers: tuple[tuple[str, bytes | None], ...],
    delta: int,
    changes: list[tuple[int, int]],
) -> None:
    records = [Record(0, 2**50, b"", b""), Record(1, 2**50 + delta, key, value, headers)]
    data = bytearray(build_batch(records).records_view)[len(records_of([0])) :]
    for at, byte in changes:
        data[at % len(data)] = byte
    batch = bytearray(build_batch(records[:1]).buffer)[:HEADER_SIZE] + data
    struct.pack_into(">i", batch, LENGTH_AT, len(batch) - LENGTH_AT - 4)
    try:
        is_parsed = len(list(iterate_records(Batch(memoryview(batch))))) == 1
    except ApiError:
        is_parsed = False
    assert is_parsed or changes
    assert is_sound(data, 1) == is_parsed
