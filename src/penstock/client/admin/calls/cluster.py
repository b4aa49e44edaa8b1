"""The brokers, their disks, and where partitions live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.client.admin import cluster_nodes, elections, features, log_dirs, reassignments
from penstock.client.admin.calls.outcome import raise_failed
from penstock.client.admin.cluster_nodes import ClusterDescription
from penstock.client.admin.elections import ElectionType
from penstock.client.admin.features import Features
from penstock.client.admin.log_dirs import LogDirs
from penstock.client.admin.reassignments import PartitionReassignment
from penstock.types import TopicPartition
from penstock.wire_client import Cluster


async def describe_cluster(cluster: Cluster) -> ClusterDescription:
    """The id of the cluster, its controller and its brokers.

    >>> len(admin.describe_cluster().nodes)
    1
    """
    return await cluster_nodes.describe_cluster(cluster)


async def describe_features(cluster: Cluster) -> Features:
    """The features that the cluster has switched on, and to which level.

    >>> "transaction.version" in admin.describe_features().levels
    True
    """
    return await features.describe_features(cluster)


async def describe_log_dirs(cluster: Cluster, broker_ids: Iterable[int] | None = None) -> dict[int, LogDirs]:
    """What lies in the log directories of these brokers, or of all.

    >>> for broker_id, directories in admin.describe_log_dirs().items():
    ...     for path, directory in directories.items():
    ...         used = sum(replica.size for replica in directory.replicas.values())
    """
    if broker_ids is None:
        broker_ids = [node.id for node in (await cluster.describe()).nodes]
    return await log_dirs.describe_log_dirs(cluster, broker_ids)


async def elect_leaders(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None = None, *, unclean: bool = False
) -> None:
    """Has the preferred replica of each partition lead it again; `unclean` takes any where there is no leader.

    admin.elect_leaders([TopicPartition("orders", 0)])
    """
    kind = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
    raise_failed(await elections.elect_leaders(cluster, kind, partitions))


async def reassign_partitions(
    cluster: Cluster, replicas: Mapping[TopicPartition, Sequence[int] | None]
) -> None:
    """Begins to move partitions to these brokers; None stops moving one.

    admin.reassign_partitions({TopicPartition("orders", 0): [1, 2, 3]})
    """
    raise_failed(await reassignments.alter_partition_reassignments(cluster, replicas))


async def list_reassignments(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, PartitionReassignment]:
    """The moves that are under way.

    for partition, move in admin.list_reassignments().items():
        print(partition, move.adding, move.removing)
    """
    return await reassignments.list_partition_reassignments(cluster, partitions)
