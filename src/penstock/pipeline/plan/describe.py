"""A topology as text, letter by letter as Kafka Streams prints it, since people compare and visualise these texts.

Nodes stand by how much hangs below them, then by name. What Kafka counts as the size of a node is the number of nodes
below it, once for every way there; and its lists of neighbours are sorted by the sizes that the nodes had when they
were put in, while the sizes still grew, in the order of a hash map. So that is done here as well, step by step.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from penstock.pipeline.plan.java_order import hash_set_order
from penstock.pipeline.plan.nodes import Node, Processor, Sink, Source, SubTopology


@dataclass(eq=False)
class _Drawn:
    node: Node
    size: int = 1
    predecessors: "_Neighbours" = field(default_factory=lambda: _Neighbours())
    successors: "_Neighbours" = field(default_factory=lambda: _Neighbours())

    @property
    def rank(self) -> tuple[int, str]:
        return (-self.size, self.node.name)

    def grow(self, by: int) -> None:
        self.size += by
        for predecessor in self.predecessors.in_order():
            predecessor.grow(by)


class _Neighbours:
    """A search tree whose members may have changed their ranks since they were put in."""

    def __init__(self) -> None:
        self._root: _Fork | None = None

    def add(self, drawn: _Drawn) -> None:
        if self._root is None:
            self._root = _Fork(drawn)
            return
        fork = self._root
        while fork.drawn is not drawn:
            side = "left" if drawn.rank < fork.drawn.rank else "right"
            below: _Fork | None = getattr(fork, side)
            if below is None:
                setattr(fork, side, _Fork(drawn))
                return
            fork = below

    def in_order(self) -> list[_Drawn]:
        return self._root.in_order() if self._root else []

    def __str__(self) -> str:
        return ", ".join(each.node.name for each in self.in_order()) or "none"


@dataclass(eq=False)
class _Fork:
    drawn: _Drawn
    left: "_Fork | None" = None
    right: "_Fork | None" = None

    def in_order(self) -> list[_Drawn]:
        left = self.left.in_order() if self.left else []
        return [*left, self.drawn, *(self.right.in_order() if self.right else [])]


def description_of(groups: Iterable[SubTopology]) -> str:
    parts = [_global_text(group) if group.is_global else _text(group) for group in groups]
    return "Topologies:\n " + "".join(f"  {part}" for part in parts)


def _text(group: SubTopology) -> str:
    lines = "".join(f"    {_line(drawn)}\n" for drawn in sorted(_draw(group), key=lambda drawn: drawn.rank))
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


def _line(drawn: _Drawn) -> str:
    node = drawn.node
    match node:
        case Source():
            topics = node.pattern or f"[{', '.join(hash_set_order(node.topics))}]"
            return f"Source: {node.name} (topics: {topics})\n      --> {drawn.successors}"
        case Processor():
            stores = ", ".join(hash_set_order(node.stores))
            links = f"      --> {drawn.successors}\n      <-- {drawn.predecessors}"
            return f"Processor: {node.name} (stores: [{stores}])\n{links}"
        case Sink():
            kind = f"topic: {node.topic}" if isinstance(node.topic, str) else "extractor class: a function"
            return f"Sink: {node.name} ({kind})\n      <-- {drawn.predecessors}"
    raise AssertionError(node)
