"""Avro, as the Java library and Confluent's registry understand it."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.registry.formats.avro.compatibility import incompatibilities
from penstock.registry.formats.avro.normalize import normalize
from penstock.registry.formats.avro.parser import Parser
from penstock.registry.formats.avro.tags import change_tags, tags_of
from penstock.registry.formats.avro.text import canonical_text
from penstock.registry.formats.avro.types import AvroType, Named
from penstock.registry.formats.schema_format import Entity, Incompatibility
from penstock.registry.formats.tags import Tags

SCHEMA_TYPE = "AVRO"


class AvroSchema:
    schema_type = SCHEMA_TYPE

    def __init__(
        self, root: AvroType, text: str, references: Mapping[str, str], known: frozenset[str]
    ) -> None:
        self.root = root
        self._text = text
        self._references = references
        self._known = known

    def canonical(self) -> str:
        return canonical_text(self.root, self._known)

    def normalized(self) -> AvroSchema:
        copy = parse(self._text, self._references, is_new=False)
        normalize(copy.root)
        return copy

    def formatted(self, how: str) -> str:
        return canonical_text(self.root) if how == "resolved" else self.canonical()

    def incompatibilities_with(
        self, writer: AvroSchema, *, is_lenient: bool = False
    ) -> list[Incompatibility]:
        return incompatibilities(self.root, writer.root)

    def tags(self) -> dict[Entity, list[str]]:
        return tags_of(self.root)

    def with_tags(self, added: Tags, removed: Tags) -> str:
        copy = parse(self._text, self._references, is_new=False)
        change_tags(copy.root, self._known, added, removed)
        return copy.canonical()


def parse(text: str, references: Mapping[str, str], *, is_new: bool = True) -> AvroSchema:
    """A schema that was registered before the rules for defaults is read as it is, unless it `is_new`."""
    parser = Parser(checks_defaults=is_new)
    referred = [parser.parse(reference) for reference in references.values()]
    known = frozenset(each.name.full for each in referred if isinstance(each, Named))
    return AvroSchema(parser.parse(text), text, references, known)
