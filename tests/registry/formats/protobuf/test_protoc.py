"""Our descriptors against protoc's own of the same files.

`protoc/*.binpb` is what protoc wrote (`protoc -I. -o two.binpb two.proto`); distributions' own are older than editions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2

from penstock.registry.formats.protobuf import parse
from penstock.registry.formats.protobuf.option_values import message_of, pool_of

FOLDER = Path(__file__).parent / "protoc"
NAMES = sorted(each.stem for each in FOLDER.glob("*.proto"))
TEXTS = {each.name: each.read_text() for each in FOLDER.glob("*.proto")}
GROUP = descriptor_pb2.FieldDescriptorProto.TYPE_GROUP


def _references(name: str) -> dict[str, str]:
    return {path: text for path, text in TEXTS.items() if path != f"{name}.proto"}


def _check(name: str, serialized: bytes) -> None:
    files = parse(TEXTS[f"{name}.proto"], _references(name)).descriptors(f"{name}.proto")
    pool = pool_of(files)
    assert _understood(files[-1], pool) == _understood(_protocs(serialized), pool)


def _understood(file: Any, pool: Any) -> Any:
    """With its extensions as fields, since the bytes of unknown fields may come in any order."""
    known = message_of(pool, "google.protobuf.FileDescriptorProto")
    known.MergeFromString(file.SerializeToString())
    return known


def _protocs(serialized: bytes) -> Any:
    """Without the JSON names that are no news, and with the messages that protoc makes up after the others."""
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(serialized).file
    for extension in file.extension:
        extension.ClearField("json_name")
    for message in file.message_type:
        _adapt(message)
    return file


def _adapt(message: Any) -> None:
    for field in (*message.field, *message.extension):
        if field.json_name == _camel_case(field.name):
            field.ClearField("json_name")
    groups = {each.type_name.rpartition(".")[2] for each in message.field if each.type == GROUP}
    nested = sorted(message.nested_type, key=lambda each: each.options.map_entry or each.name in groups)
    kept = [each.SerializeToString() for each in nested]
    del message.nested_type[:]
    for each in kept:
        message.nested_type.add().MergeFromString(each)
    for inner in message.nested_type:
        _adapt(inner)


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in others)


@pytest.mark.parametrize("name", NAMES)
def test_descriptor_is_what_protoc_recorded(name: str) -> None:
    _check(name, (FOLDER / f"{name}.binpb").read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_the_library_builds_classes_of_it(name: str) -> None:
    files = parse(TEXTS[f"{name}.proto"], _references(name)).descriptors(f"{name}.proto")
    pool = pool_of(files)
    assert pool.FindFileByName(f"{name}.proto").package == files[-1].package


@pytest.mark.parametrize("name", NAMES)
def test_canonical_and_normal_form_say_the_same(name: str) -> None:
    schema = parse(TEXTS[f"{name}.proto"], _references(name))
    canonical = parse(schema.canonical(), _references(name))
    assert canonical.canonical() == schema.canonical()
    assert _by_number(canonical) == _by_number(schema)
    normal = schema.normalized()
    assert parse(normal.canonical(), _references(name)).normalized().canonical() == normal.canonical()
    assert _types(normal) == _types(schema)


def _by_number(schema: Any) -> bytes:
    """The canonical form has fields before oneofs, so their order is no part of this."""
    file = schema.descriptors()[-1]
    for message in file.message_type:
        _sort(message)
    return file.SerializeToString(deterministic=True)


def _sort(message: Any) -> None:
    message.field.sort(key=lambda each: each.number)
    message.nested_type.sort(key=lambda each: each.name)
    for inner in message.nested_type:
        _sort(inner)


def _types(schema: Any) -> list[tuple[str, int, str, int, str]]:
    found: list[tuple[str, int, str, int, str]] = []

    def collect(message: Any, path: str) -> None:
        found.extend((path, each.number, each.name, each.type, each.type_name) for each in message.field)
        for inner in message.nested_type:
            collect(inner, f"{path}.{inner.name}")

    for message in schema.descriptors()[-1].message_type:
        collect(message, message.name)
    return sorted(found)
