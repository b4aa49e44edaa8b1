"""The shape of a message: what the generated classes in `wire.messages` say of themselves.

One class stands for all versions of a message. Each field carries the versions that it exists in, those in
which it may be null, and its tag if it is a tagged field; a field that a version lacks has its default.
`wire.codec` compiles these tables into straight-line readers and writers, one per message and version.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple


class Field(NamedTuple):
    name: str
    kind: str
    """A primitive such as `int32`, or `struct`; with `[]` in front for an array."""
    struct: "type[Message] | None"
    versions: tuple[int, int]
    nullable: tuple[int, int] | None
    tag: int | None
    default: Any

    @property
    def is_array(self) -> bool:
        return self.kind.startswith("[]")

    @property
    def element_kind(self) -> str:
        return self.kind.removeprefix("[]")

    def exists_in(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]

    def nullable_in(self, version: int) -> bool:
        return self.nullable is not None and self.nullable[0] <= version <= self.nullable[1]


class Message:
    """A message of the wire, or a structure inside one."""

    __slots__ = ()
    SCHEMA: ClassVar[tuple[Field, ...]] = ()

    def __repr__(self) -> str:
        values = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in self.SCHEMA)
        return f"{type(self).__name__}({values})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, field.name), getattr(other, field.name)) for field in self.SCHEMA)

    __hash__ = None  # type: ignore[assignment]


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


class VersionedMessage(Message):
    """A message that stands for itself."""

    __slots__ = ()
    VERSIONS: ClassVar[tuple[int, int]]
    FIRST_FLEXIBLE: ClassVar[int]
    """The first version with tagged fields and compact lengths; above VERSIONS[1] if there is none."""


class ApiMessage(VersionedMessage):
    """A request or response: what travels in one frame."""

    __slots__ = ()
    API_KEY: ClassVar[int]


class StoredMessage(VersionedMessage):
    """The key or the value of a record that a coordinator keeps in an internal topic."""

    __slots__ = ()
    RECORD_TYPE: ClassVar[int]


RecordTypes = Mapping[int, tuple[type[StoredMessage], type[StoredMessage]]]
"""Key and value of each type of record in one internal topic."""
