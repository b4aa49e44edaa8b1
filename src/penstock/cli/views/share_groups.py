"""`penstock share-groups --list` and `--describe`, of offsets, members or state."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.views.asking import cluster_of, has_only
from penstock.cli.views.group_descriptions import Asking, assignment_texts, coordinator_of, description
from penstock.cli.views.groups import listed
from penstock.client.admin.groups import GroupListing, GroupType, list_groups
from penstock.client.admin.share_groups import (
    ShareGroupDescription,
    describe_share_groups,
    list_share_group_offsets,
)
from penstock.wire_client import Cluster, now


def view(options: OptionSet) -> View | None:
    if options.has("list") and has_only(options, "list", "timeout"):
        with cluster_of(options) as cluster:
            return listed(now(_list(cluster)))
    return description(options, ASKING)


async def _list(cluster: Cluster) -> list[GroupListing]:
    return await list_groups(cluster, types=[GroupType.SHARE])


def _summary(group: ShareGroupDescription) -> Record:
    return {
        "group": group.group_id,
        "state": group.state.value,
        **coordinator_of(group),
        "member_count": len(group.members),
    }


async def _offsets(cluster: Cluster, group: ShareGroupDescription) -> list[Record]:
    return [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "start_offset": None if offset is None else offset.start_offset,
            "lag": None if offset is None else offset.lag,
        }
        for partition, offset in sorted((await list_share_group_offsets(cluster, group.group_id)).items())
    ]


def _members(group: ShareGroupDescription) -> list[Record]:
    return [
        {
            "consumer_id": member.member_id,
            "host": member.host,
            "client_id": member.client_id,
            "epoch": member.epoch,
            "assignment": assignment_texts(member.assignment),
        }
        for member in group.members
    ]


ASKING = Asking(_list, describe_share_groups, _summary, _members, _offsets)
