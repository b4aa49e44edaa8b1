"""The topology of a Kafka Streams program as its members send it, before anybody looks at the topics that there are."""

from collections.abc import Iterable
from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages import streams_group_heartbeat as heartbeat
from penstock.wire.stored.streams_group import (
    CopartitionGroup,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
)


class Topology:
    def __init__(self, value: StreamsGroupTopologyValue) -> None:
        self.value = value
        self.epoch = value.epoch
        self.subtopologies = {each.subtopology_id: each for each in value.subtopologies}
        self.readers = {
            topic: each.subtopology_id for each in value.subtopologies for topic in topics_read_by(each)
        }
        """The subtopology that reads a topic."""
        self.required_topics = self.readers.keys() | {
            topic.name for each in value.subtopologies for topic in each.state_changelog_topics
        }
        """All that the program needs, whoever makes them."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Topology)
            and self.epoch == other.epoch
            and self.subtopologies == other.subtopologies
        )

    __hash__ = None  # type: ignore[assignment]


def topics_read_by(subtopology: Subtopology) -> list[str]:
    return [*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)]


def topics_of_copartition_group(subtopology: Subtopology, group: CopartitionGroup) -> set[str]:
    repartitioned = subtopology.repartition_source_topics
    return {subtopology.source_topics[index] for index in group.source_topics} | {
        repartitioned[index].name for index in group.repartition_source_topics
    }


def topology_of_request(topology: heartbeat.Topology) -> Topology:
    _check(topology)
    return Topology(
        StreamsGroupTopologyValue(topology.epoch, [_stored(each) for each in topology.subtopologies])
    )


def _check(topology: heartbeat.Topology) -> None:
    """Refuses what could not even be stored as a topology; Kafka fails on all but changelogs with an unknown error."""
    if topology.epoch < 0:
        raise invalid_topology("Topology epoch must be non-negative.")
    if len({each.subtopology_id for each in topology.subtopologies}) < len(topology.subtopologies):
        raise invalid_topology("The ids of subtopologies must be unique.")
    for each in topology.subtopologies:
        _check_indexes(each)
        for topic in each.state_changelog_topics:
            if topic.partitions:
                raise invalid_topology(
                    f"Changelog topic {topic.name} must have an undefined partition count, "
                    f"but it is set to {topic.partitions}."
                )


def _check_indexes(subtopology: heartbeat.Subtopology) -> None:
    for group in subtopology.copartition_groups:
        pairs = (
            (group.source_topics, subtopology.source_topics),
            (group.repartition_source_topics, subtopology.repartition_source_topics),
        )
        if any(not 0 <= index < len(topics) for indexes, topics in pairs for index in indexes):
            raise invalid_topology(
                f"A copartition group of subtopology {subtopology.subtopology_id} has a topic that is not there."
            )


def invalid_topology(message: str) -> ApiError:
    return ApiError(ErrorCode.STREAMS_INVALID_TOPOLOGY, message)


def _stored(subtopology: heartbeat.Subtopology) -> Subtopology:
    return Subtopology(
        subtopology_id=subtopology.subtopology_id,
        source_topics=list(subtopology.source_topics),
        source_topic_regex=list(subtopology.source_topic_regex),
        state_changelog_topics=_stored_topics(subtopology.state_changelog_topics),
        repartition_sink_topics=list(subtopology.repartition_sink_topics),
        repartition_source_topics=_stored_topics(subtopology.repartition_source_topics),
        copartition_groups=[
            CopartitionGroup(
                list(group.source_topics),
                list(group.source_topic_regex),
                list(group.repartition_source_topics),
            )
            for group in subtopology.copartition_groups
        ],
    )


def _stored_topics(topics: Iterable[Any]) -> list[TopicInfo]:
    return [
        TopicInfo(
            topic.name,
            topic.partitions,
            topic.replication_factor,
            [TopicConfig(config.key, config.value) for config in topic.topic_configs],
        )
        for topic in topics
    ]
