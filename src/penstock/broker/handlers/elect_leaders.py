"""ElectLeaders: has the first replica of partitions lead, or any replica where nobody leads.

v0 knows elections of the first replica only, and no error for all partitions together; v1 has the type of election;
v2 is flexible. Partitions are null for all of them, when those that need no election are left out of the answer.

The answer comes when the controller knows of the new leaders; other brokers may hear of them a moment later.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.broker.controller import NotController
from penstock.broker.coordination import CoordinationError
from penstock.broker.elections import Outcome
from penstock.broker.router import RequestContext, handles
from penstock.controller.elections import ElectionType
from penstock.errors import ApiError, ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from penstock.wire_client.error_facts import FACTS

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

MAX_TIMEOUT_MS = 60_000


@handles(ElectLeadersRequest, versions=(0, 2), at_controller=ElectLeadersResponse)
async def handle_elect_leaders(
    broker: "Broker", request: ElectLeadersRequest, context: RequestContext
) -> ElectLeadersResponse:
    asked = _asked(request)
    try:
        outcome = await _elect(broker, request, asked)
    except ApiError as error:
        return ElectLeadersResponse(
            error_code=error.code,
            replica_election_results=_results(dict.fromkeys(asked or (), error)),
        )
    return ElectLeadersResponse(replica_election_results=_results(outcome))


def _asked(request: ElectLeadersRequest) -> Sequence[TopicPartition] | None:
    if request.topic_partitions is None:
        return None
    return [
        TopicPartition(topic.topic, partition)
        for topic in request.topic_partitions
        for partition in topic.partitions
    ]


async def _elect(
    broker: "Broker", request: ElectLeadersRequest, asked: Sequence[TopicPartition] | None
) -> Outcome:
    if request.election_type not in set(ElectionType):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}")
    election_type = ElectionType(request.election_type)
    timeout_ms = min(max(request.timeout_ms, 0), MAX_TIMEOUT_MS)
    try:
        if asked is None:
            return await broker.elections.elect_of_all(election_type, timeout_ms)
        return await broker.elections.elect(election_type, asked, timeout_ms)
    except NotController as error:
        raise ApiError(ErrorCode.NOT_CONTROLLER, str(error)) from error
    except CoordinationError as error:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error


def _results(outcome: Outcome) -> list[ReplicaElectionResult]:
    topics: dict[str, list[PartitionResult]] = {}
    for partition, error in outcome.items():
        topics.setdefault(partition.topic, []).append(_result(partition.partition, error))
    return [ReplicaElectionResult(topic, results) for topic, results in topics.items()]


def _result(index: int, error: ApiError | None) -> PartitionResult:
    if error is None:
        return PartitionResult(index)
    return PartitionResult(index, error.code, error.message or FACTS[error.code].message)
