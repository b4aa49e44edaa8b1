"""The graph's nodes for what is read, written and repartitioned."""

from dataclasses import dataclass

from penstock.pipeline.formats.internal import change_serde
from penstock.pipeline.plan.assembly import TopologyAssembly
from penstock.pipeline.plan.nodes import (
    InternalTopic,
    Partitioner,
    Sink,
    Source,
    TimestampExtractor,
    TopicChooser,
)
from penstock.pipeline.plan.operations import KeepKeyed
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.streams.graph import GraphNode, StreamsGraph, add_processor


@dataclass(eq=False, kw_only=True)
class SourceNode(GraphNode):
    graph: StreamsGraph
    topics: tuple[str, ...]
    pattern: str | None = None
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    timestamp_extractor: TimestampExtractor | None = None
    offset_reset: str | None = None

    def source(self, name: str) -> Source:
        what = f"the source of {', '.join(self.topics) or self.pattern}"
        return Source(
            name,
            self.topics,
            self.pattern,
            self.graph.known(self.key_serde, "key", self, what),
            self.graph.known(self.value_serde, "value", self, what),
            self.timestamp_extractor,
            self.offset_reset,
            place=self.place,
        )

    def write(self, assembly: TopologyAssembly) -> None:
        assembly.add_node(self.source(self.name))


@dataclass(eq=False, kw_only=True)
class SinkNode(GraphNode):
    graph: StreamsGraph
    topic: str | TopicChooser
    key_serde: Serde | None
    value_serde: Serde | None
    partitioner: Partitioner | None = None

    def write(self, assembly: TopologyAssembly) -> None:
        what = f"the sink of {self.topic}" if isinstance(self.topic, str) else self.name
        assembly.add_node(
            Sink(
                self.name,
                self.parent_names,
                self.topic,
                self.graph.known(self.key_serde, "key", self, what),
                self.graph.known(self.value_serde, "value", self, what),
                self.partitioner,
                place=self.place,
            )
        )


@dataclass(eq=False, kw_only=True)
class InternalSourceNode(GraphNode):
    """Reads what a `SinkNode` above it has written into an internal topic."""

    topic: InternalTopic
    key_serde: Serde
    value_serde: Serde

    def write(self, assembly: TopologyAssembly) -> None:
        assembly.add_internal_topic(self.topic)
        source = Source(
            self.name,
            (self.topic.name,),
            key_serde=self.key_serde,
            value_serde=self.value_serde,
            place=self.place,
        )
        assembly.add_node(source)


@dataclass(eq=False, kw_only=True)
class RepartitionNode(GraphNode):
    """A filter, a sink and a source; its name is that of the source. Changes of a table need no filter."""

    graph: StreamsGraph
    topic: InternalTopic
    sink: str
    filter: str | None
    key_serde: Serde | None
    value_serde: Serde | None
    partitioner: Partitioner | None = None

    def write(self, assembly: TopologyAssembly) -> None:
        assembly.add_internal_topic(self.topic)
        parents = self.parent_names
        key = self.graph.known(self.key_serde, "key", self, f"the topic {self.topic.name}")
        value = self.graph.known(self.value_serde, "value", self, f"the topic {self.topic.name}")
        if self.filter is None:
            value = change_serde(value)
        else:
            add_processor(assembly, self, self.filter, parents, KeepKeyed(self.wants_null_keys()))
            parents = (self.filter,)
        name = self.topic.name
        assembly.add_node(Sink(self.sink, parents, name, key, value, self.partitioner, place=self.place))
        assembly.add_node(Source(self.name, (name,), key_serde=key, value_serde=value, place=self.place))


def repartition(
    graph: StreamsGraph,
    prefix: str,
    key_serde: Serde | None,
    value_serde: Serde | None,
    partitions: int | None = None,
    partitioner: Partitioner | None = None,
) -> RepartitionNode:
    """Named after the topic, unless the topic is named after a step."""
    topic = prefix if prefix.endswith("-repartition") else f"{prefix}-repartition"
    sink, keyed, source = (graph.new_name(f"KSTREAM-{kind}-") for kind in ("SINK", "FILTER", "SOURCE"))
    if not _is_generated(prefix):
        sink, keyed, source = f"{topic}-sink", f"{topic}-filter", f"{topic}-source"
    return RepartitionNode(
        source,
        graph=graph,
        topic=InternalTopic(topic, partitions),
        sink=sink,
        filter=keyed,
        key_serde=key_serde,
        value_serde=value_serde,
        partitioner=partitioner,
    )


def _is_generated(name: str) -> bool:
    number = name.rpartition("-")[2]
    return name.startswith("KSTREAM") and len(number) == 10 and number.isdigit()
