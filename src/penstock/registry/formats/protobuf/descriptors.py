"""From elements to FileDescriptorProto, as protoc makes it.

One difference: the messages that protoc makes up (entries of maps, bodies of groups) come after those that the text
has, so that the index of a message in the text is its index in the descriptor, as Confluent's serializers count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.protobuf import descriptor_pb2

from penstock.registry.formats.protobuf.built_in import built_in, well_known_descriptor
from penstock.registry.formats.protobuf.confluent_types import META_PATH
from penstock.registry.formats.protobuf.default_values import default_text
from penstock.registry.formats.protobuf.editions import EDITIONS
from penstock.registry.formats.protobuf.elements import (
    SCALARS,
    Enum,
    Extend,
    Extensions,
    Field,
    Group,
    Message,
    OneOf,
    ProtoFile,
    Range,
    Reserved,
    Service,
    Word,
)
from penstock.registry.formats.protobuf.option_values import OptionSetter
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import ProtoSource, joined
from penstock.registry.formats.protobuf.tokens import fail

_FIELD = descriptor_pb2.FieldDescriptorProto

FILE_NAME = "default"
"""Of the schema's own file in its descriptor: a schema has no path."""

Member = tuple[Field | Group, OneOf | None]


def file_descriptors(scope: Scope, name: str, *, is_strict: bool = False) -> list[Any]:
    """FileDescriptorProtos of the file, which gets this name, and of all that it imports; each after what it needs.

    Values of the file's options that do not fit are errors if it `is_strict`, and left out if not.
    """
    found: dict[str, Any] = {}
    _add_imports(scope.source, scope, name, found, ())
    return [*found.values(), _Builder(scope, name, list(found.values()), is_strict=is_strict).build()]


def _add_imports(
    source: ProtoSource, scope: Scope, name: str, found: dict[str, Any], importing: tuple[str, ...]
) -> None:
    for each in source.file.imports:
        if each.path in scope.files:
            _add_descriptor(scope.files[each.path], scope, each.path, found, (*importing, name))


def _add_descriptor(
    source: ProtoSource, scope: Scope, name: str, found: dict[str, Any], importing: tuple[str, ...]
) -> None:
    if name in importing:
        fail("", -1, f"files import each other: {' -> '.join((*importing, name))}")
    if name in found:
        return
    _add_imports(source, scope, name, found, importing)
    own = Scope(source, scope.files)
    found[name] = well_known_descriptor(name) or _Builder(own, name, list(found.values())).build()


