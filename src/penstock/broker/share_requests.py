"""What ShareFetch and ShareAcknowledge have in common: who asks, and what is said of records."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from penstock.broker.share_sessions import PartitionKey, SessionKey
from penstock.errors import ApiError, ErrorCode
from penstock.group.share import MAX_MEMBER_ID_LENGTH
from penstock.share.acknowledgements import Acknowledgement, check_acknowledgements
from penstock.wire.messages.share_acknowledge import ShareAcknowledgeRequest
from penstock.wire.messages.share_fetch import ShareFetchRequest

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_RENEWAL = 2

Acknowledgements = dict[PartitionKey, Sequence[Acknowledgement]]
Results = dict[PartitionKey, "asyncio.Future[ApiError | None] | ApiError | None"]


def session_of(request: ShareFetchRequest | ShareAcknowledgeRequest) -> SessionKey:
    member_id = request.member_id or ""
    if request.group_id is None or not 0 < len(member_id) <= MAX_MEMBER_ID_LENGTH:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    return SessionKey(request.group_id, member_id)


def acknowledgements_of(request: ShareFetchRequest | ShareAcknowledgeRequest) -> Acknowledgements:
    """By partition, those that say nothing included."""
    return {
        PartitionKey(topic.topic_id, partition.partition_index): [
            Acknowledgement(batch.first_offset, batch.last_offset, batch.acknowledge_types)
            for batch in partition.acknowledgement_batches
        ]
        for topic in request.topics
        for partition in topic.partitions
    }


def begin_acknowledging(
    broker: "Broker",
    session: SessionKey,
    acknowledgements: Acknowledgements,
    *,
    version: int,
    is_renewal: bool,
) -> Results:
    """Begins what is said."""
    results: Results = {}
    for key, batches in acknowledgements.items():
        try:
            check_known(broker, key)
            check_acknowledgements(
                batches, knows_renewal=version >= FIRST_VERSION_WITH_RENEWAL, is_renewal=is_renewal
            )
        except ApiError as error:
            results[key] = error
        else:
            results[key] = broker.coordinators.sharing.acknowledge(session, key, batches) if batches else None
    return results


async def finish_acknowledging(results: Results) -> dict[PartitionKey, ApiError | None]:
    """For each partition the error, or None, once that is durable."""
    waiting = {key: result for key, result in results.items() if isinstance(result, asyncio.Future)}
    done = dict(zip(waiting, await asyncio.gather(*waiting.values()), strict=True))
    return {
        key: done[key] if isinstance(result, asyncio.Future) else result for key, result in results.items()
    }


def check_known(broker: "Broker", key: PartitionKey) -> None:
    topic = broker.image.topic_by_id(key.topic_id)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
    if key.partition not in topic.partitions:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def by_topic(keys: Iterable[PartitionKey]) -> dict[bytes, list[PartitionKey]]:
    """In the order in which they come."""
    topics: dict[bytes, list[PartitionKey]] = {}
    for key in keys:
        topics.setdefault(key.topic_id, []).append(key)
    return topics
