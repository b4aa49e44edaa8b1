"""Where a topology begins: what it reads."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from penstock.pipeline.formats.serdes import SerdeSpec
from penstock.pipeline.plan.assembly import TopologyAssembly
from penstock.pipeline.plan.errors import TopologyError
from penstock.pipeline.plan.nodes import Processor
from penstock.pipeline.plan.operations import TableSource
from penstock.pipeline.plan.topology import Topology
from penstock.pipeline.plan.views import StoreView
from penstock.pipeline.streams.configured import Consumed, Materialized
from penstock.pipeline.streams.dsl import GlobalKTable, KStream, KTable
from penstock.pipeline.streams.graph import GraphNode, StoreNode, StreamsGraph
from penstock.pipeline.streams.handles import StreamHandle
from penstock.pipeline.streams.nodes import SourceNode
from penstock.pipeline.streams.places import callers_place
from penstock.pipeline.streams.processors import StoreBuilder
from penstock.pipeline.streams.steps.materialized import Store, materialize
from penstock.pipeline.streams.steps.tables import topic_table

K = TypeVar("K")
V = TypeVar("V")


class StreamsBuilder:
    """Makes a topology. Default serdes are for topics and stores whose own are neither given nor known.

    >>> from penstock.streams import Consumed, StreamsBuilder
    >>> builder = StreamsBuilder()
    >>> builder.stream("words", Consumed("string", "string")).filter(lambda key, word: word != "").to("kept")
    >>> print(builder.build().describe())
    Topologies:
       Sub-topology: 0
        Source: KSTREAM-SOURCE-0000000000 (topics: [words])
          --> KSTREAM-FILTER-0000000001
        Processor: KSTREAM-FILTER-0000000001 (stores: [])
          --> KSTREAM-SINK-0000000002
          <-- KSTREAM-SOURCE-0000000000
        Sink: KSTREAM-SINK-0000000002 (topic: kept)
          <-- KSTREAM-FILTER-0000000001
    <BLANKLINE>
    <BLANKLINE>
    """

    def __init__(self, *, default_key_serde: SerdeSpec = None, default_value_serde: SerdeSpec = None) -> None:
        self._graph = StreamsGraph(default_key_serde, default_value_serde)
        self._sources: list[SourceNode] = []

    def stream(
        self, topics: str | Sequence[str] | re.Pattern[str], consumed: Consumed | None = None
    ) -> KStream[Any, Any]:
        """Of one topic, of several, or of all whose names match a pattern."""
        given = consumed or Consumed()
        name = self._graph.name(given.name, "KSTREAM-SOURCE-")
        if isinstance(topics, re.Pattern):
            source = self._source(name, (), given, topics.pattern)
        else:
            source = self._source(name, (topics,) if isinstance(topics, str) else tuple(topics), given)
        node = self._same_source(source)
        handle = StreamHandle(
            self._graph, name, node, frozenset([node.name]), source.key_serde, source.value_serde
        )
        return KStream(handle)

    def _source(
        self, name: str, topics: tuple[str, ...], consumed: Consumed, pattern: str | None = None
    ) -> SourceNode:
        return SourceNode(
            name,
            graph=self._graph,
            topics=topics,
            pattern=pattern,
            key_serde=self._graph.serde(consumed.key_serde, "key"),
            value_serde=self._graph.serde(consumed.value_serde, "value"),
            timestamp_extractor=consumed.timestamp_extractor,
            offset_reset=consumed.offset_reset,
        )

    def _same_source(self, source: SourceNode) -> SourceNode:
        """A stream of topics that are read already comes from the same source."""
        for other in self._sources:
            if other.topics == source.topics and other.pattern == source.pattern:
                return other
            if shared := set(other.topics) & set(source.topics):
                raise TopologyError(
                    f"topic {min(shared)!r} is read here and at {other.place} among different topics: "
                    f"two streams read the same topics, or have none in common",
                    source.place,
                )
        self._sources.append(source)
        self._graph.add(self._graph.root, source)
        return source

    def table(
        self, topic: str, consumed: Consumed | None = None, materialized: Materialized | None = None
    ) -> KTable[Any, Any]:
        """The latest value of each key of a topic."""
        given = consumed or Consumed()
        store, source_name, name = self._table_names(topic, given, materialized)
        source = self._source(source_name, (topic,), given)
        source.key_serde, source.value_serde = store.key_serde, store.value_serde
        return KTable(topic_table(self._graph, source, name, store))

    def global_table(
        self, topic: str, consumed: Consumed | None = None, materialized: Materialized | None = None
    ) -> GlobalKTable[Any, Any]:
        """A table of which every task has all rows."""
        given = consumed or Consumed()
        store, source_name, name = self._table_names(topic, given, materialized)
        source = self._source(source_name, (topic,), given)
        source.key_serde, source.value_serde = store.key_serde, store.value_serde
        self._graph.add(self._graph.root, _GlobalNode(name, source, store))
        return GlobalKTable(StoreView(store.name), store.name)

    def _table_names(
        self, topic: str, consumed: Consumed, materialized: Materialized | None
    ) -> tuple[Store, str, str]:
        graph = self._graph
        key = graph.serde(consumed.key_serde, "key")
        value = graph.serde(consumed.value_serde, "value")
        store = materialize(graph, materialized, f"{topic}-", key, value)
        source = graph.suffixed(consumed.name, "-source", "KSTREAM-SOURCE-")
        return store, source, graph.name(consumed.name, "KTABLE-SOURCE-")

    def add_state_store(self, store: StoreBuilder) -> "StreamsBuilder":
        """A store that processors may name."""
        node = StoreNode(store.name)
        node.spec = store.spec(self._graph, node)
        self._graph.add(self._graph.root, node)
        return self

    def build(self) -> Topology:
        """The plan; refused with a `TopologyError` that says where, if something does not fit."""
        topology = self._graph.topology()
        if not topology.nodes:
            raise TopologyError("the topology is empty: nothing is read", callers_place())
        return topology


class _GlobalNode(GraphNode):
    def __init__(self, name: str, source: SourceNode, store: Store) -> None:
        super().__init__(name)
        self.source, self.store = source, store

    def write(self, assembly: TopologyAssembly) -> None:
        spec = replace(self.store.key_value(self), is_logged=False)
        operation = TableSource(spec.name)
        processor = Processor(self.name, (self.source.name,), operation, (spec.name,), place=self.place)
        assembly.add_global_store(self.source.source(self.source.name), processor, spec)
