"""kafka-streams-groups --reset-offsets."""

from __future__ import annotations

from penstock.cli.options.command_line import print_usage_and_exit
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tools.common.failures import as_future_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.group_offsets.partitions import check_partitions
from penstock.cli.tools.group_offsets.plan_files import format_plan
from penstock.cli.tools.group_offsets.resetting import Reset
from penstock.cli.tools.group_offsets.scenarios import Offsets, chosen_partitions, in_printed_order
from penstock.cli.tools.streams_groups.deleting import committed_of_input_topics, delete_topics_after_reset
from penstock.cli.tools.streams_groups.listing import listed_group_ids
from penstock.cli.tools.streams_groups.topics import internal_topics_of_groups
from penstock.client.admin.groups import GroupState
from penstock.client.admin.streams_groups import describe_streams_group
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now


def reset_offsets(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    groups = listed_group_ids(cluster) if options.has("all-groups") else options.values("group")
    resetting = [_StreamsReset(cluster, parser, options, group_id) for group_id in in_hash_order(groups)]
    offsets = {reset.group_id: in_printed_order(reset.run()) for reset in resetting}
    if options.has("export"):
        print(format_plan(offsets, with_group=len(options.values("group")) != 1))
    else:
        _print_offsets_to_reset(offsets)


class _StreamsReset(Reset):
    async def describe_state(self) -> GroupState:
        return (await describe_streams_group(self.cluster, self.group_id)).state

    def partitions(self) -> list[TopicPartition]:
        if self.options.has("all-input-topics"):
            return committed_of_input_topics(self.cluster, self.group_id)
        if self.options.has("input-topic"):
            return self._chosen_partitions()
        if not self.options.has("from-file"):
            print_usage_and_exit(
                self.parser, "One of the reset scopes should be defined: --all-topics, --topic."
            )
        return []

    def _chosen_partitions(self) -> list[TopicPartition]:
        chosen = chosen_partitions(self.cluster, self.options.values("input-topic"))
        with failing(as_future_says):
            now(check_partitions(self.cluster, chosen))
        committed = self.committed()
        if all(partition in committed for partition in chosen):
            return chosen
        print(f"\nError: One or more topics are not part of the group '{self.group_id}'.")
        return []

    def run(self) -> Offsets:
        state = self._state()
        offsets = super().run()
        if state in (GroupState.EMPTY, GroupState.DEAD) and self.options.has("execute"):
            topics = self._topics_to_delete()
            if topics:
                delete_topics_after_reset(self.cluster, self.group_id, topics)
        return offsets

    def _topics_to_delete(self) -> list[str]:
        if self.options.has("delete-all-internal-topics"):
            return internal_topics_of_groups(self.cluster, [self.group_id]).get(self.group_id, [])
        return self.options.values("delete-internal-topic")


def _print_offsets_to_reset(groups: dict[str, Offsets]) -> None:
    """In columns of fixed widths, the last one too."""
    rows: list[tuple[object, ...]] = [("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")] if groups else []
    rows += [
        (group_id, topic, partition, offset)
        for group_id in in_hash_order(groups)
        for (topic, partition), offset in groups[group_id].items()
    ]
    for group_id, topic, partition, offset in rows:
        print(f"\n{group_id!s:<30} {topic!s:<30} {partition!s:<10} {offset!s:<15}", end="")
    print()
