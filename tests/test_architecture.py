"""The import contract: tiers point down only, the pure middle stays pure, and cycles only become fewer.

An import happens as its module loads, in a function, or never: under `TYPE_CHECKING`. The contract holds for all three.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parent.parent / "src/penstock"

TIERS = [
    {
        "types",
        "errors",
        "clock",
        "settings",
        "java_hash",
        "child_processes",
        "bounded_patterns",
        "log_rotation",
    },
    {"wire", "records", "machine"},
    {"group", "txn", "replica", "controller", "share"},
    {"log"},
    {"wire_client"},
    {"zookeeper", "broker"},
    {"client"},
    {"web"},
    {"registry", "rest", "pipeline"},
    {"stack", "streams", "testing"},
    {"cli"},
]
TIER_OF = {name: number for number, names in enumerate(TIERS) for name in names}
SIDE_BY_SIDE = {
    ("settings", "errors"),
    ("machine", "wire"),
    ("controller", "replica"),
    ("group", "controller"),
}
"""Imports within one tier that are meant."""

AT_LOAD, IN_A_FUNCTION, FOR_TYPES = "as it loads", "in a function", "under TYPE_CHECKING"
IN_A_CYCLE = {
    FOR_TYPES: {
        "broker.broker": {
            *("broker.coordinators", "broker.maintenance", "broker.router", "broker.share_groups"),
        },
        "broker.hosted_directory": {"broker.partition"},
        "broker.partition": {"broker.hosted_directory"},
        "broker.router": {"broker.connection"},
        "cli.tools.kafka_console_consumer": {"cli.tools.console.consumer_run"},
        "cli.tools.kafka_console_producer": {"cli.tools.console.producer_run"},
        "cli.tools.kafka_console_share_consumer": {"cli.tools.console.share_consumer_run"},
        "client.producer.kafka_producer": {"client.producer.transactions"},
        "pipeline.connect.data.struct": {"pipeline.connect.data.validation"},
        "settings.broker": {"settings.broker_checks", "settings.topic"},
        "testing.interception.exchange": {"testing.interception.rules"},
        "testing.interception.interceptor": {"testing.interception.rules"},
        "testing.interception.rules": {"testing.interception.seen"},
        "zookeeper.server": {"zookeeper.connection"},
    },
    IN_A_FUNCTION: {
        "cli.options.argparse4j_help": {"cli.options.argparse4j"},
        "cli.options.joptsimple_help": {"cli.options.joptsimple"},
        "wire_client.authentication": {"wire_client.connection"},
        "pipeline.spark.kafka_sink": {"pipeline.spark.kafka_source"},
        "pipeline.spark.kafka_source": {"pipeline.spark.kafka"},
    },
}
"""What is imported, and who imports it although it needs them, by itself or through others. It only gets shorter."""

PURE = {"wire", "records", "machine", "group", "txn", "replica", "controller", "share"}
PURE_IN_ZOOKEEPER = {
    *("acl", "decide", "handlers", "jute", "paths", "processor", "protocol", "sessions"),
    *("state", "statistics", "tree", "txn", "watches", "wire"),
}
PURE |= {f"zookeeper.{name}" for name in PURE_IN_ZOOKEEPER}
PURE |= {"pipeline.plan", "pipeline.operators"}
IMPURE_MODULES = {"asyncio", "os", "time", "random", "socket", "threading", "subprocess", "uvloop", "kazoo"}
PURE_LIBRARIES = {"crc32c", "cramjam", "re2"}
MAX_FILE_LINES = 600
LONGER = {"wire.stored"}
"""What is generated may be."""
ONLY_HERE = {
    "kazoo": {"penstock.broker.coordination", "penstock.cli.tools.zookeeper_cli.session"},
    "confluent_kafka": {"penstock.client.librdkafka"},
}
ONLY_BELOW = {
    "pyspark": "penstock.pipeline.spark",
    "psycopg": "penstock.pipeline.connect.connectors",
}


# --- reading the modules


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


MODULES = dict(modules())


class Import(NamedTuple):
    name: str
    when: str


@cache
def all_imports_of(path: Path) -> frozenset[Import]:
    """Absolute names; a relative one keeps its dots."""
    return frozenset(_imports_in(ast.parse(path.read_text()).body, AT_LOAD))


def imports_of(path: Path) -> set[str]:
    return {each.name for each in all_imports_of(path)}


def _imports_in(nodes: Iterable[ast.AST], when: str) -> Iterator[Import]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, when) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (f"{node.module}." if node.module else "")
            yield from (Import(origin + alias.name, when) for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from _imports_in(node.body, FOR_TYPES)
            yield from _imports_in(node.orelse, when)
        else:
            is_late = when == AT_LOAD and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports_in(_statements_in(node), IN_A_FUNCTION if is_late else when)


def _statements_in(node: ast.AST) -> Iterator[ast.AST]:
    kinds = ast.stmt | ast.excepthandler | ast.match_case
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, kinds))


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _root_of(name: str) -> str:
    return name.partition(".")[0]


def _lines(what: str, offenders: Iterable[str]) -> str:
    return "\n  ".join([f"{what}:", *sorted(offenders)])


# --- tiers


def _imports_not_down() -> Iterator[tuple[str, Import, tuple[str, str]]]:
    """What a module imports of a package that is not in a lower tier; and the two packages."""
    for module in filter(None, MODULES):
        for each in all_imports_of(MODULES[module]):
            root, _, inner = each.name.partition(".")
            own, other = _root_of(module), _root_of(inner)
            is_outside = root == "penstock" and other not in ("", own, "__version__")
            if is_outside and TIER_OF.get(other, len(TIERS)) >= TIER_OF.get(own, 0):
                yield module, each, (own, other)


def test_imports_are_absolute() -> None:
    relative = [
        f"{module} imports {each.name}"
        for module, path in MODULES.items()
        for each in all_imports_of(path)
        if each.name.startswith(".")
    ]
    assert not relative, _lines("relative imports", relative)


def test_each_package_has_its_tier() -> None:
    packages = {_root_of(module) for module in MODULES if module}
    new, gone = packages - TIER_OF.keys(), TIER_OF.keys() - packages
    assert not new, _lines("give each its tier", new)
    assert not gone, _lines("take what is not there off TIERS", gone)


def test_imports_point_down() -> None:
    upward = [
        f"{module} imports {each.name} {each.when}"
        for module, each, packages in _imports_not_down()
        if packages not in SIDE_BY_SIDE
    ]
    assert not upward, _lines("imports up or sideways", upward)


def test_imports_side_by_side_are_there() -> None:
    unused = SIDE_BY_SIDE - {packages for _, _, packages in _imports_not_down()}
    assert not unused, _lines("take what nobody needs off SIDE_BY_SIDE", map(" imports ".join, unused))


# --- cycles


Graph = dict[str, set[str]]
Edge = tuple[str, str, str]
"""Who imports whom, and when."""


def _graph(*whens: str) -> Graph:
    """Who imports whom; without the package's own `__init__`, which has the names of all clients."""
    return {
        module: {_module_of(each.name) for each in all_imports_of(path) if each.when in whens} - {"", module}
        for module, path in MODULES.items()
        if module
    }


