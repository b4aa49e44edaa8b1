"""kafka-reassign-partitions --verify and --cancel: how far a plan has come, and its end."""

from __future__ import annotations

from typing import NamedTuple

from penstock.cli.tools.common.failures import TerseFailure, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.reassign_partitions.assignments import brokers_of
from penstock.cli.tools.reassign_partitions.log_dir_moves import (
    by_broker,
    find,
    is_done,
    start_moves,
    state_text,
)
from penstock.cli.tools.reassign_partitions.moves import clear_throttles
from penstock.cli.tools.reassign_partitions.plans import Plan, parse_plan
from penstock.cli.tools.reassign_partitions.under_way import altered, plural, reasons, under_way
from penstock.client.admin.reassignments import PartitionReassignment
from penstock.client.admin.topic_descriptions import TopicDescription, TopicPartitionInfo, describe_topics
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError


class PartitionState(NamedTuple):
    current: list[int]
    target: list[int]
    is_done: bool


# --- verify


def verify(cluster: Cluster, plan_json: str, *, preserve_throttles: bool) -> None:
    plan = parse_plan(plan_json)
    ongoing = under_way(cluster)
    states = _states(cluster, plan, ongoing)
    print("Status of partition reassignment:")
    for partition in sorted(states):
        print(_state_text(partition, states[partition]))
    found = find(cluster, plan.log_dirs)
    moved = [state_text(each, plan.log_dirs[each], found[each]) for each in sorted(found, key=by_broker)]
    print("\n".join(moved), flush=True)
    if not ongoing and all(map(is_done, found.values())) and not preserve_throttles:
        _clear(cluster, plan)


def _states(
    cluster: Cluster, plan: Plan, ongoing: dict[TopicPartition, PartitionReassignment]
) -> dict[TopicPartition, PartitionState]:
    at_rest = {partition.topic for partition, _ in plan.partitions if partition not in ongoing}
    with failing(as_java_says):
        described = now(describe_topics(cluster, at_rest))
        return {
            partition: (
                PartitionState(list(ongoing[partition].replicas), target, is_done=False)
                if partition in ongoing
                else PartitionState(_replicas(partition, described[partition.topic]), target, is_done=True)
            )
            for partition, target in plan.partitions
        }


def _replicas(partition: TopicPartition, described: TopicDescription | KafkaError) -> list[int]:
    """None where there is no such partition."""
    if isinstance(described, KafkaError):
        if described.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise described
        return []
    infos: dict[int, TopicPartitionInfo] = {each.partition: each for each in described.partitions}
    return [node.id for node in infos[partition.partition].replicas] if partition.partition in infos else []


def _state_text(partition: TopicPartition, state: PartitionState) -> str:
    if not state.is_done:
        return f"Reassignment of partition {partition} is still in progress."
    if state.current == state.target:
        return f"Reassignment of partition {partition} is completed."
    current, target = (",".join(map(str, ids)) for ids in (state.current, state.target))
    return (
        f"There is no active reassignment of partition {partition}, "
        f"but replica set is {current} rather than {target}."
    )


def _clear(cluster: Cluster, plan: Plan) -> None:
    planned = (broker for _, replicas in plan.partitions for broker in replicas)
    brokers = in_hash_order([*(node.id for node in brokers_of(cluster)), *planned])
    clear_throttles(cluster, brokers, in_hash_order(partition.topic for partition, _ in plan.partitions))


# --- cancel


def cancel(cluster: Cluster, plan_json: str, *, preserve_throttles: bool, timeout_ms: int) -> None:
    plan = parse_plan(plan_json)
    found = under_way(cluster, list(plan.replicas))
    moving = [partition for partition, each in found.items() if each.adding or each.removing]
    if moving:
        _stop(cluster, moving)
    else:
        print("None of the specified partition reassignments are active.")
    back = {
        replica: each.current
        for replica, each in find(cluster, plan.log_dirs).items()
        if each.current is not None and each.future is not None
    }
    if back:
        start_moves(cluster, back, timeout_ms)
    else:
        print("None of the specified partition moves are active.", end="")
    if not preserve_throttles:
        _clear(cluster, plan)


def _stop(cluster: Cluster, moving: list[TopicPartition]) -> None:
    errors = altered(cluster, dict.fromkeys(moving))
    if errors:
        raise TerseFailure(f"Error cancelling partition reassignment{plural(errors)} for:\n{reasons(errors)}")
    listed = ",".join(map(str, sorted(moving)))
    print(f"Successfully cancelled partition reassignment{plural(moving)} for: {listed}")
