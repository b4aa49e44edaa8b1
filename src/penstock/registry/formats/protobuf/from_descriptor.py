"""From a FileDescriptorProto to the elements that say the same.

Clients other than Java's register schemas as base64 of that message, and find messages by their index in it, so
messages keep their places: the entry of a map stays a nested message with `option map_entry = true` beside the
repeated field, as Confluent's registry has it. (`normalize` writes it as a map again.) A group becomes a group; it
has no index in text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf import descriptor_pb2, unknown_fields
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from penstock.registry.formats.protobuf.elements import (
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    Group,
    Import,
    Message,
    OneOf,
    Option,
    OptionName,
    ProtoFile,
    Range,
    Reserved,
    Rpc,
    Service,
    Value,
    Word,
)
from penstock.registry.formats.protobuf.tokens import Token, unquoted

_TYPE = descriptor_pb2.FieldDescriptorProto.Type
_LABEL = descriptor_pb2.FieldDescriptorProto.Label
_VALUE_FIRST = ("precision", "scale")
"""Keys of Confluent's parameters that come after their value, for the sake of old texts."""

_RANKS = {
    "FileOptions.java_multiple_files": 8,
    "FileOptions.java_generate_equals_and_hash": 8,
    "FileOptions.java_string_check_utf8": 8,
    "FieldOptions.deprecated": 7,
    "EnumValueOptions.features": 3,
    "ExtensionRangeOptions.verification": 51,
}
"""Where an option does not stand by its number; equals keep the order of their numbers."""


def decode_base64(text: str) -> Any | None:
    """The FileDescriptorProto that the text encodes, if it does."""
    try:
        descriptor = descriptor_pb2.FileDescriptorProto.FromString(
            base64.b64decode(text.strip(), validate=True)
        )
    except (binascii.Error, ValueError, DecodeError):
        return None
    has_content = descriptor.name or descriptor.message_type or descriptor.enum_type or descriptor.syntax
    return descriptor if has_content and not len(unknown_fields.UnknownFieldSet(descriptor)) else None


def file_elements(descriptor: Any) -> ProtoFile:
    return _Reader(descriptor).file()


