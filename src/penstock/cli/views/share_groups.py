"""`penstock share-groups --list` and `--describe`, of offsets, members or state."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.views.asking import cluster_of, has_only
from penstock.cli.views.consumer_groups import assignment_texts
from penstock.cli.views.groups import listed
from penstock.client.admin.groups import GroupType, list_groups
from penstock.client.admin.share_groups import (
    ShareGroupDescription,
    describe_share_groups,
    list_share_group_offsets,
)
from penstock.client.cluster import Cluster, now

DESCRIBE_FLAGS = ("describe", "group", "all-groups", "members", "offsets", "state", "verbose", "timeout")


def view(options: OptionSet) -> View | None:
    if options.has("list") and has_only(options, "list", "timeout"):
        with cluster_of(options) as cluster:
            return listed(now(list_groups(cluster, types=[GroupType.SHARE])))
    is_scoped = options.has("group") != options.has("all-groups")
    if not options.has("describe") or not is_scoped or not has_only(options, *DESCRIBE_FLAGS):
        return None
    with cluster_of(options) as cluster:
        return now(_described(cluster, options))


async def _described(cluster: Cluster, options: OptionSet) -> View:
    if options.has("all-groups"):
        ids = [group.group_id for group in await list_groups(cluster, types=[GroupType.SHARE])]
    else:
        ids = options.values("group")
    groups = [group for _, group in sorted((await describe_share_groups(cluster, ids)).items())]
    if options.has("state"):
        return View([_summary(group) for group in groups])
    if options.has("members"):
        return _nested(groups, "members", [_members(group) for group in groups])
    return _nested(groups, "offsets", [await _offsets(cluster, group.group_id) for group in groups])


def _nested(groups: list[ShareGroupDescription], name: str, of_groups: list[list[Record]]) -> View:
    pairs = list(zip(groups, of_groups, strict=True))
    return View(
        [{**_summary(group), name: found} for group, found in pairs],
        [{"group": group.group_id, **each} for group, found in pairs for each in found],
        [f"{group.group_id}: {group.state.value}" for group, found in pairs if not found],
    )


def _summary(group: ShareGroupDescription) -> Record:
    return {
        "group": group.group_id,
        "state": group.state.value,
        "coordinator": f"{group.coordinator.host}:{group.coordinator.port}",
        "coordinator_id": group.coordinator.id,
        "member_count": len(group.members),
    }


async def _offsets(cluster: Cluster, group_id: str) -> list[Record]:
    return [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "start_offset": None if offset is None else offset.start_offset,
            "lag": None if offset is None else offset.lag,
        }
        for partition, offset in sorted((await list_share_group_offsets(cluster, group_id)).items())
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