def _module_of(imported: str) -> str:
    root, _, name = imported.partition(".")
    while root == "penstock" and name not in MODULES:
        name = name.rpartition(".")[0]
    return name if root == "penstock" else ""


@cache
def _cycles() -> dict[Edge, list[str]]:
    """The imports that close one, with the way back. A cycle with an import for types is that import's alone."""
    at_load, at_run_time = _graph(AT_LOAD), _graph(AT_LOAD, IN_A_FUNCTION)
    everything = _graph(AT_LOAD, IN_A_FUNCTION, FOR_TYPES)
    return {
        **_ways_back(IN_A_FUNCTION, at_load, at_run_time),
        **_ways_back(FOR_TYPES, at_run_time, everything),
    }


def _ways_back(when: str, less: Graph, more: Graph) -> dict[Edge, list[str]]:
    added = [(module, imported) for module in more for imported in more[module] - less[module]]
    ways = {(module, imported, when): _way(more, imported, module) for module, imported in added}
    return {edge: way for edge, way in ways.items() if way}


def _way(graph: Graph, start: str, goal: str) -> list[str]:
    """The shortest one; empty if there is none."""
    ways, todo = {start: [start]}, [start]
    for module in todo:
        if module == goal:
            return ways[goal]
        for imported in graph[module] - ways.keys():
            ways[imported] = [*ways[module], imported]
            todo.append(imported)
    return []


