"""Connect's values as fastavro takes them, by functions that are made once for each schema.

Logical types are converted here, not by fastavro: so those that Connect does not have stay plain numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from penstock.pipeline.connect.converters.avro_names import AvroOptions, branch_name, is_union
from penstock.pipeline.connect.data import Schema, Struct, Type
from penstock.pipeline.connect.data.java_text import class_name
from penstock.pipeline.connect.data.logical import (
    DATE_NAME,
    DECIMAL_NAME,
    TIME_NAME,
    TIMESTAMP_NAME,
    date_to_days,
    decimal_to_bytes,
    scale_of,
    time_to_millis,
    timestamp_to_millis,
)
from penstock.pipeline.connect.errors import DataError

Convert: TypeAlias = Callable[[Any], Any]

_STORED: Final[dict[str, Convert]] = {
    DATE_NAME: date_to_days,
    TIME_NAME: time_to_millis,
    TIMESTAMP_NAME: timestamp_to_millis,
}


def avro_writer(schema: Schema, options: AvroOptions) -> Convert:
    convert = _writer(schema, options)

    def write(value: Any) -> Any:
        if value is not None:
            return convert(value)
        if schema.optional:
            return None
        if schema.default is not None:
            return convert(schema.default)
        raise DataError("Invalid value: null used for required field")

    return write


def _writer(schema: Schema, options: AvroOptions) -> Convert:
    if schema.name == DECIMAL_NAME:
        scale = scale_of(schema)
        return lambda value: decimal_to_bytes(value, scale)
    if schema.name in _STORED:
        return _STORED[schema.name]
    return _NESTED.get(schema.type, _plain)(schema, options)


def _plain(schema: Schema, options: AvroOptions) -> Convert:
    return bytes if schema.type is Type.BYTES else _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _array(schema: Schema, options: AvroOptions) -> Convert:
    assert schema.value_schema is not None
    item = avro_writer(schema.value_schema, options)
    return lambda value: [item(each) for each in value]


def _map(schema: Schema, options: AvroOptions) -> Convert:
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    key, item = avro_writer(schema.key_schema, options), avro_writer(schema.value_schema, options)
    if options.writes_as_map(schema):
        return lambda value: {name: item(each) for name, each in value.items()}
    return lambda value: [{"key": key(name), "value": item(each)} for name, each in value.items()]


def _struct(schema: Schema, options: AvroOptions) -> Convert:
    fields = [(options.name(each.name), avro_writer(each.schema, options)) for each in schema.fields]
    with_defaults = not options.ignore_default_for_nullables
    if is_union(schema):
        branches = [branch_name(each.schema, options) for each in schema.fields]
        return lambda value: _branch(value, fields, branches)

    def write(value: Any) -> Any:
        if not isinstance(value, Struct):
            raise DataError(
                f"Invalid class for STRUCT type, expecting Struct but found class {class_name(value)}"
            )
        values = value.all_values(with_defaults)
        return {name: convert(each) for (name, convert), each in zip(fields, values, strict=True)}

    return write


def _branch(value: Struct, fields: list[tuple[str, Convert]], branches: list[str]) -> Any:
    """The one that is set, with the name that tells it from the others."""
    for (_, convert), branch, inner in zip(fields, branches, value.all_values(False), strict=True):
        if inner is not None:
            return branch, convert(inner)
    return None


_NESTED: Final[dict[Type, Callable[[Schema, AvroOptions], Convert]]] = {
    Type.ARRAY: _array,
    Type.MAP: _map,
    Type.STRUCT: _struct,
}


def avro_default(schema: Schema, value: Any, options: AvroOptions) -> Any:
    """A default in Avro's JSON, where bytes are a text of as many characters."""
    return _in_json(avro_writer(schema, options)(value))


def _in_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {name: _in_json(each) for name, each in value.items()}
    return [_in_json(each) for each in value] if isinstance(value, list) else value
