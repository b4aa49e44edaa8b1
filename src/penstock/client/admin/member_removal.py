"""Members of a group that are sent away, as if they had left."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.client.admin.consumer_groups import ConsumerGroupMember
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for, raise_for

REASON = "member was removed by an admin"


async def remove_members(
    cluster: Cluster, group_id: str, members: Iterable[ConsumerGroupMember]
) -> dict[str, KafkaError | None]:
    """For each member's id why it could not be; a static member is named by its instance, so that it goes for good."""
    named = list(members)
    request = LeaveGroupRequest(group_id, "", [_identity(member) for member in named])
    answer = await cluster.ask_coordinator(
        group_id, request, LeaveGroupResponse, error_of=lambda said: said.error_code
    )
    raise_for(answer.error_code)
    return {
        member.member_id: error_for(each.error_code) if each.error_code else None
        for member, each in zip(named, answer.members, strict=True)
    }


def _identity(member: ConsumerGroupMember) -> MemberIdentity:
    if member.instance_id is None:
        return MemberIdentity(member.member_id, reason=REASON)
    return MemberIdentity("", member.instance_id, REASON)
