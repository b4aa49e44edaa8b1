"""kafka-reassign-partitions --list, --generate and --execute."""

from __future__ import annotations

from random import Random

from penstock.cli.tools.common.failures import CommandFailure, TerseFailure
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.reassign_partitions.assignments import (
    assignments_of_partitions,
    assignments_of_topics,
    brokers_of,
    current_log_dirs,
    replica_ids,
)
from penstock.cli.tools.reassign_partitions.log_dir_moves import (
    start_moves,
)
from penstock.cli.tools.reassign_partitions.moves import (
    all_moves,
    throttle_log_dirs,
    throttle_moves,
)
from penstock.cli.tools.reassign_partitions.placement import place
from penstock.cli.tools.reassign_partitions.plans import (
    Plan,
    Replicas,
    format_plan,
    parse_brokers,
    parse_executable_plan,
    parse_topics,
)
from penstock.cli.tools.reassign_partitions.under_way import altered, plural, reasons, under_way
from penstock.client.admin.reassignments import (
    PartitionReassignment,
)
from penstock.types import TopicPartition
from penstock.wire_client import Cluster

ALREADY_ONE = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create "
    "a new partition assignment in addition to the existing one. The --additional flag can also be used to change the "
    "throttle by resubmitting the current reassignment."
)
VERIFY_LATER = (
    "Warning: You must run --verify periodically, until the reassignment completes, "
    "to ensure the throttle is removed."
)
NO_RACKS = (
    "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica assignment "
    "without rack information."
)


# --- list


def list_reassignments(cluster: Cluster) -> None:
    found = under_way(cluster)
    if not found:
        print("No partition reassignments found.")
        return
    print("Current partition reassignments:")
    for partition in sorted(found):
        replicas, adding, removing = (",".join(map(str, ids)) for ids in _ids(found[partition]))
        more = (f" adding: {adding}." if adding else "") + (f" removing: {removing}." if removing else "")
        print(f"{partition}: replicas: {replicas}.{more}")


def _ids(reassignment: PartitionReassignment) -> tuple[tuple[int, ...], ...]:
    return reassignment.replicas, reassignment.adding, reassignment.removing


# --- generate


def generate(cluster: Cluster, topics_json: str, broker_list: str, *, rack_aware: bool) -> None:
    wanted = parse_brokers(broker_list)
    topics = parse_topics(topics_json)
    assignments = assignments_of_topics(cluster, topics)
    log_dirs = current_log_dirs(cluster, assignments)
    brokers = _usable_brokers(cluster, wanted, rack_aware=rack_aware)
    current = replica_ids(assignments)
    proposed = _proposed(current, brokers)
    print(f"Current partition replica assignment\n{format_plan(current, log_dirs)}\n")
    print(f"Proposed partition reassignment configuration\n{format_plan(proposed, {})}")


def _usable_brokers(cluster: Cluster, wanted: list[int], *, rack_aware: bool) -> dict[int, str | None]:
    found = {node.id: node.rack if rack_aware else None for node in brokers_of(cluster) if node.id in wanted}
    rackless = sum(rack is None for rack in found.values())
    if rack_aware and rackless not in (0, len(found)):
        raise CommandFailure(NO_RACKS)
    return found


def _proposed(current: Replicas, brokers: dict[int, str | None]) -> Replicas:
    random = Random()
    proposed: Replicas = {}
    for topic in dict.fromkeys(partition.topic for partition in current):
        of_topic = [replicas for partition, replicas in current.items() if partition.topic == topic]
        placed = place(brokers, len(of_topic), len(of_topic[0]), random)
        proposed |= {TopicPartition(topic, number): replicas for number, replicas in enumerate(placed)}
    return proposed


# --- execute


def execute(
    cluster: Cluster,
    plan_json: str,
    *,
    additional: bool,
    throttle: int,
    log_dir_throttle: int,
    timeout_ms: int,
    allow_replication_factor_change: bool,
) -> None:
    plan = parse_executable_plan(plan_json)
    ongoing = under_way(cluster)
    if ongoing and not additional:
        raise TerseFailure(ALREADY_ONE)
    _check_brokers(cluster, plan)
    current = _print_current(cluster, plan.replicas)
    if throttle >= 0 or log_dir_throttle >= 0:
        print(VERIFY_LATER)
    if throttle >= 0:
        throttle_moves(cluster, all_moves(ongoing, plan.replicas, current), throttle)
    if log_dir_throttle >= 0:
        throttle_log_dirs(cluster, {replica.broker_id for replica in plan.log_dirs}, log_dir_throttle)
    _start(cluster, plan.replicas, allow_replication_factor_change=allow_replication_factor_change)
    start_moves(cluster, plan.log_dirs, timeout_ms)


def _check_brokers(cluster: Cluster, plan: Plan) -> None:
    known = {node.id for node in brokers_of(cluster)}
    wanted = in_hash_order(broker for _, replicas in plan.partitions for broker in replicas)
    unknown = [broker for broker in wanted if broker not in known]
    if unknown:
        raise CommandFailure(f"Unknown broker id {unknown[0]}")


def _print_current(cluster: Cluster, proposed: Replicas) -> Replicas:
    assignments = assignments_of_partitions(cluster, proposed)
    current = replica_ids(assignments)
    print(
        f"Current partition replica assignment\n\n{format_plan(current, current_log_dirs(cluster, assignments))}\n\n"
        "Save this to use as the --reassignment-json-file option during rollback",
        flush=True,
    )
    return current


def _start(cluster: Cluster, proposed: Replicas, *, allow_replication_factor_change: bool) -> None:
    errors = altered(cluster, proposed, allow_replication_factor_change=allow_replication_factor_change)
    if errors:
        raise TerseFailure(f"Error reassigning partition(s):\n{reasons(errors)}")
    listed = ",".join(map(str, sorted(proposed)))
    print(f"Successfully started partition reassignment{plural(proposed)} for {listed}", flush=True)
