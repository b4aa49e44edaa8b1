"""kafka-consumer-groups --delete and --delete-offsets."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.consumer_groups.listing import listed_group_ids
from penstock.cli.tools.group_offsets.deleting import delete_offsets_of_topics
from penstock.cli.tools.groups.deleting import print_deletions, sort_out
from penstock.client.admin.groups import delete_groups
from penstock.wire_client import Cluster, now


def delete_chosen_groups(cluster: Cluster, options: OptionSet) -> None:
    group_ids = listed_group_ids(cluster) if options.has("all-groups") else options.values("group")
    print_deletions("consumer", *sort_out(now(delete_groups(cluster, group_ids))))


def delete_offsets(cluster: Cluster, options: OptionSet) -> None:
    delete_offsets_of_topics(cluster, options.value("group"), options.values("topic"))
