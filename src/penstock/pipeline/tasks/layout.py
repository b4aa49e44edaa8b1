"""Which tasks a program has, and which topics of its own: pure, of a topology and of what topics there are.

A sub-topology has as many tasks as the one of its topics with the most partitions; a task reads the partition of its
number of each. A repartition topic has as many partitions as it is told, or as what it is joined with, or as the
largest topic that is written from into it. Changelogs have a partition for each task.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from penstock.pipeline.plan.errors import TopologyError
from penstock.pipeline.plan.nodes import Sink, Source, SubTopology
from penstock.pipeline.plan.stores import SessionStoreSpec, StoreSpec, WindowStoreSpec
from penstock.pipeline.plan.topology import Topology
from penstock.types import TopicPartition

REPARTITION_CONFIGS = {
    "cleanup.policy": "delete",
    "message.timestamp.type": "CreateTime",
    "retention.ms": "-1",
    "segment.bytes": "52428800",
}
CHANGELOG_CONFIGS = {"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"}
LONGEST_MS = (1 << 63) - 1
MORE_RETENTION_MS = 24 * 60 * 60 * 1000
"""What a windowed changelog keeps beyond its store, as in Kafka Streams: its clock is not the records'."""


class TaskId(NamedTuple):
    sub_topology: int
    partition: int

    def __str__(self) -> str:
        return f"{self.sub_topology}_{self.partition}"


class OwnTopic(NamedTuple):
    """A topic that the program makes for itself, by its name on the broker."""

    name: str
    partitions: int
    configs: Mapping[str, str]

    @property
    def needed_configs(self) -> Mapping[str, str]:
        """Whatever else is wished for: what a windowed store keeps, its changelog keeps."""
        is_windowed = self.configs["cleanup.policy"] != "compact" and self.configs["retention.ms"] != "-1"
        return {"retention.ms": self.configs["retention.ms"]} if is_windowed else {}


@dataclass(frozen=True)
class Layout:
    tasks: Mapping[TaskId, tuple[TopicPartition, ...]]
    """What each reads."""
    repartition_topics: tuple[OwnTopic, ...]
    changelogs: tuple[OwnTopic, ...]
    leading_topics: Mapping[int, str]
    """Of each sub-topology the topic of which a partition stands for the task of its number."""
    global_inputs: tuple[TopicPartition, ...]
    """All partitions of the topics of global tables."""

    @property
    def own_topics(self) -> tuple[OwnTopic, ...]:
        return self.repartition_topics + self.changelogs


