"""DescribeCluster. v1 has the endpoint type (brokers or controllers); v2 returns fenced brokers if asked to: those that
are away and were not unregistered."""

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING

from penstock.broker.coordination import CoordinationError
from penstock.broker.image_reading import read_known_brokers
from penstock.broker.operations import CLUSTER_OPERATIONS, NOT_ASKED
from penstock.broker.router import RequestContext, handles
from penstock.controller.image import BrokerImage
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
) -> DescribeClusterResponse | Awaitable[DescribeClusterResponse]:
    if request.endpoint_type != BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of the wrong type.",
        )
    if request.include_fenced_brokers:
        return _describe_with_fenced(broker, request, context)
    return _describe(broker, request, context.connection.listener, ())


async def _describe_with_fenced(
    broker: "Broker", request: DescribeClusterRequest, context: RequestContext
) -> DescribeClusterResponse:
    try:
        known = await read_known_brokers(broker.coordination)
    except CoordinationError as error:
        return DescribeClusterResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=str(error))
    fenced = [member for _, member in sorted(known.items()) if member.id not in broker.image.brokers]
    return _describe(broker, request, context.connection.listener, fenced)


def _describe(
    broker: "Broker", request: DescribeClusterRequest, listener: str, fenced: Iterable[BrokerImage]
) -> DescribeClusterResponse:
    live = broker.image.live_brokers()
    return DescribeClusterResponse(
        cluster_id=broker.image.cluster_id,
        controller_id=broker.image.controller_id,
        brokers=[
            *_brokers(live, listener, is_fenced=False),
            *_brokers(fenced, listener, is_fenced=True),
        ],
        cluster_authorized_operations=(
            CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )


def _brokers(
    members: Iterable[BrokerImage], listener: str, *, is_fenced: bool
) -> list[DescribeClusterBroker]:
    return [
        DescribeClusterBroker(member.id, *member.endpoints[listener], member.rack, is_fenced)
        for member in members
        if listener in member.endpoints
    ]
