"""Does a value fit its schema? Says which field does not, what it got and what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.pipeline.connect.data.logical import VALUE_TYPES
from penstock.pipeline.connect.data.schema import Schema, Type
from penstock.pipeline.connect.errors import DataError

if TYPE_CHECKING:
    from penstock.pipeline.connect.data.struct import Struct

_BITS = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
_CLASSES: dict[Type, type | tuple[type, ...]] = {
    **dict.fromkeys(_BITS, int),
    Type.FLOAT32: float,
    Type.FLOAT64: float,
    Type.BOOLEAN: bool,
    Type.STRING: str,
    Type.BYTES: (bytes, bytearray, memoryview),
    Type.ARRAY: (list, tuple),
    Type.MAP: dict,
}


def validate_value(schema: Schema, value: Any, name: str = "value") -> None:
    if value is None:
        if not schema.optional and not schema.has_default:
            raise DataError(f"{name}: got null; takes {_described(schema)}, which is not optional")
        return
    if not _is_of(schema, value):
        raise DataError(f"{name}: got {type(value).__name__} {_short(value)}; takes {_described(schema)}")
    _INNER.get(schema.type, _no_inner)(schema, value, name)


def _is_of(schema: Schema, value: Any) -> bool:
    logical = VALUE_TYPES.get(schema.name or "")
    if logical is not None:
        return isinstance(value, logical)
    if schema.type is Type.STRUCT:
        return getattr(value, "schema", None) == schema
    if schema.type in _BITS:
        return type(value) is int and -1 << (_BITS[schema.type] - 1) <= value < 1 << (_BITS[schema.type] - 1)
    return isinstance(value, _CLASSES[schema.type])


def _no_inner(schema: Schema, value: Any, name: str) -> None:
    pass


def _validate_items(schema: Schema, value: list[Any], name: str) -> None:
    if schema.value_schema is None:
        raise DataError(f"{name}: an array's schema needs a value schema")
    for number, item in enumerate(value):
        validate_value(schema.value_schema, item, f"{name}[{number}]")


def _validate_entries(schema: Schema, value: dict[Any, Any], name: str) -> None:
    if schema.key_schema is None or schema.value_schema is None:
        raise DataError(f"{name}: a map's schema needs a key schema and a value schema")
    for key, item in value.items():
        validate_value(schema.key_schema, key, f"{name}'s key")
        validate_value(schema.value_schema, item, f"{name}[{key!r}]")


def _validate_struct(schema: Schema, value: Struct, name: str) -> None:
    value.validate()


_INNER: dict[Type, Any] = {
    Type.ARRAY: _validate_items,
    Type.MAP: _validate_entries,
    Type.STRUCT: _validate_struct,
}


def _described(schema: Schema) -> str:
    return f"{schema.name} ({schema.type.value})" if schema.name else schema.type.value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