def topics_of_patterns(topology: Topology, there: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each pattern that a source reads by, those of the topics that match it."""
    names = sorted(there)
    return {
        node.pattern: tuple(name for name in names if re.fullmatch(node.pattern, name))
        for node in topology.nodes.values()
        if isinstance(node, Source) and node.pattern is not None
    }


def topics_from_outside(topology: Topology, patterns: Mapping[str, Iterable[str]]) -> set[str]:
    """Those that must be there before the program can run; `patterns` has the topics that match each."""
    read = {topic for group in topology.sub_topologies for topic in _read_by(group, patterns)}
    return read - topology.internal_topics.keys()


def _read_by(group: SubTopology, patterns: Mapping[str, Iterable[str]]) -> list[str]:
    matched = [
        topic
        for node in group.nodes
        if isinstance(node, Source) and node.pattern is not None
        for topic in _topics_of(node, patterns)
    ]
    return list(dict.fromkeys((*group.source_topics, *matched)))


def lay_out(
    topology: Topology,
    application_id: str,
    there: Mapping[str, int],
    patterns: Mapping[str, Iterable[str]] | None = None,
) -> Layout:
    """`there` has the partitions of the topics from outside; refused with a `TopologyError` if they do not fit."""
    reads = {group.number: _read_by(group, patterns or {}) for group in topology.sub_topologies}
    _refuse_missing(topology, reads, there, patterns or {})
    _refuse_read_twice(topology, patterns or {})
    partitions = _Partitions(topology, there, reads, patterns or {}).resolved()
    tasks: dict[TaskId, tuple[TopicPartition, ...]] = {}
    leading: dict[int, str] = {}
    changelogs: list[OwnTopic] = []
    for group in topology.sub_topologies:
        topics = reads[group.number]
        if group.is_global or not topics:
            continue
        widest = max(topics, key=lambda topic: partitions[topic])
        leading[group.number] = topology.topic_name(application_id, widest)
        for number in range(partitions[widest]):
            tasks[TaskId(group.number, number)] = tuple(
                TopicPartition(topology.topic_name(application_id, topic), number)
                for topic in topics
                if number < partitions[topic]
            )
        changelogs += _changelogs_of(group, topology, application_id, partitions[widest])
    repartition = tuple(
        OwnTopic(f"{application_id}-{name}", partitions[name], REPARTITION_CONFIGS)
        for name in topology.internal_topics
    )
    return Layout(
        tasks,
        repartition,
        tuple(changelogs),
        leading,
        tuple(
            TopicPartition(topic, number)
            for topic in sorted(topology.global_topics)
            for number in range(there[topic])
        ),
    )


def _refuse_missing(
    topology: Topology,
    reads: Mapping[int, list[str]],
    there: Mapping[str, int],
    patterns: Mapping[str, Iterable[str]],
) -> None:
    for topic in sorted({topic for topics in reads.values() for topic in topics}):
        if topic not in there and topic not in topology.internal_topics:
            readers = (
                node for node in topology.nodes.values() if isinstance(node, Source) and topic in node.topics
            )
            place = next((node.place for node in readers), "")
            raise TopologyError(f"topic {topic!r} is read, and there is no such topic", place)
    for node in topology.nodes.values():
        if isinstance(node, Source) and node.pattern is not None and not patterns.get(node.pattern):
            raise TopologyError(
                f"topics that match {node.pattern!r} are read, and there are none", node.place
            )


def _refuse_read_twice(topology: Topology, patterns: Mapping[str, Iterable[str]]) -> None:
    """Positions are by topic: two tasks with the same would take records from each other."""
    reader_of: dict[str, Source] = {}
    for node in topology.nodes.values():
        if not isinstance(node, Source):
            continue
        for topic in _topics_of(node, patterns):
            if (other := reader_of.setdefault(topic, node)) is not node:
                there = f" ({other.place})" if other.place else ""
                raise TopologyError(
                    f"topic {topic!r} is read here and by {other.name}{there}: a pattern must match other topics",
                    node.place or other.place,
                )


def _topics_of(source: Source, patterns: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    return source.topics if source.pattern is None else tuple(patterns.get(source.pattern, ()))


def _changelogs_of(
    group: SubTopology, topology: Topology, application_id: str, partitions: int
) -> Iterator[OwnTopic]:
    for name in group.stores:
        spec = topology.stores[name]
        if spec.is_logged:
            yield OwnTopic(f"{application_id}-{spec.changelog}", partitions, _configs_of(spec))


def _configs_of(spec: StoreSpec) -> Mapping[str, str]:
    if not isinstance(spec, WindowStoreSpec | SessionStoreSpec):
        return CHANGELOG_CONFIGS
    policy = "delete" if isinstance(spec, WindowStoreSpec) and spec.retains_duplicates else "compact,delete"
    retention = str(min(spec.retention_ms + MORE_RETENTION_MS, LONGEST_MS))
    return {**CHANGELOG_CONFIGS, "cleanup.policy": policy, "retention.ms": retention}


class _Partitions:
    """How many each topic has; what is not known yet follows, step by step, from what is."""

    def __init__(
        self,
        topology: Topology,
        there: Mapping[str, int],
        reads: Mapping[int, list[str]],
        patterns: Mapping[str, Iterable[str]],
    ) -> None:
        self._topology = topology
        self._reads = reads
        self._patterns = patterns
        self._known = dict(there)
        self._fixed = {
            name: topic.partitions
            for name, topic in topology.internal_topics.items()
            if topic.partitions is not None
        }
        self._known.update(self._fixed)

    def resolved(self) -> Mapping[str, int]:
        while missing := self._topology.internal_topics.keys() - self._known.keys():
            found = {name: count for name in missing if (count := self._of_writers(name)) is not None}
            if not found:
                raise TopologyError(
                    f"nothing says how many partitions {', '.join(sorted(missing))} should have"
                )
            self._known.update(found)
        for group in self._copartitioned():
            self._make_equal(group)
        return self._known

    def _copartitioned(self) -> list[frozenset[str]]:
        """Sets with a topic in common are one; what matches a pattern is in the set of the pattern."""
        united: list[frozenset[str]] = []
        for named in self._topology.copartitioned:
            group = frozenset(topic for name in named for topic in self._patterns.get(name, (name,)))
            apart = [other for other in united if other.isdisjoint(group)]
            united = [*apart, group.union(*(other for other in united if other not in apart))]
        return united

    def _of_writers(self, topic: str) -> int | None:
        """The most that any topic has from which it is written; None if that is not known yet."""
        counts: list[int | None] = [
            self._known.get(read)
            for group in self._topology.sub_topologies
            if any(isinstance(node, Sink) and node.topic == topic for node in group.nodes)
            for read in self._reads[group.number]
        ]
        known = [count for count in counts if count is not None]
        return max(known) if known and len(known) == len(counts) else None

    def _make_equal(self, topics: frozenset[str]) -> None:
        given = {topic: self._known[topic] for topic in sorted(topics) if not self._is_free(topic)}
        if len(set(given.values())) > 1:
            told = ", ".join(f"{topic} has {count}" for topic, count in given.items())
            place = next(
                (
                    node.place
                    for node in self._topology.nodes.values()
                    if isinstance(node, Source) and not topics.isdisjoint(_topics_of(node, self._patterns))
                ),
                "",
            )
            raise TopologyError(
                f"topics that are joined need the same number of partitions: {told}; repartition() one of them",
                place,
            )
        count = next(iter(given.values())) if given else max(self._known[topic] for topic in topics)
        self._known.update(dict.fromkeys((topic for topic in topics if self._is_free(topic)), count))

    def _is_free(self, topic: str) -> bool:
        return topic in self._topology.internal_topics and topic not in self._fixed