class _Reader:
    def __init__(self, descriptor: Any) -> None:
        self._descriptor = descriptor
        self._is_proto3 = descriptor.syntax == "proto3"
        self._is_edition = descriptor.syntax == "editions"

    def file(self) -> ProtoFile:
        file = self._descriptor
        edition = descriptor_pb2.Edition.Name(file.edition) if self._is_edition else ""
        return ProtoFile(
            syntax=file.syntax if file.syntax in ("proto2", "proto3") else None,
            edition=edition.removeprefix("EDITION_") or None,
            package=file.package or None,
            imports=list(self._imports()),
            options=option_elements(file.options),
            messages=[
                self._message(each) for each in file.message_type if not self._is_group(each, file.extension)
            ],
            enums=[self._enum(each) for each in file.enum_type],
            extends=self._extends(file.extension, file.message_type),
            services=[self._service(each) for each in file.service],
        )

    def _imports(self) -> Iterator[Import]:
        for index, path in enumerate(self._descriptor.dependency):
            is_public = index in self._descriptor.public_dependency
            is_weak = index in self._descriptor.weak_dependency
            yield Import(path, "public" if is_public else "weak" if is_weak else "")

    def _is_group(self, message: Any, fields: Iterable[Any]) -> bool:
        return any(
            each.type == _TYPE.Value("TYPE_GROUP") and each.type_name.rpartition(".")[2] == message.name
            for each in fields
        )

    def _message(self, message: Any) -> Message:
        own = [each for each in message.field if not each.HasField("oneof_index") or each.proto3_optional]
        fields, groups = self._members(own, message.nested_type, in_oneof=False)
        every = (*message.field, *message.extension)
        return Message(
            message.name,
            fields,
            self._oneofs(message),
            groups,
            [self._message(each) for each in message.nested_type if not self._is_group(each, every)],
            [self._enum(each) for each in message.enum_type],
            option_elements(message.options),
            list(self._reserved(message, exclusive=True)),
            [
                Extensions([_numbers(each.start, each.end - 1)], option_elements(each.options))
                for each in message.extension_range
            ],
            self._extends(message.extension, message.nested_type),
        )

    def _members(
        self, fields: Iterable[Any], nested: Iterable[Any], *, in_oneof: bool
    ) -> tuple[list[Field], list[Group]]:
        messages = {each.name: each for each in nested}
        found: tuple[list[Field], list[Group]] = [], []
        for each in fields:
            name = each.type_name.rpartition(".")[2]
            label = None if in_oneof else self._label(each)
            if each.type == _TYPE.Value("TYPE_GROUP") and name in messages:
                body = self._message(messages[name])
                found[1].append(Group(label, each.number, body, option_elements(each.options)))
            else:
                found[0].append(self._field(each, label))
        return found

    def _field(self, field: Any, label: str | None) -> Field:
        return Field(
            label,
            field.type_name or _TYPE.Name(field.type).removeprefix("TYPE_").lower(),
            field.name,
            field.number,
            option_elements(field.options),
            self._default(field),
            field.json_name if field.HasField("json_name") else None,
        )

    def _label(self, field: Any) -> str | None:
        label = _LABEL.Name(field.label).removeprefix("LABEL_").lower()
        is_implied = (
            (self._is_proto3 or self._is_edition) and label != "repeated" and not field.proto3_optional
        )
        return None if is_implied else str(label)

    def _default(self, field: Any) -> Value | None:
        if self._is_proto3 or not field.HasField("default_value"):
            return None
        if field.type == _TYPE.Value("TYPE_STRING"):
            return str(field.default_value)
        if field.type == _TYPE.Value("TYPE_BYTES"):
            return _unescaped(field.default_value)
        return Word(field.default_value)

    def _oneofs(self, message: Any) -> list[OneOf]:
        found = []
        for index, oneof in enumerate(message.oneof_decl):
            members = [
                each
                for each in message.field
                if each.HasField("oneof_index") and each.oneof_index == index and not each.proto3_optional
            ]
            fields, groups = self._members(members, message.nested_type, in_oneof=True)
            if members:
                found.append(OneOf(oneof.name, fields, groups, option_elements(oneof.options)))
        return found

    def _extends(self, extensions: Iterable[Any], nested: Iterable[Any]) -> list[Extend]:
        by_name: dict[str, list[Any]] = {}
        for each in extensions:
            by_name.setdefault(each.extendee, []).append(each)
        return [
            Extend(name, *self._members(fields, nested, in_oneof=False)) for name, fields in by_name.items()
        ]

    def _reserved(self, element: Any, *, exclusive: bool) -> Iterator[Reserved]:
        for each in element.reserved_range:
            yield Reserved([_numbers(each.start, each.end - 1 if exclusive else each.end)])
        for name in element.reserved_name:
            yield Reserved([Word(name) if self._is_edition else name])

    def _enum(self, enum: Any) -> Enum:
        constants = [Constant(each.name, each.number, option_elements(each.options)) for each in enum.value]
        reserved = list(self._reserved(enum, exclusive=False))
        return Enum(enum.name, constants, option_elements(enum.options), reserved)

    def _service(self, service: Any) -> Service:
        rpcs = [
            Rpc(
                each.name,
                each.input_type,
                each.output_type,
                each.client_streaming,
                each.server_streaming,
                option_elements(each.options),
            )
            for each in service.method
        ]
        return Service(service.name, rpcs, option_elements(service.options))


def _numbers(start: int, end: int) -> int | Range:
    return start if start == end else Range(start, end)


def _unescaped(text: str) -> str:
    return unquoted(text, Token("string", f'"{text}"', -1))


def option_elements(options: Any) -> list[Option]:
    """Known options in Confluent's order; a repeated one stands once for each value."""
    found: list[Option] = []
    for field, value in sorted(options.ListFields(), key=lambda each: _rank(each[0])):
        if field.name == "uninterpreted_option":
            continue
        name = (OptionName(field.full_name, True) if field.is_extension else OptionName(field.name),)
        each_value = value if field.is_repeated else [value]
        found += [Option(name, _value(field, each)) for each in each_value]
    return found


def _rank(field: Any) -> tuple[int, int]:
    """By number, with the exceptions that Confluent's texts have; its own extensions before those of others."""
    if field.is_extension:
        return (1 if field.full_name.startswith("confluent.") else 2), field.number
    return 0, _RANKS.get(field.full_name.removeprefix("google.protobuf."), field.number)


def _value(field: Any, value: Any) -> Value:
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        return _aggregate(value)
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        known = field.enum_type.values_by_number.get(value)
        return Word(known.name if known else str(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, bool):
        return Word(str(value).lower())
    return value if isinstance(value, str) else Word(repr(value))


def _aggregate(message: Any) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for field, value in message.ListFields():
        key = f"[{field.full_name}]" if field.is_extension else field.name
        if field.message_type and field.message_type.GetOptions().map_entry:
            entries[key] = [_entry(field, each, value[each]) for each in value]
        elif field.is_repeated:
            entries[key] = [_value(field, each) for each in value]
        else:
            entries[key] = _value(field, value)
    return entries


def _entry(field: Any, key: Any, value: Any) -> dict[str, Any]:
    types = field.message_type.fields_by_name
    pair = {"key": _value(types["key"], key), "value": _value(types["value"], value)}
    return dict(reversed(pair.items())) if key in _VALUE_FIRST else pair
