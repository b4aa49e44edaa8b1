"""Reassignments that are under way, and what is said of several partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized

from penstock.cli.tools.common.failures import as_java_says, failing
from penstock.client.admin.reassignments import (
    PartitionReassignment,
    alter_partition_reassignments,
    list_partition_reassignments,
)
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError


def under_way(
    cluster: Cluster, partitions: list[TopicPartition] | None = None
) -> dict[TopicPartition, PartitionReassignment]:
    """Of these partitions, or of all."""
    with failing(as_java_says):
        return now(list_partition_reassignments(cluster, partitions))


def altered(
    cluster: Cluster,
    replicas: Mapping[TopicPartition, Sequence[int] | None],
    *,
    allow_replication_factor_change: bool = True,
) -> dict[TopicPartition, KafkaError]:
    """Moves partitions, or with None stops moving them; why some, or all, could not be."""
    try:
        outcome = now(
            alter_partition_reassignments(
                cluster, replicas, allow_replication_factor_change=allow_replication_factor_change
            )
        )
    except KafkaError as error:
        return dict.fromkeys(replicas, error)
    return {partition: error for partition, error in outcome.items() if error is not None}


def plural(values: Sized) -> str:
    return "" if len(values) == 1 else "s"


def reasons(errors: Mapping[TopicPartition, KafkaError]) -> str:
    return "\n".join(f"{partition}: {errors[partition]}" for partition in sorted(errors))
