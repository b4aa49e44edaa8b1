"""Connect's values in Arrow's tables, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct, Type
from penstock.pipeline.connect.data.arrow_types import arrow_field, arrow_type
from penstock.pipeline.connect.data.logical import (
    DATE,
    TIME,
    TIMESTAMP,
    decimal_schema,
)
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
)
from penstock.pipeline.connect.errors import DataError


def table_of(schema: Schema, values: Sequence[Any]) -> Any:
    """One column for each field; a value that is no struct is the column `value`."""
    import pyarrow as pa

    with translated_errors():
        if schema.type is not Type.STRUCT:
            column = pa.array([plain(value) for value in values], arrow_type(schema))
            return pa.table([column], pa.schema([arrow_field("value", schema)]))
        if not schema.fields:
            raise DataError("a struct without fields has no columns")
        fields = [arrow_field(each.name, each.schema) for each in schema.fields]
        columns = zip(*(value.all_values() for value in values), strict=True)
        arrays = [_column(each, field) for each, field in zip(columns, fields, strict=True)]
        return pa.table(arrays, pa.schema(fields))


def _column(values: Sequence[Any], field: Any) -> Any:
    import pyarrow as pa

    return pa.array(list(map(plain, values)) if is_nested(field.type) else values, field.type)


def inferred_table(values: Sequence[Any]) -> Any:
    """Of values without a schema: a column for each name that any of them has."""
    import pyarrow as pa

    rows = [value if isinstance(value, dict) else {"value": value} for value in values]
    names = dict.fromkeys(str(name) for row in rows for name in row)
    if not names:  # a table needs a column to have rows
        return pa.table({"value": ["{}"] * len(rows)})
    return pa.table({name: _inferred_column([row.get(name) for row in rows]) for name in names})


def _inferred_column(values: Sequence[Any]) -> Any:
    """A column whose values have no type in common is one of JSON texts."""
    import pyarrow as pa

    try:
        column = pa.array(values)
        if not _has_empty_struct(column.type):
            return column
    except (pa.ArrowException, OverflowError):
        pass
    return pa.array(
        [None if value is None else json.dumps(value, default=str) for value in values], pa.string()
    )


def _has_empty_struct(type: Any) -> bool:
    """Parquet has none."""
    from pyarrow import types

    inner = [type.field(number).type for number in range(type.num_fields)]
    return (types.is_struct(type) and not inner) or any(map(_has_empty_struct, inner))


def is_nested(type: Any) -> bool:
    from pyarrow import types

    return bool(types.is_nested(type))


@contextmanager
def translated_errors() -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OverflowError) as error:
        raise DataError(f"the values do not fit a column: {' '.join(str(error).split())}") from error


def plain(value: Any) -> Any:
    """Structs as dicts, all the way down."""
    if isinstance(value, Struct):
        return {each.name: plain(value.get(each.name)) for each in value.schema.fields}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def to_microseconds(table: Any) -> Any:
    """Python's times have nothing finer."""
    import pyarrow as pa

    coarser = {pa.time64("ns"): pa.time64("us")}
    fields = []
    for field in table.schema:
        is_fine = pa.types.is_timestamp(field.type) and field.type.unit == "ns"
        to = pa.timestamp("us", field.type.tz) if is_fine else coarser.get(field.type, field.type)
        fields.append(field.with_type(to))
    return table.cast(pa.schema(fields), safe=False)


def connect_schema(type: Any) -> Schema:
    """Of Arrow's type; every field may be null, since files say so of nearly all."""
    from pyarrow import types

    if types.is_struct(type):
        builder = SchemaBuilder.struct()
        for each in type:
            builder.field(each.name, connect_schema(each.type).as_optional())
        return builder.build()
    if types.is_list(type) or types.is_large_list(type):
        return SchemaBuilder.array(connect_schema(type.value_type).as_optional()).build()
    if types.is_map(type):
        return SchemaBuilder.map(
            connect_schema(type.key_type), connect_schema(type.item_type).as_optional()
        ).build()
    if types.is_dictionary(type):
        return connect_schema(type.value_type)
    if types.is_decimal(type):
        return decimal_schema(type.scale)
    found = next((schema for is_it, schema in _KINDS if getattr(types, is_it)(type)), None)
    if found is None:
        raise DataError(f"a column of Arrow's type {type} has no counterpart")
    return found


_KINDS = (
    ("is_boolean", BOOLEAN),
    ("is_int8", INT8),
    ("is_int16", INT16),
    ("is_int32", INT32),
    ("is_int64", INT64),
    ("is_uint8", INT16),
    ("is_uint16", INT32),
    ("is_uint32", INT64),
    ("is_float32", FLOAT32),
    ("is_float16", FLOAT32),
    ("is_float64", FLOAT64),
    ("is_string", STRING),
    ("is_large_string", STRING),
    ("is_null", STRING),
    ("is_binary", BYTES),
    ("is_large_binary", BYTES),
    ("is_date", DATE),
    ("is_time", TIME),
    ("is_timestamp", TIMESTAMP),
)


def connect_value(schema: Schema, value: Any) -> Any:
    if value is None:
        return None
    if schema.type is Type.STRUCT:
        return Struct.of(schema, [connect_value(each.schema, value[each.name]) for each in schema.fields])
    if schema.type is Type.ARRAY and schema.value_schema is not None:
        return [connect_value(schema.value_schema, item) for item in value]
    if schema.type is Type.MAP and schema.value_schema is not None:
        return {key: connect_value(schema.value_schema, item) for key, item in value}
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value
