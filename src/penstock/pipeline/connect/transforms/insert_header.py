"""InsertHeader: adds a header with a fixed value, typed as its text reads."""

from __future__ import annotations

from typing import Any

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, invalid
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data.values import parse
from penstock.pipeline.connect.transforms.base import KafkaTransformation


def _not_null(name: str, value: Any) -> None:
    if value is None:
        raise invalid(name, None, "entry must be non null")


class InsertHeader(KafkaTransformation[Record]):
    overview = "Adds a header with a fixed value."
    config_def = (
        ConfigDef()
        .define(
            "header",
            ConfigType.STRING,
            validator=_not_null,
            importance=Importance.HIGH,
            doc="The name of the header.",
        )
        .define(
            "value.literal",
            ConfigType.STRING,
            validator=_not_null,
            importance=Importance.HIGH,
            doc="Its value: a number, true, a date, a list or a map is taken as such, anything else as text.",
        )
    )

    def on_configured(self) -> None:
        self._schema, self._value = parse(self.settings["value.literal"])

    def apply(self, record: Record) -> Record | None:
        headers = record.headers.copy().add(self.settings["header"], self._value, self._schema)
        return record.changed(headers=headers)
