"""What a topology is in this cluster: how many tasks each subtopology has, and how many partitions its own topics.

A *repartition topic* lies between two subtopologies. If the program does not say how many partitions it has, it has
those of the widest topic that the subtopology writing it reads, which may be a repartition topic itself. Topics that
are joined are *copartitioned*: they must have the same number of partitions; repartition topics whose number is free
follow the others. A *changelog topic* has a partition per task of its subtopology.

What stands in the way is told to the members with their heartbeats, until it is gone. Topics of the program that are
not there yet are for the broker to create.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from penstock.controller.image import ClusterImage
from penstock.group.streams.topology import (
    Topology,
    invalid_topology,
    topics_of_copartition_group,
    topics_read_by,
)
from penstock.wire.stored.streams_group import Subtopology, TopicInfo

STALE_TOPOLOGY = 0
MISSING_SOURCE_TOPICS = 1
INCORRECTLY_PARTITIONED_TOPICS = 2
MISSING_INTERNAL_TOPICS = 3
SHUTDOWN_APPLICATION = 4
ASSIGNMENT_DELAYED = 5

MOST_TOPICS_NAMED = 3


class Problem(NamedTuple):
    """Something that a group waits for, as its members are told."""

    code: int
    detail: str


class InternalTopic(NamedTuple):
    """A topic of the program's own."""

    name: str
    partitions: int
    replication_factor: int
    """0 for the broker's default."""
    configs: Mapping[str, str]


class ConfiguredSubtopology(NamedTuple):
    task_count: int
    source_topics: frozenset[str]
    repartition_source_topics: Mapping[str, InternalTopic]
    repartition_sink_topics: frozenset[str]
    changelog_topics: Mapping[str, InternalTopic]

    @property
    def is_stateful(self) -> bool:
        return bool(self.changelog_topics)

    @property
    def topics_read(self) -> list[str]:
        return sorted(self.source_topics | self.repartition_source_topics.keys())

    @property
    def internal_topics(self) -> list[InternalTopic]:
        return [*self.repartition_source_topics.values(), *self.changelog_topics.values()]


class ConfiguredTopology(NamedTuple):
    epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology]
    """By name, in order; none if the topics do not fit."""
    missing_topics: Mapping[str, InternalTopic] = {}
    problem: Problem | None = None

    @property
    def is_ready(self) -> bool:
        return self.problem is None


class _Misfit(Exception):
    def __init__(self, code: int, detail: str) -> None:
        self.problem = Problem(code, detail)


def configure_topology(topology: Topology, image: ClusterImage) -> ConfiguredTopology:
    """Raises an ApiError for a topology that can't be right in any cluster."""
    try:
        _check_source_topics(topology, image)
        counts = _Counts(topology, image)
        subtopologies = {
            name: counts.configure(topology.subtopologies[name]) for name in sorted(topology.subtopologies)
        }
        missing = _missing_topics(subtopologies, image)
    except _Misfit as misfit:
        return ConfiguredTopology(topology.epoch, {}, problem=misfit.problem)
    problem = None
    if missing:
        problem = Problem(MISSING_INTERNAL_TOPICS, f"Internal topics are missing: {_some_of(missing)}")
    return ConfiguredTopology(topology.epoch, subtopologies, missing, problem)


def _check_source_topics(topology: Topology, image: ClusterImage) -> None:
    wanted = {name for each in topology.subtopologies.values() for name in each.source_topics}
    missing = sorted(name for name in wanted if name not in image.topics)
    if missing:
        raise _Misfit(MISSING_SOURCE_TOPICS, f"Source topics {_some_of(missing)} are missing.")


def _some_of(names: Iterable[str]) -> str:
    ordered = sorted(names)
    named, more = ", ".join(ordered[:MOST_TOPICS_NAMED]), len(ordered) - MOST_TOPICS_NAMED
    return f"{named} and {more} additional topics" if more > 0 else named


def _missing_topics(
    subtopologies: Mapping[str, ConfiguredSubtopology], image: ClusterImage
) -> dict[str, InternalTopic]:
    wanted = {topic.name: topic for each in subtopologies.values() for topic in each.internal_topics}
    for name, topic in sorted(wanted.items()):
        found = image.topics.get(name)
        if found is not None and len(found.partitions) != topic.partitions:
            raise _Misfit(
                INCORRECTLY_PARTITIONED_TOPICS,
                f"Existing topic {name} has different number of partitions: expected {topic.partitions}, "
                f"found {len(found.partitions)}",
            )
    return {name: wanted[name] for name in sorted(wanted) if name not in image.topics}


