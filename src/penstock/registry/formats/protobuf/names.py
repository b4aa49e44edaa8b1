"""No two things of one scope have one name. The constants of an enum are names of the scope around the enum."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.registry.formats.protobuf.elements import Enum, Extend, Group, Message, OneOf
from penstock.registry.formats.protobuf.field_numbers import Fail
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import joined

Named = tuple[str, int]


def check_names(scope: Scope, fail: Fail) -> None:
    seen: set[str] = set()
    package = scope.source.package
    for full_name, at in _declared(scope, package):
        if full_name in seen:
            fail(at, f"{full_name} is defined twice")
        seen.add(full_name)
    for each in scope.visible():
        if each is scope.source:
            continue
        clash = next((name for name in scope.source.types if name in each.types), None)
        if clash:
            fail(scope.source.types[clash].element.at, f"{clash} is defined in an imported file too")


def _declared(scope: Scope, package: str) -> Iterator[Named]:
    file = scope.source.file
    for message in file.messages:
        yield from _in_message(message, package)
    for enum in file.enums:
        yield from _in_enum(enum, package)
    for extend in file.extends:
        yield from _members(extend, package)
    for service in file.services:
        yield joined(package, service.name), service.at
        for rpc in service.rpcs:
            yield joined(joined(package, service.name), rpc.name), rpc.at


def _in_message(message: Message, outer: str) -> Iterator[Named]:
    scope = joined(outer, message.name)
    yield scope, message.at
    holders: list[Message | OneOf | Extend] = [message, *message.oneofs, *message.extends]
    for holder in holders:
        yield from _members(holder, scope)
    for oneof in message.oneofs:
        yield joined(scope, oneof.name), oneof.at
    for nested in message.messages:
        yield from _in_message(nested, scope)
    for enum in message.enums:
        yield from _in_enum(enum, scope)


def _members(element: Message | OneOf | Extend, scope: str) -> Iterator[Named]:
    for field in element.fields:
        yield joined(scope, field.name), field.at
    for group in element.groups:
        yield joined(scope, group.name.lower()), group.at
        yield from _body(group, scope)


def _body(group: Group, scope: str) -> Iterator[Named]:
    return _in_message(group.message, scope)


def _in_enum(enum: Enum, outer: str) -> Iterator[Named]:
    yield joined(outer, enum.name), enum.at
    for constant in enum.constants:
        yield joined(outer, constant.name), constant.at
