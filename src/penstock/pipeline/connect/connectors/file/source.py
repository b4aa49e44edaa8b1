"""A file's lines, each a record, also those that are appended later. The offset is the byte after the line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, not_empty
from penstock.pipeline.connect.api.connector import Configs, SourceConnector
from penstock.pipeline.connect.api.task import SourceTask
from penstock.pipeline.connect.connectors.file.lines import LineReader, Lines
from penstock.pipeline.connect.data import SourceColumns
from penstock.pipeline.connect.data.schema import STRING
from penstock.pipeline.connect.errors import ConnectError

FILENAME, POSITION = "filename", "position"
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
        self._partition = {FILENAME: self._path}
        self._reader: LineReader | None = None
        self._lines: Lines | None = None
        self._taken = 0

    def poll(self) -> SourceColumns | None:
        """Waits a little for the file, or for more of it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            if (lines := self._lines_to_send()) is not None:
                return self._batch(lines)
            if time.monotonic() >= deadline or self.context.is_stopping():
                return None
            time.sleep(LOOK_SECONDS)

    def _lines_to_send(self) -> Lines | None:
        """Those that were read last, if there are any left of them, else those that follow."""
        if self._lines is None:
            if self._reader is None:
                self._reader = self._opened()
            if self._reader is not None:
                self._lines, self._taken = self._read(self._reader), 0
        return self._lines

    def _batch(self, lines: Lines) -> SourceColumns:
        first = self._taken
        self._taken = first + self._batch_size
        if self._taken >= len(lines.texts):
            self._lines = None
        return SourceColumns(
            self._partition,
            lambda index: {POSITION: lines.end(first + index)},
            self._topic,
            lines.texts[first : self._taken],
            STRING,
            now_ms=int(time.time() * 1000),
        )

    def _opened(self) -> LineReader | None:
        """At the line after the last one that is in Kafka; None while there is no such file."""
        found = self.context.offsets.offset(self._partition) or {}
        position = found.get(POSITION) or 0
        if not isinstance(position, int):
            raise ConnectError("Offset position is the incorrect type")
        try:
            file = Path(self._path).open("rb")  # noqa: SIM115 - closed by stop
        except FileNotFoundError:
            self.context.waits_for = f"there is no file {self._path} where the task runs; it waits for it"
            return None
        except OSError as error:
            raise ConnectError(f"Error while trying to open file {self._path}: {error.strerror}") from error
        self.context.waits_for = None
        return LineReader(file, position, LONGEST_LINE_BYTES)

    def _read(self, reader: LineReader) -> Lines | None:
        try:
            return reader.read()
        except ValueError as error:
            raise ConnectError(f"{self._path}: {error}") from error

    def stop(self) -> None:
        if self._reader is not None:
            self._reader.close()


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
