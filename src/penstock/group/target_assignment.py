"""The target assignment: who shall own what in the end, computed once per group epoch."""

from collections.abc import Iterable

from penstock.controller.image import ClusterImage
from penstock.group.assignors import ASSIGNORS, MemberSpec
from penstock.group.consumer_group import ConsumerGroup
from penstock.group.consumer_member import Member
from penstock.group.consumer_records import write_target, write_target_epoch
from penstock.group.modern_group import NO_ASSIGNMENT, Assignment
from penstock.group.subscriptions import subscribed_topic_ids
from penstock.machine import Outcome


def compute_target(
    group: ConsumerGroup, members: Iterable[Member], assignor: str, image: ClusterImage
) -> dict[str, Assignment]:
    """The target of each of these members, with as little change to the present one as can be."""
    specs = sorted((_spec(group, member, image) for member in members), key=lambda spec: spec.member_id)
    topics = frozenset[bytes]().union(*(spec.topics for spec in specs))
    counts = {topic_id: len(image.topics[image.topic_names[topic_id]].partitions) for topic_id in topics}
    return ASSIGNORS[assignor](specs, counts)


def _spec(group: ConsumerGroup, member: Member, image: ClusterImage) -> MemberSpec:
    return MemberSpec(
        member.member_id,
        member.metadata.instance_id,
        member.metadata.rack_id,
        subscribed_topic_ids(member.metadata, group.subscriptions.resolved, image),
        target_of(group, member),
    )


def target_of(group: ConsumerGroup, member: Member) -> Assignment:
    """The present target of a member; a static one that is back under another id has that of the old id."""
    found = group.target.get(member.member_id)
    if found is None and member.metadata.instance_id is not None:
        old_member_id = group.static_members.get(member.metadata.instance_id)
        found = None if old_member_id is None else group.target.get(old_member_id)
    return NO_ASSIGNMENT if found is None else found


def write_changes(
    outcome: Outcome, group: ConsumerGroup, epoch: int, target: dict[str, Assignment], now_ms: int
) -> None:
    for member_id, partitions in target.items():
        if group.target.get(member_id) != partitions:
            write_target(outcome, group.group_id, member_id, partitions)
    write_target_epoch(outcome, group.group_id, epoch, now_ms)
