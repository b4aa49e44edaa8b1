"""ShareAcknowledge (KIP-932).

v1 is the first stable version; v2 has renewal of locks, and tells how long a lock lasts.
"""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from penstock.broker.endpoints import endpoints_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.share_fetch import LEADER_ERRORS, leaders_told
from penstock.broker.share_requests import (
    acknowledgements_of,
    begin_acknowledging,
    by_topic,
    finish_acknowledging,
    session_of,
)
from penstock.broker.share_sessions import FINAL_EPOCH, INITIAL_EPOCH, PartitionKey, SessionKey
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.share_acknowledge import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ShareAcknowledgeRequest, versions=(1, 2))
def handle_share_acknowledge(
    broker: "Broker", request: ShareAcknowledgeRequest, context: RequestContext
) -> ShareAcknowledgeResponse | Awaitable[ShareAcknowledgeResponse]:
    try:
        broker.coordinators.sharing.check_enabled()
        key = session_of(request)
        _continue(broker, request, key)
    except ApiError as error:
        return ShareAcknowledgeResponse(error_code=error.code)
    return _answer(broker, request, key, context)


def _continue(broker: "Broker", request: ShareAcknowledgeRequest, key: SessionKey) -> None:
    sessions = broker.coordinators.sharing.sessions
    if request.share_session_epoch == INITIAL_EPOCH:
        raise ApiError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    if request.share_session_epoch == FINAL_EPOCH:
        sessions.find(key)
    else:
        sessions.continue_(key, request.share_session_epoch)


async def _answer(
    broker: "Broker", request: ShareAcknowledgeRequest, key: SessionKey, context: RequestContext
) -> ShareAcknowledgeResponse:
    version, listener = context.version, context.connection.listener
    said = acknowledgements_of(request)
    begun = begin_acknowledging(broker, key, said, version=version, is_renewal=request.is_renew_ack)
    results = await finish_acknowledging(begun)
    answers = {where: _result(broker, where, error) for where, error in results.items()}
    if request.share_session_epoch == FINAL_EPOCH:
        broker.coordinators.sharing.close_session(key)
    return ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=broker.coordinators.sharing.config(
            key.group_id
        ).share_record_lock_duration_ms,
        responses=[
            ShareAcknowledgeTopicResponse(topic_id, [answers[where] for where in keys])
            for topic_id, keys in by_topic(answers).items()
        ],
        node_endpoints=endpoints_of(broker.image, leaders_told(answers.values()), listener, NodeEndpoint),
    )


def _result(broker: "Broker", where: PartitionKey, error: ApiError | None) -> PartitionData:
    data = PartitionData(where.partition, current_leader=LeaderIdAndEpoch())
    if error is not None:
        data.error_code = error.code
        data.error_message = error.message
        topic = broker.image.topic_by_id(where.topic_id)
        if error.code in LEADER_ERRORS and topic is not None and where.partition in topic.partitions:
            replica_set = topic.partitions[where.partition]
            data.current_leader = LeaderIdAndEpoch(replica_set.leader, replica_set.leader_epoch)
    return data
