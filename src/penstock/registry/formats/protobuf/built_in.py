"""Files that every schema may import without a reference, as Confluent's registry has them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from google.protobuf import descriptor_pb2

from penstock.registry.formats.protobuf.confluent_types import CONFLUENT_TYPES
from penstock.registry.formats.protobuf.from_descriptor import file_elements
from penstock.registry.formats.protobuf.google_types import GOOGLE_TYPES
from penstock.registry.formats.protobuf.parser import parse_text
from penstock.registry.formats.protobuf.sources import ProtoSource

_WELL_KNOWN = (
    "any",
    "api",
    "descriptor",
    "duration",
    "empty",
    "field_mask",
    "source_context",
    "struct",
    "timestamp",
    "type",
    "wrappers",
)
_WELL_KNOWN_MODULES = {f"google/protobuf/{name}.proto": f"google.protobuf.{name}_pb2" for name in _WELL_KNOWN}
_TEXTS = GOOGLE_TYPES | CONFLUENT_TYPES

BUILT_IN_PATHS = frozenset(_WELL_KNOWN_MODULES) | frozenset(_TEXTS)


def well_known_descriptor(path: str) -> Any | None:
    """The FileDescriptorProto that the protobuf library has."""
    if path not in _WELL_KNOWN_MODULES:
        return None
    serialized = import_module(_WELL_KNOWN_MODULES[path]).DESCRIPTOR.serialized_pb
    return descriptor_pb2.FileDescriptorProto.FromString(serialized)


@cache
def built_in(path: str) -> ProtoSource | None:
    if descriptor := well_known_descriptor(path):
        return ProtoSource(file_elements(descriptor))
    if path in _TEXTS:
        return ProtoSource(parse_text(_TEXTS[path]), _TEXTS[path])
    return None


@cache
def built_in_types() -> dict[str, str]:
    """The path of the file of each type, by its full name."""
    return {
        name: path for path in sorted(BUILT_IN_PATHS) if (found := built_in(path)) for name in found.types
    }
