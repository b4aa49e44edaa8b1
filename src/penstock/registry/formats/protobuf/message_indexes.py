"""Where a message stands in its file, as serialized data says it: [1, 0] is the first message in the second."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.registry.formats.protobuf.elements import Message, ProtoFile
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import joined


def indexes_of(scope: Scope, full_name: str) -> list[int]:
    file = effective_file(scope)
    local_name = full_name.removeprefix(".")
    if file.package:
        local_name = local_name.removeprefix(f"{file.package}.")
    indexes: list[int] = []
    messages: Sequence[Message] = file.messages
    for part in local_name.split("."):
        index = next((index for index, each in enumerate(messages) if each.name == part), None)
        if index is None:
            raise LookupError(f"the schema has no message {full_name}")
        indexes.append(index)
        messages = messages[index].messages
    return indexes


def name_at(scope: Scope, indexes: Sequence[int]) -> str:
    """No index at all means the first message."""
    file = effective_file(scope)
    name = file.package or ""
    messages: Sequence[Message] = file.messages
    for index in indexes or (0,):
        if not 0 <= index < len(messages):
            raise LookupError(f"the schema has no message at {list(indexes)}")
        name = joined(name, messages[index].name)
        messages = messages[index].messages
    return name


def effective_file(scope: Scope) -> ProtoFile:
    """A file with nothing but one public import stands for the file that it imports."""
    file = scope.source.file
    is_empty = not (file.messages or file.enums or file.services or file.extends)
    if is_empty and [each.kind for each in file.imports] == ["public"]:
        imported = scope.files.get(file.imports[0].path)
        if imported and (imported.file.messages or imported.file.enums):
            return imported.file
    return file
