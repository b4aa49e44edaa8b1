"""Which offsets the program shall have in its input topics: each of the scenarios as a function."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tool import err
from penstock.cli.tools.application_reset.consumer_errors import as_consumer_says
from penstock.cli.tools.application_reset.reset_plan import check_reset_plan, plan_of, read_rows
from penstock.cli.tools.common.failures import CommandFailure, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.group_offsets.moments import moment_before, moment_of_datetime
from penstock.cli.tools.group_offsets.partitions import end_offsets, offsets_from, start_offsets
from penstock.cli.tools.group_offsets.scenarios import Offsets
from penstock.client.admin.group_offsets import list_group_offsets
from penstock.errors import ConfigError
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now

Partitions = list[TopicPartition]
OFFSET_RESET = "auto.offset.reset"


class TargetOffsets:
    """Of the partitions that are to be reset, in the order in which they are told of."""

    def __init__(
        self, cluster: Cluster, options: OptionSet, configs: Mapping[str, str], partitions: Partitions
    ) -> None:
        self._group_id: str = options.value("application-id")
        self._cluster = cluster
        self._options = options
        self._configs = configs
        self._partitions = partitions

    def find(self) -> Offsets:
        """As the scenario says that is on the command line; without one, from the beginning."""
        chosen = next((each for each in self._scenarios if self._options.has(each)), "to-earliest")
        with failing(lambda error: as_consumer_says(error, self._group_id)):
            return self._scenarios[chosen]()

    @property
    def _scenarios(self) -> dict[str, Callable[[], Offsets]]:
        value = self._options.value
        return {
            "to-offset": lambda: self._to_offset(value("to-offset")),
            "to-earliest": lambda: now(start_offsets(self._cluster, self._partitions)),
            "to-latest": lambda: now(end_offsets(self._cluster, self._partitions)),
            "shift-by": lambda: self._shifted(value("shift-by")),
            "to-datetime": lambda: self._to_datetime(value("to-datetime")),
            "by-duration": lambda: self._by_duration(value("by-duration")),
            "from-file": lambda: self._planned(value("from-file")),
        }

    def _to_offset(self, offset: int) -> Offsets:
        return self._in_range(dict.fromkeys(self._partitions, offset), len(self._partitions))

    def _shifted(self, by: int) -> Offsets:
        positions = self._positions()
        wanted = {each: positions[each] + by for each in self._partitions}
        return self._in_range(wanted, len(self._partitions))

    def _planned(self, path: str) -> Offsets:
        with _telling_of_failure():
            rows = read_rows(path)
        plan = plan_of(rows)
        check_reset_plan(path, plan, self._partitions)
        return self._in_range(plan)

    def _to_datetime(self, text: str) -> Offsets:
        with _telling_of_failure():
            moment_ms = moment_of_datetime(text)
        return self._to_moment(moment_ms)

    def _by_duration(self, text: str) -> Offsets:
        try:
            moment_ms = moment_before(text, time.time_ns() // 1_000_000)
        except CommandFailure as failure:
            raise CommandFailure(f"java.time.format.DateTimeParseException: {failure}") from None
        return self._to_moment(moment_ms)

    def _to_moment(self, moment_ms: int) -> Offsets:
        """The first record from then on; where there is none, the end."""
        if moment_ms < 0:
            first = in_hash_order(self._partitions, capacity=len(self._partitions))[0]
            raise CommandFailure(
                f"java.lang.IllegalArgumentException: The target time for partition {first} is {moment_ms}. "
                "The target time cannot be negative."
            )
        found = now(offsets_from(self._cluster, self._partitions, moment_ms))
        ends = now(end_offsets(self._cluster, [each for each in self._partitions if found[each] is None]))
        for topic, partition in ends:
            print(
                f"Partition {partition} from topic {topic} is empty, without a committed record. "
                "Falling back to latest known offset."
            )
        return {each: ends[each] if offset is None else offset for each, offset in found.items()}

    def _positions(self) -> Offsets:
        """What the program has committed; where it has not, where its consumer would begin."""
        committed = now(list_group_offsets(self._cluster, self._group_id, self._partitions))
        known = {each: found.offset for each, found in committed.items() if found is not None}
        return known | self._beginnings([each for each in self._partitions if each not in known])

    def _beginnings(self, partitions: Partitions) -> Offsets:
        policy = self._configs.get(OFFSET_RESET, "latest")
        if policy == "latest":
            return now(end_offsets(self._cluster, partitions))
        if policy == "earliest":
            return now(start_offsets(self._cluster, partitions))
        if policy != "none":
            raise ConfigError(f"{OFFSET_RESET}: got {policy!r}; takes earliest, latest or none")
        if partitions:
            listed = ", ".join(map(str, partitions))
            raise CommandFailure(
                "org.apache.kafka.clients.consumer.NoOffsetForPartitionException: "
                f"Undefined offset with no reset policy for partitions: [{listed}]"
            )
        return {}

    def _in_range(self, wanted: Offsets, capacity: int = 16) -> Offsets:
        """No lower than the log begins, no higher than it ends; told of also where it is just there."""
        starts = now(start_offsets(self._cluster, wanted))
        ends = now(end_offsets(self._cluster, wanted))
        for each in in_hash_order(wanted, capacity=capacity):
            if wanted[each] >= ends[each]:
                _tell_of_limit(wanted[each], "higher than latest", ends[each])
            elif wanted[each] <= starts[each]:
                _tell_of_limit(wanted[each], "lower than earliest", starts[each])
        return {each: min(max(offset, starts[each]), ends[each]) for each, offset in wanted.items()}


def _tell_of_limit(offset: int, how: str, limit: int) -> None:
    print(f"New offset ({offset}) is {how} offset. Value will be set to {limit}")


@contextmanager
def _telling_of_failure() -> Iterator[None]:
    try:
        yield
    except CommandFailure:
        err("ERROR: Resetting offsets failed.")
        raise
