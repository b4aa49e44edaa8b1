"""`penstock groups --list`."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import View
from penstock.cli.tools.kafka_groups import is_wanted
from penstock.cli.views.asking import cluster_of, has_only
from penstock.client.admin.groups import GroupListing, list_groups
from penstock.wire_client import now

FLAGS = ("list", "group-type", "protocol", "consumer", "share", "streams")


def view(options: OptionSet) -> View | None:
    if not options.has("list") or not has_only(options, *FLAGS):
        return None
    with cluster_of(options) as cluster:
        return listed(group for group in now(list_groups(cluster)) if is_wanted(group, options))


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
