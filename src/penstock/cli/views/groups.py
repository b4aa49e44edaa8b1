"""`penstock groups --list`."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output import View
from penstock.cli.views.asking import cluster_of, has_only
from penstock.client.admin.groups import GroupListing, list_groups
from penstock.client.cluster import now


def view(options: OptionSet) -> View | None:
    if not options.has("list") or not has_only(options, "list"):
        return None
    with cluster_of(options) as cluster:
        return listed(now(list_groups(cluster)))


def listed(groups: Iterable[GroupListing]) -> View:
    return View(
        [
            {
                "group": group.group_id,
                "type": group.type.value if group.type is not None else None,
                "protocol": group.protocol,
                "state": group.state.value if group.state is not None else None,
            }
            for group in sorted(groups, key=lambda group: group.group_id)
        ]
    )
