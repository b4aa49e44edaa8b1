"""The parts that decide know nothing of sockets, files, clocks or chance."""

import ast
from pathlib import Path

import pytest

import penstock.zookeeper

PURE = [
    "acl",
    "decide",
    "handlers",
    "jute",
    "paths",
    "processor",
    "protocol",
    "sessions",
    "state",
    "statistics",
    "tree",
    "txn",
    "watches",
    "wire",
]
IMPURE = {"asyncio", "os", "time", "random", "socket", "threading", "logging", "subprocess", "uvloop"}


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("module", PURE)
def test_pure_modules_import_nothing_impure(module: str) -> None:
    source = Path(penstock.zookeeper.__file__).parent / f"{module}.py"
    assert not imported(ast.parse(source.read_text())) & IMPURE
