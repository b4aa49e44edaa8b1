"""kafka-streams-groups --describe: offsets, members, or state."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import as_java_says, failing
from penstock.cli.tools.common.tables import or_missing, padded, widest
from penstock.cli.tools.streams_groups.listing import listed_group_ids
from penstock.cli.tools.streams_groups.positions import positions_of
from penstock.client.admin.groups import GroupState
from penstock.client.admin.streams_groups import (
    StreamsAssignment,
    StreamsGroupDescription,
    Tasks,
    describe_streams_group,
)
from penstock.wire_client import Cluster, now

PROTOCOLS = {False: "streams", True: "classic"}


def describe_groups(cluster: Cluster, options: OptionSet) -> None:
    verbose = options.has("verbose")
    for group_id in listed_group_ids(cluster) if options.has("all-groups") else options.values("group"):
        with failing(as_java_says):
            group = now(describe_streams_group(cluster, group_id))
        if options.has("members"):
            _print_members(group, verbose)
        elif options.has("state"):
            _print_state(group, verbose)
        else:
            _print_offsets(cluster, group, verbose)


def _has_rows(group: StreamsGroupDescription) -> bool:
    """Kafka's tool says nothing of a group without members, but for its state."""
    return group.state is not GroupState.DEAD and bool(group.members)


def _width(group: StreamsGroupDescription) -> int:
    return max(15, len(group.group_id))


# --- state


def _print_state(group: StreamsGroupDescription, verbose: bool) -> None:
    if group.state is GroupState.DEAD:
        print(f"\nError: Streams group '{group.group_id}' does not exist.")
    elif group.state is GroupState.EMPTY:
        print(f"\nError: Streams group '{group.group_id}' has no active members.")
    coordinator = f"{group.coordinator.host}:{group.coordinator.port} ({group.coordinator.id})"
    epochs = {"GROUP-EPOCH": group.epoch, "TARGET-ASSIGNMENT-EPOCH": group.target_assignment_epoch}
    row = {
        "GROUP": group.group_id,
        "COORDINATOR (ID)": coordinator,
        "STATE": group.state,
        **(epochs if verbose else {}),
        "#MEMBERS": len(group.members),
    }
    widths = [_width(group), max(25, len(coordinator)), 25, *((15, 25) if verbose else ())]
    print(padded(list(row), widths))
    print(padded(list(row.values()), widths))


# --- members


def _print_members(group: StreamsGroupDescription, verbose: bool) -> None:
    if not _has_rows(group):
        return
    ids, processes, clients = (
        widest(list(column), 15)
        for column in zip(
            *((member.member_id, member.process_id, member.client_id) for member in group.members),
            strict=True,
        )
    )
    if verbose:
        _print_all_of_members(group, [ids, 15, 15, processes, clients])
        return
    widths = [_width(group), ids, processes, clients]
    print(padded(["GROUP", "MEMBER", "PROCESS", "CLIENT-ID", "ASSIGNMENTS"], widths))
    for member in group.members:
        told = _tasks_text(member.assignment)
        print(padded([group.group_id, member.member_id, member.process_id, member.client_id, told], widths))


def _print_all_of_members(group: StreamsGroupDescription, widths: list[int]) -> None:
    """There is no blank between the epoch of the topology and the member."""
    of_group = [_width(group), 25, 15]
    headings = ["MEMBER", "MEMBER-PROTOCOL", "MEMBER-EPOCH", "PROCESS", "CLIENT-ID", "ASSIGNMENTS"]
    print(padded(["GROUP", "TARGET-ASSIGNMENT-EPOCH", "TOPOLOGY-EPOCH"], of_group) + padded(headings, widths))
    for member in group.members:
        told = _tasks_text(member.assignment) + _tasks_text(member.target_assignment, "TARGET-")
        values = [
            *(member.member_id, PROTOCOLS[member.is_classic], member.epoch),
            *(member.process_id, member.client_id, told),
        ]
        epochs = [group.group_id, group.target_assignment_epoch, group.topology_epoch]
        print(padded(epochs, of_group) + padded(values, widths))


def _tasks_text(assignment: StreamsAssignment, prefix: str = "") -> str:
    roles = {"ACTIVE": assignment.active, "STANDBY": assignment.standby, "WARMUP": assignment.warmup}
    return "".join(_role_text(prefix + role, tasks) for role, tasks in roles.items())


def _role_text(role: str, tasks: Tasks) -> str:
    if not tasks:
        return ""
    listed = (f"{subtopology}:[{','.join(map(str, partitions))}]; " for subtopology, partitions in tasks)
    return f"{role}: {''.join(listed)}"


# --- offsets


def _print_offsets(cluster: Cluster, group: StreamsGroupDescription, verbose: bool) -> None:
    with failing(as_java_says):
        positions = now(positions_of(cluster, group))
    if not _has_rows(group):
        return
    widths = [_width(group), widest([each.topic for each in positions], 15), 10]
    if verbose:
        widths += [15, 15, 15, 15]
    middle = ["CURRENT-OFFSET", "LEADER-EPOCH", "LOG-END-OFFSET"] if verbose else []
    print(padded(["GROUP", "TOPIC", "PARTITION", *middle, "OFFSET-LAG"], widths))
    for (topic, partition), (committed, end_offset, lag) in positions.items():
        told = [
            or_missing(None if committed is None else committed.offset),
            or_missing(None if committed is None else committed.leader_epoch),
            end_offset,
        ]
        print(padded([group.group_id, topic, partition, *(told if verbose else []), lag], widths))
