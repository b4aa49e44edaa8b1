"""What a name means, seen from a place in a file.

Protobuf looks for `a.B` from the innermost scope outwards for something called `a`; if that can contain names, `B`
must be in it, and the search goes no further. A leading dot means the outermost scope at once. Names of extensions
are looked up whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.registry.formats.protobuf.built_in import built_in, built_in_types
from penstock.registry.formats.protobuf.confluent_types import META_PATH
from penstock.registry.formats.protobuf.elements import Message
from penstock.registry.formats.protobuf.sources import ExtensionInfo, ProtoSource, TypeInfo, joined


class Scope:
    def __init__(self, source: ProtoSource, references: Mapping[str, ProtoSource]) -> None:
        self.source = source
        self.files: dict[str, ProtoSource] = dict(references)
        """All that it imports, directly or not, by path, as far as it is known."""
        for each in (source, *references.values()):
            self._add_built_ins(each)
        self._all = (source, *self.files.values())
        self._resolved: dict[tuple[str, str], TypeInfo | None] = {}

    def _add_built_ins(self, source: ProtoSource) -> None:
        for each in source.file.imports:
            if each.path not in self.files and (found := built_in(each.path)):
                self.files[each.path] = found
                self._add_built_ins(found)

    def type_info(self, full_name: str) -> TypeInfo | None:
        return next((info for each in self._all if (info := each.types.get(full_name))), None)

    def extension_info(self, full_name: str) -> ExtensionInfo | None:
        """Confluent's own are known without an import."""
        found = next((info for each in self._all if (info := each.extensions.get(full_name))), None)
        if found is None and full_name.startswith("confluent.") and (meta := built_in(META_PATH)):
            return meta.extensions.get(full_name)
        return found

    def is_local(self, info: TypeInfo) -> bool:
        return self.source.types.get(info.full_name) is info

    def resolve(self, name: str, scope: str) -> TypeInfo | None:
        """As Confluent's registry has it, built-in types are known by their full names without an import."""
        if (name, scope) not in self._resolved:
            found = self._resolve(name, scope) or _built_in_type(name.removeprefix("."))
            self._resolved[name, scope] = found
        return self._resolved[name, scope]

    def _resolve(self, name: str, scope: str) -> TypeInfo | None:
        if name.startswith("."):
            return self.type_info(name[1:])
        first, _, rest = name.partition(".")
        for outer in _outwards(scope):
            candidate = joined(outer, first)
            if not rest:
                if info := self.type_info(candidate):
                    return info
            elif self._holds_names(candidate):
                return self.type_info(joined(candidate, rest))
        return None

    def resolve_extension(self, name: str, scope: str) -> ExtensionInfo | None:
        if name.startswith("."):
            return self.extension_info(name[1:])
        return next(
            (info for each in _outwards(scope) if (info := self.extension_info(joined(each, name)))), None
        )

    def _holds_names(self, full_name: str) -> bool:
        return any(
            full_name in each.packages or full_name in each.types or full_name in each.services
            for each in self._all
        )

    def map_types(self, field_type: str, scope: str) -> tuple[str, str] | None:
        """Of a map's keys and values, whether it is written as a map or as a message that is its entry."""
        if field_type.startswith("map<"):
            key, value = field_type[4:-1].split(", ")
            return key, value
        info = self.resolve(field_type, scope)
        return info.element.entry_types if info and isinstance(info.element, Message) else None

    def visible(self) -> Iterator[ProtoSource]:
        """The file, its imports, and what those import publicly."""
        yield self.source
        pending = [each.path for each in self.source.file.imports]
        seen: set[str] = set()
        while pending:
            path = pending.pop()
            if path not in seen and (found := self.files.get(path)):
                yield found
                pending += [each.path for each in found.file.imports if each.kind == "public"]
            seen.add(path)

    def path_of(self, info: TypeInfo) -> str:
        paths = (path for path, each in self.files.items() if each.types.get(info.full_name) is info)
        return next(paths, None) or built_in_types()[info.full_name]


def _built_in_type(full_name: str) -> TypeInfo | None:
    if not full_name.startswith(("google.", "confluent.")):
        return None
    source = built_in(built_in_types().get(full_name, ""))
    return source.types[full_name] if source else None


def _outwards(scope: str) -> Iterator[str]:
    while scope:
        yield scope
        scope = scope.rpartition(".")[0]
    yield ""
