"""Codecs: round trips, levels, foreign framings, bombs and garbage."""

import gzip
import struct
import zlib

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ApiError, ErrorCode
from penstock.records.compression import CODEC_NAMES, Codec, compress, decompress
from tests.support.examples import examples

COMPRESSING = [codec for codec in Codec if codec != Codec.NONE]
ALLOWED_OUTCOMES = (ErrorCode.NONE, ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD)
SAMPLES = [b"", b"x", b"hello " * 100_000, bytes(range(256)) * 1_000]


def outcome_of(codec: Codec, data: bytes) -> ErrorCode:
    try:
        decompress(codec, data, max_bytes=1_000_000)
    except ApiError as refused:
        return refused.code
    return ErrorCode.NONE


@pytest.mark.parametrize("codec", COMPRESSING)
@pytest.mark.parametrize("data", SAMPLES, ids=["empty", "one", "repeated", "varied"])
def test_round_trip(codec: Codec, data: bytes) -> None:
    assert bytes(decompress(codec, compress(codec, data))) == data


@pytest.mark.parametrize(
    ("codec", "levels"), [(Codec.GZIP, (-1, 1, 9)), (Codec.LZ4, (1, 9, 17)), (Codec.ZSTD, (-5, 1, 3, 22))]
)
def test_every_level_is_taken(codec: Codec, levels: tuple[int, ...]) -> None:
    data = b"".join(b"line %d of some text\n" % (n % 97) for n in range(5_000))
    for level in levels:
        assert bytes(decompress(codec, compress(codec, data, level))) == data


def test_higher_levels_compress_better() -> None:
    data = b"".join(b"%d-%d;" % (n, n * n % 1013) for n in range(20_000))
    for codec, low, high in ((Codec.GZIP, 1, 9), (Codec.LZ4, 1, 12), (Codec.ZSTD, 1, 19)):
        assert len(compress(codec, data, high)) < len(compress(codec, data, low))


def test_snappy_is_read_raw_and_framed() -> None:
    data = b"snappy " * 10_000
    raw = bytes(cramjam.snappy.compress_raw(data))
    assert bytes(decompress(Codec.SNAPPY, raw)) == data
    framed = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1) + 2 * (struct.pack(">i", len(raw)) + raw)
    assert bytes(decompress(Codec.SNAPPY, framed)) == data * 2


def test_lz4_frames_are_what_javas_reader_takes() -> None:
    frame = bytes(compress(Codec.LZ4, b"a" * 200_000))
    assert frame[:7] == bytes.fromhex("04224d18604082")
    assert bytes(cramjam.lz4.decompress(frame)) == b"a" * 200_000


def test_lz4_frames_of_others_are_read() -> None:
    data = b"other " * 50_000
    assert bytes(decompress(Codec.LZ4, bytes(cramjam.lz4.compress(data)))) == data


def test_several_gzip_members_are_one_stream() -> None:
    assert bytes(decompress(Codec.GZIP, gzip.compress(b"one") + gzip.compress(b"two"))) == b"onetwo"


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_bomb_is_refused(codec: Codec) -> None:
    bomb = compress(codec, b"\0" * 4_000_000)
    with pytest.raises(ApiError) as refused:
        decompress(codec, bomb, max_bytes=1_000_000)
    assert refused.value.code == ErrorCode.INVALID_RECORD


def test_a_snappy_block_that_claims_too_much_is_refused_unread() -> None:
    with pytest.raises(ApiError):
        decompress(Codec.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"\0" * 10)


def test_a_gzip_bomb_stops_at_the_limit() -> None:
    bomb = zlib.compress(b"")  # not even gzip
    with pytest.raises(ApiError) as refused:
        decompress(Codec.GZIP, bomb)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("codec", COMPRESSING)
@given(garbage=st.binary(max_size=200))
@settings(max_examples=examples(100))
def test_garbage_is_an_api_error(codec: Codec, garbage: bytes) -> None:
    assert outcome_of(codec, garbage) in ALLOWED_OUTCOMES


@pytest.mark.parametrize("codec", COMPRESSING)
@given(data=st.data())
@settings(max_examples=examples(60))
def test_damaged_data_is_an_api_error_or_some_bytes(codec: Codec, data: st.DataObject) -> None:
    damaged = bytearray(compress(codec, b"some records " * 500))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    assert outcome_of(codec, bytes(damaged[:cut])) in ALLOWED_OUTCOMES


def test_codec_names_are_those_of_the_settings() -> None:
    assert set(CODEC_NAMES) == {"none", "uncompressed", "gzip", "snappy", "lz4", "zstd"}
