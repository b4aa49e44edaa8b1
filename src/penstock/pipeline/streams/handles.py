"""What is known of a stream, of a table and of a group, while a topology is being made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from penstock.pipeline.formats.serdes import SerdeSpec
from penstock.pipeline.plan.operations import Operation
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import StoreSpec
from penstock.pipeline.plan.views import View
from penstock.pipeline.streams.graph import GraphNode, StreamsGraph


@dataclass(eq=False)
class Handle:
    graph: StreamsGraph
    name: str
    node: GraphNode
    sources: frozenset[str]
    """Names of the sources that it comes from, back to where it was repartitioned."""
    key_serde: Serde | None
    value_serde: Serde | None

    def serdes(self, key: SerdeSpec, value: SerdeSpec) -> tuple[Serde | None, Serde | None]:
        """Those that are given, else its own."""
        given = self.graph.serde(key, "key"), self.graph.serde(value, "value")
        return given[0] or self.key_serde, given[1] or self.value_serde


@dataclass(eq=False)
class StreamHandle(Handle):
    needs_repartition: bool = False
    repartitioned: GraphNode | None = field(default=None, init=False)

    def at(self, node: GraphNode, value_serde: Serde | None = None) -> StreamHandle:
        """After a step that leaves the keys as they are."""
        return replace(self, name=node.name, node=node, value_serde=value_serde)

    def rekeyed(self, node: GraphNode, value_serde: Serde | None = None) -> StreamHandle:
        return replace(
            self, name=node.name, node=node, key_serde=None, value_serde=value_serde, needs_repartition=True
        )


class TableLogic(ABC):
    """What makes a table's rows, where others find them, and whether old rows come with the new ones."""

    sends_old = False

    @abstractmethod
    def operation(self) -> Operation:
        """As it is when all of the graph is known."""

    def stores(self) -> Sequence[StoreSpec]:
        return ()

    @abstractmethod
    def view(self) -> View:
        """Whoever calls this needs to look rows up, so that a source gets its store."""

    def enable_sending_old(self, force: bool) -> bool:
        """Whether old rows are sent from now on; `force` makes a store where there is none yet."""
        self.sends_old = True
        return True


@dataclass(eq=False)
class TableHandle(Handle):
    logic: TableLogic
    queryable: str | None = None
    _sends_old: bool = field(default=False, init=False)

    def enable_sending_old(self, force: bool) -> bool:
        if not self._sends_old:
            self._sends_old = self.logic.enable_sending_old(force)
        return self._sends_old


@dataclass(eq=False)
class GroupHandle(Handle):
    """A stream or a table on its way into an aggregate."""

    repartition_name: str | None = None
    needs_repartition: bool = False
    repartitioned: GraphNode | None = field(default=None, init=False)
