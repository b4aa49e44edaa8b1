"""Files of Protobuf of Connect's schemas, as Confluent's converter makes them.

A struct is a message, structs inside are messages inside. What Protobuf has no words for (an int8, a Decimal's scale)
stands in the metadata of a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor

from penstock.client.registry.protobuf_files import add_file, class_of
from penstock.client.registry.protobuf_known import DATE, DECIMAL, FIELD_META_NUMBER, META, TIME_OF_DAY
from penstock.pipeline.connect.data import Schema, Type
from penstock.pipeline.connect.data.logical import DATE_NAME, DECIMAL_NAME, TIME_NAME, TIMESTAMP_NAME
from penstock.pipeline.connect.errors import DataError

NAMESPACE: Final = "io.confluent.connect.protobuf"
ENUM: Final = f"{NAMESPACE}.Enum"
UNION: Final = f"{NAMESPACE}.Union."
TAG: Final = f"{NAMESPACE}.Tag"
PROTOBUF_TYPE: Final = f"{NAMESPACE}.Type"
PRECISION: Final = "connect.decimal.precision"
FILE_NAME: Final = "default.proto"

_Field = descriptor_pb2.FieldDescriptorProto
SCALARS: Final = {
    Type.INT8: _Field.TYPE_INT32,
    Type.INT16: _Field.TYPE_INT32,
    Type.INT32: _Field.TYPE_INT32,
    Type.INT64: _Field.TYPE_INT64,
    Type.FLOAT32: _Field.TYPE_FLOAT,
    Type.FLOAT64: _Field.TYPE_DOUBLE,
    Type.BOOLEAN: _Field.TYPE_BOOL,
    Type.STRING: _Field.TYPE_STRING,
    Type.BYTES: _Field.TYPE_BYTES,
}
TYPES_BY_NAME: Final = {
    "sint32": _Field.TYPE_SINT32,
    "sfixed32": _Field.TYPE_SFIXED32,
    "uint32": _Field.TYPE_UINT32,
    "fixed32": _Field.TYPE_FIXED32,
    "uint64": _Field.TYPE_UINT64,
    "sint64": _Field.TYPE_SINT64,
    "fixed64": _Field.TYPE_FIXED64,
    "sfixed64": _Field.TYPE_SFIXED64,
}
LOGICAL: Final = {
    DECIMAL_NAME: (".confluent.type.Decimal", DECIMAL),
    DATE_NAME: (".google.type.Date", DATE),
    TIME_NAME: (".google.type.TimeOfDay", TIME_OF_DAY),
    TIMESTAMP_NAME: (".google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}
_MAP_KEYS: Final = frozenset((Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.BOOLEAN, Type.STRING))


@dataclass(frozen=True, slots=True)
class ProtobufOptions:
    enhanced: bool = False
    int_for_enums: bool = False
    optional_for_nullables: bool = False


def is_union(schema: Schema) -> bool:
    return schema.type is Type.STRUCT and (schema.name or "").startswith(UNION)


def entry_name(field: str) -> str:
    """As the compiler of Protobuf names the entries of a map."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def metadata_of(params: dict[str, str]) -> bytes:
    """The option of a field that has these parameters, serialized."""
    pool = descriptor_pool.DescriptorPool()
    meta = descriptor_pb2.FileDescriptorProto()
    meta.dependency.append(META)
    meta.name = "meta_user.proto"
    add_file(pool, meta, {}, set())
    message: Any = class_of(pool.FindMessageTypeByName("confluent.Meta"))()
    message.params.update(params)
    data = message.SerializeToString(deterministic=True)
    return _varint(FIELD_META_NUMBER << 3 | 2) + _varint(len(data)) + bytes(data)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


