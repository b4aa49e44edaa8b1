"""A value of one schema as a value of another: what a sink does with records older than its schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from penstock.pipeline.connect.data.java_text import described, java_text, to_float32
from penstock.pipeline.connect.data.logical import VALUE_TYPES
from penstock.pipeline.connect.data.schema import Schema, Type
from penstock.pipeline.connect.data.struct import Struct
from penstock.pipeline.connect.errors import DataError

_LADDER: Final = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)


class ProjectionError(DataError):
    """The two schemas do not go together."""


def project(source: Schema, value: Any, target: Schema) -> Any:
    _check_compatible(source, target)
    if source.optional and not target.optional:
        if target.default is None:
            raise ProjectionError(
                "Writer schema is optional, however, target schema does not provide a default value."
            )
        if value is None:
            return target.default
    return None if value is None else _PROJECTIONS.get(target.type, _plain)(source, value, target)


def _check_compatible(source: Schema, target: Schema) -> None:
    if source.type is not target.type and not _widens(source.type, target.type):
        raise ProjectionError(
            f"Schema type mismatch. source type: {source.type.name} and target type: {target.type.name}"
        )
    if source.name != target.name:
        raise ProjectionError(
            f"Schema name mismatch. source name: {source.name or 'null'} and target name: {target.name or 'null'}"
        )
    if source.parameters != target.parameters:
        raise ProjectionError(
            f"Schema parameters not equal. source parameters: {_shown(source)} "
            f"and target parameters: {_shown(target)}"
        )


def _shown(schema: Schema) -> str:
    return java_text(dict(schema.parameters)) if schema.parameters else "null"


def _widens(source: Type, target: Type) -> bool:
    return source in _LADDER and target in _LADDER and _LADDER.index(source) <= _LADDER.index(target)


def _plain(source: Schema, value: Any, target: Schema) -> Any:
    if target.name in VALUE_TYPES or target.type not in (Type.FLOAT32, Type.FLOAT64):
        return value
    return to_float32(float(value)) if target.type is Type.FLOAT32 else float(value)


def _array(source: Schema, value: list[Any], target: Schema) -> list[Any]:
    assert source.value_schema is not None
    assert target.value_schema is not None
    return [project(source.value_schema, each, target.value_schema) for each in value]


def _map(source: Schema, value: dict[Any, Any], target: Schema) -> dict[Any, Any]:
    assert source.key_schema is not None
    assert source.value_schema is not None
    assert target.key_schema is not None
    assert target.value_schema is not None
    return {
        project(source.key_schema, key, target.key_schema): project(
            source.value_schema, each, target.value_schema
        )
        for key, each in value.items()
    }


def _struct(source: Schema, value: Struct, target: Schema) -> Struct:
    made = Struct(target)
    for field in target.fields:
        own = source.field(field.name)
        if own is not None:
            try:
                made.put(field.name, project(own.schema, value.get(field.name), field.schema))
            except ProjectionError as error:
                raise ProjectionError(f"Error projecting {field.name}") from error
        elif field.schema.default is not None and not field.schema.optional:
            made.put(field.name, field.schema.default)
        elif not field.schema.optional:
            raise ProjectionError(
                f"Required field `{field.name}` is missing from source schema: {described(source)}"
            )
    return made


_PROJECTIONS: Final[dict[Type, Callable[[Schema, Any, Schema], Any]]] = {
    Type.ARRAY: _array,
    Type.MAP: _map,
    Type.STRUCT: _struct,
}
