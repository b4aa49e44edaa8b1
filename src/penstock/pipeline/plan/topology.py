"""A whole topology: nodes, stores, internal topics, and the sub-topologies that they fall into.

Nodes belong together that are linked, or that use the same store; a repartition topic is where one sub-topology ends
and the next begins. Sub-topologies are numbered in the order of their first nodes, global stores among them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from penstock.pipeline.plan.describe import description_of
from penstock.pipeline.plan.dot import dot_of
from penstock.pipeline.plan.nodes import InternalTopic, Node, Processor, Source, SubTopology
from penstock.pipeline.plan.stores import StoreSpec


@dataclass(frozen=True)
class Topology:
    """Nodes in the order in which they were added, parents before children."""

    nodes: Mapping[str, Node]
    stores: Mapping[str, StoreSpec]
    internal_topics: Mapping[str, InternalTopic]
    global_topics: frozenset[str]
    copartitioned: tuple[frozenset[str], ...] = ()
    """Sets of topics that need the same number of partitions; a pattern stands for those that match it."""

    @cached_property
    def sub_topologies(self) -> tuple[SubTopology, ...]:
        groups = _Groups(self.nodes)
        for node in self.nodes.values():
            for parent in node.predecessors:
                groups.unite(parent, node.name)
        for users in self._users_of_stores().values():
            for user in users[1:]:
                groups.unite(users[0], user)
        return tuple(
            SubTopology(number, tuple(self.nodes[name] for name in names), self._has_global_source(names))
            for number, names in enumerate(groups.in_order())
        )

    def _users_of_stores(self) -> dict[str, list[str]]:
        users: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for store in node.stores if isinstance(node, Processor) else ():
                users.setdefault(store, []).append(node.name)
        return users

    def _has_global_source(self, names: Iterable[str]) -> bool:
        sources = (self.nodes[name] for name in names)
        return any(
            isinstance(node, Source) and not self.global_topics.isdisjoint(node.topics) for node in sources
        )

    def topic_name(self, application_id: str, topic: str) -> str:
        """As it is called on the broker."""
        return f"{application_id}-{topic}" if topic in self.internal_topics else topic

    def changelogs(self, application_id: str) -> Iterator[str]:
        for store in self.stores.values():
            if store.is_logged:
                yield f"{application_id}-{store.changelog}"

    def repartition_topics(self, application_id: str) -> Iterator[str]:
        for topic in self.internal_topics:
            yield f"{application_id}-{topic}"

    def describe(self) -> str:
        """The text of Kafka Streams' `Topology.describe()`."""
        return description_of(self.sub_topologies)

    def describe_dot(self) -> str:
        """The same as a graph, for Graphviz."""
        return dot_of(self.sub_topologies)


class _Groups:
    def __init__(self, names: Iterable[str]) -> None:
        self._root = {name: name for name in names}

    def find(self, name: str) -> str:
        while self._root[name] != name:
            self._root[name] = name = self._root[self._root[name]]
        return name

    def unite(self, one: str, other: str) -> None:
        self._root[self.find(other)] = self.find(one)

    def in_order(self) -> list[list[str]]:
        groups: dict[str, list[str]] = {}
        for name in self._root:
            groups.setdefault(self.find(name), []).append(name)
        return list(groups.values())