class ProtobufFileOf:
    """The file of one struct's schema; `descriptor` is its message."""

    def __init__(self, schema: Schema, options: ProtobufOptions) -> None:
        self._options = options
        self._unnamed = 0
        package, _, name = (schema.name or "").rpartition(".")
        self.file = descriptor_pb2.FileDescriptorProto(name=FILE_NAME, package=package, syntax="proto3")
        self._message(
            self.file.message_type.add(), name or self._next_name(), schema, f".{package}" if package else ""
        )
        pool = descriptor_pool.DescriptorPool()
        try:
            add_file(pool, self.file, {}, set())
        except TypeError as error:
            raise DataError(f"not a Protobuf schema: {error}") from error
        own = self.file.message_type[0].name
        self.descriptor: Descriptor = pool.FindMessageTypeByName(f"{package}.{own}" if package else own)

    def _next_name(self) -> str:
        self._unnamed += 1
        return f"ConnectDefault{self._unnamed}"

    def _message(self, message: Any, name: str, schema: Schema, scope: str) -> None:
        message.name = name
        taken = {int(each.schema.parameters[TAG]) for each in schema.fields if TAG in each.schema.parameters}
        numbers = (number for number in range(1, 1 << 29) if number not in taken)
        for field in schema.fields:
            if is_union(field.schema):
                self._oneof(message, field.name, field.schema, f"{scope}.{name}", numbers)
            else:
                self._field(message, field.name, field.schema, f"{scope}.{name}", numbers)
        self._close_optionals(message)

    def _oneof(self, message: Any, name: str, schema: Schema, scope: str, numbers: Any) -> None:
        message.oneof_decl.add(name=(schema.name or "").removeprefix(UNION).rpartition(".")[2] or name)
        for each in schema.fields:
            made = self._field(message, each.name, each.schema, scope, numbers, in_oneof=True)
            made.oneof_index = len(message.oneof_decl) - 1

    def _field(
        self, message: Any, name: str, schema: Schema, scope: str, numbers: Any, in_oneof: bool = False
    ) -> Any:
        tag = schema.parameters.get(TAG)
        made = message.field.add(name=name, number=int(tag) if tag else next(numbers))
        made.label = _Field.LABEL_OPTIONAL
        if schema.type is Type.ARRAY:
            assert schema.value_schema is not None
            if schema.value_schema.type in (Type.ARRAY, Type.MAP):
                raise DataError(f"{name}: Array cannot be nested")
            made.label = _Field.LABEL_REPEATED
            self._type(message, made, schema.value_schema, scope)
        elif schema.type is Type.MAP:
            self._map(message, made, schema, scope)
        else:
            self._type(message, made, schema, scope)
            nullable = schema.optional and self._options.optional_for_nullables
            made.proto3_optional = nullable and not in_oneof and made.type != _Field.TYPE_MESSAGE
        return made

    def _close_optionals(self, message: Any) -> None:
        """Each optional field is a oneof of its own, after all others."""
        for field in message.field:
            if field.proto3_optional:
                message.oneof_decl.add(name=f"_{field.name}")
                field.oneof_index = len(message.oneof_decl) - 1
            else:
                field.ClearField("proto3_optional")

    def _map(self, message: Any, made: Any, schema: Schema, scope: str) -> None:
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        name = entry_name(made.name)
        entry = message.nested_type.add(name=name)
        for number, (part, of) in enumerate((("key", schema.key_schema), ("value", schema.value_schema)), 1):
            if of.type in (Type.ARRAY, Type.MAP):
                raise DataError(f"{made.name}: a map cannot have an array or a map inside")
            inner = entry.field.add(name=part, number=number, label=_Field.LABEL_OPTIONAL)
            self._type(entry, inner, of, f"{scope}.{name}")
        if schema.key_schema.type in _MAP_KEYS and schema.key_schema.name is None:
            entry.options.map_entry = True
        made.label, made.type, made.type_name = _Field.LABEL_REPEATED, _Field.TYPE_MESSAGE, f"{scope}.{name}"

    def _type(self, message: Any, made: Any, schema: Schema, scope: str) -> None:
        if schema.name in LOGICAL:
            made.type = _Field.TYPE_MESSAGE
            made.type_name, path = LOGICAL[schema.name]
            self._import(path)
            if schema.name == DECIMAL_NAME:
                given = {
                    "precision": schema.parameters.get(PRECISION),
                    "scale": schema.parameters.get("scale"),
                }
                self._metadata(made, {name: value for name, value in given.items() if value is not None})
        elif schema.type is Type.STRUCT:
            self._nested(message, made, schema, scope)
        elif ENUM in schema.parameters:
            self._enum(message, made, schema, scope)
        else:
            made.type = TYPES_BY_NAME.get(schema.parameters.get(PROTOBUF_TYPE, ""), SCALARS[schema.type])
            if schema.type in (Type.INT8, Type.INT16):
                self._metadata(made, {"connect.type": schema.type.value})

    def _nested(self, message: Any, made: Any, schema: Schema, scope: str) -> None:
        name = (schema.name or "").rpartition(".")[2] or self._next_name()
        name = f"{name}Message" if name == made.name else name
        made.type, made.type_name = _Field.TYPE_MESSAGE, f"{scope}.{name}"
        if all(each.name != name for each in message.nested_type):
            self._message(message.nested_type.add(), name, schema, scope)

    def _enum(self, message: Any, made: Any, schema: Schema, scope: str) -> None:
        name = schema.parameters[ENUM]
        made.type, made.type_name = _Field.TYPE_ENUM, f"{scope}.{name}"
        if any(each.name == name for each in message.enum_type):
            return
        enum = message.enum_type.add(name=name)
        prefix = f"{ENUM}."
        for parameter, number in schema.parameters.items():
            if parameter.startswith(prefix):
                enum.value.add(name=parameter.removeprefix(prefix), number=int(number))

    def _metadata(self, made: Any, params: dict[str, str]) -> None:
        self._import(META)
        made.options.MergeFromString(metadata_of(params))

    def _import(self, path: str) -> None:
        if path not in self.file.dependency:
            self.file.dependency.append(path)
