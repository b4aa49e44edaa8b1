"""The store that a step asks for, with what was left open filled in."""

from dataclasses import dataclass

from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import KeyValueStoreSpec, SessionStoreSpec, WindowStoreSpec
from penstock.pipeline.streams.configured import Materialized
from penstock.pipeline.streams.graph import GraphNode, StreamsGraph, checked_name


@dataclass(frozen=True)
class Store:
    graph: StreamsGraph
    name: str
    is_queryable: bool
    """Whether the user has named it."""
    key_serde: Serde | None
    value_serde: Serde | None
    retention_ms: int | None
    is_logged: bool

    @property
    def queryable(self) -> str | None:
        return self.name if self.is_queryable else None

    def key_value(self, node: GraphNode) -> KeyValueStoreSpec:
        return KeyValueStoreSpec(self.name, self.is_logged, self._key(node), self._value(node))

    def window(
        self, node: GraphNode, size_ms: int, retention_ms: int, emits_on_close: bool
    ) -> WindowStoreSpec:
        return WindowStoreSpec(
            self.name,
            self.is_logged,
            self._key(node),
            self._value(node),
            size_ms,
            retention_ms,
            emits_on_close=emits_on_close,
        )

    def session(self, node: GraphNode, retention_ms: int) -> SessionStoreSpec:
        return SessionStoreSpec(self.name, self.is_logged, self._key(node), self._value(node), retention_ms)

    def _key(self, node: GraphNode) -> Serde:
        return self.graph.known(self.key_serde, "key", node, f"the store {self.name}")

    def _value(self, node: GraphNode) -> Serde:
        return self.graph.known(self.value_serde, "value", node, f"the store {self.name}")


def materialize(
    graph: StreamsGraph,
    given: Materialized | None,
    prefix: str,
    key_serde: Serde | None = None,
    value_serde: Serde | None = None,
) -> Store:
    """Takes a number for the name, if the user has none."""
    materialized = given or Materialized()
    name = materialized.store_name
    if name is not None:
        checked_name(name)
    return Store(
        graph,
        name if name is not None else graph.new_store_name(prefix),
        name is not None,
        graph.serde(materialized.key_serde, "key") or key_serde,
        graph.serde(materialized.value_serde, "value") or value_serde,
        materialized.retention_ms,
        materialized.logging_enabled,
    )
