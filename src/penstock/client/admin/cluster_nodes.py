"""The nodes of a cluster as its brokers or its controllers know them, and taking one out for good."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from penstock.errors import ErrorCode
from penstock.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from penstock.wire_client import Cluster, ClusterView, Node
from penstock.wire_client.errors import UnsupportedVersionError, raise_for

FIRST_VERSION_WITH_FENCED_BROKERS = 2


class EndpointType(IntEnum):
    BROKER = 1
    CONTROLLER = 2


@dataclass(frozen=True, slots=True)
class ClusterNode:
    node: Node
    is_fenced: bool


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    cluster_id: str | None
    controller_id: int
    nodes: tuple[ClusterNode, ...]


async def describe_cluster(
    cluster: Cluster,
    *,
    endpoint_type: EndpointType = EndpointType.BROKER,
    include_fenced_brokers: bool = False,
) -> ClusterDescription:
    """Asks a broker, or a controller if `bootstrap.servers` are controllers, who is there."""
    if include_fenced_brokers:
        await _require_fenced_brokers(cluster)
    request = DescribeClusterRequest(
        endpoint_type=endpoint_type, include_fenced_brokers=include_fenced_brokers
    )
    try:
        answer = await cluster.ask_any(request, DescribeClusterResponse)
    except UnsupportedVersionError:
        if endpoint_type is EndpointType.CONTROLLER or include_fenced_brokers:
            raise
        return _from_view(await cluster.describe())
    raise_for(answer.error_code, answer.error_message)
    nodes = tuple(
        ClusterNode(Node(each.broker_id, each.host, each.port, each.rack), each.is_fenced)
        for each in answer.brokers
    )
    return ClusterDescription(answer.cluster_id, answer.controller_id, nodes)


async def _require_fenced_brokers(cluster: Cluster) -> None:
    version = await cluster.newest_version_of_any(DescribeClusterRequest)
    if version < FIRST_VERSION_WITH_FENCED_BROKERS:
        raise UnsupportedVersionError(
            f"Including fenced broker endpoints is not supported with version {version}",
            ErrorCode.UNSUPPORTED_VERSION,
        )


def _from_view(view: ClusterView) -> ClusterDescription:
    """What the metadata of brokers before 2.8 says of it."""
    nodes = tuple(ClusterNode(node, is_fenced=False) for node in view.nodes)
    return ClusterDescription(view.cluster_id, view.controller_id, nodes)


async def learn_controllers(cluster: Cluster) -> None:
    """So that a cluster whose `bootstrap.servers` are controllers can ask one of them by its id, or the active one."""
    described = await describe_cluster(cluster, endpoint_type=EndpointType.CONTROLLER)
    nodes = tuple(each.node for each in described.nodes)
    cluster.view = ClusterView(
        described.cluster_id, described.controller_id, nodes, cluster.config.bootstrap[0]
    )


async def unregister_broker(cluster: Cluster, broker_id: int) -> None:
    async for attempt in cluster.attempts(f"broker {broker_id} to be unregistered"):
        answer = await cluster.ask_any(UnregisterBrokerRequest(broker_id), UnregisterBrokerResponse)
        if answer.error_code != ErrorCode.REQUEST_TIMED_OUT:
            raise_for(answer.error_code, answer.error_message)
            return
        attempt.failed(TimeoutError(answer.error_message))
