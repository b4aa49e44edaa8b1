"""Interactive queries: which partitions the members with an endpoint have, so that each process finds what another has.

A member is told when the group's *endpoint epoch* is not the one that it knows; that grows when the tasks of a member
with an endpoint change, and counts from 0 with each coordinator. Kafka 4.3 tells of each thread by itself, and its
clients keep the last one of each endpoint; here each endpoint is told once, with all that its threads have.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from penstock.controller.image import ClusterImage
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.member import Member, UserEndpoint
from penstock.group.streams.soft_state import ToldEndpoint
from penstock.group.streams.topics import ConfiguredTopology
from penstock.wire.messages.streams_group_heartbeat import (
    EndpointToPartitions,
    ResponseEndpoint,
    TopicPartition,
)


def tell_endpoints(
    group: StreamsGroup, updated: Member, configured: ConfiguredTopology, image: ClusterImage
) -> list[EndpointToPartitions]:
    """Of all members, one of which is as it will be."""
    members = {**group.members, updated.member_id: updated}
    told: dict[UserEndpoint, list[EndpointToPartitions]] = {}
    for member in members.values():
        endpoint = member.metadata.user_endpoint
        if endpoint is not None:
            told.setdefault(endpoint, []).append(_tell(group, member, endpoint, configured, image))
    return [_merged(entries) for entries in told.values()]


def _merged(entries: list[EndpointToPartitions]) -> EndpointToPartitions:
    """What the threads of one process have together."""
    if len(entries) == 1:
        return entries[0]
    return EndpointToPartitions(
        entries[0].user_endpoint,
        _union(each.active_partitions for each in entries),
        _union(each.standby_partitions for each in entries),
    )


def _union(lists: Iterable[Iterable[TopicPartition]]) -> list[TopicPartition]:
    topics: dict[str, set[int]] = {}
    for entry in chain.from_iterable(lists):
        topics.setdefault(entry.topic, set()).update(entry.partitions)
    return [TopicPartition(name, sorted(topics[name])) for name in sorted(topics)]


def _tell(
    group: StreamsGroup,
    member: Member,
    endpoint: UserEndpoint,
    configured: ConfiguredTopology,
    image: ClusterImage,
) -> EndpointToPartitions:
    """Remembered as long as it holds: with each change all members ask for what most of them still have."""
    assigned = member.current.assigned
    known = group.soft.endpoints.get(member.member_id)
    if (
        known is not None
        and known.assigned is assigned
        and known.configured is configured
        and known.endpoint == endpoint
    ):
        return known.told
    told = EndpointToPartitions(
        ResponseEndpoint(*endpoint),
        list(_partitions(assigned.active, configured, image)),
        list(_partitions(assigned.standby, configured, image)),
    )
    group.soft.endpoints[member.member_id] = ToldEndpoint(assigned, endpoint, configured, told)
    return told


def _partitions(
    tasks: Mapping[str, Iterable[int]], configured: ConfiguredTopology, image: ClusterImage
) -> Iterator[TopicPartition]:
    for subtopology in sorted(tasks):
        found = configured.subtopologies.get(subtopology)
        for name in () if found is None else found.topics_read:
            topic = image.topics.get(name)
            if topic is not None:
                partitions = sorted(tasks[subtopology])[: len(topic.partitions)]
                yield TopicPartition(name, partitions)
