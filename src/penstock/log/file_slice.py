"""A piece of a log file, to be sent without being read into Python."""

from penstock.log.fs import File


class FileSlice:
    """`size` bytes of `file` at `position`; the file stays open as long as the slice is held."""

    __slots__ = ("file", "first_offset", "position", "size")

    def __init__(self, file: File, position: int, size: int, first_offset: int) -> None:
        self.file = file
        self.position = position
        self.size = size
        self.first_offset = first_offset

    def read(self) -> bytes:
        return self.file.pread(self.size, self.position)

    def is_cached(self) -> bool:
        return self.file.is_cached(self.size, self.position)

    def warm(self) -> None:
        self.file.warm(self.size, self.position)
