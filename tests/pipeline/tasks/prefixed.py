"""The same topology on other topics."""

from dataclasses import replace

from penstock.pipeline.plan.nodes import Node, Sink, Source
from penstock.streams import Topology


def with_prefix(topology: Topology, prefix: str) -> Topology:
    own = topology.internal_topics

    def named(topic: str) -> str:
        return topic if topic in own else f"{prefix}{topic}"

    def renamed(node: Node) -> Node:
        if isinstance(node, Source):
            return replace(node, topics=tuple(map(named, node.topics)))
        if isinstance(node, Sink) and isinstance(node.topic, str):
            return replace(node, topic=named(node.topic))
        return node

    return replace(
        topology,
        nodes={name: renamed(node) for name, node in topology.nodes.items()},
        global_topics=frozenset(map(named, topology.global_topics)),
        copartitioned=tuple(frozenset(map(named, topics)) for topics in topology.copartitioned),
    )
