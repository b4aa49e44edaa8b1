"""The types of an Avro schema. Named types know their full names; a type may stand inside itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
NO_DEFAULT: Any = object()


class Name(NamedTuple):
    name: str
    space: str
    """Empty if the type is in no namespace."""

    @property
    def full(self) -> str:
        return f"{self.space}.{self.name}" if self.space else self.name


@dataclass(slots=True, eq=False)
class AvroType:
    """What every type may have: attributes that Avro itself gives no meaning, in the order of the text."""

    kind: str
    props: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Array(AvroType):
    """`kind` is array or map; a map's keys are strings."""

    element: AvroType = field(kw_only=True)


@dataclass(slots=True, eq=False)
class Union(AvroType):
    branches: list[AvroType] = field(kw_only=True)


@dataclass(slots=True, eq=False)
class Named(AvroType):
    name: Name = field(kw_only=True)
    doc: str | None = field(kw_only=True, default=None)
    aliases: list[Name] = field(kw_only=True, default_factory=list)


@dataclass(slots=True, eq=False)
class Fixed(Named):
    size: int = field(kw_only=True)


@dataclass(slots=True, eq=False)
class Enum(Named):
    symbols: list[str] = field(kw_only=True)
    default: str | None = field(kw_only=True, default=None)


@dataclass(slots=True, eq=False)
class Record(Named):
    fields: list[Field] = field(kw_only=True, default_factory=list)
    is_error: bool = field(kw_only=True, default=False)


@dataclass(slots=True, eq=False)
class Field:
    name: str
    type: AvroType
    doc: str | None = None
    default: Any = NO_DEFAULT
    order: str = "ascending"
    aliases: list[str] = field(default_factory=list)
    props: dict[str, Any] = field(default_factory=dict)

    @property
    def has_default(self) -> bool:
        return self.default is not NO_DEFAULT
