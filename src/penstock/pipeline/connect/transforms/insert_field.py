"""InsertField: adds fields with what the record is about, or with a fixed text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, invalid
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import ConnectRecord, Schema, Struct
from penstock.pipeline.connect.data.logical import TIMESTAMP, timestamp_from_millis
from penstock.pipeline.connect.data.schema import INT32, INT64, STRING
from penstock.pipeline.connect.transforms.base import (
    OfKey,
    OfValue,
    PartTransformation,
    SchemaMemory,
    require_map,
    require_sink_record,
    require_struct,
    struct_like,
    with_null_setting,
)

_PURPOSE = "field insertion"
_OPTIONALITY = "With `!` after it the field is required, with `?` (or nothing) optional."


class _Source(NamedTuple):
    """Where a field comes from: None adds nothing."""

    schema: Schema
    read: Callable[[ConnectRecord], Any]
    doc: str


_SOURCES: Final = {
    "topic.field": _Source(STRING, lambda record: record.topic, "The field for the topic."),
    "partition.field": _Source(INT32, lambda record: record.partition, "The field for the partition."),
    "offset.field": _Source(
        INT64,
        lambda record: require_sink_record(record, _PURPOSE).offset,
        "The field for the offset; only for sinks.",
    ),
    "timestamp.field": _Source(TIMESTAMP, lambda record: record.timestamp, "The field for the timestamp."),
}


class _Insertion(NamedTuple):
    name: str
    schema: Schema
    read: Callable[[ConnectRecord], Any]


def _insertion(spec: str, schema: Schema, read: Callable[[ConnectRecord], Any]) -> _Insertion:
    name = spec[:-1] if spec.endswith(("?", "!")) else spec
    return _Insertion(name, schema if spec.endswith("!") else schema.as_optional(), read)


def _config_def() -> ConfigDef:
    config_def = ConfigDef()
    docs = {name: source.doc for name, source in _SOURCES.items()}
    for name, doc in {**docs, "static.field": "The field for a fixed text."}.items():
        config_def.define(
            name, ConfigType.STRING, None, importance=Importance.MEDIUM, doc=f"{doc} {_OPTIONALITY}"
        )
    config_def.define(
        "static.value", ConfigType.STRING, None, importance=Importance.MEDIUM, doc="The fixed text."
    )
    return with_null_setting(config_def)


class InsertField(PartTransformation[Record]):
    overview = "Adds fields with the record's topic, partition, offset or timestamp, or with a fixed text."
    config_def = _config_def()

    def on_configured(self) -> None:
        static, text = self.settings["static.field"], self.settings["static.value"]
        given = {name: spec for name in _SOURCES if (spec := self.settings[name]) is not None}
        if not given and static is None:
            raise ConfigError("No field insertion configured")
        if static is not None and text is None:
            raise invalid("static.value", None, f"No value specified for static field: {static}")
        self._insertions = [
            _insertion(spec, _SOURCES[name].schema, _SOURCES[name].read) for name, spec in given.items()
        ]
        if static is not None:
            self._insertions.append(_insertion(static, STRING, lambda record: text))
        self._schemas = SchemaMemory(self._extended)

    def without_schema(self, record: Record, value: Any) -> Any:
        changed = dict(require_map(value, _PURPOSE))
        for insertion in self._insertions:
            inserted = insertion.read(record)
            if inserted is not None:
                changed[insertion.name] = inserted
        return changed

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        struct = require_struct(value, _PURPOSE, schema)
        changed = self._schemas(struct.schema)
        values = struct.all_values(self.with_defaults)
        for insertion in self._insertions:
            inserted = insertion.read(record)
            is_time = insertion.schema.name is not None
            values.append(timestamp_from_millis(inserted) if is_time and inserted is not None else inserted)
        return changed, Struct.of(changed, values)

    def _extended(self, schema: Schema) -> Schema:
        own = ((each.name, each.schema) for each in schema.fields)
        return struct_like(schema, [*own, *((each.name, each.schema) for each in self._insertions)])


class InsertFieldKey(OfKey, InsertField[Record]):
    pass


class InsertFieldValue(OfValue, InsertField[Record]):
    pass
