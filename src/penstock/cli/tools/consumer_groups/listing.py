"""kafka-consumer-groups --list."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import ArgumentFailure, as_future_says, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.tables import padded, widest
from penstock.cli.tools.groups.listing import in_listed_order, parse_states
from penstock.client.admin.groups import (
    CONSUMER_GROUP_TYPES,
    GroupListing,
    GroupState,
    GroupType,
    list_consumer_groups,
)
from penstock.wire_client import Cluster, now

GROUP_STATES = (
    GroupState.PREPARING_REBALANCE,
    GroupState.COMPLETING_REBALANCE,
    GroupState.STABLE,
    GroupState.DEAD,
    GroupState.EMPTY,
    GroupState.ASSIGNING,
    GroupState.RECONCILING,
)


def print_groups(cluster: Cluster, options: OptionSet) -> None:
    if not options.has("state") and not options.has("type"):
        print("".join(f"{group_id}\n" for group_id in listed_group_ids(cluster)), end="")
        return
    types = parse_types(options.value("type") or "")
    states = parse_states(options.value("state") or "", GROUP_STATES)
    with failing(as_java_says):
        groups = now(list_consumer_groups(cluster, states=states, types=types))
    _print_table(in_listed_order(groups), with_type=options.has("type"), with_state=options.has("state"))


def listed_group_ids(cluster: Cluster) -> list[str]:
    with failing(as_future_says):
        return in_hash_order(group.group_id for group in now(list_consumer_groups(cluster)))


def parse_types(text: str) -> list[GroupType]:
    if not text:
        return []
    types = [GroupType.parse(name.strip()) for name in text.split(",")]
    if not set(types) <= set(CONSUMER_GROUP_TYPES):
        listed = ", ".join(each.value for each in CONSUMER_GROUP_TYPES)
        raise ArgumentFailure(f"Invalid types list '{text}'. Valid types are: {listed}")
    return types


def _print_table(groups: list[GroupListing], *, with_type: bool, with_state: bool) -> None:
    columns = [("GROUP", [group.group_id for group in groups])]
    if with_type:
        columns.append(("TYPE", [str(group.type or GroupType.UNKNOWN) for group in groups]))
    if with_state:
        columns.append(("STATE", [str(group.state or GroupState.UNKNOWN) for group in groups]))
    widths = [widest(columns[0][1], 15) + 10, *([20] * (len(columns) - 1))]
    for row in ([name for name, _ in columns], *zip(*(values for _, values in columns), strict=True)):
        print(padded(row, widths))
