"""A topology as text, letter by letter as Kafka Streams prints it, since people compare and visualise these texts.

Nodes stand by how much hangs below them, then by name. What Kafka counts as the size of a node is the number of nodes
below it, once for every way there; and its lists of neighbours are sorted by the sizes that the nodes had when they
were put in, while the sizes still grew, in the order of a hash map. So that is done here as well, step by step.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from penstock.pipeline.plan.java_order import TreeSet, hash_set_order
from penstock.pipeline.plan.nodes import Node, Processor, Sink, Source, SubTopology


def _rank(drawn: "_Drawn") -> tuple[int, str]:
    return (-drawn.size, drawn.node.name)


@dataclass(eq=False)
class _Drawn:
    node: Node
    size: int = 1
    predecessors: "TreeSet[_Drawn]" = field(default_factory=lambda: TreeSet(_rank))
    successors: "TreeSet[_Drawn]" = field(default_factory=lambda: TreeSet(_rank))

    def grow(self, by: int) -> None:
        self.size += by
        for predecessor in self.predecessors:
            predecessor.grow(by)


def description_of(groups: Iterable[SubTopology]) -> str:
    parts = [_global_text(group) if group.is_global else _text(group) for group in groups]
    return "Topologies:\n " + "".join(f"  {part}" for part in parts)


def _text(group: SubTopology) -> str:
    lines = "".join(f"    {_line(drawn)}\n" for drawn in sorted(_draw(group), key=_rank))
    return f"Sub-topology: {group.number}\n{lines}\n"


def _global_text(group: SubTopology) -> str:
    source, processor = _draw(group, in_hash_order=False)
    head = f"Sub-topology: {group.number} for global store (will not generate tasks)\n"
    return f"{head}    {_line(source)}\n    {_line(processor)}\n"


def _draw(group: SubTopology, *, in_hash_order: bool = True) -> list[_Drawn]:
    names = [node.name for node in group.nodes]
    drawn = {node.name: _Drawn(node) for node in group.nodes}
    ordered = hash_set_order(names) if in_hash_order else names
    for name in ordered:
        own = drawn[name]
        for parent in own.node.predecessors:
            own.predecessors.add(drawn[parent])
            drawn[parent].successors.add(own)
            drawn[parent].grow(own.size)
    return [drawn[name] for name in names]


def _names(neighbours: TreeSet[_Drawn]) -> str:
    return ", ".join(each.node.name for each in neighbours) or "none"


def _line(drawn: _Drawn) -> str:
    node = drawn.node
    below, above = _names(drawn.successors), _names(drawn.predecessors)
    match node:
        case Source():
            topics = node.pattern or f"[{', '.join(hash_set_order(node.topics))}]"
            return f"Source: {node.name} (topics: {topics})\n      --> {below}"
        case Processor():
            stores = ", ".join(hash_set_order(node.stores))
            return f"Processor: {node.name} (stores: [{stores}])\n      --> {below}\n      <-- {above}"
        case Sink():
            kind = f"topic: {node.topic}" if isinstance(node.topic, str) else "extractor class: a function"
            return f"Sink: {node.name} ({kind})\n      <-- {above}"
    raise AssertionError(node)
