"""Each console tool is a script of the package and a command of `penstock`, and each of these is a tool."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

from penstock.cli.commands import TOOLS, TOOLS_PACKAGE

OF_CONFLUENT = {
    *("kafka-rest-start", "schema-registry-start"),
    *("kafka-avro-console-producer", "kafka-avro-console-consumer"),
    *("kafka-json-schema-console-producer", "kafka-json-schema-console-consumer"),
    *("kafka-protobuf-console-producer", "kafka-protobuf-console-consumer"),
}
"""Which have no `.sh` at the end there either."""
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / TOOLS_PACKAGE.replace(".", "/")
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]


def has_main(path: Path) -> bool:
    tree = ast.parse(path.read_text())
    return any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)


def tools() -> set[str]:
    return {f"{TOOLS_PACKAGE}.{path.stem}" for path in FOLDER.glob("*.py") if has_main(path)}


def test_each_tool_is_a_script_and_each_script_a_tool() -> None:
    expected = {module.rpartition(".")[2].replace("_", "-"): f"{module}:main" for module in tools()}
    with_sh = {f"{name}.sh": entry for name, entry in expected.items() if name not in OF_CONFLUENT}
    assert {name: entry for name, entry in SCRIPTS.items() if name != "penstock"} == expected | with_sh


def test_pip_makes_files_of_the_names_with_sh(tmp_path: Path) -> None:
    """By the part of pip that makes them."""
    scripts = pytest.importorskip("pip._vendor.distlib.scripts")
    maker = scripts.ScriptMaker(None, str(tmp_path))
    maker.variants = {""}
    maker.executable = sys.executable
    maker.make_multiple([f"{name} = {entry}" for name, entry in SCRIPTS.items() if name.endswith(".sh")])
    made = {file.name for file in tmp_path.iterdir()}
    assert made == {name for name in SCRIPTS if name.endswith(".sh")}
    assert {"kafka-topics.sh", "zookeeper-shell.sh", "connect-distributed.sh"} <= made


def test_each_tool_is_a_command_and_each_command_a_tool() -> None:
    assert {command.module for command in TOOLS.values()} == tools()
    for name, command in TOOLS.items():
        assert command.module.rpartition(".")[2].removeprefix("kafka_").replace("_", "-") == name


def test_nothing_lies_beside_the_tools_that_is_none() -> None:
    """What several tools share is in a package of its own."""
    modules = {f"{TOOLS_PACKAGE}.{path.stem}" for path in FOLDER.glob("*.py") if path.stem != "__init__"}
    assert modules == tools()
