"""HasHeaderKey: records with a header of a name."""

from __future__ import annotations

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, not_empty
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.predicates.base import KafkaPredicate


class HasHeaderKey(KafkaPredicate[Record]):
    overview = "True for records with at least one header of that name."
    config_def = ConfigDef().define(
        "name",
        ConfigType.STRING,
        validator=not_empty,
        importance=Importance.MEDIUM,
        doc="The name of the header.",
    )

    def test(self, record: Record) -> bool:
        return record.headers.last(self.settings["name"]) is not None
