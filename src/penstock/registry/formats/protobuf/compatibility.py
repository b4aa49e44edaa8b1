"""Whether a reader's schema can read what a writer's schema wrote, by the rules of Confluent's registry.

Fields meet by number, wherever they stand: in the message or in one of its oneofs. What counts is what is on the
wire: names of fields, constants of enums and the order of messages are free, and so are types of one encoding
(`_SCALARS`). Gone or new fields are fine unless required. Fields that were set independently of each other must not
become members of one oneof, since of those only the last one would be read; nor may a member of a oneof vanish while
the oneof lives on.

A type of the schemas themselves is compared where it is defined. A type that at least one of the two imports is
compared at the field that uses it: the differences come with the path of that type, and once more as
FIELD_NAMED_TYPE_CHANGED at the field if they break it.

Unlike Confluent's, groups take part: they are encoded otherwise than messages, so that FIELD_KIND_CHANGED tells them
apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.registry.formats.protobuf.differences import COMPATIBLE, Difference
from penstock.registry.formats.protobuf.elements import SCALARS, Enum, Field, Group, Message, OneOf
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import TypeInfo, joined

_ENUM_GROUP = "varint"
_SCALARS = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool"), _ENUM_GROUP),
    **dict.fromkeys(("sint32", "sint64"), "zigzag"),
    **dict.fromkeys(("string", "bytes"), "length-delimited"),
    **dict.fromkeys(("fixed32", "sfixed32"), "fixed32"),
    **dict.fromkeys(("fixed64", "sfixed64"), "fixed64"),
    "float": "float",
    "double": "double",
}
"""Types of one encoding read each other's values."""


@dataclass(frozen=True, slots=True)
class _Member:
    element: Field | Group
    oneof: str | None
    scope: str
    """The full name of its message."""


@dataclass(frozen=True, slots=True)
class _Type:
    """A type as one side uses it."""

    name: str
    scope: str
    side: Scope

    @property
    def info(self) -> TypeInfo | None:
        return None if self.name in SCALARS else self.side.resolve(self.name, self.scope)

    @property
    def encoding(self) -> str | None:
        """Of a scalar or an enum."""
        if self.name in _SCALARS:
            return _SCALARS[self.name]
        return _ENUM_GROUP if (info := self.info) and isinstance(info.element, Enum) else None

    @property
    def map_types(self) -> tuple[_Type, _Type] | None:
        types = None if self.name in SCALARS else self.side.map_types(self.name, self.scope)
        return (
            (_Type(types[0], self.scope, self.side), _Type(types[1], self.scope, self.side))
            if types
            else None
        )

    @property
    def kind(self) -> str:
        if self.encoding:
            return "scalar"
        return "map" if self.map_types else "message"


def differences(writer: Scope, reader: Scope) -> list[Difference]:
    return _Comparison(writer, reader).files()


