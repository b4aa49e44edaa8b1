"""The graph that the DSL's calls make, and how a topology is written from it.

Steps get their numbers when they are called for, in Kafka Streams' order, also those that a name of the user's own
leaves unused. Nodes are written in the order in which they were asked for, each after its parents; only then is it
known whether a table needs a store, and whether old rows travel with the new ones, for steps further down decide that.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from penstock.client.serializers.base import Field
from penstock.errors import ConfigError
from penstock.pipeline.formats.serdes import SerdeSpec, serde_of
from penstock.pipeline.plan.assembly import TopologyAssembly
from penstock.pipeline.plan.errors import TopologyError
from penstock.pipeline.plan.nodes import Processor
from penstock.pipeline.plan.operations import Operation
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import StoreSpec
from penstock.pipeline.plan.topology import Topology
from penstock.pipeline.streams.places import callers_place

LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
STATE_STORE = "STATE-STORE-"


@dataclass(eq=False)
class GraphNode:
    """A step; `write` adds its nodes to the topology."""

    name: str
    place: str = field(default_factory=callers_place)
    parents: list[GraphNode] = field(default_factory=list)
    children: list[GraphNode] = field(default_factory=list)
    priority: int = 0
    written: bool = False
    takes_null_keys: bool = False
    """A join further down wants records without a key."""
    grace_ms: int | None = None
    """How long after its end a window of what is aggregated here is still open."""

    @property
    def parent_names(self) -> tuple[str, ...]:
        return tuple(parent.name for parent in self.parents)

    def write(self, assembly: TopologyAssembly) -> None:
        pass

    def wants_null_keys(self) -> bool:
        return any(child.takes_null_keys or child.wants_null_keys() for child in self.children)

    def window_grace(self, chain: str = "") -> int:
        if self.grace_ms is not None:
            return self.grace_ms
        here = f"{self.name}->{chain}" if chain else self.name
        if not any(parent.parents for parent in self.parents):
            raise TopologyError(f"only windows can close, and there are none above: {here}", callers_place())
        return max(parent.window_grace(here) for parent in self.parents)


def _no_stores() -> Sequence[StoreSpec]:
    return ()


@dataclass(eq=False)
class ProcessorNode(GraphNode):
    operation: Callable[[], Operation] = Operation
    stores: Callable[[], Sequence[StoreSpec]] = _no_stores
    """Added with it."""
    connected: Sequence[str] = ()
    """Added elsewhere."""

    def write(self, assembly: TopologyAssembly) -> None:
        add_processor(assembly, self, self.name, self.parent_names, self.operation(), self.stores())
        assembly.connect(self.name, self.connected)


def add_processor(
    assembly: TopologyAssembly,
    node: GraphNode,
    name: str,
    parents: tuple[str, ...],
    operation: Operation,
    stores: Iterable[StoreSpec] = (),
) -> None:
    assembly.add_node(Processor(name, parents, operation, place=node.place))
    for spec in stores:
        assembly.add_store(spec, [name], node.place)


@dataclass(eq=False)
class StoreNode(GraphNode):
    """A store that processors name."""

    spec: StoreSpec | None = None

    def write(self, assembly: TopologyAssembly) -> None:
        assert self.spec is not None
        assembly.add_store(self.spec, place=self.place)


class StreamsGraph:
    def __init__(self, default_key_serde: SerdeSpec = None, default_value_serde: SerdeSpec = None) -> None:
        self.root = GraphNode("root", place="")
        self.copartitioned: list[frozenset[str]] = []
        self._count = 0
        self._next_priority = 0
        self._defaults = {
            "key": self.serde(default_key_serde, "key"),
            "value": self.serde(default_value_serde, "value"),
        }

    # --- names

    def new_name(self, prefix: str) -> str:
        number, self._count = self._count, self._count + 1
        return f"{prefix}{number:010d}"

    def new_store_name(self, prefix: str) -> str:
        return self.new_name(prefix + STATE_STORE)

    def name(self, given: str | None, prefix: str) -> str:
        return self.suffixed(given, "", prefix)

    def suffixed(self, given: str | None, suffix: str, prefix: str) -> str:
        generated = self.new_name(prefix)
        return generated if given is None else checked_name(given + suffix)

    # --- serdes

    def serde(self, given: SerdeSpec, of: Field) -> Serde | None:
        try:
            return serde_of(given, of)
        except ConfigError as error:
            raise TopologyError(str(error), callers_place()) from error

    def default(self, of: Field) -> Serde | None:
        return self._defaults[of]

    def known(self, serde: Serde | None, of: Field, node: GraphNode, what: str = "") -> Serde:
        """It, or the default; without any the program is refused."""
        found = serde or self._defaults[of]
        if found is None:
            raise TopologyError(
                f"{what or node.name}: the serde of its {of}s is unknown here; name it in Consumed, Produced, "
                f"Grouped, Materialized or Joined, or give StreamsBuilder a default_{of}_serde",
                node.place,
            )
        return found

    # --- nodes

    def add(self, parents: GraphNode | Sequence[GraphNode], node: GraphNode) -> None:
        for parent in [parents] if isinstance(parents, GraphNode) else parents:
            if node not in parent.children:
                parent.children.append(node)
            if parent not in node.parents:
                node.parents.append(parent)
            node.priority = self._next_priority
            self._next_priority += 1

    def copartition(self, *sources: Iterable[str]) -> frozenset[str]:
        everything = frozenset(name for names in sources for name in names)
        self.copartitioned.append(everything)
        return everything

    # --- the topology

    def topology(self) -> Topology:
        assembly = TopologyAssembly()
        for node in self._reachable():
            node.written = False
        self.root.written = True
        nodes = {child.priority: child for child in self.root.children}
        waiting = sorted(nodes)
        while waiting:
            node = nodes[heapq.heappop(waiting)]
            if not node.written and all(parent.written for parent in node.parents):
                node.write(assembly)
                node.written = True
                for child in node.children:
                    nodes[child.priority] = child
                    heapq.heappush(waiting, child.priority)
        return assembly.finished(self.copartitioned)

    def _reachable(self) -> list[GraphNode]:
        found, todo = [self.root], [self.root]
        while todo:
            for child in todo.pop().children:
                if child not in found:
                    found.append(child)
                    todo.append(child)
        return found


def checked_name(name: str) -> str:
    if not LEGAL_NAME.fullmatch(name):
        raise TopologyError(
            f"the name {name!r}: takes up to 249 letters, digits and the characters . _ -", callers_place()
        )
    return name
