"""CreatePartitions. v2 is flexible; v3 may answer THROTTLING_QUOTA_EXCEEDED."""

from collections import Counter
from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(CreatePartitionsRequest, versions=(0, 3), at_controller=CreatePartitionsResponse)
async def handle_create_partitions(
    broker: "Broker", request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse:
    times = Counter(topic.name for topic in request.topics)
    results = []
    for topic in request.topics:
        if times[topic.name] == 1:
            results.append(await _grow(broker, topic, request.validate_only))
        elif times.pop(topic.name, 0):
            results.append(
                CreatePartitionsTopicResult(topic.name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            )
    return CreatePartitionsResponse(results=results)


async def _grow(
    broker: "Broker", topic: CreatePartitionsTopic, validate_only: bool
) -> CreatePartitionsTopicResult:
    assignments = None if topic.assignments is None else [a.broker_ids for a in topic.assignments]
    try:
        await broker.topics.grow(topic.name, topic.count, assignments, validate_only=validate_only)
    except ApiError as error:
        return CreatePartitionsTopicResult(topic.name, error.code, error.message)
    return CreatePartitionsTopicResult(topic.name)