class _Comparison:
    def __init__(self, writer: Scope, reader: Scope) -> None:
        self._writer = writer
        self._reader = reader
        self._found: list[Difference] = []
        self._imported: dict[tuple[str, str], list[Difference]] = {}
        """Differences of types that are compared at fields: each pair is compared once."""

    def files(self) -> list[Difference]:
        old, new = self._writer.source, self._reader.source
        if old.file.package != new.file.package:
            self._add("PACKAGE_CHANGED", ())
        self._messages(old.file.messages, new.file.messages, old.package, new.package, ())
        self._enums(old.file.enums, new.file.enums, ())
        return self._found

    def _add(self, kind: str, path: tuple[str, ...]) -> None:
        self._found.append(Difference(kind, "#/" + "/".join(path)))

    def _messages(
        self,
        old: Sequence[Message],
        new: Sequence[Message],
        old_scope: str,
        new_scope: str,
        path: tuple[str, ...],
    ) -> None:
        olds = {each.name: (index, each) for index, each in enumerate(old)}
        news = {each.name: (index, each) for index, each in enumerate(new)}
        for name in dict.fromkeys((*olds, *news)):
            at = (*path, name)
            if name not in news:
                self._add_unless_map_entry("MESSAGE_REMOVED", olds[name][1], at)
            elif name not in olds:
                self._add_unless_map_entry("MESSAGE_ADDED", news[name][1], at)
            else:
                self._message(
                    olds[name][1], news[name][1], joined(old_scope, name), joined(new_scope, name), at
                )
                if olds[name][0] != news[name][0]:
                    self._add("MESSAGE_MOVED", at)

    def _add_unless_map_entry(self, kind: str, message: Message, path: tuple[str, ...]) -> None:
        if not message.is_map_entry:
            self._add(kind, path)

    def _enums(self, old: Sequence[Enum], new: Sequence[Enum], path: tuple[str, ...]) -> None:
        olds = {each.name: each for each in old}
        news = {each.name: each for each in new}
        for name in dict.fromkeys((*olds, *news)):
            if name not in news:
                self._add("ENUM_REMOVED", (*path, name))
            elif name not in olds:
                self._add("ENUM_ADDED", (*path, name))
            else:
                self._constants(olds[name], news[name], (*path, name))

    def _constants(self, old: Enum, new: Enum, path: tuple[str, ...]) -> None:
        olds = {each.number: each.name for each in old.constants}
        news = {each.number: each.name for each in new.constants}
        for number in sorted({*olds, *news}):
            at = (*path, str(number))
            if number not in news:
                self._add("ENUM_CONST_REMOVED", at)
            elif number not in olds:
                self._add("ENUM_CONST_ADDED", at)
            elif olds[number] != news[number]:
                self._add("ENUM_CONST_CHANGED", at)

    def _message(
        self, old: Message, new: Message, old_name: str, new_name: str, path: tuple[str, ...]
    ) -> None:
        olds, news = _members(old, old_name), _members(new, new_name)
        self._moves_into_oneofs(olds, new.oneofs, path)
        self._oneofs(old.oneofs, new.oneofs, path)
        deleted = _deleted_oneofs(old, new, news)
        for number in sorted({*olds, *news}):
            before, after = olds.get(number), news.get(number)
            if before and after:
                self._member(before, after, path)
            elif before:
                self._removed(before, path, deleted)
            elif after:
                self._added(after, path)
        self._messages(old.messages, new.messages, old_name, new_name, path)
        self._enums(old.enums, new.enums, path)

    def _moves_into_oneofs(
        self, olds: dict[int, _Member], oneofs: Sequence[OneOf], path: tuple[str, ...]
    ) -> None:
        for oneof in oneofs:
            before = [olds[each.number] for each in oneof.members if each.number in olds]
            free = [each for each in before if each.oneof is None]
            groups = len(free) + len({each.oneof for each in before if each.oneof is not None})
            if groups > 1:
                kind = "MULTIPLE_FIELDS_MOVED_TO_ONEOF" if len(free) > 1 else "FIELD_MOVED_TO_EXISTING_ONEOF"
                self._add(kind, (*path, oneof.name))

    def _oneofs(self, old: Sequence[OneOf], new: Sequence[OneOf], path: tuple[str, ...]) -> None:
        olds, news = {each.name for each in old}, {each.name for each in new}
        for name in sorted(olds ^ news):
            self._add("ONEOF_REMOVED" if name in olds else "ONEOF_ADDED", (*path, name))

    def _removed(self, member: _Member, path: tuple[str, ...], deleted: set[str]) -> None:
        number = str(member.element.number)
        if member.oneof is None:
            is_required = member.element.label == "required"
            self._add("REQUIRED_FIELD_REMOVED" if is_required else "FIELD_REMOVED", (*path, number))
        elif member.oneof not in deleted:
            self._add("ONEOF_FIELD_REMOVED", (*path, member.oneof, number))

    def _added(self, member: _Member, path: tuple[str, ...]) -> None:
        number = str(member.element.number)
        if member.oneof is not None:
            self._add("ONEOF_FIELD_ADDED", (*path, member.oneof, number))
        else:
            is_required = member.element.label == "required"
            self._add("REQUIRED_FIELD_ADDED" if is_required else "FIELD_ADDED", (*path, number))

    def _member(self, old: _Member, new: _Member, path: tuple[str, ...]) -> None:
        number = str(new.element.number)
        if old.oneof is not None and new.oneof is None:
            self._add("ONEOF_FIELD_MOVED_TO_TOP_LEVEL", (*path, number))
        at = (*path, new.oneof, number) if new.oneof is not None else (*path, number)
        before, after = old.element, new.element
        if before.name != after.name:
            self._add("FIELD_NAME_CHANGED", at)
        if isinstance(before, Field) and isinstance(after, Field):
            types = _Type(before.type, old.scope, self._writer), _Type(after.type, new.scope, self._reader)
            self._types(*types, before.label, after.label, at)
        elif isinstance(before, Group) and isinstance(after, Group):
            names = joined(old.scope, before.name), joined(new.scope, after.name)
            self._message(before.message, after.message, *names, at)
        else:
            self._add("FIELD_KIND_CHANGED", at)

    def _types(
        self, old: _Type, new: _Type, old_label: str | None, new_label: str | None, at: tuple[str, ...]
    ) -> None:
        if old.kind != new.kind:
            self._add("FIELD_KIND_CHANGED", at)
        elif old.kind == "scalar":
            self._scalars(old, new, old_label, new_label, at)
        elif (olds := old.map_types) and (news := new.map_types):
            for before, after in zip(olds, news, strict=True):
                self._types(before, after, None, None, at)
        else:
            self._message_types(old, new, at)

    def _scalars(
        self, old: _Type, new: _Type, old_label: str | None, new_label: str | None, at: tuple[str, ...]
    ) -> None:
        if old.encoding != new.encoding:
            self._add("FIELD_SCALAR_KIND_CHANGED", at)
        elif old_label and new_label and old_label != new_label:
            is_text = old.encoding == "length-delimited"
            self._add("FIELD_STRING_OR_BYTES_LABEL_CHANGED" if is_text else "FIELD_NUMERIC_LABEL_CHANGED", at)

    def _message_types(self, old: _Type, new: _Type, at: tuple[str, ...]) -> None:
        before, after = old.info, new.info
        if before is None or after is None:
            is_same = old.name == new.name
        else:
            is_same = before.local_name == after.local_name and self._same_definition(before, after)
        if not is_same:
            self._add("FIELD_NAMED_TYPE_CHANGED", at)

    def _same_definition(self, old: TypeInfo, new: TypeInfo) -> bool:
        """Types that both schemas define themselves are compared on their own."""
        if self._writer.is_local(old) and self._reader.is_local(new):
            return True
        pair = old.full_name, new.full_name
        if pair not in self._imported:
            self._imported[pair] = []
            self._imported[pair] = self._compared_apart(old, new)
        self._found += self._imported[pair]
        return all(each.kind in COMPATIBLE for each in self._imported[pair])

    def _compared_apart(self, old: TypeInfo, new: TypeInfo) -> list[Difference]:
        outer, self._found = self._found, []
        if isinstance(old.element, Message) and isinstance(new.element, Message):
            path = tuple(old.local_name.split("."))
            self._message(old.element, new.element, old.full_name, new.full_name, path)
        found, self._found = self._found, outer
        return found


def _members(message: Message, scope: str) -> dict[int, _Member]:
    members = {each.number: _Member(each, None, scope) for each in message.members}
    for oneof in message.oneofs:
        for each in oneof.members:
            members[each.number] = _Member(each, oneof.name, scope)
    return members


def _deleted_oneofs(old: Message, new: Message, news: dict[int, _Member]) -> set[str]:
    """Those that are gone with all of their members."""
    names = {each.name for each in new.oneofs}
    return {
        oneof.name
        for oneof in old.oneofs
        if oneof.name not in names and not any(each.number in news for each in oneof.members)
    }
