"""`--describe` of groups of any kind: which of three reports, and what is said of the state of a group."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import as_future_says, as_java_says, failing
from penstock.cli.tools.common.tables import MISSING, padded
from penstock.client.admin.groups import GroupState
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, Node, now


class DescribedGroup(Protocol):
    @property
    def group_id(self) -> str: ...

    @property
    def state(self) -> GroupState: ...

    @property
    def coordinator(self) -> Node: ...


Group = TypeVar("Group", bound=DescribedGroup)
Offsets = TypeVar("Offsets")


class Reports(NamedTuple, Generic[Group, Offsets]):
    """What a tool asks of its kind of groups, and how it prints that; the last argument is `--verbose`."""

    describe: Callable[[Cluster, Sequence[str]], Coroutine[Any, Any, Mapping[str, Group]]]
    offsets_of: Callable[[Cluster, Group], Offsets]
    print_members: Callable[[Group, bool], None]
    print_state: Callable[[Group, bool], None]
    print_offsets: Callable[[Group, Offsets, bool], None]


def print_reports(
    cluster: Cluster, options: OptionSet, group_ids: Sequence[str], reports: Reports[Group, Offsets]
) -> None:
    with failing(as_java_says):
        described = now(reports.describe(cluster, group_ids))
    groups = [described[group_id] for group_id in sorted(described)]
    verbose = options.has("verbose")
    if options.has("members"):
        for group in groups:
            reports.print_members(group, verbose)
    elif options.has("state"):
        for group in groups:
            reports.print_state(group, verbose)
    else:
        with failing(as_future_says):
            offsets = [reports.offsets_of(cluster, group) for group in groups]
        for group, of_group in zip(groups, offsets, strict=True):
            reports.print_offsets(group, of_group, verbose)


def tell_state(kind: str, group: DescribedGroup) -> None:
    """Says of a group that there is nothing to be seen of it, and why."""
    sys.stdout.flush()
    if group.state is GroupState.DEAD:
        print(f"\nError: {kind} group '{group.group_id}' does not exist.")
    elif group.state is GroupState.EMPTY:
        print(f"\n{kind} group '{group.group_id}' has no active members.", file=sys.stderr)


def coordinator_text(group: DescribedGroup) -> str:
    return f"{group.coordinator.host}:{group.coordinator.port}  ({group.coordinator.id})"


def print_state_row(row: Mapping[str, object], widths: Sequence[int]) -> None:
    """One group; the columns of its name and of its coordinator are as wide as they need to be."""
    values = list(row.values())
    widened = [max(15, len(str(values[0]))), max(25, len(str(values[1]))), *widths]
    print("\n" + padded(list(row), widened))
    print(padded(values, widened))


def assignment_text(assignment: Iterable[TopicPartition]) -> str:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(assignment):
        topics.setdefault(topic, []).append(partition)
    parts = [f"{topic}:{','.join(map(str, partitions))}" for topic, partitions in topics.items()]
    return ";".join(sorted(parts)) or MISSING
