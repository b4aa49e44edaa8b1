"""What a streams group looks like to administrators."""

from collections.abc import Iterable, Mapping

from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.member import Member
from penstock.group.streams.tasks import NO_TASKS, in_order
from penstock.group.streams.topics import ConfiguredSubtopology, ConfiguredTopology, InternalTopic
from penstock.group.streams.topology import Topology
from penstock.wire.messages import streams_group_describe as describe
from penstock.wire.stored import streams_group as stored


def describe_streams_group(group: StreamsGroup) -> describe.DescribedGroup:
    return describe.DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology=_describe_topology(group),
        members=[_describe_member(group, member) for member in group.members.values()],
    )


def _describe_topology(group: StreamsGroup) -> describe.Topology | None:
    """As it is in this cluster, with numbers of partitions, once that is known."""
    configured = group.soft.configured
    if configured is not None and configured.is_ready:
        return _describe_configured(configured)
    return None if group.topology is None else _describe_plain(group.topology)


def _describe_configured(topology: ConfiguredTopology) -> describe.Topology:
    return describe.Topology(
        topology.epoch, [_describe_subtopology(name, each) for name, each in topology.subtopologies.items()]
    )


def _describe_subtopology(name: str, subtopology: ConfiguredSubtopology) -> describe.Subtopology:
    return describe.Subtopology(
        subtopology_id=name,
        source_topics=sorted(subtopology.source_topics),
        repartition_sink_topics=sorted(subtopology.repartition_sink_topics),
        state_changelog_topics=_describe_topics(subtopology.changelog_topics.values()),
        repartition_source_topics=_describe_topics(subtopology.repartition_source_topics.values()),
    )


def _describe_topics(topics: Iterable[InternalTopic]) -> list[describe.TopicInfo]:
    return [
        describe.TopicInfo(
            topic.name,
            topic.partitions,
            topic.replication_factor,
            [describe.KeyValue(key, value) for key, value in topic.configs.items()],
        )
        for topic in sorted(topics, key=lambda topic: topic.name)
    ]


def _describe_plain(topology: Topology) -> describe.Topology:
    subtopologies = [
        describe.Subtopology(
            subtopology_id=each.subtopology_id,
            source_topics=sorted(each.source_topics),
            repartition_sink_topics=sorted(each.repartition_sink_topics),
            state_changelog_topics=_describe_topics(map(_plain_topic, each.state_changelog_topics)),
            repartition_source_topics=_describe_topics(map(_plain_topic, each.repartition_source_topics)),
        )
        for _, each in sorted(topology.subtopologies.items())
    ]
    return describe.Topology(topology.epoch, subtopologies)


def _plain_topic(topic: stored.TopicInfo) -> InternalTopic:
    configs = {config.key: config.value for config in topic.topic_configs}
    return InternalTopic(topic.name, topic.partitions, topic.replication_factor, configs)


def _describe_member(group: StreamsGroup, member: Member) -> describe.Member:
    metadata, current = member.metadata, member.current
    endpoint = metadata.user_endpoint
    return describe.Member(
        member_id=member.member_id,
        member_epoch=current.member_epoch,
        instance_id=metadata.instance_id,
        rack_id=metadata.rack_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        topology_epoch=metadata.topology_epoch,
        process_id=metadata.process_id,
        user_endpoint=None if endpoint is None else describe.Endpoint(*endpoint),
        client_tags=[describe.KeyValue(key, value) for key, value in metadata.client_tags.items()],
        assignment=_describe_tasks(*current.assigned),
        target_assignment=_describe_tasks(*group.target.get(member.member_id, NO_TASKS)),
    )


def _describe_tasks(*roles: Mapping[str, Iterable[int]]) -> describe.Assignment:
    return describe.Assignment(*([describe.TaskIds(*entry) for entry in in_order(tasks)] for tasks in roles))
