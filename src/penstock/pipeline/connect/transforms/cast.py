"""Cast: fields, or the whole key or value, to another type."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import date, time
from decimal import Decimal
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, invalid
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct, Type
from penstock.pipeline.connect.data.java_text import class_name, java_text, shortest_float32, to_float32
from penstock.pipeline.connect.data.logical import (
    DATE_NAME,
    TIME_NAME,
    TIMESTAMP_NAME,
    VALUE_TYPES,
    date_to_days,
    time_to_millis,
    timestamp_to_millis,
)
from penstock.pipeline.connect.data.numbers import BITS, parse_float, parse_whole, whole, wrapped
from penstock.pipeline.connect.data.values import date_text
from penstock.pipeline.connect.errors import DataError
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

_PURPOSE = "cast types"
TARGETS: Final = (*BITS, Type.FLOAT32, Type.FLOAT64, Type.BOOLEAN, Type.STRING)
_SOURCES: Final = (*TARGETS, Type.BYTES)
_STORED: Final[dict[str | None, Callable[[Any], int]]] = {
    DATE_NAME: date_to_days,
    TIME_NAME: time_to_millis,
    TIMESTAMP_NAME: timestamp_to_millis,
}


# --- the spec


def _parse_spec(items: list[str]) -> dict[str | None, Type]:
    """Types by field; by None the one for all of it."""
    casts: dict[str | None, Type] = {}
    for item in items:
        parts = _split(item)
        if len(parts) > 2:
            raise invalid("renames", items, f"Invalid rename mapping: {item}")
        field = parts[0].strip() if len(parts) == 2 else None
        casts[field] = _target(parts[-1].strip())
    if None in casts and len(items) > 1:
        raise ConfigError(
            "Cast transformations that specify a type to cast the entire value to "
            "may only specify a single cast in their spec"
        )
    return casts


def _split(item: str) -> list[str]:
    """As Java splits: nothing after the last colon is no part."""
    parts = item.split(":")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _target(name: str) -> Type:
    try:
        type = Type[name.upper()]
    except KeyError:
        raise ConfigError(f"Invalid type found in casting spec: {name}") from None
    if type not in TARGETS:
        raise ConfigError(
            f"Cast transformation does not support casting to {type.name}; {_supported(TARGETS)}"
        )
    return type


def _supported(types: tuple[Type, ...]) -> str:
    in_order = [type.name for type in Type if type in types]
    return f"supported types are [{', '.join(in_order)}]"


def _unsupported_source(type: Type) -> DataError:
    return DataError(f"Cast transformation does not support casting from {type.name}; {_supported(_SOURCES)}")


def _check_spec(name: str, value: Any) -> None:
    if not value:
        raise ConfigError("Must specify at least one field to cast.")
    _parse_spec(value)


# --- one value


def _to_integer(bits: int) -> Callable[[Any, Schema | None], int]:
    def cast(value: Any, schema: Schema | None) -> int:
        if isinstance(value, str):
            return parse_whole(value, bits)
        if isinstance(value, int):
            return wrapped(int(value), bits)
        if isinstance(value, float | Decimal):
            return whole(value, bits)
        raise _unexpected(value, schema)

    return cast


def _to_double(value: Any, schema: Schema | None) -> float:
    if isinstance(value, str):
        return parse_float(value)
    if isinstance(value, int | float | Decimal):
        return float(value)
    raise _unexpected(value, schema)


def _to_float(value: Any, schema: Schema | None) -> float:
    """Without a schema nobody knows later that it was a float of 32 bits: it keeps the digits that such a one has."""
    narrow = to_float32(_to_double(value, schema))
    return shortest_float32(narrow) if schema is None else narrow


def _to_boolean(value: Any, schema: Schema | None) -> bool:
    if isinstance(value, str):
        return value.lower() == "true"
    if isinstance(value, int | float | Decimal):
        return _to_integer(64)(value, schema) != 0
    raise _unexpected(value, schema)


def _to_string(value: Any, schema: Schema | None) -> str:
    if isinstance(value, date | time):
        return date_text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    return java_text(value, schema)


def _unexpected(value: Any, schema: Schema | None) -> DataError:
    return DataError(f"Unexpected type in Cast transformation: class {class_name(value, schema)}")


_CASTS: Final[dict[Type, Callable[[Any, Schema | None], Any]]] = {
    **{type: _to_integer(bits) for type, bits in BITS.items()},
    Type.FLOAT32: _to_float,
    Type.FLOAT64: _to_double,
    Type.BOOLEAN: _to_boolean,
    Type.STRING: _to_string,
}

_TYPE_OF: Final[tuple[tuple[type | tuple[type, ...], Type], ...]] = (
    (bool, Type.BOOLEAN),
    (int, Type.INT64),
    (float, Type.FLOAT64),
    (str, Type.STRING),
    ((bytes, bytearray, memoryview), Type.BYTES),
    ((list, tuple), Type.ARRAY),
    (dict, Type.MAP),
    (Struct, Type.STRUCT),
)


def type_of(value: Any) -> Type | None:
    """Of a value without a schema; None if Connect has no type for it by itself."""
    return next((type for kind, type in _TYPE_OF if isinstance(value, kind)), None)


def cast_value(schema: Schema | None, value: Any, target: Type) -> Any:
    if value is None:
        return None
    type = type_of(value) if schema is None else schema.type
    if type is None:
        raise DataError(
            f"Cast transformation was passed a value of type class {class_name(value)} "
            "which is not supported by Connect's data API"
        )
    if type not in _SOURCES:
        raise _unsupported_source(type)
    if schema is not None and schema.name in _STORED and target is not Type.STRING:
        value = _STORED[schema.name](value)
    try:
        return _CASTS[target](value, schema)
    except ValueError as error:
        raise DataError(
            f"Value ({java_text(value, schema)}) was out of range for requested data type"
        ) from error


# --- the transform


class Cast(PartTransformation[Record]):
    overview = "Casts fields, or the whole key or value, to another type; bytes become text in base 64."
    config_def = with_null_setting(
        ConfigDef().define(
            "spec",
            ConfigType.LIST,
            validator=_check_spec,
            importance=Importance.HIGH,
            doc="Fields and their new types, as field1:type,field2:type, or one type for all of it. "
            f"Types are {', '.join(type.value for type in TARGETS)}. Bytes can only become string.",
        )
    )

    def on_configured(self) -> None:
        self._casts = _parse_spec(self.settings["spec"])
        self._of_whole = self._casts.get(None)
        self._schemas = SchemaMemory(self._changed_schema)

    def without_schema(self, record: Record, value: Any) -> Any:
        if self._of_whole is not None:
            return cast_value(None, value, self._of_whole)
        given = require_map(value, _PURPOSE)
        return given | {
            field: cast_value(None, given.get(field or ""), type) for field, type in self._casts.items()
        }

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        changed = self._schemas(schema)
        if self._of_whole is not None:
            return changed, cast_value(schema, value, self._of_whole)
        struct = require_struct(value, _PURPOSE, schema)
        return changed, Struct.of(changed, self._cast_all(struct))

    def _cast_all(self, struct: Struct) -> list[Any]:
        values = struct.all_values(self.with_defaults)
        for index, field in enumerate(struct.schema.fields):
            type = self._casts.get(field.name)
            if type is not None:
                values[index] = cast_value(field.schema, values[index], type)
        return values

    def _changed_schema(self, schema: Schema) -> Schema:
        if self._of_whole is not None:
            return self._cast_schema(schema, self._of_whole, keeps_name=True)
        fields = [
            (each.name, self._cast_schema(each.schema, type) if type else each.schema)
            for each in require_fields(schema)
            for type in (self._casts.get(each.name),)
        ]
        if schema.default is not None:
            raise _unsupported_source(schema.type)
        return struct_like(schema, fields, schema.optional)

    def _cast_schema(self, schema: Schema, type: Type, keeps_name: bool = False) -> Schema:
        builder = SchemaBuilder(type)
        if keeps_name:
            builder.name(schema.name).version(schema.version).doc(schema.doc).parameters(schema.parameters)
        if schema.optional:
            builder.optional()
        if schema.default is not None:
            builder.default(cast_value(schema, schema.default, type))
        made = builder.build()
        if made.name in VALUE_TYPES and made.has_default:
            raise DataError(f"Invalid default value: {made.name} cannot have one of type {type.name}")
        return made


class CastKey(OfKey, Cast[Record]):
    pass


class CastValue(OfValue, Cast[Record]):
    pass
