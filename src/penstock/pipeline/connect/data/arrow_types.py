"""The types of Arrow that Connect's schemas have in tables."""

from __future__ import annotations

from typing import Any

from penstock.pipeline.connect.data.logical import (
    DATE_NAME,
    DECIMAL_NAME,
    TIME_NAME,
    TIMESTAMP_NAME,
    scale_of,
)
from penstock.pipeline.connect.data.schema import Schema, Type

MOST_DIGITS = 38
_NAMES = {
    Type.INT8: "int8",
    Type.INT16: "int16",
    Type.INT32: "int32",
    Type.INT64: "int64",
    Type.FLOAT32: "float32",
    Type.FLOAT64: "float64",
    Type.BOOLEAN: "bool_",
    Type.STRING: "string",
    Type.BYTES: "binary",
}


def arrow_type(schema: Schema) -> Any:
    import pyarrow as pa

    logical = {
        DATE_NAME: pa.date32,
        TIME_NAME: lambda: pa.time32("ms"),
        TIMESTAMP_NAME: lambda: pa.timestamp("ms", "UTC"),
        DECIMAL_NAME: lambda: pa.decimal128(MOST_DIGITS, scale_of(schema)),
    }.get(schema.name or "")
    if logical is not None:
        return logical()
    if schema.type is Type.STRUCT:
        return pa.struct([arrow_field(each.name, each.schema) for each in schema.fields])
    if schema.type is Type.ARRAY:
        assert schema.value_schema is not None
        return pa.list_(arrow_type(schema.value_schema))
    if schema.type is Type.MAP:
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        return pa.map_(arrow_type(schema.key_schema), arrow_type(schema.value_schema))
    return getattr(pa, _NAMES[schema.type])()


def arrow_field(name: str, schema: Schema) -> Any:
    import pyarrow as pa

    return pa.field(name, arrow_type(schema), nullable=schema.optional)