class _Builder:
    def __init__(self, scope: Scope, name: str, dependencies: list[Any], *, is_strict: bool = False) -> None:
        self._scope = scope
        self._file: ProtoFile = scope.source.file
        self._dependencies = dependencies
        self._setter = OptionSetter(scope, is_strict)
        self._descriptor = descriptor_pb2.FileDescriptorProto(name=name)

    def build(self) -> Any:
        descriptor, file = self._descriptor, self._file
        package = file.package or ""
        if package:
            descriptor.package = package
        if file.is_proto3:
            descriptor.syntax = "proto3"
        elif file.edition is not None:
            self._set_edition(file.edition)
        self._set_imports()
        for message in file.messages:
            self._message(descriptor.message_type.add(), message, package)
        for enum in file.enums:
            self._enum(descriptor.enum_type.add(), enum, package)
        self._extends(descriptor.extension, descriptor.message_type, file.extends, package)
        for service in file.services:
            self._service(descriptor.service.add(), service, package)
        self._options(descriptor, file.options, package)
        self._setter.set_extensions(lambda: [*self._dependencies, descriptor, *self._meta()])
        return descriptor

    def _meta(self) -> list[Any]:
        """Confluent's options need no import."""
        known = {self._descriptor.name, *(each.name for each in self._dependencies)}
        meta = built_in(META_PATH)
        if META_PATH in known or meta is None:
            return []
        return [each for each in file_descriptors(Scope(meta, {}), META_PATH) if each.name not in known]

    def _set_edition(self, edition: str) -> None:
        if edition not in EDITIONS:
            fail("", -1, f"unknown edition '{edition}'")
        self._descriptor.syntax = "editions"
        self._descriptor.edition = EDITIONS[edition]

    def _set_imports(self) -> None:
        for each in self._file.imports:
            if each.path not in self._scope.files or each.path in self._descriptor.dependency:
                continue
            self._descriptor.dependency.append(each.path)
            index = len(self._descriptor.dependency) - 1
            if each.kind == "public":
                self._descriptor.public_dependency.append(index)
            if each.kind == "weak":
                self._descriptor.weak_dependency.append(index)

    def _options(self, descriptor: Any, elements: Iterable[Any], scope: str) -> None:
        elements = list(elements)
        if elements:
            self._setter.set_options(descriptor.options, elements, scope)

    def _message(self, descriptor: Any, message: Message, outer: str) -> None:
        descriptor.name = message.name
        scope = joined(outer, message.name)
        for nested in message.messages:
            self._message(descriptor.nested_type.add(), nested, scope)
        for enum in message.enums:
            self._enum(descriptor.enum_type.add(), enum, scope)
        for oneof in message.oneofs:
            declaration = descriptor.oneof_decl.add(name=oneof.name)
            self._options(declaration, oneof.options, scope)
        for member, within in _members_in_order(message):
            added = descriptor.field.add()
            self._member(added, member, scope, descriptor.nested_type)
            if within:
                added.oneof_index = message.oneofs.index(within)
        self._add_synthetic_oneofs(descriptor)
        self._extends(descriptor.extension, descriptor.nested_type, message.extends, scope)
        self._reserved(descriptor, message.reserved, exclusive=1)
        for extensions in message.extensions:
            self._extension_ranges(descriptor, extensions, scope)
        self._options(descriptor, message.options, scope)

    def _add_synthetic_oneofs(self, descriptor: Any) -> None:
        """Each optional field of proto3 is alone in a oneof."""
        taken = {each.name for each in (*descriptor.field, *descriptor.oneof_decl)}
        for each in descriptor.field:
            if each.proto3_optional:
                name = f"_{each.name}"
                while name in taken:
                    name = f"X{name}"
                taken.add(name)
                each.oneof_index = len(descriptor.oneof_decl)
                descriptor.oneof_decl.add(name=name)

    def _member(self, descriptor: Any, member: Field | Group, scope: str, nested: Any) -> None:
        descriptor.number = member.number
        descriptor.label = _FIELD.Label.Value(f"LABEL_{(member.label or 'optional').upper()}")
        if member.label == "optional" and self._file.is_proto3:
            descriptor.proto3_optional = True
        if isinstance(member, Group):
            descriptor.name = member.name.lower()
            descriptor.type = _FIELD.TYPE_GROUP
            descriptor.type_name = "." + joined(scope, member.name)
            self._message(nested.add(), member.message, scope)
        else:
            self._field(descriptor, member, scope, nested)
        self._options(descriptor, member.options, scope)

    def _field(self, descriptor: Any, field: Field, scope: str, nested: Any) -> None:
        descriptor.name = field.name
        if field.map_types:
            descriptor.label = _FIELD.LABEL_REPEATED
            descriptor.type = _FIELD.TYPE_MESSAGE
            entry = nested.add(name=map_entry_name(field.name))
            descriptor.type_name = "." + joined(scope, entry.name)
            self._map_entry(entry, field, field.map_types, scope)
        else:
            self._set_type(descriptor, field.type, scope, field.type_at)
        if field.default is not None:
            descriptor.default_value = default_text(field.type, field.default)
        if field.json_name is not None:
            descriptor.json_name = field.json_name

    def _map_entry(self, entry: Any, field: Field, types: tuple[str, str], scope: str) -> None:
        entry.options.map_entry = True
        for number, (name, field_type) in enumerate(zip(("key", "value"), types, strict=True), start=1):
            part = entry.field.add(name=name, number=number, label=_FIELD.LABEL_OPTIONAL)
            self._set_type(part, field_type, scope, field.type_at)

    def _set_type(self, descriptor: Any, name: str, scope: str, at: int) -> None:
        if name in SCALARS:
            descriptor.type = _FIELD.Type.Value(f"TYPE_{name.upper()}")
            return
        info = self._scope.resolve(name, scope)
        if info is None:
            fail(self._scope.source.text, at, f"unknown type {name}")
        descriptor.type = _FIELD.TYPE_ENUM if isinstance(info.element, Enum) else _FIELD.TYPE_MESSAGE
        descriptor.type_name = f".{info.full_name}"

    def _extends(self, into: Any, nested: Any, extends: list[Extend], scope: str) -> None:
        for extend in extends:
            for member in sorted(extend.members, key=lambda each: each.at):
                added = into.add(extendee=self._message_name(extend.name, scope, extend.at))
                self._member(added, member, scope, nested)

    def _message_name(self, name: str, scope: str, at: int) -> str:
        info = self._scope.resolve(name, scope)
        if info is None:
            fail(self._scope.source.text, at, f"unknown type {name}")
        return f".{info.full_name}"

    def _reserved(self, descriptor: Any, reserved: list[Reserved], *, exclusive: int) -> None:
        """The ends of ranges are exclusive in messages and inclusive in enums."""
        for value in (value for each in reserved for value in each.values):
            if isinstance(value, str | Word):
                descriptor.reserved_name.append(value.text if isinstance(value, Word) else value)
            else:
                numbers = value if isinstance(value, Range) else Range(value, value)
                descriptor.reserved_range.add(start=numbers.start, end=numbers.end + exclusive)

    def _extension_ranges(self, descriptor: Any, extensions: Extensions, scope: str) -> None:
        for value in extensions.values:
            numbers = value if isinstance(value, Range) else Range(value, value)
            added = descriptor.extension_range.add(start=numbers.start, end=numbers.end + 1)
            self._options(added, extensions.options, scope)

    def _enum(self, descriptor: Any, enum: Enum, outer: str) -> None:
        descriptor.name = enum.name
        scope = joined(outer, enum.name)
        for each in enum.constants:
            added = descriptor.value.add(name=each.name, number=each.number)
            self._options(added, each.options, scope)
        self._reserved(descriptor, enum.reserved, exclusive=0)
        self._options(descriptor, enum.options, scope)

    def _service(self, descriptor: Any, service: Service, outer: str) -> None:
        descriptor.name = service.name
        scope = joined(outer, service.name)
        for each in service.rpcs:
            added = descriptor.method.add(name=each.name)
            added.input_type = self._message_name(each.request, scope, each.at)
            added.output_type = self._message_name(each.response, scope, each.at)
            if each.request_streaming:
                added.client_streaming = True
            if each.response_streaming:
                added.server_streaming = True
            self._options(added, each.options, scope)
        self._options(descriptor, service.options, scope)


def _members_in_order(message: Message) -> list[Member]:
    """As they stand in the text; without text, fields before oneofs before groups."""
    members: list[Member] = [(each, None) for each in message.fields]
    members += [(each, oneof) for oneof in message.oneofs for each in oneof.members]
    members += [(each, None) for each in message.groups]
    return sorted(members, key=lambda each: each[0].at)


def map_entry_name(field_name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in field_name.split("_")) + "Entry"
