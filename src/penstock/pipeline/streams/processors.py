"""Stores for processors, and which of them come with a processor."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from penstock.pipeline.formats.serdes import SerdeSpec
from penstock.pipeline.operators.processor_api import ProcessorSupplier
from penstock.pipeline.plan.stores import KeyValueStoreSpec, SessionStoreSpec, StoreSpec, WindowStoreSpec
from penstock.pipeline.streams.graph import GraphNode, StreamsGraph

__all__ = ["ProcessorSupplier", "StoreBuilder", "Stores", "stores_of"]


@dataclass(frozen=True)
class StoreBuilder:
    """Made by `Stores`."""

    name: str
    kind: Literal["key-value", "window", "session"]
    key_serde: SerdeSpec
    value_serde: SerdeSpec
    is_timestamped: bool = False
    retention_ms: int = 0
    window_size_ms: int = 0
    retains_duplicates: bool = False
    is_logged: bool = True

    def with_logging_disabled(self) -> "StoreBuilder":
        return replace(self, is_logged=False)

    def spec(self, graph: StreamsGraph, node: GraphNode) -> StoreSpec:
        what = f"the store {self.name}"
        key = graph.known(graph.serde(self.key_serde, "key"), "key", node, what)
        value = graph.known(graph.serde(self.value_serde, "value"), "value", node, what)
        if self.kind == "session":
            return SessionStoreSpec(self.name, self.is_logged, key, value, self.retention_ms)
        if self.kind == "key-value":
            return KeyValueStoreSpec(self.name, self.is_logged, key, value, self.is_timestamped)
        return WindowStoreSpec(
            self.name,
            self.is_logged,
            key,
            value,
            self.window_size_ms,
            self.retention_ms,
            self.retains_duplicates,
            is_timestamped=self.is_timestamped,
        )


class Stores:
    """Builders of stores that processors use.

    >>> from penstock.streams import Stores
    >>> Stores.key_value_store("last-seen", "string", "long").kind
    'key-value'
    """

    @staticmethod
    def key_value_store(
        name: str, key_serde: SerdeSpec = None, value_serde: SerdeSpec = None
    ) -> StoreBuilder:
        return StoreBuilder(name, "key-value", key_serde, value_serde)

    @staticmethod
    def timestamped_key_value_store(
        name: str, key_serde: SerdeSpec = None, value_serde: SerdeSpec = None
    ) -> StoreBuilder:
        return StoreBuilder(name, "key-value", key_serde, value_serde, is_timestamped=True)

    @staticmethod
    def window_store(
        name: str,
        retention_ms: int,
        window_size_ms: int,
        key_serde: SerdeSpec = None,
        value_serde: SerdeSpec = None,
        *,
        retain_duplicates: bool = False,
    ) -> StoreBuilder:
        return StoreBuilder(
            name, "window", key_serde, value_serde, False, retention_ms, window_size_ms, retain_duplicates
        )

    @staticmethod
    def session_store(
        name: str, retention_ms: int, key_serde: SerdeSpec = None, value_serde: SerdeSpec = None
    ) -> StoreBuilder:
        return StoreBuilder(name, "session", key_serde, value_serde, retention_ms=retention_ms)


def stores_of(supplier: ProcessorSupplier, graph: StreamsGraph, node: GraphNode) -> Sequence[StoreSpec]:
    builders: Sequence[StoreBuilder] = getattr(supplier, "stores", ())
    return [builder.spec(graph, node) for builder in builders]
