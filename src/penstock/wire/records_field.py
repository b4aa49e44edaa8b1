"""What may stand in a `records` field: bytes, or a region of a file that the connection sends by itself."""

from typing import Protocol, TypeAlias


class HasFileno(Protocol):
    def fileno(self) -> int: ...


class FileRegion(Protocol):
    """`size` bytes that lie in a file from `position` on; sent without passing through Python."""

    @property
    def file(self) -> HasFileno: ...

    @property
    def position(self) -> int: ...

    @property
    def size(self) -> int: ...

    def read(self) -> bytes: ...

    def is_cached(self) -> bool:
        """Whether the bytes can be sent without waiting for the disk."""
        ...

    def warm(self) -> None:
        """Fetches the bytes from the disk; blocks."""
        ...


Records: TypeAlias = bytes | bytearray | memoryview | FileRegion
"""Decoding yields a memoryview into the frame; encoding takes any of these."""

Part: TypeAlias = bytes | bytearray | memoryview | FileRegion


def size_of(part: Part) -> int:
    return len(part) if isinstance(part, (bytes, bytearray, memoryview)) else part.size
