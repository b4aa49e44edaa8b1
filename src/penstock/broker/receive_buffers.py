"""The memory that requests are read into, handed round among the connections of a broker.

A connection has a buffer from the moment that the loop has bytes for it until all its frames are answered, and none
while it is idle: thousands of quiet connections share what the busy ones use. Most reads bring whole requests that are
answered on the spot; all these go through one and the same buffer, `shared`. A connection that has to keep what was
read keeps that buffer, and another takes its place.

A buffer that comes back is kept for whoever needs one next, since fresh memory costs a page fault for every 4 KiB; how
many are kept is bounded, so that the memory of a rush is given back to the system, at once and whole: large buffers
are mappings of their own.
"""

import mmap

SMALL_BUFFER_BYTES = 64 * 1024
"""Holds what one read of ordinary requests brings."""
LARGE_BUFFER_BYTES = 2 * 1024 * 1024
"""Holds any ordinary produce request; a larger frame gets a buffer of its own that is not kept."""
KEPT_SMALL_BUFFERS = 64
KEPT_LARGE_BUFFERS = 8


class ReceiveBuffers:
    def __init__(self) -> None:
        self._small: list[memoryview] = []
        self._large: list[memoryview] = []
        self.shared = self.take(SMALL_BUFFER_BYTES)
        """For one read, and what can be answered before the next one, of whichever connection."""

    def take(self, size: int) -> memoryview:
        """A buffer of at least that many bytes, with anything in it."""
        if size <= SMALL_BUFFER_BYTES:
            return self._small.pop() if self._small else memoryview(bytearray(SMALL_BUFFER_BYTES))
        if size <= LARGE_BUFFER_BYTES:
            return self._large.pop() if self._large else _mapping(LARGE_BUFFER_BYTES)
        return _mapping(size)

    def keep(self, buffer: memoryview) -> None:
        """It is needed beyond the read: nobody else reads into it until it is given back."""
        if buffer is self.shared:
            self.shared = self.take(SMALL_BUFFER_BYTES)

    def give_back(self, buffer: memoryview) -> None:
        """Nobody looks at its bytes any more."""
        if buffer is self.shared:
            return
        size = len(buffer)
        if size == SMALL_BUFFER_BYTES:
            if len(self._small) < KEPT_SMALL_BUFFERS:
                self._small.append(buffer)
        elif size == LARGE_BUFFER_BYTES and len(self._large) < KEPT_LARGE_BUFFERS:
            self._large.append(buffer)


def _mapping(size: int) -> memoryview:
    return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
