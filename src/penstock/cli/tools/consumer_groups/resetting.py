"""kafka-consumer-groups --reset-offsets."""

from __future__ import annotations

from collections.abc import Callable

from penstock.cli.options.command_line import print_usage_and_exit
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tools.common.failures import as_broker_says, as_future_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.consumer_groups.listing import listed_group_ids
from penstock.cli.tools.group_offsets.partitions import check_partitions
from penstock.cli.tools.group_offsets.plan_files import format_plan, read_plan
from penstock.cli.tools.group_offsets.scenarios import (
    Offsets,
    by_duration,
    check_altered,
    chosen_partitions,
    in_printed_order,
    in_range,
    print_offsets_to_reset,
    shifted,
    to_current,
    to_datetime,
    to_earliest,
    to_latest,
    to_offset,
)
from penstock.client.admin.consumer_groups import describe_consumer_group
from penstock.client.admin.group_offsets import CommittedOffset, alter_group_offsets, list_group_offsets
from penstock.client.admin.groups import GroupState
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError


def reset_offsets(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    groups = listed_group_ids(cluster) if options.has("all-groups") else options.values("group")
    resetting = [Reset(cluster, parser, options, group_id) for group_id in in_hash_order(groups)]
    offsets = {reset.group_id: reset.run() for reset in resetting}
    if options.has("export"):
        ordered = {group_id: in_printed_order(offsets[group_id]) for group_id in in_hash_order(offsets)}
        print(format_plan(ordered, with_group=len(options.values("group")) != 1))
    else:
        print_offsets_to_reset(offsets)


class Reset:
    """Of the offsets of one group."""

    def __init__(self, cluster: Cluster, parser: OptionParser, options: OptionSet, group_id: str) -> None:
        self.group_id = group_id
        self._cluster = cluster
        self._parser = parser
        self._options = options

    def run(self) -> Offsets:
        state = self._state()
        if state not in (None, GroupState.EMPTY, GroupState.DEAD):
            print(
                f"\nError: Assignments can only be reset if the group '{self.group_id}' is inactive, "
                f"but the current state is {state}."
            )
            return {}
        offsets = self._wanted_offsets(self._partitions())
        if self._options.has("execute"):
            self._commit(offsets)
        return offsets

    def _state(self) -> GroupState | None:
        with failing(as_future_says):
            try:
                return now(describe_consumer_group(self._cluster, self.group_id)).state
            except KafkaError as error:
                if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
                    raise
                return None

    def _commit(self, offsets: Offsets) -> None:
        wanted = {partition: CommittedOffset(offset) for partition, offset in offsets.items()}
        with failing(as_broker_says):
            outcome = now(alter_group_offsets(self._cluster, self.group_id, wanted))
        check_altered(outcome)

    def _committed(self) -> dict[TopicPartition, CommittedOffset | None]:
        with failing(as_future_says):
            return now(list_group_offsets(self._cluster, self.group_id))

    def _partitions(self) -> list[TopicPartition]:
        if self._options.has("all-topics"):
            return in_hash_order(self._committed())
        if self._options.has("topic"):
            return chosen_partitions(self._cluster, self._options.values("topic"))
        if not self._options.has("from-file"):
            print_usage_and_exit(
                self._parser, "One of the reset scopes should be defined: --all-topics, --topic."
            )
        return []

    def _wanted_offsets(self, partitions: list[TopicPartition]) -> Offsets:
        with failing(as_future_says):
            now(check_partitions(self._cluster, partitions))
        for scenario, offsets in self._scenarios(partitions).items():
            if self._options.has(scenario):
                return offsets()
        return print_usage_and_exit(self._parser, _NO_SCENARIO)

    def _scenarios(self, partitions: list[TopicPartition]) -> dict[str, Callable[[], Offsets]]:
        cluster, value, values = self._cluster, self._options.value, self._options.values
        return {
            "to-offset": lambda: to_offset(cluster, partitions, values("to-offset")[0]),
            "to-earliest": lambda: to_earliest(cluster, partitions),
            "to-latest": lambda: to_latest(cluster, partitions),
            "shift-by": lambda: shifted(cluster, partitions, self._committed(), value("shift-by")),
            "to-datetime": lambda: to_datetime(cluster, partitions, values("to-datetime")[0]),
            "by-duration": lambda: by_duration(cluster, partitions, value("by-duration")),
            "from-file": lambda: self._planned_offsets(values("from-file")[0]),
            "to-current": lambda: to_current(cluster, partitions, self._committed()),
        }

    def _planned_offsets(self, path: str) -> Offsets:
        plan = read_plan(path, self._options.values("group"))
        if self.group_id not in plan:
            print(f"\nError: No reset plan for group {self.group_id} found")
            return {}
        return in_range(self._cluster, plan[self.group_id])


_NO_SCENARIO = (
    "Option '[reset-offsets]' requires one of the following scenarios: [[to-offset], [shift-by], [to-datetime], "
    "[by-duration], [to-earliest], [to-latest], [to-current], [from-file]]"
)
