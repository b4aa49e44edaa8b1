"""Every class that a configuration may name: `Plugins(plugin_path).find("converter", "JsonConverter")`.

A name may be Java's (`org.apache.kafka.connect.json.JsonConverter`), its last part, that without its kind (`Json`), an
entry point of the group `penstock.connect`, a class in `plugin.path`, or the Python path of one of these
(`package.module:Class` or `package.module.Class`). Nothing is imported before it is asked for: executors make one of
these for every task. Nothing else is imported either: whoever sends a configuration does not say what code runs.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from penstock.pipeline.connect.errors import ConnectError, NotFoundError
from penstock.pipeline.connect.plugins.files import PREFIX, PluginFile, files_in, load_file
from penstock.pipeline.connect.plugins.kinds import BASES, CONNECTORS, PluginKind, kinds_of, names_of
from penstock.pipeline.connect.plugins.shipped import shipped_plugins
from penstock.pipeline.connect.plugins.versions import Version, VersionRange, parse_range

log = logging.getLogger("penstock.connect.plugins")

ENTRY_POINTS = "penstock.connect"
NEAREST = 5


class UnknownPlugin(NotFoundError):
    """No class of that name, or none of the kind that is asked for."""


class UnknownVersion(ConnectError):
    """The class is there, but in no version that is asked for."""

    def __init__(self, message: str, available_versions: list[str]) -> None:
        super().__init__(message)
        self.available_versions = available_versions


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """`name` is how others know it: Java's name where there is one, else the Python path. `reference` loads it."""

    cls: Any
    kind: PluginKind
    name: str
    reference: str
    version: str


@dataclass(frozen=True, slots=True)
class _Known:
    """A class that was found but not loaded."""

    name: str
    reference: str


