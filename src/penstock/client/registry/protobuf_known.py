"""Files that every registry knows, but that do not come with Protobuf for Python: Google's common types, Confluent's.

Only what Connect's converter writes and reads is here; fields by name, number and type.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from google.protobuf import descriptor_pb2

META = "confluent/meta.proto"
DECIMAL = "confluent/type/decimal.proto"
DATE = "google/type/date.proto"
TIME_OF_DAY = "google/type/timeofday.proto"
FIELD_META_NUMBER = 1088
"""Of the option of a field that has Confluent's metadata."""

_Field = descriptor_pb2.FieldDescriptorProto
_EXTENDED = {
    "file_meta": ".google.protobuf.FileOptions",
    "message_meta": ".google.protobuf.MessageOptions",
    "field_meta": ".google.protobuf.FieldOptions",
    "enum_meta": ".google.protobuf.EnumOptions",
    "enum_value_meta": ".google.protobuf.EnumValueOptions",
}


def _field(message: Any, name: str, number: int, type: int, **more: Any) -> None:
    message.field.add(name=name, number=number, type=type, **{"label": _Field.LABEL_OPTIONAL, **more})


def _plain(
    path: str, package: str, name: str, fields: Mapping[str, int]
) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=path, package=package, syntax="proto3")
    message = file.message_type.add(name=name)
    for number, (field, type) in enumerate(fields.items(), 1):
        _field(message, field, number, type)
    return file


def _meta() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=META, package="confluent", syntax="proto3")
    file.dependency.append("google/protobuf/descriptor.proto")
    meta = file.message_type.add(name="Meta")
    _field(meta, "doc", 1, _Field.TYPE_STRING)
    entry = meta.nested_type.add(name="ParamsEntry")
    entry.options.map_entry = True
    _field(entry, "key", 1, _Field.TYPE_STRING)
    _field(entry, "value", 2, _Field.TYPE_STRING)
    repeated = {"label": _Field.LABEL_REPEATED}
    _field(meta, "params", 2, _Field.TYPE_MESSAGE, type_name=".confluent.Meta.ParamsEntry", **repeated)
    _field(meta, "tags", 3, _Field.TYPE_STRING, **repeated)
    for name, extendee in _EXTENDED.items():
        file.extension.add(
            name=name,
            number=FIELD_META_NUMBER,
            type=_Field.TYPE_MESSAGE,
            type_name=".confluent.Meta",
            extendee=extendee,
            label=_Field.LABEL_OPTIONAL,
        )
    return file


_INT = _Field.TYPE_INT32
KNOWN_FILES: Mapping[str, Callable[[], descriptor_pb2.FileDescriptorProto]] = MappingProxyType(
    {
        META: _meta,
        DECIMAL: lambda: _plain(
            DECIMAL,
            "confluent.type",
            "Decimal",
            {"value": _Field.TYPE_BYTES, "precision": _Field.TYPE_UINT32, "scale": _INT},
        ),
        DATE: lambda: _plain(DATE, "google.type", "Date", {"year": _INT, "month": _INT, "day": _INT}),
        TIME_OF_DAY: lambda: _plain(
            TIME_OF_DAY,
            "google.type",
            "TimeOfDay",
            {"hours": _INT, "minutes": _INT, "seconds": _INT, "nanos": _INT},
        ),
    }
)
