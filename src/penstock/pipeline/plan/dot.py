"""A topology as a graph in DOT: topics as notes, stores as cylinders, a frame around each sub-topology."""

from collections.abc import Iterable, Iterator
from json import dumps

from penstock.pipeline.plan.nodes import Node, Processor, Sink, Source, SubTopology


def dot_of(groups: Iterable[SubTopology]) -> str:
    lines = ["digraph topology {", "  rankdir=LR;", "  node [shape=box];"]
    for group in groups:
        lines += [
            f"  subgraph cluster_{group.number} {{",
            f"    label={dumps(f'sub-topology {group.number}')};",
        ]
        lines += [f"    {dumps(node.name)};" for node in group.nodes]
        lines += [
            f"    {dumps(f'store {store}')} [shape=cylinder,label={dumps(store)}];" for store in group.stores
        ]
        lines.append("  }")
        lines += [f"  {line}" for node in group.nodes for line in _edges(node)]
    return "\n".join([*lines, "}\n"])


def _edges(node: Node) -> Iterator[str]:
    for parent in node.predecessors:
        yield f"{dumps(parent)} -> {dumps(node.name)};"
    match node:
        case Source():
            for topic in node.topics or (str(node.pattern),):
                yield f"{_topic(topic)} -> {dumps(node.name)};"
        case Sink():
            name = node.topic if isinstance(node.topic, str) else "a topic that the program chooses"
            yield f"{dumps(node.name)} -> {_topic(name)};"
        case Processor():
            for store in node.stores:
                yield f"{dumps(node.name)} -> {dumps(f'store {store}')} [style=dashed,dir=none];"


def _topic(name: str) -> str:
    return dumps(f"topic {name}")
