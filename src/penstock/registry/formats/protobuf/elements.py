"""What a .proto file says, element by element, before any name is resolved.

`at` is an offset into the text (-1 where there is no text) and no part of equality. Elements never change once read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAX_FIELD_NUMBER = 2**29 - 1
MAX_ENUM_NUMBER = 2**31 - 1

SCALARS = frozenset(
    (
        "double",
        "float",
        "int32",
        "int64",
        "uint32",
        "uint64",
        "sint32",
        "sint64",
        "fixed32",
        "fixed64",
        "sfixed32",
        "sfixed64",
        "bool",
        "string",
        "bytes",
    )
)


def _offset() -> Any:
    return field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Word:
    """A value without quotes: a number, true, false, or the name of a constant."""

    text: str

    @property
    def is_number(self) -> bool:
        return self.text[0] in "-.0123456789"


Value = str | Word | dict[str, Any] | list[Any]
"""A quoted string is a str; a dict is an aggregate; the values of dict and list are such values again."""


@dataclass(frozen=True, slots=True)
class OptionName:
    text: str
    is_extension: bool = False

    def __str__(self) -> str:
        return f"({self.text})" if self.is_extension else self.text


@dataclass(slots=True)
class Option:
    names: tuple[OptionName, ...]
    value: Value
    at: int = _offset()

    @property
    def key(self) -> str:
        """What Confluent calls its name: of `(a.b).c` only the extension, of `a.b` all."""
        if self.names[0].is_extension:
            return self.names[0].text
        return ".".join(each.text for each in self.names)


@dataclass(frozen=True, slots=True)
class Range:
    start: int
    end: int
    """Inclusive."""


@dataclass(slots=True)
class Field:
    label: str | None
    type: str
    name: str
    number: int
    options: list[Option] = field(default_factory=list)
    default: Value | None = None
    json_name: str | None = None
    at: int = _offset()
    type_at: int = _offset()
    number_at: int = _offset()

    @property
    def map_types(self) -> tuple[str, str] | None:
        if not self.type.startswith("map<"):
            return None
        key, value = self.type[4:-1].split(", ")
        return key, value


@dataclass(slots=True)
class Group:
    """A field and the message of its type in one."""

    label: str | None
    number: int
    message: Message
    options: list[Option] = field(default_factory=list)
    at: int = _offset()
    number_at: int = _offset()

    @property
    def name(self) -> str:
        return self.message.name


@dataclass(slots=True)
class OneOf:
    name: str
    fields: list[Field] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    at: int = _offset()

    @property
    def members(self) -> list[Field | Group]:
        return [*self.fields, *self.groups]


@dataclass(slots=True)
class Reserved:
    values: list[int | Range | str | Word]
    """A name is a Word where it stands without quotes, as editions have it."""
    at: int = _offset()


@dataclass(slots=True)
class Extensions:
    values: list[int | Range]
    options: list[Option] = field(default_factory=list)
    at: int = _offset()


@dataclass(slots=True)
class Extend:
    name: str
    fields: list[Field] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    at: int = _offset()

    @property
    def members(self) -> list[Field | Group]:
        return [*self.fields, *self.groups]


@dataclass(slots=True)
class Constant:
    name: str
    number: int
    options: list[Option] = field(default_factory=list)
    at: int = _offset()


@dataclass(slots=True)
class Enum:
    name: str
    constants: list[Constant] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    reserved: list[Reserved] = field(default_factory=list)
    at: int = _offset()


@dataclass(slots=True)
class Message:
    name: str
    fields: list[Field] = field(default_factory=list)
    oneofs: list[OneOf] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    reserved: list[Reserved] = field(default_factory=list)
    extensions: list[Extensions] = field(default_factory=list)
    extends: list[Extend] = field(default_factory=list)
    at: int = _offset()

    @property
    def members(self) -> list[Field | Group]:
        return [*self.fields, *self.groups]

    @property
    def all_groups(self) -> list[Group]:
        """With those in oneofs and extends, whose messages are nested in this one too."""
        holders: list[OneOf | Extend] = [*self.oneofs, *self.extends]
        return self.groups + [group for each in holders for group in each.groups]

    @property
    def is_map_entry(self) -> bool:
        return any(each.key == "map_entry" and each.value == Word("true") for each in self.options)

    def field_named(self, name: str) -> Field | None:
        every = [*self.fields, *(each for oneof in self.oneofs for each in oneof.fields)]
        return next((each for each in every if each.name == name), None)

    @property
    def entry_types(self) -> tuple[str, str] | None:
        """Of the key and the value, if this is the entry of a map written as a message."""
        key, value = self.field_named("key"), self.field_named("value")
        return (key.type, value.type) if self.is_map_entry and key and value else None


@dataclass(slots=True)
class Rpc:
    name: str
    request: str
    response: str
    request_streaming: bool = False
    response_streaming: bool = False
    options: list[Option] = field(default_factory=list)
    at: int = _offset()


@dataclass(slots=True)
class Service:
    name: str
    rpcs: list[Rpc] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    at: int = _offset()


@dataclass(slots=True)
class Import:
    path: str
    kind: str = ""
    """public, weak, or neither."""
    at: int = _offset()


@dataclass(slots=True)
class ProtoFile:
    syntax: str | None = None
    """proto2, proto3, or none where the text has no such line (which means proto2)."""
    edition: str | None = None
    package: str | None = None
    imports: list[Import] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    extends: list[Extend] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)

    @property
    def groups(self) -> list[Group]:
        return [group for each in self.extends for group in each.groups]

    @property
    def is_proto3(self) -> bool:
        return self.syntax == "proto3"

    @property
    def is_proto2(self) -> bool:
        return not self.is_proto3 and self.edition is None
