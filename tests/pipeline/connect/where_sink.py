"""A sink that writes down in whose folder each of its tasks works; loaded through plugin.path."""

import os
from collections.abc import Sequence
from pathlib import Path

from penstock.pipeline.connect.api import SinkConnector, SinkTask
from penstock.pipeline.connect.data import SinkRecord


class WhereSinkTask(SinkTask):
    def put(self, records: Sequence[SinkRecord]) -> None:
        if records:
            where = Path(self.configs["folder"]) / f"{records[0].original_partition}-{os.getpid()}"
            with where.open("a") as file:
                file.writelines(f"{os.getcwd()}\t{each.value}\n" for each in records)


class WhereSinkConnector(SinkConnector):
    task_class = WhereSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.configs)] * max_tasks
