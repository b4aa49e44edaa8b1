"""Where offsets are to be reset to: each of the `--to-...` options as a function."""

from __future__ import annotations

import time
from collections.abc import Mapping

from penstock.cli.tool import err
from penstock.cli.tools.common.failures import (
    ArgumentFailure,
    CommandFailure,
    as_broker_says,
    as_future_says,
    failing,
)
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.tables import print_rows, widest
from penstock.cli.tools.group_offsets.partitions import (
    end_offsets,
    offsets_from,
    partitions_of_topics,
    start_offsets,
)
from penstock.cli.tools.group_offsets.topic_arguments import has_partitions, parse_partitions
from penstock.client.admin.group_offsets import CommittedOffset
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

Offsets = dict[TopicPartition, int]
Committed = Mapping[TopicPartition, CommittedOffset | None]


def chosen_partitions(cluster: Cluster, arguments: list[str]) -> list[TopicPartition]:
    """Those that `--topic` names, and all of topics that it names without partitions."""
    chosen = [
        each for argument in arguments if has_partitions(argument) for each in parse_partitions(argument)
    ]
    topics = [argument for argument in arguments if not has_partitions(argument)]
    with failing(as_broker_says):
        return chosen + list(now(partitions_of_topics(cluster, in_hash_order(topics, capacity=len(topics)))))


def to_earliest(cluster: Cluster, partitions: list[TopicPartition]) -> Offsets:
    with failing(as_future_says):
        return now(start_offsets(cluster, partitions))


def to_latest(cluster: Cluster, partitions: list[TopicPartition]) -> Offsets:
    with failing(as_future_says):
        return now(end_offsets(cluster, partitions))


def to_offset(cluster: Cluster, partitions: list[TopicPartition], offset: int) -> Offsets:
    return in_range(cluster, dict.fromkeys(partitions, offset))


def to_datetime(cluster: Cluster, partitions: list[TopicPartition], text: str) -> Offsets:
    from penstock.cli.tools.group_offsets.moments import moment_of_datetime

    return to_moment(cluster, partitions, moment_of_datetime(text))


def by_duration(cluster: Cluster, partitions: list[TopicPartition], text: str) -> Offsets:
    from penstock.cli.tools.group_offsets.moments import moment_before

    return to_moment(cluster, partitions, moment_before(text, time.time_ns() // 1_000_000))


def to_moment(cluster: Cluster, partitions: list[TopicPartition], moment_ms: int) -> Offsets:
    """The first record from then on; where there is none, the end."""
    with failing(as_future_says):
        found = now(offsets_from(cluster, partitions, moment_ms))
        too_old = [partition for partition in in_hash_order(found) if found[partition] is None]
        for topic, partition in too_old:
            print(
                f"\nWarn: Partition {partition} from topic {topic} is empty. "
                "Falling back to latest known offset."
            )
        ends = now(end_offsets(cluster, too_old))
    return {each: ends[each] if offset is None else offset for each, offset in found.items()}


def shifted(cluster: Cluster, partitions: list[TopicPartition], committed: Committed, by: int) -> Offsets:
    wanted: Offsets = {}
    for partition in partitions:
        current = committed.get(partition)
        if current is None:
            raise ArgumentFailure(
                f"Cannot shift offset for partition {partition} since there is no current committed offset"
            )
        wanted[partition] = current.offset + by
    return in_range(cluster, wanted)


def to_current(cluster: Cluster, partitions: list[TopicPartition], committed: Committed) -> Offsets:
    """What the group has committed; where it has not, the end."""
    current = {each: found.offset for each in partitions if (found := committed.get(each)) is not None}
    with failing(as_future_says):
        return current | now(end_offsets(cluster, [each for each in partitions if each not in current]))


def in_range(cluster: Cluster, wanted: Offsets) -> Offsets:
    """No lower than the log begins, no higher than it ends."""
    with failing(as_future_says):
        starts, ends = now(start_offsets(cluster, wanted)), now(end_offsets(cluster, wanted))
    for partition in in_hash_order(wanted):
        offset, start, end = wanted[partition], starts[partition], ends[partition]
        if offset > end:
            _warn_of_limit(partition, offset, "higher than latest", end)
        elif offset < start:
            _warn_of_limit(partition, offset, "lower than earliest", start)
    return {each: min(max(offset, starts[each]), ends[each]) for each, offset in wanted.items()}


def _warn_of_limit(partition: TopicPartition, offset: int, how: str, limit: int) -> None:
    now_ms = time.time_ns() // 1_000_000
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now_ms / 1000)) + f",{now_ms % 1000:03d}"
    err(
        f"[{stamp}] WARN New offset ({offset}) is {how} offset for topic partition {partition}. "
        f"Value will be set to {limit} (org.apache.kafka.tools.OffsetsUtils)"
    )


# --- what will be, or has been


def check_altered(outcome: Mapping[TopicPartition, KafkaError | None]) -> None:
    failed = [partition for partition in in_hash_order(outcome) if outcome[partition] is not None]
    if failed:
        listed = ", ".join(map(str, failed))
        raise CommandFailure(f"Failed altering group offsets for the following partitions: [{listed}]")


def in_printed_order(offsets: Offsets) -> Offsets:
    return {partition: offsets[partition] for partition in in_hash_order(offsets)}


def print_offsets_to_reset(groups: Mapping[str, Offsets]) -> None:
    rows = [
        [group_id, topic, str(partition), str(offset)]
        for group_id in in_hash_order(groups)
        for (topic, partition), offset in in_printed_order(groups[group_id]).items()
    ]
    widths = [widest(list(groups), 15), widest([row[1] for row in rows], 15), 10]
    if groups:
        print_rows(["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"], rows, widths)
    else:
        print()
