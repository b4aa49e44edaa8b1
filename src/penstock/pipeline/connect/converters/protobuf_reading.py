"""From Protobuf to Connect: the schema of a message, and the function that makes structs of messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, time
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from penstock.client.registry.protobuf_files import class_of
from penstock.pipeline.connect.converters.protobuf_schemas import (
    ENUM,
    PRECISION,
    PROTOBUF_TYPE,
    TAG,
    TYPES_BY_NAME,
    UNION,
    ProtobufOptions,
)
from penstock.pipeline.connect.data import Field, Schema, Struct, Type
from penstock.pipeline.connect.data.logical import (
    DATE,
    TIME,
    TIMESTAMP,
    decimal_from_bytes,
    decimal_schema,
    timestamp_from_millis,
)
from penstock.pipeline.connect.data.numbers import wrapped
from penstock.pipeline.connect.errors import DataError

Read = Callable[[Any], Any]
_NAMES: Final = {number: name for name, number in TYPES_BY_NAME.items()}
_SIGNED_32: Final = (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32)
_SCALARS: Final = {
    FieldDescriptor.CPPTYPE_FLOAT: Type.FLOAT32,
    FieldDescriptor.CPPTYPE_DOUBLE: Type.FLOAT64,
    FieldDescriptor.CPPTYPE_BOOL: Type.BOOLEAN,
}
_SMALL: Final = {"int8": Type.INT8, "int16": Type.INT16}
WRAPPERS: Final = {
    "google.protobuf.DoubleValue": Type.FLOAT64,
    "google.protobuf.FloatValue": Type.FLOAT32,
    "google.protobuf.Int64Value": Type.INT64,
    "google.protobuf.UInt64Value": Type.INT64,
    "google.protobuf.Int32Value": Type.INT32,
    "google.protobuf.UInt32Value": Type.INT64,
    "google.protobuf.BoolValue": Type.BOOLEAN,
    "google.protobuf.StringValue": Type.STRING,
    "google.protobuf.BytesValue": Type.BYTES,
}


class Reading(NamedTuple):
    schema: Schema
    read: Read


def _as_it_is(value: Any) -> Any:
    return value


def _millis(message: Any) -> int:
    return int(message.seconds) * 1000 + int(message.nanos) // 1_000_000


_DATES: Final = {
    "google.type.Date": Reading(DATE, lambda message: date(message.year, message.month, message.day)),
    "google.type.TimeOfDay": Reading(
        TIME,
        lambda message: time(
            message.hours, message.minutes, message.seconds, message.nanos // 1_000_000 * 1000
        ),
    ),
    "google.protobuf.Timestamp": Reading(TIMESTAMP, lambda message: timestamp_from_millis(_millis(message))),
}


class ProtobufReading:
    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options
        self._open: list[str] = []

    def of_message(self, descriptor: Descriptor, is_root: bool = False) -> Reading:
        if is_root and descriptor.full_name in WRAPPERS:
            schema = Schema(WRAPPERS[descriptor.full_name])
            return Reading(schema, lambda message: message.value)
        if descriptor.full_name in self._open:
            raise DataError(f"{descriptor.full_name} has itself inside: recursive schemas are not supported")
        self._open.append(descriptor.full_name)
        parts = [*self._oneofs(descriptor), *self._plain_fields(descriptor)]
        self._open.pop()
        fields = tuple(Field(name, index, of.schema) for index, (name, of) in enumerate(parts))
        name = descriptor.full_name if self._options.enhanced else descriptor.name
        schema = Schema(Type.STRUCT, name=name, fields=fields)
        reads = [of.read for _, of in parts]
        return Reading(schema, lambda message: [read(message) for read in reads])

    def _oneofs(self, descriptor: Descriptor) -> list[tuple[str, Reading]]:
        real = [each for each in descriptor.oneofs if not _is_synthetic(each)]
        return [(f"{each.name}_{index}", self._oneof(each)) for index, each in enumerate(real)]

    def _oneof(self, oneof: Any) -> Reading:
        parts = [(each.name, self._field(each, in_oneof=True)) for each in oneof.fields]
        name = oneof.full_name if self._options.enhanced else oneof.name
        fields = tuple(Field(name, index, of.schema) for index, (name, of) in enumerate(parts))
        schema = Schema(Type.STRUCT, name=UNION + name, optional=True, fields=fields)
        reads = [of.read for _, of in parts]

        def read(message: Any) -> Any:
            chosen = message.WhichOneof(oneof.name)
            return None if chosen is None else Struct.of(schema, [each(message) for each in reads])

        return Reading(schema, read)

    def _plain_fields(self, descriptor: Descriptor) -> list[tuple[str, Reading]]:
        return [
            (each.name, self._field(each))
            for each in descriptor.fields
            if each.containing_oneof is None or _is_synthetic(each.containing_oneof)
        ]

    def _field(self, field: FieldDescriptor, in_oneof: bool = False) -> Reading:
        """What reads the field from the message that has it."""
        schema, read = self._map(field) if _is_map(field) else self._type(field)
        read_message = _member(field, read, is_list=_is_repeated(field) and schema.type is not Type.MAP)
        if _is_repeated(field) and schema.type is not Type.MAP:
            schema = Schema(Type.ARRAY, optional=True, value_schema=schema.as_optional())
        if in_oneof or not self._options.optional_for_nullables or _is_optional(field):
            schema = schema.as_optional()
        parameters = MappingProxyType({**schema.parameters, TAG: str(field.number)})
        made = replace(schema, parameters=parameters)
        return Reading(made, _bound(read_message, schema, made))

    def _type(self, field: FieldDescriptor) -> Reading:
        if field.message_type is not None:
            return self._message(field)
        if field.enum_type is not None:
            return self._enum(field)
        if field.type == FieldDescriptor.TYPE_STRING:
            return Reading(Schema(Type.STRING), _as_it_is)
        if field.type == FieldDescriptor.TYPE_BYTES:
            return Reading(Schema(Type.BYTES), _as_it_is)
        if field.cpp_type in _SCALARS:
            return Reading(Schema(_SCALARS[field.cpp_type]), _as_it_is)
        return _whole_number(field)

    def _message(self, field: FieldDescriptor) -> Reading:
        known = _DATES.get(field.message_type.full_name)
        if known is not None:
            return Reading(known.schema.as_optional(), known.read)
        if field.message_type.full_name == "confluent.type.Decimal":
            return _decimal(field)
        schema, read = self.of_message(field.message_type)
        optional = schema.as_optional()
        return Reading(optional, lambda message: Struct.of(optional, read(message)))

    def _enum(self, field: FieldDescriptor) -> Reading:
        enum = field.enum_type
        symbols = {f"{ENUM}.{each.name}": str(each.number) for each in enum.values}
        schema = Schema(
            Type.INT32 if self._options.int_for_enums else Type.STRING,
            optional=True,
            name=enum.full_name if self._options.enhanced else enum.name,
            parameters=MappingProxyType({ENUM: enum.name, **symbols}),
        )
        if self._options.int_for_enums:
            return Reading(schema, int)
        names = {number: each.name for number, each in enum.values_by_number.items()}
        return Reading(schema, lambda value: names.get(value, f"UNKNOWN_ENUM_VALUE_{enum.name}_{value}"))

    def _map(self, field: FieldDescriptor) -> Reading:
        entry = field.message_type
        keys, values = self._field(entry.fields_by_name["key"]), self._field(entry.fields_by_name["value"])
        name = entry.name.removesuffix("Entry")
        schema = Schema(
            Type.MAP, optional=True, name=name, key_schema=keys.schema, value_schema=values.schema
        )
        entry_class = class_of(entry)

        def read(given: Any) -> Any:
            if entry.GetOptions().map_entry:
                return {key: values.read(entry_class(key=key, value=each)) for key, each in given.items()}
            return {keys.read(each): values.read(each) for each in given}

        return Reading(schema, read)


def _member(field: FieldDescriptor, read: Read, is_list: bool) -> Read:
    name = field.name
    if is_list:
        return lambda message: [read(each) for each in getattr(message, name)]
    if field.has_presence:
        return lambda message: read(getattr(message, name)) if message.HasField(name) else None
    return lambda message: read(getattr(message, name))


def _bound(read: Read, schema: Schema, made: Schema) -> Read:
    """A struct's values under the schema that the field has at the end."""
    if schema.type is not Type.STRUCT:
        return read

    def read_struct(message: Any) -> Any:
        found = read(message)
        return None if found is None else Struct.of(made, found.values)

    return read_struct


