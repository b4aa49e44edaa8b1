"""kafka-consumer-groups --describe: offsets and lag, members, or state."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.common.tables import MISSING, or_missing, padded, print_rows, widest
from penstock.cli.tools.consumer_groups.listing import listed_group_ids
from penstock.cli.tools.group_offsets.partitions import end_offsets, partitions_of_topics
from penstock.cli.tools.groups.describing import (
    Reports,
    assignment_text,
    coordinator_text,
    print_reports,
    print_state_row,
    tell_state,
)
from penstock.client.admin.consumer_groups import (
    ConsumerGroupDescription,
    ConsumerGroupMember,
    describe_consumer_groups,
)
from penstock.client.admin.group_offsets import CommittedOffset, list_group_offsets
from penstock.client.admin.groups import GroupState
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now

REBALANCING = {
    GroupState.PREPARING_REBALANCE,
    GroupState.COMPLETING_REBALANCE,
    GroupState.ASSIGNING,
    GroupState.RECONCILING,
}


def describe_groups(cluster: Cluster, options: OptionSet) -> None:
    group_ids = listed_group_ids(cluster) if options.has("all-groups") else options.values("group")
    reports = Reports(
        describe_consumer_groups, _all_offset_rows, _print_members, _print_state, _print_offsets
    )
    print_reports(cluster, options, group_ids, reports)


def _tells_state(group: ConsumerGroupDescription, rows: int) -> bool:
    """Says what is special about the state; whether there are rows to show."""
    tell_state("Consumer", group)
    if group.state in REBALANCING:
        print(f"\nWarning: Consumer group '{group.group_id}' is rebalancing.", file=sys.stderr)
    elif group.state not in (GroupState.DEAD, GroupState.EMPTY, GroupState.STABLE):
        raise CommandFailure(f"Expected a valid consumer group state, but found '{group.state}'.")
    return group.state is not GroupState.DEAD and rows > 0


# --- offsets

Row = list[str]
EPOCH_COLUMN = 3
OFFSET_HEADINGS = [
    *("GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
    *("CONSUMER-ID", "HOST", "CLIENT-ID"),
]


def _all_offset_rows(cluster: Cluster, group: ConsumerGroupDescription) -> list[Row]:
    return list(_offset_rows(cluster, group))


def _offset_rows(cluster: Cluster, group: ConsumerGroupDescription) -> Iterable[Row]:
    """Of the members, those with most partitions first, then of partitions that nobody has."""
    committed = now(list_group_offsets(cluster, group.group_id))
    busy = [member for member in group.members if member.assignment]
    for member in sorted(busy, key=lambda member: -len(member.assignment)):
        yield from _partition_rows(cluster, group, member.assignment, committed, member)
    assigned = {partition for member in busy for partition in member.assignment}
    left = [partition for partition in committed if partition not in assigned]
    if left:
        yield from _partition_rows(cluster, group, left, committed, None)


def _partition_rows(
    cluster: Cluster,
    group: ConsumerGroupDescription,
    partitions: Iterable[TopicPartition],
    committed: dict[TopicPartition, CommittedOffset | None],
    member: ConsumerGroupMember | None,
) -> Iterable[Row]:
    wanted = sorted(partitions)
    known = now(partitions_of_topics(cluster, {partition.topic for partition in wanted}))
    leaderless = {partition for partition in wanted if partition in known and known[partition].leader is None}
    ends = now(end_offsets(cluster, [each for each in wanted if each not in leaderless]))
    who = (member.member_id, member.host, member.client_id) if member else (MISSING, MISSING, MISSING)
    for partition in wanted:
        offset, end = committed.get(partition), ends.get(partition)
        lag = None if offset is None or end is None else end - offset.offset
        yield [
            *(group.group_id, partition.topic, str(partition.partition)),
            or_missing(offset and offset.leader_epoch),
            *(or_missing(offset and offset.offset), or_missing(end), or_missing(lag), *who),
        ]


def _print_offsets(group: ConsumerGroupDescription, rows: list[Row], verbose: bool) -> None:
    if not _tells_state(group, len(rows)):
        return
    columns = list(zip(*rows, strict=True))
    widths = [widest(columns[0], 15), widest(columns[1], 15), 10, 15, 15, 15, 15]
    widths += [widest(columns[7], 15), widest(columns[8], 15)]
    if not verbose:
        del widths[EPOCH_COLUMN]
    headings, *shown = (
        row if verbose else row[:EPOCH_COLUMN] + row[EPOCH_COLUMN + 1 :] for row in (OFFSET_HEADINGS, *rows)
    )
    print_rows(headings, shown, widths)


# --- members


class Column(NamedTuple):
    name: str
    value: Callable[[ConsumerGroupMember], str]
    width: int
    grows: bool = True
    """Whether it is as wide as what is in it needs; else longer values push the rest aside."""


def _print_members(group: ConsumerGroupDescription, verbose: bool) -> None:
    has_rows = _tells_state(group, len(group.members))
    columns = [*_member_columns(group), *(_assignment_columns(group) if verbose else [])]
    rows = [[column.value(member) for column in columns] for member in group.members]
    widths = [
        widest([row[index] for row in rows], column.width) if column.grows and has_rows else column.width
        for index, column in enumerate(columns)
    ]
    print()
    for row in ([column.name for column in columns], *rows):
        print(padded(row, widths) + ("" if verbose else " "))


def _member_columns(group: ConsumerGroupDescription) -> list[Column]:
    has_instance_ids = any(member.instance_id for member in group.members)
    instance_id = Column("GROUP-INSTANCE-ID", lambda member: member.instance_id or "", 17)
    return [
        Column("GROUP", lambda member: group.group_id, 15),
        Column("CONSUMER-ID", lambda member: member.member_id, 15),
        *([instance_id] if has_instance_ids else []),
        Column("HOST", lambda member: member.host, 15),
        Column("CLIENT-ID", lambda member: member.client_id, 15),
        Column("#PARTITIONS", lambda member: str(len(member.assignment)), 15, grows=False),
    ]


def _assignment_columns(group: ConsumerGroupDescription) -> list[Column]:
    target_epoch = or_missing(group.target_assignment_epoch)
    columns = [
        Column("CURRENT-EPOCH", lambda member: or_missing(member.epoch), 15, grows=False),
        Column("CURRENT-ASSIGNMENT", lambda member: assignment_text(member.assignment), 20),
        Column("TARGET-EPOCH", lambda member: target_epoch, 15, grows=False),
        Column("TARGET-ASSIGNMENT", lambda member: assignment_text(member.target_assignment), 20),
    ]
    if {member.is_upgraded for member in group.members} >= {True, False}:
        upgraded = Column("UPGRADED", lambda member: or_missing(member.is_upgraded).lower(), 0, grows=False)
        columns.append(upgraded)
    return columns


# --- state


def _print_state(group: ConsumerGroupDescription, verbose: bool) -> None:
    if not _tells_state(group, 1):
        return
    epochs = {
        "GROUP-EPOCH": or_missing(group.epoch),
        "TARGET-ASSIGNMENT-EPOCH": or_missing(group.target_assignment_epoch),
    }
    row = {
        "GROUP": group.group_id,
        "COORDINATOR (ID)": coordinator_text(group),
        "ASSIGNMENT-STRATEGY": or_missing(group.assignor),
        "STATE": str(group.state),
        **(epochs if verbose else {}),
        "#MEMBERS": str(len(group.members)),
    }
    print_state_row(row, [20, 20, *((15, 25) if verbose else ())])
