"""kafka-share-groups --describe: offsets, members, or state."""

from __future__ import annotations

import sys

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import as_future_says, as_java_says, failing
from penstock.cli.tools.common.table import or_missing, padded, widest
from penstock.cli.tools.consumer_groups.describing import assignment_text
from penstock.cli.tools.share_groups.listing import listed_group_ids
from penstock.client.admin.groups import GroupState
from penstock.client.admin.share_groups import (
    ShareGroupDescription,
    SharePartitionOffset,
    describe_share_groups,
    list_share_group_offsets,
)
from penstock.client.cluster import Cluster, now
from penstock.types import TopicPartition


def describe_groups(cluster: Cluster, options: OptionSet) -> None:
    group_ids = listed_group_ids(cluster) if options.has("all-groups") else options.values("group")
    with failing(as_java_says):
        described = now(describe_share_groups(cluster, group_ids))
    groups = [described[group_id] for group_id in sorted(described)]
    verbose = options.has("verbose")
    if options.has("members"):
        for group in groups:
            _print_members(group, verbose)
    elif options.has("state"):
        for group in groups:
            _print_state(group, verbose)
    else:
        with failing(as_future_says):
            offsets = [now(list_share_group_offsets(cluster, group.group_id)) for group in groups]
        for group, of_group in zip(groups, offsets, strict=True):
            _print_offsets(group.group_id, of_group, verbose)


def _tells_state(group: ShareGroupDescription, rows: int) -> bool:
    """Says what is special about the state; whether there are rows to show."""
    sys.stdout.flush()
    if group.state is GroupState.DEAD:
        print(f"\nError: Share group '{group.group_id}' does not exist.")
    elif group.state is GroupState.EMPTY:
        print(f"\nShare group '{group.group_id}' has no active members.", file=sys.stderr)
    return group.state is not GroupState.DEAD and rows > 0


def _print_offsets(
    group_id: str, offsets: dict[TopicPartition, SharePartitionOffset | None], verbose: bool
) -> None:
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
    for row in (headings, *rows):
        print("\n" + padded(row, widths), end="")
    print()


def _print_state(group: ShareGroupDescription, verbose: bool) -> None:
    _tells_state(group, 1)
    coordinator = f"{group.coordinator.host}:{group.coordinator.port}  ({group.coordinator.id})"
    epochs = {"GROUP-EPOCH": group.epoch, "ASSIGNMENT-EPOCH": group.target_assignment_epoch}
    row = {
        "GROUP": group.group_id,
        "COORDINATOR (ID)": coordinator,
        "STATE": group.state,
        **(epochs if verbose else {}),
        "#MEMBERS": len(group.members),
    }
    widths = [max(15, len(group.group_id)), max(25, len(coordinator)), 15, *((12, 17) if verbose else ())]
    print("\n" + padded(list(row), widths))
    print(padded(list(row.values()), widths))


def _print_members(group: ShareGroupDescription, verbose: bool) -> None:
    if not _tells_state(group, len(group.members)):
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
    for row in (headings, *rows):
        print("\n" + padded(row, [*widths, *([13] if verbose else [])]), end="")
    print()
