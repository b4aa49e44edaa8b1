"""Protobuf, as protoc and Confluent's registry understand it.

A schema is .proto text, or base64 of a FileDescriptorProto. A reference's name is the path by which it is imported.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from penstock.registry.formats.protobuf.compatibility import differences
from penstock.registry.formats.protobuf.descriptors import FILE_NAME, file_descriptors
from penstock.registry.formats.protobuf.differences import COMPATIBLE, message_of
from penstock.registry.formats.protobuf.ignore_extensions import without_extensions
from penstock.registry.formats.protobuf.message_indexes import indexes_of, name_at
from penstock.registry.formats.protobuf.normalize import normalized_file
from penstock.registry.formats.protobuf.printer import print_file
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import ProtoSource
from penstock.registry.formats.protobuf.tags import change_tags, tags_of
from penstock.registry.formats.protobuf.texts import source_of
from penstock.registry.formats.protobuf.validation import validate
from penstock.registry.formats.schema_format import Entity, Incompatibility
from penstock.registry.formats.tags import Tags

SCHEMA_TYPE = "PROTOBUF"


class ProtobufSchema:
    schema_type = SCHEMA_TYPE

    def __init__(
        self, text: str, references: Mapping[str, ProtoSource], *, is_canonical: bool = False
    ) -> None:
        self._text = text
        self._references = references
        self._canonical = text if is_canonical else None

    @cached_property
    def source(self) -> ProtoSource:
        return source_of(self._text)

    @cached_property
    def scope(self) -> Scope:
        return Scope(self.source, self._references)

    def canonical(self) -> str:
        if self._canonical is None:
            self._canonical = print_file(self.source.file)
        return self._canonical

    def normalized(self) -> ProtobufSchema:
        text = print_file(normalized_file(self.scope))
        return ProtobufSchema(text, self._references, is_canonical=True)

    def formatted(self, how: str) -> str:
        match how.strip().lower():
            case "serialized":
                return base64.b64encode(self.descriptors()[-1].SerializeToString()).decode()
            case "ignore_extensions":
                return print_file(without_extensions(self.source.file))
        return self.canonical()

    def incompatibilities_with(
        self, writer: ProtobufSchema, *, is_lenient: bool = False
    ) -> list[Incompatibility]:
        found = [each for each in differences(writer.scope, self.scope) if each.kind not in COMPATIBLE]
        return [Incompatibility(each.kind, message_of(each), each.path) for each in found]

    def tags(self) -> dict[Entity, list[str]]:
        return tags_of(self.source.file)

    def with_tags(self, added: Tags, removed: Tags) -> str:
        file = copy.deepcopy(self.source.file)
        change_tags(file, added, removed)
        return print_file(file)

    def descriptors(self, name: str = FILE_NAME) -> list[Any]:
        """FileDescriptorProtos: all that the schema imports, each after what it needs, and its own, called `name`."""
        return file_descriptors(self.scope, name)

    def message_indexes(self, full_name: str) -> list[int]:
        """Of a message, by its name with the package or without; LookupError if there is none."""
        return indexes_of(self.scope, full_name)

    def message_name(self, indexes: Sequence[int]) -> str:
        """The full name of the message there; LookupError if there is none."""
        return name_at(self.scope, indexes)


def parse(text: str, references: Mapping[str, str], *, is_new: bool = True) -> ProtobufSchema:
    """Of what was registered before only the syntax is checked."""
    source_of(text)
    schema = ProtobufSchema(text, {path: source_of(each) for path, each in references.items()})
    if is_new:
        validate(schema.scope)
    return schema


def descriptors(schema: ProtobufSchema, name: str = FILE_NAME) -> list[Any]:
    return schema.descriptors(name)
