"""kafka-streams-groups --list."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import as_future_says, as_java_says, failing
from penstock.cli.tools.common.tables import padded, widest
from penstock.cli.tools.groups.listing import in_listed_order, parse_states
from penstock.client.admin.groups import GroupListing, GroupState, GroupType, list_groups
from penstock.wire_client import Cluster, now

GROUP_STATES = (
    GroupState.STABLE,
    GroupState.DEAD,
    GroupState.EMPTY,
    GroupState.ASSIGNING,
    GroupState.RECONCILING,
    GroupState.NOT_READY,
)


def print_groups(cluster: Cluster, options: OptionSet) -> None:
    if not options.has("state"):
        print("".join(f"{group_id}\n" for group_id in listed_group_ids(cluster)), end="")
        return
    states = parse_states(options.value("state") or "", GROUP_STATES)
    with failing(as_java_says):
        groups = in_listed_order(now(list_groups(cluster, states=states, types=[GroupType.STREAMS])))
    width = widest([group.group_id for group in groups], 15)
    print(padded(["GROUP", "STATE"], [width]))
    for group in groups:
        print(padded([group.group_id, group.state or GroupState.UNKNOWN], [width]))


def listed_groups(cluster: Cluster) -> dict[str, GroupListing]:
    with failing(as_future_says):
        groups = in_listed_order(now(list_groups(cluster, types=[GroupType.STREAMS])))
    return {group.group_id: group for group in groups}


def listed_group_ids(cluster: Cluster) -> list[str]:
    return list(listed_groups(cluster))
