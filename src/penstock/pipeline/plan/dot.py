"""A topology as a graph in DOT: topics as notes, stores as cylinders, a frame around each sub-topology."""

from collections.abc import Iterable, Iterator
from functools import partial
from json import dumps as json_dumps

from penstock.pipeline.plan.nodes import Node, Processor, Sink, Source, SubTopology

dumps = partial(json_dumps, ensure_ascii=False)
"""Strings are the same in JSON and in DOT, but for escapes of characters."""


def dot_of(groups: Iterable[SubTopology]) -> str:
    topics: dict[str, None] = {}
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
        topics.update(dict.fromkeys(topic for node in group.nodes for topic in _topics_of(node)))
    lines += [f"  {_topic(topic)} [shape=note,label={dumps(topic)}];" for topic in topics]
    return "\n".join([*lines, "}\n"])


def _edges(node: Node) -> Iterator[str]:
    for parent in node.predecessors:
        yield f"{dumps(parent)} -> {dumps(node.name)};"
    match node:
        case Source():
            for topic in _topics_of(node):
                yield f"{_topic(topic)} -> {dumps(node.name)};"
        case Sink():
            for topic in _topics_of(node):
                yield f"{dumps(node.name)} -> {_topic(topic)};"
        case Processor():
            for store in node.stores:
                yield f"{dumps(node.name)} -> {dumps(f'store {store}')} [style=dashed,dir=none];"


def _topics_of(node: Node) -> tuple[str, ...]:
    match node:
        case Source():
            return node.topics or (str(node.pattern),)
        case Sink():
            return (node.topic if isinstance(node.topic, str) else "that the program chooses",)
    return ()


def _topic(name: str) -> str:
    return dumps(f"topic {name}")
