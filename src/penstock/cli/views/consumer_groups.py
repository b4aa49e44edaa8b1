"""`penstock consumer-groups --list` and `--describe`, of offsets, members or state."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.tools.consumer_groups.listing import GROUP_STATES, parse_types
from penstock.cli.tools.groups.listing import parse_states
from penstock.cli.views.asking import cluster_of, has_only
from penstock.cli.views.group_descriptions import Asking, assignment_texts, coordinator_of, description
from penstock.cli.views.groups import listed
from penstock.client.admin.consumer_groups import (
    ConsumerGroupDescription,
    ConsumerGroupMember,
    describe_consumer_groups,
)
from penstock.client.admin.group_offsets import list_group_offsets
from penstock.client.admin.groups import list_consumer_groups
from penstock.client.admin.list_offsets import ListedOffset, OffsetSpec, list_offsets
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now


def view(options: OptionSet) -> View | None:
    if options.has("list") and has_only(options, "list", "timeout", "state", "type"):
        states = parse_states(options.value("state") or "", GROUP_STATES)
        types = parse_types(options.value("type") or "")
        with cluster_of(options) as cluster:
            return listed(now(list_consumer_groups(cluster, states=states, types=types)))
    return description(options, ASKING)


def _summary(group: ConsumerGroupDescription) -> Record:
    return {
        "group": group.group_id,
        "type": group.type.value,
        "state": group.state.value,
        **coordinator_of(group),
        "assignor": group.assignor,
        "member_count": len(group.members),
    }


async def offsets_of(cluster: Cluster, group: ConsumerGroupDescription) -> list[Record]:
    """A record for each partition that the group has committed for or is assigned to."""
    committed = await list_group_offsets(cluster, group.group_id)
    owners = {partition: member for member in group.members for partition in member.assignment}
    partitions = sorted({*committed, *owners})
    ends = await list_offsets(cluster, dict.fromkeys(partitions, OffsetSpec.LATEST)) if partitions else {}
    return [_offset(each, committed.get(each), ends.get(each), owners.get(each)) for each in partitions]


def _offset(
    partition: TopicPartition, committed: object, end: object, owner: ConsumerGroupMember | None
) -> Record:
    current = getattr(committed, "offset", None)
    log_end = end.offset if isinstance(end, ListedOffset) else None
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "current_offset": current,
        "log_end_offset": log_end,
        "lag": None if current is None or log_end is None else log_end - current,
        "consumer_id": owner.member_id if owner is not None else None,
        "host": owner.host if owner is not None else None,
        "client_id": owner.client_id if owner is not None else None,
    }


def _members(group: ConsumerGroupDescription) -> list[Record]:
    return [
        {
            "consumer_id": member.member_id,
            "instance_id": member.instance_id,
            "host": member.host,
            "client_id": member.client_id,
            "epoch": member.epoch,
            "assignment": assignment_texts(member.assignment),
        }
        for member in group.members
    ]


ASKING = Asking(list_consumer_groups, describe_consumer_groups, _summary, _members, offsets_of)