class _Counts:
    """The numbers of partitions of a topology's topics: of those that there are, and of those that there shall be."""

    def __init__(self, topology: Topology, image: ClusterImage) -> None:
        self._image = image
        self._subtopologies = list(topology.subtopologies.values())
        self._decided: dict[str, int] = {}
        topics = [topic for each in self._subtopologies for topic in each.repartition_source_topics]
        self._fixed = {topic.name for topic in topics if topic.partitions}
        self._repartitioned = {topic.name for topic in topics}
        self._decide_repartition_topics(topics)
        for subtopology in self._subtopologies:
            for group in subtopology.copartition_groups:
                self._even_out(topics_of_copartition_group(subtopology, group))

    def _of(self, topic: str) -> int:
        found = self._image.topics.get(topic)
        return self._decided[topic] if found is None else len(found.partitions)

    # repartition topics

    def _decide_repartition_topics(self, topics: Iterable[TopicInfo]) -> None:
        """From the topics that are there along the subtopologies, each of which is looked at once."""
        self._decided = {topic.name: topic.partitions for topic in topics if topic.partitions}
        readers: dict[str, list[Subtopology]] = {}
        for each in self._subtopologies:
            for topic in each.repartition_source_topics:
                readers.setdefault(topic.name, []).append(each)
        queue = deque(self._subtopologies)
        seen = set()
        while queue:
            subtopology = queue.popleft()
            count = self._widest_input(subtopology)
            if count is None or subtopology.subtopology_id in seen:
                continue
            seen.add(subtopology.subtopology_id)
            for sink in subtopology.repartition_sink_topics:
                if sink not in self._decided:
                    self._decided[sink] = count
                    queue.extend(readers.get(sink, ()))
        self._check_all_decided(topics)

    def _check_all_decided(self, topics: Iterable[TopicInfo]) -> None:
        sinks = (sink for each in self._subtopologies for sink in each.repartition_sink_topics)
        if any(sink not in self._decided for sink in sinks):
            raise invalid_topology(
                "Failed to compute number of partitions for all repartition topics. "
                "There may be loops in the topology that cannot be resolved."
            )
        if any(topic.name not in self._decided for topic in topics):
            raise invalid_topology(
                "Failed to compute number of partitions for all repartition topics, because "
                "a repartition source topic is never used as a sink topic."
            )

    def _widest_input(self, subtopology: Subtopology) -> int | None:
        """As far as it is known."""
        counts = [
            self._decided[topic.name]
            for topic in subtopology.repartition_source_topics
            if topic.name in self._decided
        ]
        counts += [len(self._image.topics[topic].partitions) for topic in subtopology.source_topics]
        return max(counts, default=None)

    # copartition groups

    def _even_out(self, topics: set[str]) -> None:
        ours = {topic: self._of(topic) for topic in sorted(topics & self._repartitioned)}
        others = {topic: self._of(topic) for topic in sorted(topics - self._repartitioned)}
        if not ours and not others:
            return
        given = others or {topic: count for topic, count in ours.items() if topic in self._fixed}
        if len(set(given.values())) > 1:
            listed = ", ".join(f"{topic}={count}" for topic, count in (others or ours).items())
            raise _Misfit(
                INCORRECTLY_PARTITIONED_TOPICS,
                f"Following topics do not have the same number of partitions: [{{{listed}}}]",
            )
        count = max(given.values() if given else ours.values())
        for topic, own_count in ours.items():
            if topic in self._fixed and own_count != count:
                raise _Misfit(
                    INCORRECTLY_PARTITIONED_TOPICS,
                    f"Number of partitions [{own_count}] of repartition topic [{topic}] "
                    f"doesn't match number of partitions [{count}] of the source topic.",
                )
            self._decided[topic] = count

    # subtopologies

    def configure(self, subtopology: Subtopology) -> ConfiguredSubtopology:
        inputs = topics_read_by(subtopology)
        if not inputs:
            raise invalid_topology(f"No source topics found for subtopology {subtopology.subtopology_id}")
        task_count = max(map(self._of, inputs))
        return ConfiguredSubtopology(
            task_count=task_count,
            source_topics=frozenset(subtopology.source_topics),
            repartition_source_topics={
                topic.name: _internal_topic(topic, topic.partitions or self._decided[topic.name])
                for topic in subtopology.repartition_source_topics
            },
            repartition_sink_topics=frozenset(subtopology.repartition_sink_topics),
            changelog_topics={
                topic.name: _internal_topic(topic, task_count) for topic in subtopology.state_changelog_topics
            },
        )


def _internal_topic(topic: TopicInfo, partitions: int) -> InternalTopic:
    configs = {config.key: config.value for config in topic.topic_configs}
    return InternalTopic(topic.name, partitions, topic.replication_factor, configs)
