"""kafka-consumer-groups --reset-offsets."""

from __future__ import annotations

from penstock.cli.options.command_line import print_usage_and_exit
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.consumer_groups.listing import listed_group_ids
from penstock.cli.tools.group_offsets.plan_files import format_plan
from penstock.cli.tools.group_offsets.resetting import Reset
from penstock.cli.tools.group_offsets.scenarios import (
    chosen_partitions,
    in_printed_order,
    print_offsets_to_reset,
)
from penstock.client.admin.consumer_groups import describe_consumer_group
from penstock.client.admin.groups import GroupState
from penstock.types import TopicPartition
from penstock.wire_client import Cluster


def reset_offsets(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    groups = listed_group_ids(cluster) if options.has("all-groups") else options.values("group")
    resetting = [_ConsumerReset(cluster, parser, options, group_id) for group_id in in_hash_order(groups)]
    offsets = {reset.group_id: reset.run() for reset in resetting}
    if options.has("export"):
        ordered = {group_id: in_printed_order(offsets[group_id]) for group_id in in_hash_order(offsets)}
        print(format_plan(ordered, with_group=len(options.values("group")) != 1))
    else:
        print_offsets_to_reset(offsets)


class _ConsumerReset(Reset):
    async def describe_state(self) -> GroupState:
        return (await describe_consumer_group(self.cluster, self.group_id)).state

    def partitions(self) -> list[TopicPartition]:
        if self.options.has("all-topics"):
            return in_hash_order(self.committed())
        if self.options.has("topic"):
            return chosen_partitions(self.cluster, self.options.values("topic"))
        if not self.options.has("from-file"):
            print_usage_and_exit(
                self.parser, "One of the reset scopes should be defined: --all-topics, --topic."
            )
        return []
