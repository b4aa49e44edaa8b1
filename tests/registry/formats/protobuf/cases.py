"""Tables of compatibility: what a writer's schema says, what a reader's says, and how they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.registry.formats.protobuf import ProtobufSchema, parse
from penstock.registry.formats.protobuf.compatibility import differences

BREAKING = {
    "PACKAGE_CHANGED",
    "MESSAGE_REMOVED",
    "FIELD_KIND_CHANGED",
    "FIELD_SCALAR_KIND_CHANGED",
    "FIELD_NAMED_TYPE_CHANGED",
    "FIELD_NUMERIC_LABEL_CHANGED",
    "REQUIRED_FIELD_ADDED",
    "REQUIRED_FIELD_REMOVED",
    "ONEOF_FIELD_REMOVED",
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF",
    "FIELD_MOVED_TO_EXISTING_ONEOF",
}


@dataclass(frozen=True)
class Case:
    name: str
    writer: str
    reader: str
    differences: tuple[str, ...] = ()
    """Each as KIND #/path, in any order."""
    writer_references: Mapping[str, str] = field(default_factory=dict)
    reader_references: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    @property
    def breaking(self) -> list[str]:
        return sorted(each for each in self.differences if each.split()[0] in BREAKING)

    def schemas(self) -> tuple[ProtobufSchema, ProtobufSchema]:
        return parse(self.writer, self.writer_references), parse(self.reader, self.reader_references)


def check(case: Case) -> None:
    writer, reader = case.schemas()
    found = [f"{each.kind} {each.path}" for each in differences(writer.scope, reader.scope)]
    assert sorted(found) == sorted(case.differences)
    breaks = reader.incompatibilities_with(writer)
    assert sorted(f"{each.kind} {each.path}" for each in breaks) == case.breaking
    assert all(each.message.count("%s") == 2 and f"'{each.path}'" in each.message for each in breaks)


def proto3(*parts: str) -> str:
    return "\n".join(('syntax = "proto3";', *parts))


def proto2(*parts: str) -> str:
    return "\n".join(('syntax = "proto2";', *parts))


def message(fields: str, name: str = "M") -> str:
    return f"message {name} {{ {fields} }}"


def fields_case(name: str, writer: str, reader: str, *found: str) -> Case:
    """Of proto3 messages M with these fields; paths are within M."""
    return Case(name, proto3(message(writer)), proto3(message(reader)), _in_m(found))


def proto2_case(name: str, writer: str, reader: str, *found: str) -> Case:
    return Case(name, proto2(message(writer)), proto2(message(reader)), _in_m(found))


def file_case(name: str, writer: str, reader: str, *found: str) -> Case:
    """Of proto3 files with these contents."""
    return Case(name, proto3(writer), proto3(reader), found)


def _in_m(found: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each.replace("#/", "#/M/") for each in found)
