"""JSON Schema, drafts 4 to 2020-12, as Confluent's registry understands it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from penstock.registry.formats.json_schema.builder import build
from penstock.registry.formats.json_schema.checks import check, fault
from penstock.registry.formats.json_schema.comparison import compare
from penstock.registry.formats.json_schema.drafts import draft_of
from penstock.registry.formats.json_schema.findings import Findings
from penstock.registry.formats.json_schema.kinds import COMPATIBLE, LENIENTLY_COMPATIBLE, message
from penstock.registry.formats.json_schema.model import Node
from penstock.registry.formats.json_schema.references import References
from penstock.registry.formats.json_schema.tags import change_tags, tags_of
from penstock.registry.formats.json_schema.text import json_text, parse_json, shown, with_sorted_keys
from penstock.registry.formats.schema_format import Entity, Incompatibility
from penstock.registry.formats.tags import Tags

SCHEMA_TYPE = "JSON"


class JsonSchema:
    schema_type = SCHEMA_TYPE

    def __init__(self, document: Any, references: Mapping[str, str], *, is_strict: bool) -> None:
        self.document = document
        self._references = references
        self._is_strict = is_strict

    @cached_property
    def root(self) -> Node:
        """Built when it is first needed: a schema that is only stored and given back needs none."""
        references = References(self.document, self._references, is_strict=self._is_strict)
        return build(references, is_strict=self._is_strict)

    @cached_property
    def _canonical(self) -> str:
        return json_text(self.document)

    def canonical(self) -> str:
        return self._canonical

    def normalized(self) -> JsonSchema:
        return JsonSchema(with_sorted_keys(self.document), self._references, is_strict=self._is_strict)

    def formatted(self, how: str) -> str:
        """There is but one form."""
        return self.canonical()

    def compared_with(self, writer: JsonSchema, *, is_lenient: bool = False) -> Findings:
        """All differences, also those that break nobody."""
        return compare(writer.root, self.root, LENIENTLY_COMPATIBLE if is_lenient else COMPATIBLE)

    def incompatibilities_with(
        self, writer: JsonSchema, *, is_lenient: bool = False
    ) -> list[Incompatibility]:
        """`is_lenient` is the compatibility policy LENIENT; it is STRICT otherwise."""
        differences = self.compared_with(writer, is_lenient=is_lenient).incompatible_differences()
        return [Incompatibility(kind, message(kind, path), path) for kind, path in differences]

    def tags(self) -> dict[Entity, list[str]]:
        return tags_of(self.document)

    def with_tags(self, added: Tags, removed: Tags) -> str:
        document = copy.deepcopy(self.document)
        change_tags(document, added, removed)
        return json_text(document)


def parse(text: str, references: Mapping[str, str], *, is_new: bool = True) -> JsonSchema:
    """One that was registered long ago, perhaps by another registry, need not please the meta-schema of its draft.

    Where such a one makes no sense, it says nothing.
    """
    document = parse_json(text)
    if not isinstance(document, (dict, bool)):
        raise fault("#", f"a schema is an object or a boolean, not {shown(document)}")
    schema = JsonSchema(document, references, is_strict=is_new)
    if is_new:
        check(document, draft_of(document))
        assert schema.root is not None
    return schema