def _listed_cycles() -> set[Edge]:
    return {
        (module, imported, when)
        for when, listed in IN_A_CYCLE.items()
        for imported, users in listed.items()
        for module in users
    }


def test_modules_load_without_cycles() -> None:
    try:
        TopologicalSorter(_graph(AT_LOAD)).prepare()
    except CycleError as error:
        pytest.fail("a cycle: " + " imports ".join(reversed(error.args[1])))


def test_no_import_closes_a_new_cycle() -> None:
    ways = _cycles()
    new = [
        f"{module} imports, {when}, {' imports '.join(ways[module, imported, when])}"
        for module, imported, when in ways.keys() - _listed_cycles()
    ]
    assert not new, _lines("new cycles", new)


def test_listed_cycles_are_there() -> None:
    gone = [
        f"{module} imports {imported} {when}"
        for module, imported, when in _listed_cycles() - _cycles().keys()
    ]
    assert not gone, _lines("these close no cycle any more; take them off IN_A_CYCLE", gone)


# --- purity


def _roots_in_the_pure_middle() -> dict[str, set[str]]:
    pure = [module for module in MODULES if any(_is_in(module, name) for name in PURE)]
    return {module: set(map(_root_of, imports_of(MODULES[module]))) for module in pure}


def test_the_pure_middle_is_pure() -> None:
    allowed = (set(sys.stdlib_module_names) - IMPURE_MODULES) | {"penstock"} | PURE_LIBRARIES
    impure = [
        f"{module} imports {root}"
        for module, roots in _roots_in_the_pure_middle().items()
        for root in roots - allowed
    ]
    assert not impure, _lines("IO in the pure middle", impure)


def test_the_pure_middle_is_there_and_uses_its_libraries() -> None:
    gone = PURE - MODULES.keys()
    unused = PURE_LIBRARIES.difference(*_roots_in_the_pure_middle().values())
    assert not gone, _lines("take what is not there off PURE", gone)
    assert not unused, _lines("take what nobody uses off PURE_LIBRARIES", unused)


# --- libraries and files


def _users_of(library: str) -> set[str]:
    return {
        f"penstock.{module}"
        for module, path in MODULES.items()
        if any(_is_in(name, library) for name in imports_of(path))
    }


def test_each_library_has_its_doors() -> None:
    doors = {(door, library) for library, doors in ONLY_HERE.items() for door in doors}
    users = {(user, library) for library in ONLY_HERE for user in _users_of(library)}
    assert not users - doors, _lines("past the library's doors", map(" imports ".join, users - doors))
    assert not doors - users, _lines(
        "take these off ONLY_HERE", map(" no longer imports ".join, doors - users)
    )


def test_each_large_library_has_its_package() -> None:
    users = {(user, library) for library in ONLY_BELOW for user in _users_of(library)}
    outside = {(user, library) for user, library in users if not user.startswith(f"{ONLY_BELOW[library]}.")}
    unused = ONLY_BELOW.keys() - {library for _, library in users}
    assert not outside, _lines("outside the library's package", map(" imports ".join, outside))
    assert not unused, _lines("take what nobody uses off ONLY_BELOW", unused)


def test_files_stay_readable() -> None:
    lengths = {module: len(path.read_text().splitlines()) for module, path in MODULES.items()}
    long = {module: length for module, length in lengths.items() if length > MAX_FILE_LINES}
    written = [
        f"{module}: {long[module]}" for module in long if not any(_is_in(module, each) for each in LONGER)
    ]
    assert not written, _lines(f"files with more than {MAX_FILE_LINES} lines", written)
    unused = {each for each in LONGER if not any(_is_in(module, each) for module in long)}
    assert not unused, _lines("take what is not longer off LONGER", unused)
