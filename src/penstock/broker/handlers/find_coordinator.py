"""FindCoordinator.

v1 has transactional ids besides groups; v3 is flexible; v4 takes many keys; v5 no change on the wire; v6 share
groups. With one broker that broker coordinates everything.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ErrorCode
from penstock.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_MANY_KEYS = 4
KEY_TYPES = {0: "group", 1: "transaction", 2: "share"}


@handles(FindCoordinatorRequest, versions=(0, 6))
def handle_find_coordinator(
    broker: "Broker", request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse:
    if context.version >= FIRST_VERSION_WITH_MANY_KEYS:
        found = [_find(broker, key, request.key_type, context) for key in request.coordinator_keys]
        return FindCoordinatorResponse(coordinators=found)
    one = _find(broker, request.key, request.key_type, context)
    return FindCoordinatorResponse(
        error_code=one.error_code,
        error_message=one.error_message,
        node_id=one.node_id,
        host=one.host,
        port=one.port,
    )


def _find(broker: "Broker", key: str, key_type: int, context: RequestContext) -> Coordinator:
    endpoint = broker.image.brokers[broker.broker_id].endpoints.get(context.connection.listener)
    if key_type not in KEY_TYPES:
        return Coordinator(key, -1, "", -1, ErrorCode.INVALID_REQUEST, f"Unknown key type {key_type}")
    if endpoint is None:
        return Coordinator(key, -1, "", -1, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return Coordinator(key, broker.broker_id, *endpoint)
