"""Jute and the messages without a socket: frames split anywhere, and bytes that lie about their lengths."""

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ProtocolError
from penstock.zookeeper.jute import FrameSplitter, JuteReader, encode_buffer, encode_string, encode_strings
from penstock.zookeeper.protocol import OpCode
from penstock.zookeeper.wire import decode_connect, decode_request, encode_frame


def test_frames_split_at_every_byte() -> None:
    stream = b"".join(encode_frame(payload) for payload in (b"one", b"", b"three" * 10))
    for cut in range(len(stream) + 1):
        splitter = FrameSplitter(100)
        frames = []
        for part in (stream[:cut], stream[cut:]):
            splitter.feed(part)
            while (frame := splitter.next_frame()) is not None:
                frames.append(frame)
        assert frames == [b"one", b"", b"three" * 10]


@pytest.mark.parametrize("size", [-1, -(1 << 31), 101, (1 << 31) - 1])
def test_frames_of_a_bad_size(size: int) -> None:
    splitter = FrameSplitter(100)
    splitter.feed(pack(">i", size))
    with pytest.raises(ProtocolError):
        splitter.next_frame()


def test_values_that_do_not_fit() -> None:
    for data, read in (
        (b"\0\0\0", JuteReader.int32),
        (b"\0" * 7, JuteReader.int64),
        (b"", JuteReader.boolean),
        (pack(">i", 5) + b"four", JuteReader.buffer),
        (pack(">i", -2), JuteReader.buffer),
        (pack(">i", 1) + b"\xff", JuteReader.string),
        (pack(">i", 0x7FFFFFFF), JuteReader.strings),
        (pack(">i", 3) + encode_string("a") + encode_string("b"), JuteReader.strings),
        (pack(">i", -2), JuteReader.strings),
    ):
        with pytest.raises(ProtocolError):
            read(JuteReader(data))


def test_null_values() -> None:
    reader = JuteReader(encode_buffer(None) + encode_buffer(b"") + encode_buffer(None) + pack(">i", -1))
    assert (reader.buffer(), reader.buffer(), reader.string(), reader.strings()) == (None, b"", "", [])


@given(st.lists(st.text()))
def test_strings_round_trip(values: list[str]) -> None:
    encodable = [value.encode(errors="replace").decode() for value in values]
    reader = JuteReader(encode_strings(encodable))
    assert reader.strings() == encodable
    assert reader.remaining == 0


@given(st.sampled_from(sorted(OpCode)), st.binary(max_size=80))
def test_any_bytes_decode_or_are_refused(opcode: OpCode, body: bytes) -> None:
    for decode in (lambda: decode_request(opcode, JuteReader(body)), lambda: decode_connect(body)):
        try:
            decode()
        except ProtocolError:
            pass


def test_connect_with_and_without_the_read_only_flag() -> None:
    body = pack(">iqiqi", 0, 5, 4000, 9, 2) + b"pw"
    request = decode_connect(body)
    assert (request.last_zxid_seen, request.timeout_ms, request.session_id) == (5, 4000, 9)
    assert (request.password, request.has_read_only_flag) == (b"pw", False)
    assert decode_connect(body + b"\0").has_read_only_flag
