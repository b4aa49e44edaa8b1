"""What transforms share: key or value, a schema's changed form remembered, values read with or without defaults.

A transform of keys and one of values are the same class with `OfKey` or `OfValue` before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final, Generic, TypeVar

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, one_of
from penstock.pipeline.connect.api.converter import SchemaAndValue
from penstock.pipeline.connect.api.transformation import Record, Transformation
from penstock.pipeline.connect.data import ConnectRecord, Field, Schema, SinkRecord, Struct, Type
from penstock.pipeline.connect.data.java_text import class_name
from penstock.pipeline.connect.errors import DataError

KAFKA_VERSION: Final = "4.3.1"
"""The version of Kafka whose plugins these stand for."""
SCHEMAS_REMEMBERED: Final = 16
REPLACE_NULL_WITH_DEFAULT: Final = "replace.null.with.default"

Changed = TypeVar("Changed")


class OfKey:
    part: ClassVar[str] = "key"

    @staticmethod
    def read(record: ConnectRecord) -> SchemaAndValue:
        return SchemaAndValue(record.key_schema, record.key)

    @staticmethod
    def changed(record: Any, schema: Schema | None, value: Any, **more: Any) -> Any:
        return record.changed(key_schema=schema, key=value, **more)


class OfValue:
    part: ClassVar[str] = "value"

    @staticmethod
    def read(record: ConnectRecord) -> SchemaAndValue:
        return SchemaAndValue(record.value_schema, record.value)

    @staticmethod
    def changed(record: Any, schema: Schema | None, value: Any, **more: Any) -> Any:
        return record.changed(value_schema=schema, value=value, **more)


class KafkaTransformation(Transformation[Record]):
    """One of those that come with Kafka. `overview` is a line for lists and pages."""

    version: ClassVar[str] = KAFKA_VERSION
    overview: ClassVar[str] = ""

    def configure(self, configs: Mapping[str, Any]) -> None:
        self.settings = self.config_def.parse(configs)
        self.on_configured()

    def on_configured(self) -> None:
        """`settings` are there; ConfigError says what is wrong with them together."""


class PartTransformation(KafkaTransformation[Record]):
    """Of a key or a value. With a schema and without, in two methods; a record without a value passes unless told."""

    part: ClassVar[str]
    passes_null: ClassVar[bool] = True

    @staticmethod
    def read(record: ConnectRecord) -> SchemaAndValue:
        raise NotImplementedError

    @staticmethod
    def changed(record: Any, schema: Schema | None, value: Any, **more: Any) -> Any:
        raise NotImplementedError

    def apply(self, record: Record) -> Record | None:
        schema, value = self.read(record)
        if value is None and self.passes_null:
            return record
        if schema is None:
            return self.changed(record, None, self.without_schema(record, value))  # type: ignore[no-any-return]
        return self.changed(record, *self.with_schema(record, schema, value))  # type: ignore[no-any-return]

    def without_schema(self, record: Record, value: Any) -> Any:
        raise NotImplementedError

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema | None, Any]:
        raise NotImplementedError

    @property
    def with_defaults(self) -> bool:
        return bool(self.settings[REPLACE_NULL_WITH_DEFAULT])


class SchemaMemory(Generic[Changed]):
    """What becomes of a schema, for the last few schemas."""

    def __init__(self, change: Callable[[Schema], Changed]) -> None:
        self._change = change
        self._known: dict[Schema, Changed] = {}

    def __call__(self, schema: Schema) -> Changed:
        known = self._known.get(schema)
        if known is None:
            known = self._change(schema)
            if len(self._known) >= SCHEMAS_REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[schema] = known
        return known


# --- schemas


def struct_like(schema: Schema, fields: Iterable[tuple[str, Schema]], optional: bool = False) -> Schema:
    """A struct with these fields, that is named as `schema`; without its default."""
    made: dict[str, Field] = {}
    for name, of in fields:
        if name in made:
            raise DataError(f"Cannot create field because of field name duplication {name}")
        made[name] = Field(name, len(made), of)
    plain = replace(schema, type=Type.STRUCT, key_schema=None, value_schema=None, fields=tuple(made.values()))
    return replace(plain, optional=optional, default=None, has_default=False)


# --- settings that several have


def with_null_setting(config_def: ConfigDef) -> ConfigDef:
    return config_def.define(
        REPLACE_NULL_WITH_DEFAULT,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.MEDIUM,
        doc="Whether a field that is null is taken as its default value, where its schema has one.",
    )


def with_syntax_setting(config_def: ConfigDef) -> ConfigDef:
    return config_def.define(
        "field.syntax.version",
        ConfigType.STRING,
        "V1",
        validator=one_of("V1", "V2", ignore_case=True),
        importance=Importance.HIGH,
        doc="How a field is named: V1 names a field of the key or value itself; V2 is a path to a nested one, "
        "with dots between names, and backticks around a name that has dots in it.",
    )


def any_names(empty_allowed: bool) -> Callable[[str, Any], None]:
    """A list of texts, none of them empty; one that is there twice counts once."""

    def check(name: str, value: Any) -> None:
        if value is None:
            raise ConfigError(f"Configuration '{name}' values must not be null.")
        if not value and not empty_allowed:
            raise ConfigError(
                f"Configuration '{name}' must not be empty. Valid values include: any non-empty value"
            )
        if "" in value:
            raise ConfigError(f"Configuration '{name}' values must not be empty.")

    return check


# --- what a value must be


def require_fields(schema: Schema) -> tuple[Field, ...]:
    if schema.type is not Type.STRUCT:
        raise DataError("Cannot list fields on non-struct type")
    return schema.fields


def require_map(value: Any, purpose: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(
            f"Only Map objects supported in absence of schema for [{purpose}], found: {class_name(value)}"
        )
    return value


def require_struct(value: Any, purpose: str, schema: Schema | None = None) -> Struct:
    if not isinstance(value, Struct):
        raise DataError(f"Only Struct objects supported for [{purpose}], found: {class_name(value, schema)}")
    return value


def require_sink_record(record: ConnectRecord, purpose: str) -> SinkRecord:
    if not isinstance(record, SinkRecord):
        raise DataError(
            f"Only SinkRecord supported for [{purpose}], found: org.apache.kafka.connect.source.SourceRecord"
        )
    return record
