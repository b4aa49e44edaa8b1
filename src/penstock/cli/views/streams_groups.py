"""`penstock streams-groups --list` and `--describe`, of offsets, members or state."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.tools.streams_groups.positions import positions_of
from penstock.cli.views.asking import cluster_of, has_only
from penstock.cli.views.group_descriptions import Asking, coordinator_of, description
from penstock.cli.views.groups import listed
from penstock.client.admin.groups import GroupListing, GroupType, list_groups
from penstock.client.admin.streams_groups import StreamsGroupDescription, Tasks, describe_streams_groups
from penstock.wire_client import Cluster, now


def view(options: OptionSet) -> View | None:
    if options.has("list") and has_only(options, "list", "timeout"):
        with cluster_of(options) as cluster:
            return listed(now(_list(cluster)))
    return description(options, ASKING)


async def _list(cluster: Cluster) -> list[GroupListing]:
    return await list_groups(cluster, types=[GroupType.STREAMS])


def _summary(group: StreamsGroupDescription) -> Record:
    return {
        "group": group.group_id,
        "state": group.state.value,
        **coordinator_of(group),
        "member_count": len(group.members),
    }


async def _offsets(cluster: Cluster, group: StreamsGroupDescription) -> list[Record]:
    return [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "offset": None if position.committed is None else position.committed.offset,
            "end_offset": position.end_offset,
            "lag": position.lag,
        }
        for partition, position in sorted((await positions_of(cluster, group)).items())
    ]


def _members(group: StreamsGroupDescription) -> list[Record]:
    return [
        {
            "member_id": member.member_id,
            "process_id": member.process_id,
            "host": member.host,
            "client_id": member.client_id,
            "epoch": member.epoch,
            "active_tasks": _task_texts(member.assignment.active),
            "standby_tasks": _task_texts(member.assignment.standby),
        }
        for member in group.members
    ]


def _task_texts(tasks: Tasks) -> list[str]:
    """As Kafka Streams names them: `1_0` is partition 0 of subtopology 1."""
    return [f"{subtopology}_{partition}" for subtopology, partitions in tasks for partition in partitions]


ASKING = Asking(_list, describe_streams_groups, _summary, _members, _offsets)
