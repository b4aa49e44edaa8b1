"""Standard output as a file descriptor: large writes go straight to it, and a reader that left is noticed."""

import os

STDOUT = 1


class Output:
    def __init__(self, descriptor: int = STDOUT) -> None:
        self._descriptor = descriptor
        self.is_broken = False

    def write(self, data: bytes) -> None:
        """Writes all of it, unless nobody reads any more."""
        left = memoryview(data)
        while left and not self.is_broken:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BrokenPipeError:
                self.is_broken = True
