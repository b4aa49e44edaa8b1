"""DescribeCluster. v1 has the endpoint type (brokers or controllers); v2 returns fenced brokers."""

from typing import TYPE_CHECKING

from penstock.broker.operations import CLUSTER_OPERATIONS, NOT_ASKED
from penstock.broker.router import RequestContext, handles
from penstock.errors import ErrorCode
from penstock.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

BROKERS = 1


@handles(DescribeClusterRequest, versions=(0, 2))
def handle_describe_cluster(
    broker: "Broker", request: DescribeClusterRequest, context: RequestContext
) -> DescribeClusterResponse:
    if request.endpoint_type != BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of the wrong type.",
        )
    listener = context.connection.listener
    return DescribeClusterResponse(
        cluster_id=broker.image.cluster_id,
        controller_id=broker.image.controller_id,
        brokers=[
            DescribeClusterBroker(member.id, *member.endpoints[listener], member.rack)
            for member in broker.image.live_brokers()
            if listener in member.endpoints
        ],
        cluster_authorized_operations=(
            CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )
