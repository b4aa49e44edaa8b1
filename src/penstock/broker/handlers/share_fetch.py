"""ShareFetch (KIP-932).

v1 is the first stable version. v2 has the acquire mode (record_limit takes max_records as a strict limit) and renewal:
a request that renews locks fetches nothing, and says so with zeros.

Acknowledgements that come along are carried out first; the answer waits until they are durable, and until there is
something to deliver. Epoch 0 opens the member's session and -1 closes it, which takes back what the member has.
"""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from penstock.broker.endpoints import endpoints_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.share_fetch import FetchLimits, ShareFetch, empty_data, leaders_told, refusal
from penstock.broker.share_partition import SharePartition
from penstock.broker.share_requests import (
    acknowledgements_of,
    begin_acknowledging,
    by_topic,
    check_known,
    finish_acknowledging,
    session_of,
)
from penstock.broker.share_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    PartitionKey,
    SessionKey,
    ShareSession,
)
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.share_fetch import (
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

BATCH_OPTIMIZED, RECORD_LIMIT = 0, 1


@handles(ShareFetchRequest, versions=(1, 2))
def handle_share_fetch(
    broker: "Broker", request: ShareFetchRequest, context: RequestContext
) -> ShareFetchResponse | Awaitable[ShareFetchResponse]:
    try:
        broker.coordinators.sharing.check_enabled()
        key = session_of(request)
        _check_request(request)
        session = _plan(broker, request, key, context)
    except ApiError as error:
        refused = ShareFetchResponse(error_code=error.code)
        if error.code == ErrorCode.SHARE_SESSION_LIMIT_REACHED:
            return _refuse_late(refused, request.max_wait_ms)
        return refused
    return _answer(broker, request, key, session, context)


async def _refuse_late(refused: ShareFetchResponse, wait_ms: int) -> ShareFetchResponse:
    """So that a client that has no place does not ask all the time."""
    await asyncio.sleep(max(wait_ms, 0) / 1000)
    return refused


def _check_request(request: ShareFetchRequest) -> None:
    limits = request.max_bytes, request.min_bytes, request.max_records, request.max_wait_ms
    if request.is_renew_ack and any(limits):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if request.share_acquire_mode not in (BATCH_OPTIMIZED, RECORD_LIMIT):
        raise ApiError(ErrorCode.INVALID_REQUEST)


def _plan(
    broker: "Broker", request: ShareFetchRequest, key: SessionKey, context: RequestContext
) -> ShareSession | None:
    """The session of the request; None if it is its last."""
    sessions = broker.coordinators.sharing.sessions
    added = [PartitionKey(t.topic_id, p.partition_index) for t in request.topics for p in t.partitions]
    if request.share_session_epoch == FINAL_EPOCH:
        sessions.find(key)
        return None
    if request.share_session_epoch == INITIAL_EPOCH:
        if any(p.acknowledgement_batches for t in request.topics for p in t.partitions):
            raise ApiError(ErrorCode.INVALID_REQUEST)
        limit = broker.settings.group_share_max_share_sessions
        return sessions.open(key, added, context.connection, limit)
    session = sessions.continue_(key, request.share_session_epoch)
    forgotten = [
        PartitionKey(t.topic_id, index) for t in request.forgotten_topics_data for index in t.partitions
    ]
    session.update(added, forgotten)
    return session


async def _answer(
    broker: "Broker",
    request: ShareFetchRequest,
    key: SessionKey,
    session: ShareSession | None,
    context: RequestContext,
) -> ShareFetchResponse:
    version, listener = context.version, context.connection.listener
    said = {where: batches for where, batches in acknowledgements_of(request).items() if batches}
    begun = begin_acknowledging(broker, key, said, version=version, is_renewal=request.is_renew_ack)
    fetched: dict[PartitionKey, PartitionData] = {}
    if session is not None and not request.is_renew_ack:
        fetched = await _fetch(broker, request, session)
        if request.share_session_epoch != INITIAL_EPOCH:
            fetched = {where: data for where, data in fetched.items() if _must_answer(session, where, data)}
    for where, error in (await finish_acknowledging(begun)).items():
        data = fetched.setdefault(where, empty_data(where.partition))
        data.acknowledge_error_code = ErrorCode.NONE if error is None else error.code
        data.acknowledge_error_message = None if error is None else error.message
    if session is None:
        broker.coordinators.sharing.close_session(key)
    return ShareFetchResponse(
        acquisition_lock_timeout_ms=broker.coordinators.sharing.config(
            key.group_id
        ).share_record_lock_duration_ms,
        responses=[
            ShareFetchableTopicResponse(topic_id, [fetched[where] for where in keys])
            for topic_id, keys in by_topic(fetched).items()
        ],
        node_endpoints=endpoints_of(broker.image, leaders_told(fetched.values()), listener, NodeEndpoint),
    )


def _must_answer(session: ShareSession, where: PartitionKey, data: PartitionData) -> bool:
    return session.must_answer(
        where, has_records=bool(data.acquired_records), has_error=bool(data.error_code)
    )


async def _fetch(
    broker: "Broker", request: ShareFetchRequest, session: ShareSession
) -> dict[PartitionKey, PartitionData]:
    refused: dict[PartitionKey, PartitionData] = {}
    found: list[SharePartition] = []
    for key in _rotated(list(session.partitions), request.share_session_epoch):
        try:
            check_known(broker, key)
            found.append(broker.coordinators.sharing.share_partition(session.key.group_id, key))
        except ApiError as error:
            refused[key] = refusal(key.partition, error)
    max_bytes = min(request.max_bytes, broker.settings.fetch_max_bytes)
    limits = FetchLimits(
        0 if refused and not found else request.max_wait_ms,
        min(request.min_bytes, max_bytes),
        max_bytes,
        request.max_records,
        request.batch_size,
        request.share_acquire_mode == RECORD_LIMIT,
    )
    fetched = await ShareFetch(broker.loop, session.key.member_id, found, limits).run()
    return {**fetched, **refused}


def _rotated(keys: list[PartitionKey], epoch: int) -> list[PartitionKey]:
    """Each fetch begins with another partition."""
    start = epoch % len(keys) if keys else 0
    return keys[start:] + keys[:start]
