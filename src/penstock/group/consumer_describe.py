"""What a consumer group looks like to administrators."""

from collections.abc import Iterable, Mapping

from penstock.controller.image import ClusterImage
from penstock.group.consumer_group import ConsumerGroup
from penstock.group.consumer_member import Member
from penstock.group.modern_group import NO_ASSIGNMENT
from penstock.wire.messages.consumer_group_describe import (
    Assignment,
    DescribedGroup,
    TopicPartitions,
)
from penstock.wire.messages.consumer_group_describe import Member as DescribedMember

CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


def describe_consumer_group(
    group: ConsumerGroup, default_assignor: str, image: ClusterImage
) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.preferred_assignor() or default_assignor,
        members=[_describe_member(group, member, image) for member in group.members.values()],
    )


def _describe_member(group: ConsumerGroup, member: Member, image: ClusterImage) -> DescribedMember:
    metadata, current = member.metadata, member.current
    owned = {
        topic_id: [*current.assigned.get(topic_id, ()), *current.revoking.get(topic_id, ())]
        for topic_id in current.assigned.keys() | current.revoking.keys()
    }
    return DescribedMember(
        member_id=member.member_id,
        instance_id=metadata.instance_id,
        rack_id=metadata.rack_id,
        member_epoch=current.member_epoch,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        subscribed_topic_names=sorted(metadata.subscribed_topic_names),
        subscribed_topic_regex=metadata.subscribed_topic_regex,
        assignment=_describe_assignment(owned, image),
        target_assignment=_describe_assignment(group.target.get(member.member_id, NO_ASSIGNMENT), image),
        member_type=CLASSIC_MEMBER if member.uses_classic_protocol else CONSUMER_MEMBER,
    )


def _describe_assignment(partitions: Mapping[bytes, Iterable[int]], image: ClusterImage) -> Assignment:
    return Assignment(
        [
            TopicPartitions(topic_id, image.topic_names[topic_id], sorted(partitions[topic_id]))
            for topic_id in sorted(partitions)
            if topic_id in image.topic_names
        ]
    )
