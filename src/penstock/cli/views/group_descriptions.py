"""What the views of groups of every kind have in common: `--describe`, of offsets, members or state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.tools.groups.describing import DescribedGroup
from penstock.cli.views.asking import cluster_of, has_only
from penstock.client.admin.groups import GroupListing
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now

FLAGS = ("describe", "group", "all-groups", "members", "offsets", "state", "verbose", "timeout")


class Description(DescribedGroup, Protocol):
    @property
    def members(self) -> Sequence[object]: ...


Group = TypeVar("Group", bound=Description)


class Asking(NamedTuple, Generic[Group]):
    """How one kind of groups is asked, and what is shown of it."""

    listed: Callable[[Cluster], Awaitable[Iterable[GroupListing]]]
    described: Callable[[Cluster, Sequence[str]], Awaitable[Mapping[str, Group]]]
    summary: Callable[[Group], Record]
    members: Callable[[Group], list[Record]]
    offsets: Callable[[Cluster, Group], Awaitable[list[Record]]]


def description(options: OptionSet, asking: Asking[Group]) -> View | None:
    is_scoped = options.has("group") != options.has("all-groups")
    if not options.has("describe") or not is_scoped or not has_only(options, *FLAGS):
        return None
    with cluster_of(options) as cluster:
        return now(_described(cluster, options, asking))


async def _described(cluster: Cluster, options: OptionSet, asking: Asking[Group]) -> View:
    if options.has("all-groups"):
        ids = [group.group_id for group in await asking.listed(cluster)]
    else:
        ids = options.values("group")
    groups = [group for _, group in sorted((await asking.described(cluster, ids)).items())]
    if options.has("state"):
        return View([asking.summary(group) for group in groups])
    if options.has("members"):
        return _nested(asking, groups, "members", [asking.members(group) for group in groups])
    return _nested(asking, groups, "offsets", [await asking.offsets(cluster, group) for group in groups])


def _nested(asking: Asking[Group], groups: list[Group], name: str, of_groups: list[list[Record]]) -> View:
    pairs = list(zip(groups, of_groups, strict=True))
    return View(
        [{**asking.summary(group), name: found} for group, found in pairs],
        [{"group": group.group_id, **each} for group, found in pairs for each in found],
        [f"{group.group_id}: {group.state.value}" for group, found in pairs if not found],
    )


def coordinator_of(group: Description) -> Record:
    return {
        "coordinator": f"{group.coordinator.host}:{group.coordinator.port}",
        "coordinator_id": group.coordinator.id,
    }


def assignment_texts(partitions: Iterable[TopicPartition]) -> list[str]:
    return [str(partition) for partition in sorted(partitions)]
