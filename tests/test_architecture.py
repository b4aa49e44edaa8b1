"""The import contract: tiers point down only, and the pure middle stays pure."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src/penstock"

TIERS = [
    {"types", "errors", "clock", "settings", "java_hash", "child_processes"},
    {"wire", "records", "machine"},
    {"group", "txn", "replica", "controller", "share"},
    {"log"},
    {"zookeeper", "broker"},
    {"client"},
    {"web"},
    {"registry", "rest", "monitor", "pipeline"},
    {"ui", "stack", "testing"},
    {"cli"},
]
TIER_OF = {name: number for number, names in enumerate(TIERS) for name in names}
SIDE_BY_SIDE = {
    ("settings", "errors"),
    ("replica", "controller"),
    ("controller", "replica"),
    ("wire", "records"),
    ("machine", "wire"),
    ("group", "controller"),
    ("txn", "controller"),
}
"""Imports within one tier that are meant."""

PURE = {"wire", "records", "machine", "group", "txn", "replica", "controller", "share"}
PURE_IN_ZOOKEEPER = {
    *("acl", "decide", "handlers", "jute", "paths", "processor", "protocol", "sessions"),
    *("state", "statistics", "tree", "txn", "watches", "wire"),
}
PURE |= {f"zookeeper.{name}" for name in PURE_IN_ZOOKEEPER}
IMPURE_MODULES = {"asyncio", "os", "time", "random", "socket", "threading", "subprocess", "uvloop", "kazoo"}
MAX_FILE_LINES = 600
ONLY_HERE = {
    "kazoo": {"penstock.broker.coordination", "penstock.cli.tools.zookeeper_cli.session"},
    "confluent_kafka": {"penstock.client.librdkafka"},
}
ONLY_BELOW = {
    "pyspark": "penstock.pipeline.spark",
    "psycopg": "penstock.pipeline.connect.connectors",
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def imports_of(path: Path) -> set[str]:
    """Absolute names that a module imports at run time; those under TYPE_CHECKING do not count."""
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            todo += node.orelse
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        else:
            todo += ast.iter_child_nodes(node)
    return found


MODULES = dict(modules())


@pytest.mark.parametrize("module", [name for name in MODULES if name])
def test_imports_point_down(module: str) -> None:
    own = module.split(".")[0]
    assert own in TIER_OF, f"{module}: give package {own} its tier"
    for imported in imports_of(MODULES[module]):
        if not imported.startswith("penstock."):
            continue
        other = imported.split(".")[1]
        if other in (own, "__version__"):
            continue
        is_below = TIER_OF[other] < TIER_OF[own]
        assert is_below or (own, other) in SIDE_BY_SIDE, f"{module} imports {imported}"


@pytest.mark.parametrize("module", [name for name in MODULES if name])
def test_the_pure_middle_is_pure(module: str) -> None:
    if not any(module == pure or module.startswith(f"{pure}.") for pure in PURE):
        return
    roots = {name.split(".")[0] for name in imports_of(MODULES[module])}
    assert not roots & IMPURE_MODULES
    assert roots <= set(sys.stdlib_module_names) | {"penstock", "crc32c", "cramjam", "re2"}


def test_each_library_has_its_doors() -> None:
    for library, doors in ONLY_HERE.items():
        users = {f"penstock.{name}" for name, path in MODULES.items() if _uses(path, library)}
        assert users == doors


def test_each_large_library_has_its_package() -> None:
    for library, package in ONLY_BELOW.items():
        users = {f"penstock.{name}" for name, path in MODULES.items() if _uses(path, library)}
        assert users
        assert all(user.startswith(f"{package}.") for user in users), library


def _uses(path: Path, library: str) -> bool:
    return any(name.split(".")[0] == library for name in imports_of(path))


def test_files_stay_readable() -> None:
    lengths = {name: len(path.read_text().splitlines()) for name, path in MODULES.items()}
    written = {name for name in lengths if not name.startswith(("wire.messages.", "wire.stored."))}
    assert not {name: lengths[name] for name in written if lengths[name] > MAX_FILE_LINES}
