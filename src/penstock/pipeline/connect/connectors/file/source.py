"""A file's lines, each a record, also those that are appended later. The offset is the byte after the line."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, not_empty
from penstock.pipeline.connect.api.connector import Configs, SourceConnector
from penstock.pipeline.connect.api.task import SourceTask
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.data.schema import STRING
from penstock.pipeline.connect.errors import ConnectError

FILENAME, POSITION = "filename", "position"
READ_BYTES: Final = 256 * 1024
LONGEST_LINE_BYTES: Final = 64 * 1024 * 1024
WAIT_SECONDS: Final = 0.5
LOOK_SECONDS: Final = 0.05

CONFIG: Final = (
    ConfigDef()
    .define("file", ConfigType.STRING, None, importance=Importance.HIGH, doc="The file to read.")
    .define(
        "topic",
        ConfigType.STRING,
        validator=not_empty,
        importance=Importance.HIGH,
        doc="The topic that its lines go to.",
    )
    .define(
        "batch.size",
        ConfigType.INT,
        2000,
        importance=Importance.LOW,
        doc="How many lines are read at a time, at most.",
    )
)


class FileStreamSourceTask(SourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        parsed = CONFIG.parse(configs)
        self._path = str(parsed["file"] or "")
        self._topic = str(parsed["topic"])
        self._batch_size = max(1, int(parsed["batch.size"]))
        self._file: BinaryIO | None = None
        self._rest = b""
        self._position = 0

    def poll(self) -> list[SourceRecord] | None:
        """Waits a little for the file, or for more of it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            records = self._records()
            if records or time.monotonic() >= deadline or self.context.is_stopping():
                return records or None
            time.sleep(LOOK_SECONDS)

    def _records(self) -> list[SourceRecord]:
        if self._file is None:
            self._file = self._opened()
        if self._file is None:
            return []
        now = int(time.time() * 1000)
        partition = {FILENAME: self._path}
        return [
            SourceRecord(partition, {POSITION: position}, self._topic, line, STRING, timestamp=now)
            for line, position in self._lines(self._file)
        ]

    def _opened(self) -> BinaryIO | None:
        """At the line after the last one that is in Kafka; None while there is no such file."""
        found = self.context.offsets.offset({FILENAME: self._path}) or {}
        position = found.get(POSITION) or 0
        if not isinstance(position, int):
            raise ConnectError("Offset position is the incorrect type")
        try:
            file = Path(self._path).open("rb")  # noqa: SIM115 - closed by stop
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConnectError(f"Error while trying to open file {self._path}: {error.strerror}") from error
        file.seek(position)
        self._position, self._rest = position, b""
        return file

    def _lines(self, file: BinaryIO) -> Iterator[tuple[str, int]]:
        """Whole lines, at most a batch of them, and the position behind each."""
        data = self._rest + file.read(READ_BYTES)
        if len(data) > LONGEST_LINE_BYTES:
            raise ConnectError(f"{self._path}: a line is longer than {LONGEST_LINE_BYTES} bytes")
        lines = data.splitlines(keepends=True)
        # A line feed may still follow a carriage return that ends what is there.
        is_open = bool(lines) and not lines[-1].endswith(b"\n")
        self._rest = lines.pop() if is_open else b""
        whole, later = lines[: self._batch_size], lines[self._batch_size :]
        self._rest = b"".join(later) + self._rest
        for line in whole:
            self._position += len(line)
            yield line.rstrip(b"\r\n").decode("utf-8", "replace"), self._position

    def stop(self) -> None:
        if self._file is not None:
            self._file.close()


class FileStreamSourceConnector(SourceConnector):
    config_def = CONFIG
    version = "4.3.1"
    task_class = FileStreamSourceTask

    def validate(self, configs: Configs) -> dict[str, list[str]]:
        if configs.get("file"):
            return {}
        return {"file": ["Tasks run on Spark's executors, which have no standard input: file names the file"]}

    def supports_exactly_once(self, configs: Configs) -> bool:
        return bool(CONFIG.parse(configs)["file"])

    def alter_offsets(
        self, configs: Configs, offsets: Mapping[str, Mapping[str, Any] | None] | list[Any]
    ) -> bool:
        pairs: list[Any] = list(offsets)
        for partition, offset in pairs:
            if offset is not None:
                _check_offset(partition, offset)
        return True


def _check_offset(partition: Any, offset: Mapping[str, Any]) -> None:
    if POSITION not in offset:
        raise ConnectError(f"Offset objects should either be null or contain the key '{POSITION}'")
    position = offset[POSITION]
    if not isinstance(position, int) or isinstance(position, bool):
        raise ConnectError(f"The value for the '{POSITION}' key in the offset is expected to be a Long value")
    if position < 0:
        raise ConnectError(f"The value for the '{POSITION}' key in the offset should be a non-negative value")
    if partition is None:
        raise ConnectError("Partition objects cannot be null")
    if FILENAME not in partition:
        raise ConnectError(f"Partition objects should contain the key '{FILENAME}'")
