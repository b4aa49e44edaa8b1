"""A schema with what does not matter brought into one order, as Confluent's `normalize=true` has it.

Fields, constants, reserved and extension numbers are sorted by number, imports and options by name; names of types
and extensions are written in full; entries of maps become maps again; assignments to one option are one aggregate.
The order of messages stays, since serialized data names messages by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.registry.formats.protobuf.elements import (
    SCALARS,
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
    Word,
)
from penstock.registry.formats.protobuf.normalize_options import OptionOrder
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import joined


def normalized_file(scope: Scope) -> ProtoFile:
    return _Normalizer(scope).file()


class _Normalizer:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._options: Callable[[list[Option], str], list[Option]] = OptionOrder(scope).ordered

    def file(self) -> ProtoFile:
        file, package = self._scope.source.file, self._scope.source.package
        imports = sorted({(each.kind, each.path) for each in file.imports})
        return replace(
            file,
            syntax=file.syntax if file.is_proto3 else None,
            imports=[Import(path, kind) for kind, path in imports],
            options=self._options(file.options, package),
            messages=[self._message(each, package) for each in file.messages if not each.is_map_entry],
            enums=[self._enum(each, package) for each in file.enums],
            extends=self._extends(file.extends, package),
            services=[self._service(each, package) for each in file.services],
        )

    def _type(self, name: str, scope: str) -> str:
        info = None if name in SCALARS else self._scope.resolve(name, scope)
        return f".{info.full_name}" if info else name

    def _message(self, message: Message, outer: str) -> Message:
        scope = joined(outer, message.name)
        oneofs = [self._oneof(each, scope) for each in message.oneofs if each.fields or each.groups]
        return replace(
            message,
            fields=self._fields(message.fields, scope),
            oneofs=sorted(oneofs, key=_first_number),
            groups=self._groups(message.groups, scope),
            messages=[self._message(each, scope) for each in message.messages if not each.is_map_entry],
            enums=[self._enum(each, scope) for each in message.enums],
            options=self._options(message.options, scope),
            reserved=_one_by_one(message.reserved),
            extensions=self._extensions(message.extensions, scope),
            extends=self._extends(message.extends, scope),
        )

    def _fields(self, fields: list[Field], scope: str) -> list[Field]:
        return sorted((self._field(each, scope) for each in fields), key=lambda each: each.number)

    def _groups(self, groups: list[Group], scope: str) -> list[Group]:
        bodies = [
            replace(
                each, message=self._message(each.message, scope), options=self._options(each.options, scope)
            )
            for each in groups
        ]
        return sorted(bodies, key=lambda each: each.number)

    def _field(self, field: Field, scope: str) -> Field:
        """The default and the JSON name have their places among the options."""
        options = list(field.options)
        if field.default is not None:
            options.append(Option((OptionName("default"),), field.default))
        if field.json_name is not None:
            options.append(Option((OptionName("json_name"),), field.json_name))
        types = self._scope.map_types(field.type, scope)
        return replace(
            field,
            label=None if types else field.label,
            type=f"map<{types[0]}, {self._type(types[1], scope)}>"
            if types
            else self._type(field.type, scope),
            default=None,
            json_name=None,
            options=self._options(options, scope),
        )

    def _oneof(self, oneof: OneOf, scope: str) -> OneOf:
        return replace(
            oneof,
            fields=self._fields(oneof.fields, scope),
            groups=self._groups(oneof.groups, scope),
            options=self._options(oneof.options, scope),
        )

    def _extensions(self, extensions: list[Extensions], scope: str) -> list[Extensions]:
        single = [
            Extensions([_as_number(value)], self._options(each.options, scope))
            for each in extensions
            for value in each.values
        ]
        return sorted(single, key=lambda each: _start(each.values[0]))

    def _extends(self, extends: list[Extend], scope: str) -> list[Extend]:
        by_name: dict[str, Extend] = {}
        for each in extends:
            merged = by_name.setdefault(self._type(each.name, scope), Extend(self._type(each.name, scope)))
            merged.fields += each.fields
            merged.groups += each.groups
        return [
            Extend(each.name, self._fields(each.fields, scope), self._groups(each.groups, scope))
            for each in by_name.values()
        ]

    def _enum(self, enum: Enum, outer: str) -> Enum:
        scope = joined(outer, enum.name)
        constants = [
            Constant(each.name, each.number, self._options(each.options, scope)) for each in enum.constants
        ]
        return replace(
            enum,
            constants=sorted(constants, key=lambda each: (each.number, each.name)),
            options=self._options(enum.options, scope),
            reserved=_one_by_one(enum.reserved),
        )

    def _service(self, service: Service, package: str) -> Service:
        rpcs = [self._rpc(each, package) for each in service.rpcs]
        return replace(service, rpcs=rpcs, options=self._options(service.options, package))

    def _rpc(self, rpc: Rpc, scope: str) -> Rpc:
        return replace(
            rpc,
            request=self._type(rpc.request, scope),
            response=self._type(rpc.response, scope),
            options=self._options(rpc.options, scope),
        )


def _first_number(oneof: OneOf) -> int:
    return (oneof.fields or oneof.groups)[0].number


def _as_number(value: int | Range) -> int | Range:
    return value.start if isinstance(value, Range) and value.start == value.end else value


def _start(value: int | Range) -> int:
    return value.start if isinstance(value, Range) else value


def _one_by_one(reserved: list[Reserved]) -> list[Reserved]:
    """Numbers first, then names."""
    numbers: list[int | Range] = []
    names: list[str | Word] = []
    for value in (value for each in reserved for value in each.values):
        if isinstance(value, str | Word):
            names.append(value)
        else:
            numbers.append(_as_number(value))
    numbers.sort(key=lambda each: (_start(each), str(each)))
    names.sort(key=lambda each: each.text if isinstance(each, Word) else each)
    return [Reserved([each]) for each in (*numbers, *names)]
