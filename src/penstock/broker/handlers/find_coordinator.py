"""FindCoordinator.

v1 has transactional ids besides groups; v3 is flexible; v4 takes many keys; v5 no change on the wire; v6 share
groups. The coordinator of a key is the leader of its partition in the internal topic, which is created when it is
first asked for.
"""

import contextlib
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from penstock.broker.internal_topics import partition_for
from penstock.broker.router import RequestContext, handles
from penstock.broker.shards import Shards
from penstock.broker.share_states import is_coordinator_key
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_MANY_KEYS = 4
FIRST_VERSION_WITH_SHARE_PARTITIONS = 6


def _shards_of(broker: "Broker", key_type: int) -> Shards[Any] | None:
    coordinators = broker.coordinators
    by_type: dict[int, Shards[Any]] = {
        0: coordinators.groups,
        1: coordinators.transactions,
        2: coordinators.share_states,
    }
    return by_type.get(key_type)


@handles(FindCoordinatorRequest, versions=(0, 6))
def handle_find_coordinator(
    broker: "Broker", request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse | Awaitable[FindCoordinatorResponse]:
    shards = _shards_of(broker, request.key_type)
    if shards is not None and not shards.partition_count():
        return _create_and_answer(broker, request, context, shards)
    return _answer(broker, request, context)


async def _create_and_answer(
    broker: "Broker", request: FindCoordinatorRequest, context: RequestContext, shards: Shards[Any]
) -> FindCoordinatorResponse:
    with contextlib.suppress(
        ApiError
    ):  # it is in the log; then there are no partitions, which the answer says
        await shards.ensure_topic()
    return _answer(broker, request, context)


def _answer(
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
    shards = _shards_of(broker, key_type)
    if shards is None:
        return Coordinator(key, -1, "", -1, ErrorCode.INVALID_REQUEST, f"Unknown key type {key_type}")
    if shards is broker.coordinators.share_states and (
        context.version < FIRST_VERSION_WITH_SHARE_PARTITIONS or not is_coordinator_key(key)
    ):
        return Coordinator(key, -1, "", -1, ErrorCode.INVALID_REQUEST)
    topic = broker.image.topics.get(shards.topic.name)
    leader = -1 if topic is None else topic.partitions[partition_for(key, len(topic.partitions))].leader
    node = broker.image.brokers.get(leader)
    endpoint = None if node is None else node.endpoints.get(context.connection.listener)
    if endpoint is None:
        return Coordinator(key, -1, "", -1, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return Coordinator(key, leader, *endpoint)
