"""Sources, processors and sinks, and the sub-topologies that they fall into."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from penstock.pipeline.plan.operations import Operation
from penstock.pipeline.plan.serdes import Serde

TimestampExtractor: TypeAlias = Callable[[Any, Any, int, int], int]
"""Of key, value, the record's own timestamp and the latest one of its partition."""
TopicChooser: TypeAlias = Callable[[Any, Any], str]
Partitioner: TypeAlias = Callable[[str, Any, Any, int], int | None]


@dataclass(frozen=True)
class Node:
    name: str
    place: str = field(default="", kw_only=True, compare=False)
    """Where in the user's file it was asked for."""

    @property
    def predecessors(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class Source(Node):
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    timestamp_extractor: TimestampExtractor | None = None
    offset_reset: str | None = None


@dataclass(frozen=True)
class Processor(Node):
    parents: tuple[str, ...]
    operation: Operation
    stores: tuple[str, ...] = ()

    @property
    def predecessors(self) -> tuple[str, ...]:
        return self.parents


@dataclass(frozen=True)
class Sink(Node):
    parents: tuple[str, ...]
    topic: str | TopicChooser
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    partitioner: Partitioner | None = None

    @property
    def predecessors(self) -> tuple[str, ...]:
        return self.parents


@dataclass(frozen=True)
class InternalTopic:
    """Without the application's id; `partitions` is None where it follows from the topics that it is joined with."""

    name: str
    partitions: int | None = None


@dataclass(frozen=True)
class SubTopology:
    number: int
    nodes: tuple[Node, ...]
    is_global: bool

    @cached_property
    def stores(self) -> tuple[str, ...]:
        named = [store for node in self.nodes if isinstance(node, Processor) for store in node.stores]
        return tuple(dict.fromkeys(named))

    @cached_property
    def source_topics(self) -> tuple[str, ...]:
        named = [topic for node in self.nodes if isinstance(node, Source) for topic in node.topics]
        return tuple(dict.fromkeys(named))
