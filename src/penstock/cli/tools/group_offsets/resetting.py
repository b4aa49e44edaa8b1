"""`--reset-offsets` of one group: which offsets it shall have, and having them committed.

What a kind of groups is asked differently, a tool says in a class of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from penstock.cli.options.command_line import print_usage_and_exit
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tools.common.failures import as_broker_says, as_future_says, failing
from penstock.cli.tools.group_offsets.partitions import check_partitions
from penstock.cli.tools.group_offsets.plan_files import read_plan
from penstock.cli.tools.group_offsets.scenarios import (
    Committed,
    Offsets,
    by_duration,
    check_altered,
    in_range,
    shifted,
    to_current,
    to_datetime,
    to_earliest,
    to_latest,
    to_offset,
)
from penstock.client.admin.group_offsets import CommittedOffset, alter_group_offsets, list_group_offsets
from penstock.client.admin.groups import GroupState
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError


class Reset(ABC):
    def __init__(self, cluster: Cluster, parser: OptionParser, options: OptionSet, group_id: str) -> None:
        self.group_id = group_id
        self.cluster = cluster
        self.parser = parser
        self.options = options

    @abstractmethod
    async def describe_state(self) -> GroupState:
        """Of the group; an error if it is none of its kind."""

    @abstractmethod
    def partitions(self) -> list[TopicPartition]:
        """Those that are meant; none with a plan from a file."""

    def committed(self) -> Committed:
        """What the group has committed."""
        with failing(as_future_says):
            return now(list_group_offsets(self.cluster, self.group_id))

    def run(self) -> Offsets:
        state = self._state()
        if state not in (None, GroupState.EMPTY, GroupState.DEAD):
            print(
                f"\nError: Assignments can only be reset if the group '{self.group_id}' is inactive, "
                f"but the current state is {state}."
            )
            return {}
        offsets = self._wanted_offsets(self.partitions())
        if self.options.has("execute"):
            self._commit(offsets)
        return offsets

    def _state(self) -> GroupState | None:
        with failing(as_future_says):
            try:
                return now(self.describe_state())
            except KafkaError as error:
                if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
                    raise
                return None

    def _commit(self, offsets: Offsets) -> None:
        wanted = {partition: CommittedOffset(offset) for partition, offset in offsets.items()}
        with failing(as_broker_says):
            outcome = now(alter_group_offsets(self.cluster, self.group_id, wanted))
        check_altered(outcome)

    def _wanted_offsets(self, partitions: list[TopicPartition]) -> Offsets:
        with failing(as_future_says):
            now(check_partitions(self.cluster, partitions))
        for scenario, offsets in self._scenarios(partitions).items():
            if self.options.has(scenario):
                return offsets()
        return print_usage_and_exit(self.parser, _NO_SCENARIO)

    def _scenarios(self, partitions: list[TopicPartition]) -> dict[str, Callable[[], Offsets]]:
        cluster, value, values = self.cluster, self.options.value, self.options.values
        return {
            "to-offset": lambda: to_offset(cluster, partitions, values("to-offset")[0]),
            "to-earliest": lambda: to_earliest(cluster, partitions),
            "to-latest": lambda: to_latest(cluster, partitions),
            "shift-by": lambda: shifted(cluster, partitions, self.committed(), value("shift-by")),
            "to-datetime": lambda: to_datetime(cluster, partitions, values("to-datetime")[0]),
            "by-duration": lambda: by_duration(cluster, partitions, value("by-duration")),
            "from-file": lambda: self._planned_offsets(values("from-file")[0]),
            "to-current": lambda: to_current(cluster, partitions, self.committed()),
        }

    def _planned_offsets(self, path: str) -> Offsets:
        plan = read_plan(path, self.options.values("group"))
        if self.group_id not in plan:
            print(f"\nError: No reset plan for group {self.group_id} found")
            return {}
        return in_range(self.cluster, plan[self.group_id])


_NO_SCENARIO = (
    "Option '[reset-offsets]' requires one of the following scenarios: [[to-offset], [shift-by], [to-datetime], "
    "[by-duration], [to-earliest], [to-latest], [to-current], [from-file]]"
)
