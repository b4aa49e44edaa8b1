"""What a format of schemas gives the registry. All of it is pure: texts in, values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

from penstock.errors import PenstockError


class Entity(NamedTuple):
    """A record or a field, which may have tags: `ns.User.email` in Avro, `object.email` in JSON Schema."""

    kind: str
    """sr_record or sr_field."""
    path: str


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """One reason why a reader's schema cannot read what a writer's schema wrote."""

    kind: str
    """Confluent's name for it, such as READER_FIELD_MISSING_DEFAULT_VALUE."""
    message: str
    """For people; Confluent's texts say %s where the older and the newer schema are named."""
    path: str
    """Where: a JSON pointer into the reader's schema, or a Protobuf path."""
    info: str = ""


class InvalidSchema(PenstockError):
    """The text is no schema of its format; the message says where and why."""


class ParsedSchema(Protocol):
    schema_type: str
    """AVRO, JSON or PROTOBUF."""

    def canonical(self) -> str:
        """The form that is stored, and by which two schemas are the same."""

    def normalized(self) -> Self:
        """The same schema with what does not matter brought into one order (`normalize=true`)."""

    def formatted(self, how: str) -> str:
        """As `?format=` asks for it; the canonical form for a word that this format does not know."""

    def incompatibilities_with(self, writer: Self, *, is_lenient: bool = False) -> list[Incompatibility]:
        """Why this schema cannot read what `writer` wrote; none if it can.

        `is_lenient` is the compatibility policy LENIENT, which means something to JSON Schema only.
        """

    def tags(self) -> Mapping[Entity, Sequence[str]]:
        """Of each record or field that has any."""

    def with_tags(
        self, added: Mapping[Entity, Sequence[str]], removed: Mapping[Entity, Sequence[str]]
    ) -> str:
        """The text of the same schema with other tags; `InvalidSchema` if it has no such record or field."""


class SchemaFormat(Protocol):
    """A module of `registry.formats` that has these names."""

    def parse(self, text: str, references: Mapping[str, str], *, is_new: bool = True) -> ParsedSchema:
        """`references` has the text of each schema that is referred to, directly or not, by the name used for it.

        What was registered long ago is read less strictly than what `is_new`.
        """
