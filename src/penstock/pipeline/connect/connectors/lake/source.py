"""Files of a folder tree as records, one for each row, also files that come later.

A file's records have the partition {"file": its name} and the offset {"row": how many are read}. The last one also says
the file's size: a file of that size needs no look any more, one that has grown is read on behind its last row. Names
that begin with a dot or an underscore, in any folder, are not data, as in Hive and Spark.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api import ConfigDef, SourceConnector, SourceTask
from penstock.pipeline.connect.connectors.lake.arrow import connect_schema, connect_value, to_microseconds
from penstock.pipeline.connect.connectors.lake.file_systems import files_of
from penstock.pipeline.connect.connectors.lake.formats import format_named
from penstock.pipeline.connect.connectors.lake.lake_config import SOURCE_KEYS, require_place
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

FILE, ROW, SIZE = "file", "row", "size"
TASK, TASKS = "lake.source.task", "lake.source.tasks"
"""Which of how many: a task reads the files whose name's hash is its own."""

MOST_WAIT_SECONDS: Final = 0.5


class LakeSourceTask(SourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = SOURCE_KEYS.parse(configs)
        self._task, self._tasks = int(configs.get(TASK, 0)), int(configs.get(TASKS, 1))
        self._files = files_of(self._settings)
        found = format_named(self._settings["format.class"])
        assert found is not None
        self._format = found
        self._topics_dir = self._settings["topics.dir"].strip("/")
        self._read: dict[str, Mapping[str, Any]] = {}
        self._batches: Iterator[list[SourceRecord]] = iter(())
        self._look_at = 0.0

    def poll(self) -> Sequence[SourceRecord] | None:
        records = next(self._batches, None)
        if records is None and time.monotonic() >= self._look_at:
            self._batches = self._all_new()
            records = next(self._batches, None)
            if records is None:
                self._look_at = time.monotonic() + self._settings["poll.interval.ms"] / 1000
        if records is None:
            self._wait()
        return records

    def _wait(self) -> None:
        deadline = min(self._look_at, time.monotonic() + MOST_WAIT_SECONDS)
        while not self.context.is_stopping() and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))

    def _all_new(self) -> Iterator[list[SourceRecord]]:
        sizes = {
            name: size for name, size in self._files.sizes(self._topics_dir).items() if self._is_ours(name)
        }
        new = [name for name in sizes if name not in self._read]
        stored = self.context.offsets.offsets([{FILE: name} for name in new])
        self._read.update(
            {name: offset or {ROW: 0, SIZE: 0} for name, offset in zip(new, stored, strict=True)}
        )
        for name, size in sizes.items():
            if self._read[name].get(SIZE) != size:
                for records in self._batches_of(name, size, self._read[name].get(ROW, 0)):
                    self._read[name] = records[-1].source_offset or {}
                    yield records
                self._read[name] = {**self._read[name], SIZE: size}

    def _is_ours(self, name: str) -> bool:
        if not name.endswith(f".{self._format.extension}"):
            return False
        below = name.removeprefix(f"{self._topics_dir}/").split("/")
        is_hidden = any(part.startswith((".", "_")) for part in below)
        return not is_hidden and zlib.crc32(name.encode()) % self._tasks == self._task

    def _batches_of(self, name: str, size: int, start: int) -> Iterator[list[SourceRecord]]:
        """The last one is known as such only when the next one is not there."""
        topic, row = self._topic_of(name), start
        before: list[SourceRecord] = []
        with self._errors(name), self._files.open(name) as file:
            for table in self._format.read(file, start, self._settings["batch.max.rows"]):
                if before:
                    yield before
                before = _records(table, topic, name, row)
                row += table.num_rows
        if before:
            before[-1].source_offset = {ROW: row, SIZE: size}
            yield before

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        """Those of a store that cannot be reached pass, those of a file that is broken last."""
        from pyarrow import ArrowException

        try:
            yield
        except RetriableConnectError:
            raise
        except (ArrowException, ConnectError, OSError, ValueError) as error:
            text = " ".join(str(error).split())
            kind = RetriableConnectError if "AWS Error" in text else ConnectError
            path = self._files.path(name)
            raise kind(f"{path}: cannot be read as {self._format.extension}: {text}") from error

    def _topic_of(self, name: str) -> str:
        if self._settings["topic"]:
            return str(self._settings["topic"])
        below = name.removeprefix(f"{self._topics_dir}/")
        topic, slash, _ = below.partition("/")
        if not slash:
            raise ConnectError(
                f"{self._files.path(name)}: lies in no topic's folder; `topic` names one for all"
            )
        return topic


def _records(table: Any, topic: str, name: str, before: int) -> list[SourceRecord]:
    from pyarrow import struct

    rows = to_microseconds(table)
    schema = connect_schema(struct(list(rows.schema)))
    return [
        SourceRecord({FILE: name}, {ROW: row}, topic, connect_value(schema, value), schema)
        for row, value in enumerate(rows.to_pylist(), before + 1)
    ]


class LakeSourceConnector(SourceConnector):
    """Reads Parquet, JSON or CSV files."""

    task_class = LakeSourceTask
    config_def: ClassVar[ConfigDef] = SOURCE_KEYS

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{**self.configs, TASK: str(task), TASKS: str(max_tasks)} for task in range(max_tasks)]

    def validate(self, configs: Mapping[str, str]) -> dict[str, list[str]]:
        try:
            require_place(SOURCE_KEYS.parse(configs))
        except ConfigError as error:
            return {"store.path": [str(error)]}
        return {}

    def alter_offsets(
        self, configs: Mapping[str, str], offsets: Mapping[str, Mapping[str, Any] | None] | list[Any]
    ) -> bool:
        pairs: list[Any] = list(offsets)
        for partition, offset in pairs:
            if not isinstance(partition, Mapping) or not isinstance(partition.get(FILE), str):
                raise ConnectError(f"partition: got {partition!r}; takes {{'{FILE}': a file's name}}")
            if offset is not None and not _is_count(offset.get(ROW)):
                raise ConnectError(
                    f"offset: got {offset!r}; takes {{'{ROW}': how many rows are read}} or null"
                )
        return True


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
