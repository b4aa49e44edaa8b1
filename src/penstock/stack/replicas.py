"""What the brokers of a platform say of their replicas: which are missing, and who could have more."""

import json
from collections.abc import Sequence

from penstock.wire.messages.metadata import MetadataResponse, MetadataResponsePartition
from penstock.wire_client import ClusterConfig, blocking_cluster, now

ASK_TIMEOUT_MS = 10_000


def not_in_sync(bootstrap_servers: str, but_for: int) -> list[str]:
    """The partitions of which a replica is not in sync, whatever broker `but_for` may lack."""
    return [
        f"{topic.name}-{partition.partition_index}"
        for topic in _metadata(bootstrap_servers).topics
        for partition in topic.partitions
        if _missing(partition) - {but_for}
    ]


Plan = dict[tuple[str, int], list[int]]
"""The brokers of each partition."""


def plan_more_replicas(bootstrap_servers: str, wanted: int) -> Plan:
    """For partitions that have fewer; those that they have stay, and their leaders."""
    said = _metadata(bootstrap_servers)
    brokers = sorted(broker.node_id for broker in said.brokers)
    return {
        (topic.name or "", partition.partition_index): _more(partition.replica_nodes, wanted, brokers)
        for topic in said.topics
        for partition in topic.partitions
        if len(partition.replica_nodes) < wanted
    }


def _more(replicas: Sequence[int], wanted: int, brokers: Sequence[int]) -> list[int]:
    after_the_last = sorted(brokers, key=lambda broker: (broker <= replicas[-1], broker))
    return [*replicas, *(broker for broker in after_the_last if broker not in replicas)][:wanted]


def as_reassignment(plan: Plan) -> str:
    """As kafka-reassign-partitions reads it."""
    partitions = [
        {"topic": topic, "partition": index, "replicas": replicas}
        for (topic, index), replicas in sorted(plan.items())
    ]
    return json.dumps({"version": 1, "partitions": partitions}, indent=1) + "\n"


def _missing(partition: MetadataResponsePartition) -> set[int]:
    return set(partition.replica_nodes) - set(partition.isr_nodes)


def _metadata(bootstrap_servers: str) -> MetadataResponse:
    configs = {
        "bootstrap.servers": bootstrap_servers,
        "client.id": "penstock",
        "default.api.timeout.ms": str(ASK_TIMEOUT_MS),
        "request.timeout.ms": str(ASK_TIMEOUT_MS),
    }
    with blocking_cluster(ClusterConfig.from_configs(configs)) as cluster:
        return now(cluster.metadata(None))