def _whole_number(field: FieldDescriptor) -> Reading:
    small = _SMALL.get(_metadata(field).get("connect.type", ""))
    if small is not None:
        return Reading(Schema(small), _as_it_is)
    schema = Schema(Type.INT32 if field.type in _SIGNED_32 else Type.INT64)
    name = _NAMES.get(field.type)
    if name is not None:
        schema = replace(schema, parameters=MappingProxyType({PROTOBUF_TYPE: name}))
    return Reading(schema, lambda value: wrapped(value, 64))


def _decimal(field: FieldDescriptor) -> Reading:
    params = _metadata(field)
    schema = decimal_schema(int(params.get("scale", "0"))).as_optional()
    if "precision" in params:
        kept = {**schema.parameters, PRECISION: params["precision"]}
        schema = replace(schema, parameters=MappingProxyType(kept))
    return Reading(schema, lambda message: decimal_from_bytes(message.value, message.scale))


def _metadata(field: FieldDescriptor) -> dict[str, str]:
    """The parameters in Confluent's metadata of a field; the option is one that its own pool knows."""
    try:
        extension = field.file.pool.FindExtensionByName("confluent.field_meta")
    except KeyError:
        return {}
    options = class_of(extension.containing_type)()
    options.ParseFromString(field.GetOptions().SerializeToString())
    return dict(options.Extensions[extension].params)


def _is_repeated(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


def _is_map(field: FieldDescriptor) -> bool:
    entry = field.message_type
    if entry is None or not _is_repeated(field) or not entry.name.endswith("Entry"):
        return False
    return [each.name for each in entry.fields] == ["key", "value"] and not any(
        map(_is_repeated, entry.fields)
    )


def _is_synthetic(oneof: Any) -> bool:
    return len(oneof.fields) == 1 and oneof.name == f"_{oneof.fields[0].name}"


def _is_optional(field: FieldDescriptor) -> bool:
    return field.containing_oneof is not None
