"""The rules of Protobuf for a new schema, checked as protoc checks them; the first breach is said with its place.

More lenient than protoc, as Confluent's registry is: an import that nobody has is fine as long as no type of it is used
(often it only defines options), and so are options that nobody defines.
"""

from __future__ import annotations

from typing import NoReturn

from penstock.registry.formats.protobuf.default_values import wrong_default
from penstock.registry.formats.protobuf.descriptors import FILE_NAME, file_descriptors
from penstock.registry.formats.protobuf.editions import EDITIONS
from penstock.registry.formats.protobuf.elements import (
    SCALARS,
    Enum,
    Extend,
    Field,
    Group,
    Message,
    OneOf,
    Service,
    Word,
)
from penstock.registry.formats.protobuf.field_numbers import check_field_numbers, number_range
from penstock.registry.formats.protobuf.names import check_names
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import TypeInfo, joined
from penstock.registry.formats.protobuf.tokens import fail

_INT32 = range(-(2**31), 2**31)
_KEY_TYPES = SCALARS - {"float", "double", "bytes"}


def validate(scope: Scope) -> None:
    _Validator(scope).check()


class _Validator:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._file = scope.source.file
        self._visible = list(scope.visible())

    def _fail(self, at: int, problem: str) -> NoReturn:
        fail(self._scope.source.text, at, problem)

    def check(self) -> None:
        file, package = self._file, self._scope.source.package
        if file.edition is not None and file.edition not in EDITIONS:
            self._fail(0, f"unknown edition '{file.edition}'")
        check_names(self._scope, self._fail)
        for message in file.messages:
            self._message(message, package)
        for enum in file.enums:
            self._enum(enum)
        for extend in file.extends:
            self._extend(extend, package)
        for service in file.services:
            self._service(service, package)
        if "option " in self._scope.source.text or "[" in self._scope.source.text:
            file_descriptors(self._scope, FILE_NAME, is_strict=True)

    def _message(self, message: Message, outer: str) -> None:
        scope = joined(outer, message.name)
        for enum in message.enums:
            self._enum(enum)
        for nested in message.messages:
            self._message(nested, scope)
        check_field_numbers(message, self._fail)
        if message.extensions and self._file.is_proto3:
            self._fail(message.extensions[0].at, "proto3 has no extension ranges")
        for member in message.members:
            self._member(member, scope, None)
        for oneof in message.oneofs:
            self._oneof(oneof, scope)
        for extend in message.extends:
            self._extend(extend, scope)

    def _oneof(self, oneof: OneOf, scope: str) -> None:
        if not oneof.fields and not oneof.groups:
            self._fail(oneof.at, f"oneof {oneof.name} has no fields")
        for member in oneof.members:
            self._member(member, scope, oneof)

    def _member(self, member: Field | Group, scope: str, within: OneOf | Extend | None) -> None:
        if isinstance(member, Group):
            self._group(member, scope, within)
        elif member.map_types:
            self._map(member, member.map_types, scope, within)
        else:
            self._label(member, within)
            self._field(member, self._type(member.type, scope, member.type_at))

    def _group(self, group: Group, scope: str, within: OneOf | Extend | None) -> None:
        if not self._file.is_proto2:
            self._fail(group.at, "groups are only in proto2")
        self._label(group, within)
        self._message(group.message, scope)

    def _label(self, member: Field | Group, within: OneOf | Extend | None) -> None:
        if member.label is None and self._file.is_proto2 and not isinstance(within, OneOf):
            at = member.type_at if isinstance(member, Field) else member.at
            self._fail(at, f"field {member.name} needs a label in proto2: optional, required or repeated")
        if member.label == "required" and isinstance(within, Extend):
            self._fail(member.at, f"extension {member.name} must not be required")

    def _map(self, field: Field, types: tuple[str, str], scope: str, within: OneOf | Extend | None) -> None:
        if within is not None:
            self._fail(field.type_at, "a map is a field of a message only, not of a oneof or an extension")
        if types[0] not in _KEY_TYPES:
            self._fail(field.type_at, f"the keys of a map are integers, bool or string, not {types[0]}")
        self._type(types[1], scope, field.type_at)
        if field.default is not None:
            self._fail(field.at, f"map {field.name} has no default")

    def _type(self, name: str, scope: str, at: int) -> TypeInfo | None:
        """None for a scalar."""
        if name in SCALARS:
            return None
        info = self._scope.resolve(name, scope)
        if info is None:
            self._fail(at, f"unknown type {name}{self._missing_imports()}")
        if not any(each.types.get(info.full_name) is info for each in self._visible):
            self._fail(at, f"type {name} is defined in {self._scope.path_of(info)}, which is not imported")
        return info

    def _missing_imports(self) -> str:
        missing = [each.path for each in self._file.imports if each.path not in self._scope.files]
        return f" (no reference has the name of the import {', '.join(missing)})" if missing else ""

    def _field(self, field: Field, info: TypeInfo | None) -> None:
        if field.default is None:
            return
        if self._file.is_proto3:
            self._fail(field.at, f"field {field.name} has a default; proto3 has none")
        if field.label == "repeated":
            self._fail(field.at, f"field {field.name} is repeated and has no default")
        wanted = self._wanted_default(field, info)
        if wanted:
            self._fail(field.at, f"the default of {field.name} must be {wanted}")

    def _wanted_default(self, field: Field, info: TypeInfo | None) -> str | None:
        assert field.default is not None
        if info is None:
            return wrong_default(field.type, field.default)
        if isinstance(info.element, Message):
            return "absent, since its type is a message"
        names = [each.name for each in info.element.constants]
        is_constant = isinstance(field.default, Word) and field.default.text in names
        return None if is_constant else f"one of {', '.join(names)}"

    def _extend(self, extend: Extend, scope: str) -> None:
        info = self._message_type(extend.name, scope, extend.at)
        if self._file.is_proto3 and not _is_options(info):
            self._fail(extend.at, "proto3 extends the options of google.protobuf only")
        if not extend.fields and not extend.groups:
            self._fail(extend.at, f"extend {extend.name} has no fields")
        ranges = [number_range(value) for each in _message_of(info).extensions for value in each.values]
        for member in extend.members:
            if not any(each.start <= member.number <= each.end for each in ranges):
                self._fail(
                    member.number_at,
                    f"{info.full_name} does not declare {member.number} as an extension number",
                )
            self._member(member, scope, extend)

    def _message_type(self, name: str, scope: str, at: int) -> TypeInfo:
        info = self._type(name, scope, at)
        if info is None or not isinstance(info.element, Message):
            self._fail(at, f"{name} is not a message")
        return info

    def _service(self, service: Service, package: str) -> None:
        scope = joined(package, service.name)
        for rpc in service.rpcs:
            self._message_type(rpc.request, scope, rpc.at)
            self._message_type(rpc.response, scope, rpc.at)

    def _enum(self, enum: Enum) -> None:
        if not enum.constants:
            self._fail(enum.at, f"enum {enum.name} has no constants")
        if not self._file.is_proto2 and not _is_closed(enum) and enum.constants[0].number != 0:
            self._fail(enum.constants[0].at, f"the first constant of enum {enum.name} must be zero")
        allows_alias = any(each.key == "allow_alias" and each.value == Word("true") for each in enum.options)
        numbers: dict[int, str] = {}
        for each in enum.constants:
            if each.number not in _INT32:
                self._fail(each.at, f"the number of {each.name} is not one of 32 bits")
            if each.number in numbers and not allows_alias:
                other = numbers[each.number]
                self._fail(
                    each.at, f"{each.name} has the number of {other}; option allow_alias = true allows it"
                )
            numbers[each.number] = each.name
        self._reserved_constants(enum)

    def _reserved_constants(self, enum: Enum) -> None:
        reserved = [value for each in enum.reserved for value in each.values]
        names = {
            each.text if isinstance(each, Word) else each for each in reserved if isinstance(each, str | Word)
        }
        ranges = [number_range(each) for each in reserved if not isinstance(each, str | Word)]
        for each in enum.constants:
            if each.name in names:
                self._fail(each.at, f"the name {each.name} is reserved in enum {enum.name}")
            if any(numbers.start <= each.number <= numbers.end for numbers in ranges):
                self._fail(each.at, f"the number {each.number} is reserved in enum {enum.name}")


def _message_of(info: TypeInfo) -> Message:
    assert isinstance(info.element, Message)
    return info.element


def _is_options(info: TypeInfo) -> bool:
    return info.package == "google.protobuf" and info.full_name.endswith("Options")


def _is_closed(enum: Enum) -> bool:
    return any(each.key.startswith("features") and "CLOSED" in str(each.value) for each in enum.options)
