"""A small client of Kafka's wire in two colours, for all that librdkafka lacks, and for tools that start quickly.

with blocking_cluster(ClusterConfig.from_configs({"bootstrap.servers": "localhost:9092"})) as cluster:
    print(now(cluster.describe()).cluster_id)

async with asyncio_cluster(config) as cluster:
    print((await cluster.describe()).cluster_id)
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from penstock.wire_client.blocking import BlockingNetwork, now
from penstock.wire_client.cluster import Cluster, ClusterView, CoordinatorKind, Node
from penstock.wire_client.config import ClusterConfig
from penstock.wire_client.network import Address, Disconnected

__all__ = [
    "Address",
    "Cluster",
    "ClusterConfig",
    "ClusterView",
    "CoordinatorKind",
    "Disconnected",
    "Node",
    "asyncio_cluster",
    "blocking_cluster",
    "now",
]


@contextmanager
def blocking_cluster(config: ClusterConfig) -> Iterator[Cluster]:
    cluster = Cluster(config, BlockingNetwork())
    try:
        yield cluster
    finally:
        cluster.close()


@asynccontextmanager
async def asyncio_cluster(config: ClusterConfig) -> AsyncIterator[Cluster]:
    from penstock.wire_client.aio import AsyncioNetwork

    network = AsyncioNetwork()
    cluster = Cluster(config, network)
    try:
        yield cluster
    finally:
        cluster.close()
        await network.wait_closed()
