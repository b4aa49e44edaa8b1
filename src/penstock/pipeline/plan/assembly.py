"""Puts a topology together, node by node, and refuses what can't be."""

from collections.abc import Iterable
from dataclasses import replace

from penstock.pipeline.plan.errors import TopologyError
from penstock.pipeline.plan.nodes import InternalTopic, Node, Processor, Source
from penstock.pipeline.plan.stores import StoreSpec
from penstock.pipeline.plan.topology import Topology


class TopologyAssembly:
    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.stores: dict[str, StoreSpec] = {}
        self.internal_topics: dict[str, InternalTopic] = {}
        self._global_stores: set[str] = set()
        self._global_topics: set[str] = set()
        self._source_of_topic: dict[str, Source] = {}

    def add_node(self, node: Node) -> None:
        if (other := self.nodes.get(node.name)) is not None:
            there = f", which is taken at {other.place}" if other.place else ""
            raise TopologyError(f"two processors are called {node.name!r}{there}", node.place)
        for parent in node.predecessors:
            assert parent in self.nodes, (node.name, parent)
        if isinstance(node, Source):
            self._claim_topics(node)
        self.nodes[node.name] = node

    def _claim_topics(self, source: Source) -> None:
        for topic in source.topics:
            if (other := self._source_of_topic.setdefault(topic, source)) is not source:
                there = f" at {other.place}" if other.place else ""
                raise TopologyError(
                    f"topic {topic!r} is read twice, here and by {other.name}{there}: "
                    f"read it once and use the stream or table in both places",
                    source.place,
                )

    def add_global_store(self, source: Source, processor: Processor, store: StoreSpec) -> None:
        self.add_node(source)
        self.add_node(processor)
        self._add_spec(store, processor.place)
        self._global_stores.add(store.name)
        self._global_topics.update(source.topics)

    def add_store(self, spec: StoreSpec, users: Iterable[str] = (), place: str = "") -> None:
        self._add_spec(spec, place)
        for user in users:
            self.connect(user, [spec.name])

    def _add_spec(self, spec: StoreSpec, place: str) -> None:
        if self.stores.setdefault(spec.name, spec) != spec:
            raise TopologyError(f"two different stores are called {spec.name!r}", place)

    def connect(self, processor: str, stores: Iterable[str]) -> None:
        node = self.nodes[processor]
        assert isinstance(node, Processor)
        names = list(stores)
        for name in names:
            if name in self._global_stores:
                raise TopologyError(
                    f"{name!r} is a global store: every processor can use it without being connected",
                    node.place,
                )
            if name not in self.stores:
                known = ", ".join(sorted(self.stores)) or "none"
                raise TopologyError(
                    f"{node.name} uses the store {name!r}, which is not there (stores: {known}); "
                    f"builder.add_state_store adds one",
                    node.place,
                )
        self.nodes[processor] = replace(node, stores=tuple(dict.fromkeys((*node.stores, *names))))

    def add_internal_topic(self, topic: InternalTopic) -> None:
        self.internal_topics[topic.name] = topic

    def finished(self, copartitioned: Iterable[frozenset[str]]) -> Topology:
        """`copartitioned` has names of sources."""
        return Topology(
            dict(self.nodes),
            dict(self.stores),
            dict(self.internal_topics),
            frozenset(self._global_topics),
            tuple(self._topics_of(sources) for sources in copartitioned),
        )

    def _topics_of(self, sources: Iterable[str]) -> frozenset[str]:
        nodes = (self.nodes.get(name) for name in sources)
        return frozenset(topic for node in nodes if isinstance(node, Source) for topic in _read_by(node))


def _read_by(source: Source) -> tuple[str, ...]:
    return source.topics if source.pattern is None else (source.pattern,)
