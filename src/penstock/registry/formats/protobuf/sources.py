"""A file and the names that it defines; both are worked out once for each text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from penstock.registry.formats.protobuf.elements import Enum, Extend, Field, Group, Message, ProtoFile


@dataclass(frozen=True, slots=True)
class TypeInfo:
    element: Message | Enum
    full_name: str
    package: str

    @property
    def local_name(self) -> str:
        return self.full_name[len(self.package) + 1 :] if self.package else self.full_name


@dataclass(frozen=True, slots=True)
class ExtensionInfo:
    element: Field | Group
    full_name: str
    scope: str
    """Where its type is looked up from."""
    extendee: str


def joined(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


class ProtoSource:
    def __init__(self, file: ProtoFile, text: str = "") -> None:
        self.file = file
        self.text = text
        self.package = file.package or ""

    @cached_property
    def packages(self) -> frozenset[str]:
        parts = self.package.split(".")
        return frozenset(".".join(parts[:count]) for count in range(1, len(parts) + 1)) - {""}

    @cached_property
    def services(self) -> frozenset[str]:
        return frozenset(joined(self.package, each.name) for each in self.file.services)

    @cached_property
    def types(self) -> dict[str, TypeInfo]:
        return {each.full_name: each for each in self._types()}

    @cached_property
    def extensions(self) -> dict[str, ExtensionInfo]:
        found = list(_extensions(self.file.extends, self.package))
        for info in self._types():
            if isinstance(info.element, Message):
                found += _extensions(info.element.extends, info.full_name)
        return {each.full_name: each for each in found}

    def _types(self) -> Iterator[TypeInfo]:
        for enum in self.file.enums:
            yield TypeInfo(enum, joined(self.package, enum.name), self.package)
        for message in [*self.file.messages, *(group.message for group in self.file.groups)]:
            yield from self._types_in(message, self.package)

    def _types_in(self, message: Message, scope: str) -> Iterator[TypeInfo]:
        full_name = joined(scope, message.name)
        yield TypeInfo(message, full_name, self.package)
        for enum in message.enums:
            yield TypeInfo(enum, joined(full_name, enum.name), self.package)
        for each in [*message.messages, *(group.message for group in message.all_groups)]:
            yield from self._types_in(each, full_name)


def _extensions(extends: list[Extend], scope: str) -> Iterator[ExtensionInfo]:
    for extend in extends:
        for each in extend.members:
            name = each.name.lower() if isinstance(each, Group) else each.name
            yield ExtensionInfo(each, joined(scope, name), scope, extend.name)
