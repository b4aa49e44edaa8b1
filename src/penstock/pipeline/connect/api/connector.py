"""A connector: checks its configuration and divides its work into tasks. It copies no data itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.pipeline.connect.api.config_def import ConfigDef
from penstock.pipeline.connect.api.contexts import ConnectorContext
from penstock.pipeline.connect.api.task import SinkTask, SourceTask

Configs = Mapping[str, str]


class Connector:
    """`context.request_task_reconfiguration()` asks for a new `task_configs`, from any thread."""

    config_def: ClassVar[ConfigDef] = ConfigDef()
    version: ClassVar[str] = "1.0.0"
    context: ConnectorContext

    def start(self, configs: Configs) -> None:
        self.configs = configs

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """The configuration of each task, at most `max_tasks` of them. One task with all of it, unless told."""
        return [dict(self.configs)]

    def validate(self, configs: Configs) -> dict[str, list[str]]:
        """What `config_def` cannot say: errors by key, when every value by itself is right."""
        return {}

    def stop(self) -> None:
        pass


class SourceConnector(Connector):
    task_class: ClassVar[type[SourceTask]]

    def supports_exactly_once(self, configs: Configs) -> bool:
        """Records and offsets go to Kafka in one transaction, so it does when offsets say all that is needed."""
        return True

    def can_define_transaction_boundaries(self, configs: Configs) -> bool:
        return False

    def alter_offsets(
        self, configs: Configs, offsets: Mapping[str, Mapping[str, Any] | None] | list[Any]
    ) -> bool:
        """Checks new offsets, a list of (partition, offset or None) pairs; raises what is wrong."""
        return False


class SinkConnector(Connector):
    task_class: ClassVar[type[SinkTask]]

    def alter_offsets(self, configs: Configs, offsets: Mapping[tuple[str, int], int | None]) -> bool:
        """Checks new offsets by (topic, partition), or removes what the sink remembers itself."""
        return False
