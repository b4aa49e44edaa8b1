"""A topic's values as lines of a file, appended."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, TextIO

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.connector import Configs, SinkConnector
from penstock.pipeline.connect.api.contexts import TopicPartition
from penstock.pipeline.connect.api.task import SinkTask
from penstock.pipeline.connect.data import SinkRecord
from penstock.pipeline.connect.errors import ConnectError

CONFIG: Final = ConfigDef().define(
    "file",
    ConfigType.STRING,
    None,
    importance=Importance.HIGH,
    doc="The file to append to; standard output of the executor, unless set.",
)


class FileStreamSinkTask(SinkTask):
    def start(self, configs: Mapping[str, str]) -> None:
        path = CONFIG.parse(configs)["file"]
        self._output: TextIO = sys.stdout
        if path:
            try:
                self._output = open(path, "a", encoding="utf-8", newline="\n")  # noqa: SIM115 - closed by stop
            except OSError as error:
                raise ConnectError(
                    f"Couldn't find or create file '{path}' for FileStreamSinkTask: {error.strerror}"
                ) from error

    def put(self, records: Sequence[SinkRecord]) -> None:
        self._output.write("".join(f"{_as_java_prints(record.value)}\n" for record in records))

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._output.flush()
        if self._output is not sys.stdout:
            os.fsync(self._output.fileno())

    def stop(self) -> None:
        if self._output is not sys.stdout:
            self._output.close()


class FileStreamSinkConnector(SinkConnector):
    config_def = CONFIG
    version = "4.3.1"
    task_class = FileStreamSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.configs) for _ in range(max_tasks)]

    def alter_offsets(self, configs: Configs, offsets: Mapping[TopicPartition, int | None]) -> bool:
        return True


def _as_java_prints(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
