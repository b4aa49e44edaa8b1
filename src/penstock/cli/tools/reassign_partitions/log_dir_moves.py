"""Replicas on their way to another directory of the same broker."""

from __future__ import annotations

import time
from collections.abc import Mapping

from penstock.cli.tools.common.failures import CommandFailure, TerseFailure, as_java_says, failing
from penstock.cli.tools.reassign_partitions.plans import LogDirs
from penstock.client.admin.replica_log_dirs import (
    ReplicaLogDir,
    TopicPartitionReplica,
    alter_replica_log_dirs,
    describe_replica_log_dirs,
)
from penstock.errors import ErrorCode
from penstock.wire_client import Cluster, now

PAUSE_SECONDS = 0.1
Found = dict[TopicPartitionReplica, ReplicaLogDir]


def find(cluster: Cluster, targets: LogDirs) -> Found:
    with failing(as_java_says):
        return now(describe_replica_log_dirs(cluster, targets))


def by_broker(replica: TopicPartitionReplica) -> tuple[int, str, int]:
    return replica.broker_id, replica.topic, replica.partition


def is_done(found: ReplicaLogDir) -> bool:
    """Whether there is nothing to wait for, be it that it has moved or that it does not move."""
    return found.current is None or found.future is None


def state_text(replica: TopicPartitionReplica, target: str, found: ReplicaLogDir) -> str:
    partition = f"Partition {replica.topic}-{replica.partition}"
    if found.current is None:
        return (
            f"{partition} is not found in any live log dir on broker {replica.broker_id}. "
            "There is likely an offline log directory on the broker."
        )
    if found.future is None:
        if found.current == target:
            return f"Reassignment of replica {replica} completed successfully."
        return f"{partition} on broker {replica.broker_id} is not being moved from log dir {found.current} to {target}."
    if found.future == target:
        return f"Reassignment of replica {replica} is still in progress."
    return f"{partition} on broker {replica.broker_id} is being moved to log dir {found.future} instead of {target}."


def start_moves(cluster: Cluster, targets: Mapping[TopicPartitionReplica, str], timeout_ms: int) -> None:
    """A replica that is still on its way to the broker is asked for again, until the time is up."""
    pending = dict(targets)
    deadline = time.monotonic() + timeout_ms / 1000
    while pending:
        for replica in sorted(_started(cluster, pending), key=by_broker):
            print(
                f"Successfully started moving log directory to {pending.pop(replica)} for replica "
                f"{replica.topic}-{replica.partition} with broker {replica.broker_id} ",
                flush=True,
            )
        if not pending:
            return
        if time.monotonic() >= deadline:
            listed = ",".join(map(str, sorted(pending, key=by_broker)))
            plural = "" if len(pending) == 1 else "s"
            raise TerseFailure(f"Timed out before log directory move{plural} could be started for: {listed}")
        time.sleep(PAUSE_SECONDS)


def _started(cluster: Cluster, pending: Mapping[TopicPartitionReplica, str]) -> list[TopicPartitionReplica]:
    started = []
    with failing(as_java_says):
        outcome = now(alter_replica_log_dirs(cluster, pending))
    for replica, error in outcome.items():
        if error is None:
            started.append(replica)
        elif error.code != ErrorCode.REPLICA_NOT_AVAILABLE:
            raise CommandFailure(f"Failed to alter dir for {replica}")
    return started
