"""Jute, ZooKeeper's serialization, without IO: bytes in, values out.

Every length and count is checked against the bytes that are left before anything is read or allocated, so
hostile bytes cost no more than their own size. What does not fit raises `ProtocolError`.
"""

from collections.abc import Callable
from struct import Struct
from typing import TypeVar

from penstock.errors import ProtocolError

_INT32 = Struct(">i")
_INT64 = Struct(">q")

Item = TypeVar("Item")


class JuteReader:
    """Reads one record after the other from a frame."""

    __slots__ = ("_end", "_frame", "_position")

    def __init__(self, frame: bytes, position: int = 0) -> None:
        self._frame = frame
        self._position = position
        self._end = len(frame)

    @property
    def remaining(self) -> int:
        return self._end - self._position

    def _advance(self, size: int) -> int:
        start = self._position
        if size > self._end - start:
            raise ProtocolError(f"{size} bytes wanted, {self._end - start} left in the frame")
        self._position = start + size
        return start

    def int32(self) -> int:
        return int(_INT32.unpack_from(self._frame, self._advance(4))[0])

    def int64(self) -> int:
        return int(_INT64.unpack_from(self._frame, self._advance(8))[0])

    def boolean(self) -> bool:
        return self._frame[self._advance(1)] != 0

    def buffer(self) -> bytes | None:
        size = self.int32()
        if size == -1:
            return None
        if size < 0:
            raise ProtocolError(f"a buffer of {size} bytes")
        start = self._advance(size)
        return self._frame[start : start + size]

    def string(self) -> str:
        """A string; null, which no request has a use for, reads as the empty one."""
        try:
            return (self.buffer() or b"").decode()
        except UnicodeDecodeError as error:
            raise ProtocolError(f"a string that is not UTF-8: {error}") from None

    def vector(self, read_item: Callable[["JuteReader"], Item], smallest_item: int) -> list[Item]:
        """A vector whose items take at least `smallest_item` bytes each; null reads as empty."""
        count = self.int32()
        if count == -1:
            return []
        if count < 0 or count * smallest_item > self.remaining:
            raise ProtocolError(f"a vector of {count} items in {self.remaining} bytes")
        return [read_item(self) for _ in range(count)]

    def strings(self) -> list[str]:
        return self.vector(JuteReader.string, 4)

    def skip(self, expected: bytes) -> bool:
        """Whether the expected bytes come next; they are passed over if so."""
        if not self._frame.startswith(expected, self._position):
            return False
        self._position += len(expected)
        return True


def encode_int32(value: int) -> bytes:
    return _INT32.pack(value)


def encode_int64(value: int) -> bytes:
    return _INT64.pack(value)


def encode_boolean(value: bool) -> bytes:
    return b"\x01" if value else b"\x00"


def encode_buffer(value: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if value is None else _INT32.pack(len(value)) + value


def encode_string(value: str) -> bytes:
    encoded = value.encode()
    return _INT32.pack(len(encoded)) + encoded


def encode_strings(values: list[str]) -> bytes:
    return _INT32.pack(len(values)) + b"".join(map(encode_string, values))


class FrameSplitter:
    """Cuts a stream of bytes into frames of at most `max_frame_bytes`, however the stream was split."""

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._buffer = bytearray()
        self._position = 0

    def feed(self, data: bytes) -> None:
        if self._position:
            del self._buffer[: self._position]
            self._position = 0
        self._buffer += data

    def peek(self, size: int) -> bytes | None:
        """The next `size` bytes without consuming them, once they are here."""
        end = self._position + size
        return bytes(self._buffer[self._position : end]) if len(self._buffer) >= end else None

    def next_frame(self) -> bytes | None:
        start = self._position + 4
        if len(self._buffer) < start:
            return None
        size = _INT32.unpack_from(self._buffer, self._position)[0]
        if not 0 <= size <= self._max_frame_bytes:
            raise ProtocolError(f"a frame of {size} bytes; at most {self._max_frame_bytes} are taken")
        if len(self._buffer) < start + size:
            return None
        self._position = start + size
        return bytes(memoryview(self._buffer)[start : start + size])
