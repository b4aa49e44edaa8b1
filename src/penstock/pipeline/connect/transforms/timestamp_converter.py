"""TimestampConverter: a moment as text, as a number since 1970, or as one of Connect's types.

Each form says how it reads a moment and how it writes one; in between it is milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, time
from typing import Any, Final, NamedTuple

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, one_of
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Schema, Struct, Type
from penstock.pipeline.connect.data.java_text import MILLIS_PER_DAY, class_name, described, millis_of
from penstock.pipeline.connect.data.logical import (
    DATE,
    DATE_NAME,
    TIME,
    TIME_NAME,
    TIMESTAMP,
    TIMESTAMP_NAME,
    date_from_days,
    time_from_millis,
    timestamp_from_millis,
)
from penstock.pipeline.connect.data.schema import INT64, STRING
from penstock.pipeline.connect.data.simple_date_format import ParseError, PatternError, SimpleDateFormat
from penstock.pipeline.connect.errors import ConnectError, DataError
from penstock.pipeline.connect.transforms.base import (
    OfKey,
    OfValue,
    PartTransformation,
    SchemaMemory,
    require_fields,
    require_map,
    require_struct,
    struct_like,
    with_null_setting,
)

_PURPOSE = "converting timestamp formats"
_FORM_OF_NAME: Final = {TIMESTAMP_NAME: "Timestamp", DATE_NAME: "Date", TIME_NAME: "Time"}
_FORM_OF_TYPE: Final = {Type.STRING: "string", Type.INT64: "unix"}
_PER_MILLISECOND: Final = {"nanoseconds": 1_000_000, "microseconds": 1000, "milliseconds": 1}
_MILLIS_PER_SECOND: Final = 1000


class _Settings(NamedTuple):
    format: SimpleDateFormat | None
    precision: str

    @property
    def required_format(self) -> SimpleDateFormat:
        if self.format is None:
            raise DataError("TimestampConverter requires format option to be specified to read a string")
        return self.format


class _Form(NamedTuple):
    schema: Schema
    read: Callable[[_Settings, Any, Schema | None], int]
    write: Callable[[_Settings, int], Any]


def _toward_zero(value: int, by: int) -> int:
    return value // by if value >= 0 else -(-value // by)


def _long(value: int) -> int:
    """Java's units stop at the ends of a long."""
    return max(-(2**63), min(value, 2**63 - 1))


def _read_string(settings: _Settings, value: Any, schema: Schema | None) -> int:
    if not isinstance(value, str):
        raise DataError(
            f"Expected string timestamp to be a String, but found class {class_name(value, schema)}"
        )
    try:
        return settings.required_format.parse(value)
    except ParseError:
        raise DataError(
            f"Could not parse timestamp: value ({value}) does not match pattern "
            f"({settings.required_format.pattern})"
        ) from None


def _read_unix(settings: _Settings, value: Any, schema: Schema | None) -> int:
    if type(value) is not int:
        raise DataError(f"Expected Unix timestamp to be a Long, but found class {class_name(value, schema)}")
    if settings.precision == "seconds":
        return _long(value * _MILLIS_PER_SECOND)
    return _toward_zero(value, _PER_MILLISECOND[settings.precision])


def _write_unix(settings: _Settings, millis: int) -> int:
    if settings.precision == "seconds":
        return _toward_zero(millis, _MILLIS_PER_SECOND)
    return _long(millis * _PER_MILLISECOND[settings.precision])


def _read_date(form: str) -> Callable[[_Settings, Any, Schema | None], int]:
    def read(settings: _Settings, value: Any, schema: Schema | None) -> int:
        if not isinstance(value, date | time):
            raise DataError(
                f"Expected {form} to be a java.util.Date, but found class {class_name(value, schema)}"
            )
        return millis_of(value)

    return read


