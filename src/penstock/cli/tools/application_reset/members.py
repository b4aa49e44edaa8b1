"""Who is still in the program's group: a reason to stop, unless they are to be sent away."""

from __future__ import annotations

from penstock.cli.tools.common.failures import CommandFailure, as_future_says, failing
from penstock.client.admin.consumer_groups import ConsumerGroupMember, describe_consumer_group
from penstock.client.admin.member_removal import remove_members
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

ATTEMPTS = 4
"""At sending members away: one that is not known any more may have left by itself."""


def make_sure_nobody_is_there(cluster: Cluster, group_id: str, *, force: bool) -> None:
    failed: KafkaError | None = None
    for _ in range(ATTEMPTS):
        members = _members_of(cluster, group_id)
        if not members:
            return
        if not force:
            raise _still_active(group_id, members)
        print(f"Force deleting all active members in the group: {group_id}")
        failed = _send_away(cluster, group_id, members)
        if failed is None:
            return
        if failed.code != ErrorCode.UNKNOWN_MEMBER_ID:
            break
    assert failed is not None
    with failing(as_future_says):
        raise failed


def _members_of(cluster: Cluster, group_id: str) -> tuple[ConsumerGroupMember, ...]:
    with failing(as_future_says):
        try:
            return now(describe_consumer_group(cluster, group_id)).members
        except KafkaError as error:
            if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
                raise
            return ()


def _send_away(
    cluster: Cluster, group_id: str, members: tuple[ConsumerGroupMember, ...]
) -> KafkaError | None:
    """Why one of them is still there."""
    with failing(as_future_says):
        outcome = now(remove_members(cluster, group_id, members))
    return next((error for error in outcome.values() if error is not None), None)


def _still_active(group_id: str, members: tuple[ConsumerGroupMember, ...]) -> CommandFailure:
    return CommandFailure(
        f"java.lang.IllegalStateException: Consumer group '{group_id}' is still active and has following members: "
        f"[{', '.join(map(_described, members))}]. Make sure to stop all running application instances before "
        "running the reset tool. You can use option '--force' to remove active members from the group."
    )


def _described(member: ConsumerGroupMember) -> str:
    """As Java shows a member, whatever protocol it is of."""
    target = _partitions(member.target_assignment)
    fields = {
        "memberId": member.member_id,
        "groupInstanceId": member.instance_id or "null",
        "rackId": member.rack_id or "null",
        "clientId": member.client_id,
        "host": member.host,
        "assignment": _partitions(member.assignment),
        "targetAssignment": "Optional.empty" if member.epoch is None else f"Optional[{target}]",
        "memberEpoch": "null" if member.epoch is None else member.epoch,
        "upgraded": "null" if member.is_upgraded is None else str(member.is_upgraded).lower(),
    }
    return f"({', '.join(f'{name}={value}' for name, value in fields.items())})"


def _partitions(partitions: frozenset[TopicPartition]) -> str:
    return f"(topicPartitions={','.join(map(str, sorted(partitions)))})"