class Plugins:
    def __init__(self, plugin_path: str | Sequence[str] = ()) -> None:
        parts = plugin_path.split(",") if isinstance(plugin_path, str) else plugin_path
        self._plugin_path = tuple(part.strip() for part in parts if part.strip())

    def find(self, kind: str, name: str, version: str | None = None) -> PluginInfo:
        """The newest one of that name and kind; `version` may be a range. `UnknownPlugin` says what is near."""
        return self._find((PluginKind(kind),), name, parse_range(version))

    def find_connector(self, name: str, version: str | None = None) -> PluginInfo:
        """A source or a sink."""
        return self._find(CONNECTORS, name, parse_range(version))

    def find_any(self, name: str, version: str | None = None) -> PluginInfo:
        """Of whatever kind."""
        return self._find(tuple(PluginKind), name, parse_range(version))

    def has(self, name: str) -> bool:
        """Whether something is known by that name, of whatever kind; nothing is loaded."""
        return name in self._index

    def versions(self, kind: str, name: str) -> Sequence[str]:
        """Those that there are, oldest first."""
        found = {info.version for info in self._candidates((PluginKind(kind),), name)}
        return sorted(found, key=Version)

    def list(self, kinds: Iterable[str] = tuple(PluginKind)) -> Sequence[PluginInfo]:
        """All of these kinds, by kind and name; a class under each Java name that it has.

        What cannot be loaded (an optional library is absent) is left out.
        """
        wanted = {PluginKind(kind) for kind in kinds}
        known = {(each.name, each.reference): each for group in self._index.values() for each in group}
        infos = {
            (info.kind, info.name, info.version): info
            for each in known.values()
            for info in self._loaded_if_possible(each)
            if info.kind in wanted
        }
        order = tuple(PluginKind)
        return sorted(
            infos.values(), key=lambda info: (order.index(info.kind), info.name, Version(info.version))
        )

    def load_class(self, reference: str) -> Any:
        """The class of "package.module:Class", on any machine that has it."""
        module_name, _, class_name = reference.partition(":")
        if not class_name:
            module_name, _, class_name = reference.rpartition(".")
        if module_name.startswith(PREFIX):
            module: Any = load_file(self._file_of(module_name))
        else:
            module = importlib.import_module(module_name)
        return functools.reduce(getattr, class_name.split("."), module)

    # --- how they are found

    @functools.cached_property
    def _files(self) -> dict[str, PluginFile]:
        return {file.module: file for file in files_in(self._plugin_path)}

    def _file_of(self, module_name: str) -> PluginFile:
        if module_name not in self._files:
            where = ", ".join(self._plugin_path) or "empty"
            raise UnknownPlugin(
                f"A plugin of plugin.path is not on this machine; here plugin.path is {where}"
            )
        return self._files[module_name]

    @functools.cached_property
    def _index(self) -> Mapping[str, Sequence[_Known]]:
        """What is known by each name."""
        index: dict[str, list[_Known]] = {}
        for known, names in self._everything():
            for name in dict.fromkeys(names):
                index.setdefault(name, []).append(known)
        return index

    @functools.cached_property
    def _ours_by_path(self) -> Mapping[str, Sequence[_Known]]:
        """Apart from the index: nobody who misspells a name wants to hear of these."""
        ours = shipped_plugins()
        return {reference.replace(":", "."): [_Known(name, reference)] for name, reference in ours}

    def _everything(self) -> Iterator[tuple[_Known, Iterable[str]]]:
        for java_name, reference in shipped_plugins():
            yield _Known(java_name, reference), names_of(java_name)
        for point in entry_points(group=ENTRY_POINTS):
            path = point.value.replace(":", ".")
            yield _Known(path, point.value), (point.name, point.value, *names_of(path))
        for file in self._files.values():
            for class_name in file.class_names():
                path = f"{file.name}.{class_name}"
                known = _Known(path, f"{file.module}:{class_name}")
                yield known, (known.reference, f"{file.name}:{class_name}", *names_of(path))

    def _find(self, kinds: Sequence[PluginKind], name: str, version_range: VersionRange | None) -> PluginInfo:
        found = self._candidates(kinds, name)
        if not found:
            raise self._unknown(kinds, name)
        names = sorted({info.name for info in found})
        if len(names) > 1:
            raise ConnectError(
                f"More than one {_kind_name(kinds).lower()} matches alias {name}. "
                f"Please use full package and class name instead. Classes found: {', '.join(names)}"
            )
        return _newest(found, version_range)

    def _candidates(self, kinds: Sequence[PluginKind], name: str) -> Sequence[PluginInfo]:
        known = self._index.get(name) or self._ours_by_path.get(name.replace(":", "."), ())
        return [info for each in known for info in self._loaded(each) if info.kind in kinds]

    def _loaded(self, known: _Known) -> Sequence[PluginInfo]:
        try:
            cls = self.load_class(known.reference)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("penstock."):
                raise
            raise ConnectError(f"{known.name} cannot be loaded: {error}") from error
        version = str(getattr(cls, "version", "undefined"))
        return [PluginInfo(cls, kind, known.name, known.reference, version) for kind in kinds_of(cls)]

    def _loaded_if_possible(self, known: _Known) -> Sequence[PluginInfo]:
        try:
            return self._loaded(known)
        except ConnectError as error:
            log.warning("plugin %s is left out: %s", known.name, error)
        return []

    def _is_of(self, kinds: Sequence[PluginKind], name: str) -> bool:
        return any(
            info.kind in kinds for known in self._index[name] for info in self._loaded_if_possible(known)
        )

    def _unknown(self, kinds: Sequence[PluginKind], name: str) -> UnknownPlugin:
        what = _kind_name(kinds)
        alike = difflib.get_close_matches(name, self._index, NEAREST * 4, 0.5)
        near = [each for each in alike if self._is_of(kinds, each)][:NEAREST]
        there = ", ".join(near or dict.fromkeys(info.name for info in self.list(kinds)))
        hint = f"nearest are: {there}" if near else f"available are: {there}"
        return UnknownPlugin(
            f"Failed to find any class that implements {what} and which name matches {name}, {hint}"
        )


def _newest(found: Sequence[PluginInfo], version_range: VersionRange | None) -> PluginInfo:
    right = [info for info in found if version_range is None or Version(info.version) in version_range]
    if not right:
        available = sorted({info.version for info in found}, key=Version)
        raise UnknownVersion(
            f"Plugin {found[0].name} not found that matches the version range {version_range}, "
            f"available versions: [{', '.join(available)}]",
            available,
        )
    return max(right, key=lambda info: Version(info.version))


def _kind_name(kinds: Sequence[PluginKind]) -> str:
    if len(kinds) == 1 and kinds[0] not in CONNECTORS:
        return BASES[kinds[0]].__name__
    return "Connector" if tuple(kinds) != tuple(PluginKind) else "a plugin"