_FORMS: Final = {
    "string": _Form(STRING, _read_string, lambda settings, millis: settings.required_format.format(millis)),
    "unix": _Form(INT64, _read_unix, _write_unix),
    "Date": _Form(
        DATE, _read_date("Date"), lambda settings, millis: date_from_days(millis // MILLIS_PER_DAY)
    ),
    "Time": _Form(
        TIME, _read_date("Time"), lambda settings, millis: time_from_millis(millis % MILLIS_PER_DAY)
    ),
    "Timestamp": _Form(
        TIMESTAMP, _read_date("Timestamp"), lambda settings, millis: timestamp_from_millis(millis)
    ),
}


def _form_of(schema: Schema) -> str:
    form = _FORM_OF_NAME.get(schema.name or "") or _FORM_OF_TYPE.get(schema.type)
    if form is None:
        raise ConnectError(f"Schema {described(schema)} does not correspond to a known timestamp type format")
    return form


def _form_of_value(value: Any) -> str:
    if isinstance(value, date | time):
        return "Timestamp"
    if isinstance(value, str):
        return "string"
    if type(value) is int:
        return "unix"
    raise DataError(f"TimestampConverter does not support class {class_name(value)} objects as timestamps")


class TimestampConverter(PartTransformation[Record]):
    overview = "Converts a moment between text, a number since 1970, and Connect's Date, Time and Timestamp."
    passes_null = False
    config_def = with_null_setting(
        ConfigDef()
        .define(
            "field",
            ConfigType.STRING,
            "",
            importance=Importance.HIGH,
            doc="The name of the field; empty for the whole key or value.",
        )
        .define(
            "target.type",
            ConfigType.STRING,
            validator=one_of(*_FORMS),
            importance=Importance.HIGH,
            doc=f"The new form: {', '.join(_FORMS)}.",
        )
        .define(
            "format",
            ConfigType.STRING,
            "",
            importance=Importance.MEDIUM,
            doc="The pattern of Java's SimpleDateFormat that texts are read or written with.",
        )
        .define(
            "unix.precision",
            ConfigType.STRING,
            "milliseconds",
            validator=one_of("nanoseconds", "microseconds", "milliseconds", "seconds"),
            importance=Importance.LOW,
            doc="What numbers count. Anything finer than milliseconds is lost.",
        )
    )

    def on_configured(self) -> None:
        pattern = self.settings["format"]
        self._field: str = self.settings["field"]
        if self.settings["target.type"] == "string" and not pattern.strip():
            raise ConfigError(
                "TimestampConverter requires format option to be specified when using string timestamps"
            )
        try:
            format = SimpleDateFormat(pattern) if pattern.strip() else None
        except PatternError as error:
            raise ConfigError(
                "TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: "
                f"{pattern} ({error})"
            ) from None
        self._target = _FORMS[self.settings["target.type"]]
        self._how = _Settings(format, self.settings["unix.precision"])
        self._schemas = SchemaMemory(self._changed_schema)

    def _converted(self, value: Any, form: str | None, schema: Schema | None) -> Any:
        if value is None:
            return None
        millis = _FORMS[form or _form_of_value(value)].read(self._how, value, schema)
        try:
            return self._target.write(self._how, millis)
        except OverflowError:
            raise DataError(f"timestamp {millis} is out of range: years 1 to 9999 can be written") from None

    def without_schema(self, record: Record, value: Any) -> Any:
        if value is None or not self._field:
            return self._converted(value, None, None)
        given = require_map(value, _PURPOSE)
        return given | {self._field: self._converted(given.get(self._field), None, None)}

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        if not self._field:
            return self._target_schema(schema), self._converted(value, _form_of(schema), schema)
        struct = None if value is None else require_struct(value, _PURPOSE, schema)
        changed = self._schemas(schema)
        return changed, None if struct is None else self._changed_struct(struct, changed)

    def _changed_struct(self, struct: Struct, changed: Schema) -> Struct:
        values = struct.all_values(self.with_defaults)
        field = struct.schema.field(self._field)
        if field is not None:
            form = _form_of(field.schema)
            values[field.index] = self._converted(values[field.index], form, field.schema)
        return Struct.of(changed, values)

    def _target_schema(self, schema: Schema) -> Schema:
        return self._target.schema.as_optional() if schema.optional else self._target.schema

    def _changed_schema(self, schema: Schema) -> Schema:
        fields = (
            (each.name, self._target_schema(each.schema) if each.name == self._field else each.schema)
            for each in require_fields(schema)
        )
        changed = struct_like(schema, fields, schema.optional)
        if schema.default is None:
            return changed
        return replace(changed, default=self._changed_struct(schema.default, changed), has_default=True)


class TimestampConverterKey(OfKey, TimestampConverter[Record]):
    pass


class TimestampConverterValue(OfValue, TimestampConverter[Record]):
    pass
