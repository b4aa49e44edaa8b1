"""A flush: the owner of the log plans it, any thread runs the fsyncs, the owner marks it done."""

from penstock.log.fs import File, FileSystem


class FlushPlan:
    __slots__ = ("_directory", "_files", "_fs", "generation", "offset")

    def __init__(
        self, fs: FileSystem, files: list[File], directory: str | None, offset: int, generation: int
    ) -> None:
        self._fs = fs
        self._files = files
        self._directory = directory
        self.offset = offset
        self.generation = generation

    def run(self) -> None:
        """Blocks on the disk; touches nothing of the log but its files."""
        for file in self._files:
            file.sync()
        if self._directory is not None:
            self._fs.sync_directory(self._directory)
