"""Plugins in `plugin.path`: Python files and packages in its directories, or one level below (a directory per plugin).

A file's classes are known by reading it, not by running it. Each file becomes a module with a name made of its path, so
that two versions of one plugin can stand side by side, and so that the name means the same file on every machine
that has it in the same place. Modules beside a file can be imported by it under their own names. An entry that is no
path names an importable module, which keeps its name.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from penstock.errors import ConfigError
from penstock.pipeline.connect.errors import ConnectError

log = logging.getLogger("penstock.connect.plugins")

PREFIX = "penstock_plugin_path_"


@dataclass(frozen=True, slots=True)
class PluginFile:
    path: Path
    module: str

    @property
    def name(self) -> str:
        """What it is called in an import, or would be."""
        if not self.module.startswith(PREFIX):
            return self.module
        return self.path.parent.name if self.path.name == "__init__.py" else self.path.stem

    def class_names(self) -> list[str]:
        """The classes that it defines; none, with a warning, if it is no Python."""
        try:
            tree = ast.parse(self.path.read_bytes(), str(self.path))
        except (OSError, SyntaxError, ValueError) as error:
            log.warning("plugin.path: %s is left out: %s", self.path, error)
            return []
        return [node.name for node in tree.body if isinstance(node, ast.ClassDef)]


def files_in(plugin_path: Sequence[str]) -> Iterator[PluginFile]:
    for text in plugin_path:
        directory = Path(text).absolute()
        if directory.suffix == ".py" and directory.is_file():
            yield _file(directory)
        elif directory.is_dir():
            yield from _files_of(directory)
        elif importable := _importable(text):
            yield importable
        else:
            raise ConfigError(f"plugin.path: {text!r} is no directory, no Python file and no module")


def _importable(name: str) -> PluginFile | None:
    if not all(map(str.isidentifier, name.split("."))):
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return None if spec is None or not spec.has_location else PluginFile(Path(str(spec.origin)), name)


def _files_of(directory: Path) -> Iterator[PluginFile]:
    if (directory / "__init__.py").is_file():
        yield _file(directory / "__init__.py")
        return
    for path in sorted(directory.iterdir()):
        if path.suffix == ".py":
            yield _file(path)
        elif path.is_dir() and (path / "__init__.py").is_file():
            yield _file(path / "__init__.py")
        elif path.is_dir() and not path.name.startswith((".", "_")):
            yield from (_file(each) for each in sorted(path.glob("*.py")))


def _file(path: Path) -> PluginFile:
    return PluginFile(path, PREFIX + hashlib.sha256(str(path).encode()).hexdigest()[:12])


def load_file(file: PluginFile) -> ModuleType:
    """The module of a file, run once."""
    if file.module in sys.modules:
        return sys.modules[file.module]
    is_package = file.path.name == "__init__.py"
    spec = importlib.util.spec_from_file_location(
        file.module, file.path, submodule_search_locations=[str(file.path.parent)] if is_package else None
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    beside = str(file.path.parent.parent if is_package else file.path.parent)
    if beside not in sys.path:
        sys.path.append(beside)
    sys.modules[file.module] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[file.module]
        raise ConnectError(f"{file.path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module
