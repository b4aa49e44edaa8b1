"""DropHeaders: removes headers by name."""

from __future__ import annotations

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Headers
from penstock.pipeline.connect.transforms.base import KafkaTransformation, any_names


class DropHeaders(KafkaTransformation[Record]):
    overview = "Removes headers by name."
    config_def = ConfigDef().define(
        "headers",
        ConfigType.LIST,
        validator=any_names(empty_allowed=False),
        importance=Importance.HIGH,
        doc="The names of the headers to remove.",
    )

    def on_configured(self) -> None:
        self._dropped = frozenset(self.settings["headers"])

    def apply(self, record: Record) -> Record | None:
        kept = Headers(each for each in record.headers if each.key not in self._dropped)
        return record.changed(headers=kept)
