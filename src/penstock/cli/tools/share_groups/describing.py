"""kafka-share-groups --describe: offsets, members, or state."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.tables import or_missing, print_rows, widest
from penstock.cli.tools.groups.describing import (
    Reports,
    assignment_text,
    coordinator_text,
    print_reports,
    print_state_row,
    tell_state,
)
from penstock.cli.tools.share_groups.listing import listed_group_ids
from penstock.client.admin.groups import GroupState
from penstock.client.admin.share_groups import (
    ShareGroupDescription,
    SharePartitionOffset,
    describe_share_groups,
    list_share_group_offsets,
)
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now


def describe_groups(cluster: Cluster, options: OptionSet) -> None:
    group_ids = listed_group_ids(cluster) if options.has("all-groups") else options.values("group")
    reports = Reports(describe_share_groups, _offsets_of, _print_members, _print_state, _print_offsets)
    print_reports(cluster, options, group_ids, reports)


Offsets = dict[TopicPartition, SharePartitionOffset | None]


def _offsets_of(cluster: Cluster, group: ShareGroupDescription) -> Offsets:
    return now(list_share_group_offsets(cluster, group.group_id))


def _print_offsets(group: ShareGroupDescription, offsets: Offsets, verbose: bool) -> None:
    group_id = group.group_id
    if not offsets:
        print(f"\nShare group '{group_id}' has no offset information.")
        return
    headings = ["GROUP", "TOPIC", "PARTITION", *(["LEADER-EPOCH"] if verbose else []), "START-OFFSET", "LAG"]
    rows = [
        [
            *(group_id, partition.topic, str(partition.partition)),
            *([or_missing(offset and offset.leader_epoch)] if verbose else []),
            *(or_missing(offset and offset.start_offset), or_missing(offset and offset.lag)),
        ]
        for partition, offset in sorted(offsets.items(), key=lambda item: item[0])
    ]
    widths = [
        max(15, len(group_id)),
        widest([row[1] for row in rows], 15),
        10,
        *([13] if verbose else []),
        13,
    ]
    print_rows(headings, rows, widths)


def _print_state(group: ShareGroupDescription, verbose: bool) -> None:
    tell_state("Share", group)
    epochs = {"GROUP-EPOCH": group.epoch, "ASSIGNMENT-EPOCH": group.target_assignment_epoch}
    row = {
        "GROUP": group.group_id,
        "COORDINATOR (ID)": coordinator_text(group),
        "STATE": group.state,
        **(epochs if verbose else {}),
        "#MEMBERS": len(group.members),
    }
    print_state_row(row, [15, *((12, 17) if verbose else ())])


def _print_members(group: ShareGroupDescription, verbose: bool) -> None:
    tell_state("Share", group)
    if group.state is GroupState.DEAD or not group.members:
        return
    headings = ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    headings += [*(["MEMBER-EPOCH"] if verbose else []), "ASSIGNMENT"]
    rows = [
        [
            *(group.group_id, member.member_id, member.host, member.client_id, str(len(member.assignment))),
            *([str(member.epoch)] if verbose else []),
            assignment_text(member.assignment) if member.assignment else "",
        ]
        for member in sorted(group.members, key=lambda member: member.member_id)
    ]
    columns = list(zip(*rows, strict=True))
    widths = [max(15, len(group.group_id)), *(widest(columns[index], 15) for index in (1, 2, 3)), 12]
    print_rows(headings, rows, [*widths, *([13] if verbose else [])])
