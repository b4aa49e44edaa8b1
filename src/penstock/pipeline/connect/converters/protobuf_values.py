"""Connect's values as messages, by functions that are made once for each schema and message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from penstock.client.registry.protobuf_files import class_of
from penstock.pipeline.connect.converters.protobuf_schemas import ENUM, PRECISION, is_union
from penstock.pipeline.connect.data import Schema, Struct, Type
from penstock.pipeline.connect.data.java_text import class_name
from penstock.pipeline.connect.data.logical import (
    DATE_NAME,
    DECIMAL_NAME,
    TIME_NAME,
    TIMESTAMP_NAME,
    decimal_to_bytes,
    scale_of,
    time_to_millis,
    timestamp_to_millis,
)
from penstock.pipeline.connect.errors import DataError

Convert: TypeAlias = Callable[[Any], Any]
Setter: TypeAlias = Callable[[Any, Any], None]


def message_writer(schema: Schema, descriptor: Descriptor) -> Convert:
    """A message of a struct."""
    message_class = class_of(descriptor)
    setters = [_setter(each.name, each.schema, descriptor) for each in schema.fields]

    def write(value: Any) -> Any:
        if not isinstance(value, Struct):
            raise DataError(
                f"Invalid class for STRUCT type, expecting Struct but found class {class_name(value)}"
            )
        message = message_class()
        for set_field, inner in zip(setters, value.all_values(), strict=True):
            if inner is not None:
                set_field(message, inner)
        return message

    return write


def _setter(name: str, schema: Schema, descriptor: Descriptor) -> Setter:
    if is_union(schema):
        branches = [_setter(each.name, each.schema, descriptor) for each in schema.fields]
        return lambda message, value: _set_branch(message, value, branches)
    field = descriptor.fields_by_name.get(name)
    if field is None:
        raise DataError(f"{descriptor.full_name} has no field {name!r}")
    return _field_setter(schema, field)


def _set_branch(message: Any, value: Struct, branches: list[Setter]) -> None:
    for set_branch, inner in zip(branches, value.all_values(False), strict=True):
        if inner is not None:
            set_branch(message, inner)


def _field_setter(schema: Schema, field: FieldDescriptor) -> Setter:
    name = field.name
    if schema.type is Type.ARRAY:
        assert schema.value_schema is not None
        item = _converter(schema.value_schema, field)
        return lambda message, value: getattr(message, name).extend([item(each) for each in value])
    if schema.type is Type.MAP:
        return _map_setter(schema, field)
    convert = _converter(schema, field)
    if field.message_type is not None:
        return lambda message, value: getattr(message, name).CopyFrom(convert(value))
    return lambda message, value: setattr(message, name, convert(value))


def _map_setter(schema: Schema, field: FieldDescriptor) -> Setter:
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    entry = field.message_type
    entry_class = class_of(entry)
    set_key = _field_setter(schema.key_schema, entry.fields_by_name["key"])
    set_value = _field_setter(schema.value_schema, entry.fields_by_name["value"])

    def entries(value: dict[Any, Any]) -> Any:
        for key, inner in value.items():
            made = entry_class()
            set_key(made, key)
            if inner is not None:
                set_value(made, inner)
            yield made

    def fill(message: Any, value: Any) -> None:
        there = getattr(message, field.name)
        for made in entries(value):
            if not entry.GetOptions().map_entry:
                there.append(made)
            elif entry.fields_by_name["value"].message_type is not None:
                there[made.key].CopyFrom(made.value)
            else:
                there[made.key] = made.value

    return fill


def _converter(schema: Schema, field: FieldDescriptor) -> Convert:
    if schema.name in _LOGICAL:
        return _LOGICAL[schema.name](schema, class_of(field.message_type))
    if schema.type is Type.STRUCT:
        return message_writer(schema, field.message_type)
    if ENUM in schema.parameters and schema.type is Type.STRING:
        values = field.enum_type.values_by_name
        return lambda value: values[value].number
    return bytes if schema.type is Type.BYTES else lambda value: value


def _decimal(schema: Schema, message_class: Any) -> Convert:
    scale, precision = scale_of(schema), int(schema.parameters.get(PRECISION, 0))
    return lambda value: message_class(value=decimal_to_bytes(value, scale), precision=precision, scale=scale)


def _date(schema: Schema, message_class: Any) -> Convert:
    return lambda value: message_class(year=value.year, month=value.month, day=value.day)


def _time(schema: Schema, message_class: Any) -> Convert:
    def write(value: Any) -> Any:
        nanos = time_to_millis(value) % 1000 * 1_000_000
        return message_class(hours=value.hour, minutes=value.minute, seconds=value.second, nanos=nanos)

    return write


def _timestamp(schema: Schema, message_class: Any) -> Convert:
    def write(value: Any) -> Any:
        seconds, millis = divmod(timestamp_to_millis(value), 1000)
        return message_class(seconds=seconds, nanos=millis * 1_000_000)

    return write


_LOGICAL: Final[dict[str | None, Callable[[Schema, Any], Convert]]] = {
    DECIMAL_NAME: _decimal,
    DATE_NAME: _date,
    TIME_NAME: _time,
    TIMESTAMP_NAME: _timestamp,
}
