"""Protobuf's files as the registry has them: a file is a schema, what it imports are references.

A schema is registered as its descriptor in base64, which the registry reads as well as text, and asked for in the same
form (`format=serialized`): so that nothing here has to read the text of .proto files.

Files of Google's that come with Protobuf (google/protobuf/*.proto), and Google's common types, are known to every
registry; they are not registered. From the registry they are taken from this program's own descriptors.
"""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.message import Message

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.protobuf_known import KNOWN_FILES
from penstock.client.registry.schemas import Schema

SERIALIZED = "serialized"
KNOWN_PREFIXES = ("google/protobuf/", "google/type/", "confluent/")
_WELL_KNOWN = (
    *("any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct"),
    *("timestamp", "type", "wrappers"),
)


def is_known(file_name: str) -> bool:
    return file_name.startswith(KNOWN_PREFIXES)


def schema_of(file: FileDescriptor) -> Schema:
    """Without its references: their versions are the registry's."""
    return Schema(base64.b64encode(file.serialized_pb).decode(), "PROTOBUF")


def message_indexes(descriptor: Descriptor) -> tuple[int, ...]:
    """The path to a message in its file."""
    siblings = descriptor.containing_type.nested_types if descriptor.containing_type else None
    if siblings is None:
        siblings = list(descriptor.file.message_types_by_name.values())
    own = [each.full_name for each in siblings].index(descriptor.full_name)
    return (
        (own,) if descriptor.containing_type is None else (*message_indexes(descriptor.containing_type), own)
    )


class ProtobufFile:
    """A file of the registry, with what it imports, in a pool of its own."""

    def __init__(self, schema: Schema, registry: SchemaRegistryClient) -> None:
        pool = descriptor_pool.DescriptorPool()
        imported = {
            name: _file_of(found.schema, name)
            for name, found in registry.resolved_references(schema, SERIALIZED).items()
        }
        own = _file_of(schema, None)
        if not own.name or own.name in imported:
            own.name = "default.proto" if "default.proto" not in imported else "default_.proto"
        add_file(pool, own, imported, set())
        self._pool = pool
        self._file = own

    def message_at(self, indexes: tuple[int, ...]) -> Descriptor:
        """ValueError if the file has no such message."""
        messages: Any = self._file.message_type
        names = [self._file.package] if self._file.package else []
        for index in indexes:
            if index >= len(messages):
                raise ValueError(f"its file {self._file.name} has no message {list(indexes)}")
            names.append(messages[index].name)
            messages = messages[index].nested_type
        return self._pool.FindMessageTypeByName(".".join(names))

    def message_of(self, full_name: str) -> Descriptor:
        """ValueError if the file has no such message."""
        for descriptor in self._messages():
            if descriptor.full_name == full_name:
                return descriptor
        raise ValueError(f"its file {self._file.name} has no message {full_name}")

    def _messages(self) -> Iterator[Descriptor]:
        todo = list(self._pool.FindFileByName(self._file.name).message_types_by_name.values())
        while todo:
            descriptor = todo.pop(0)
            yield descriptor
            todo += descriptor.nested_types


def class_of(descriptor: Descriptor) -> type[Message]:
    made: type[Message] = message_factory.GetMessageClass(descriptor)
    return made


def _file_of(schema: Schema, name: str | None) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto()
    try:
        file.ParseFromString(base64.b64decode(schema.text, validate=True))
    except Exception as error:
        raise ValueError(f"the registry gave no descriptor of {name or 'its file'}: {error}") from error
    if name is not None:
        file.name = name
    return file


def add_file(
    pool: descriptor_pool.DescriptorPool,
    file: descriptor_pb2.FileDescriptorProto,
    imported: Mapping[str, descriptor_pb2.FileDescriptorProto],
    added: set[str],
) -> None:
    """What a file imports goes first; what the registry has no reference for is ours."""
    if file.name in added:
        return
    added.add(file.name)
    for name in file.dependency:
        add_file(pool, imported.get(name) or _known_file(name, file.name), imported, added)
    pool.AddSerializedFile(file.SerializeToString())


def _known_file(name: str, importer: str) -> descriptor_pb2.FileDescriptorProto:
    if name.startswith("google/protobuf/"):
        _import_well_known(name)
    file = descriptor_pb2.FileDescriptorProto()
    try:
        descriptor_pool.Default().FindFileByName(name).CopyToProto(file)
    except KeyError:
        if name in KNOWN_FILES:
            return KNOWN_FILES[name]()
        raise ValueError(f"{importer} imports {name}, which is no reference and not known here") from None
    return file


def _import_well_known(name: str) -> None:
    """Loads the module whose descriptors the default pool then has."""
    from importlib import import_module

    stem = name.removeprefix("google/protobuf/").removesuffix(".proto")
    if stem in _WELL_KNOWN:
        import_module(f"google.protobuf.{stem}_pb2")
