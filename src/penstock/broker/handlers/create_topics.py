"""CreateTopics.

v4 takes -1 for the broker's defaults; v5 is flexible and returns the configs of the new topic; v6 may answer
THROTTLING_QUOTA_EXCEEDED; v7 returns the topic id. `validate_only` checks everything and changes nothing.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.topics import DEFAULT
from penstock.controller.topics import check_request_size
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(CreateTopicsRequest, versions=(2, 7), at_controller=CreateTopicsResponse)
async def handle_create_topics(
    broker: "Broker", request: CreateTopicsRequest, context: RequestContext
) -> CreateTopicsResponse:
    try:
        check_request_size(_partitions_of(topic, broker.settings.num_partitions) for topic in request.topics)
    except ApiError as error:
        return _refuse_all(request, error)
    times = Counter(topic.name for topic in request.topics)
    results = []
    for topic in request.topics:
        if times[topic.name] == 1:
            results.append(await _create(broker, topic, request.validate_only))
        elif times[topic.name] > 1:
            times[topic.name] = 0
            results.append(
                CreatableTopicResult(
                    topic.name, error_code=ErrorCode.INVALID_REQUEST, error_message="Duplicate topic name."
                )
            )
    return CreateTopicsResponse(topics=results)


def _partitions_of(topic: CreatableTopic, default: int) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return default if topic.num_partitions == DEFAULT else max(topic.num_partitions, 0)


def _refuse_all(request: CreateTopicsRequest, error: ApiError) -> CreateTopicsResponse:
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(name, error_code=error.code, error_message=error.message) for name in names
        ]
    )


async def _create(broker: "Broker", topic: CreatableTopic, validate_only: bool) -> CreatableTopicResult:
    try:
        configs = _configs_of(topic)
        assignment = {a.partition_index: a.broker_ids for a in topic.assignments}
        if len(assignment) != len(topic.assignments):
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "A partition is assigned twice.")
        plan = broker.topics.plan(
            topic.name, topic.num_partitions, topic.replication_factor, assignment, configs
        )
        result = CreatableTopicResult(
            name=topic.name,
            num_partitions=len(plan),
            replication_factor=len(plan[0]),
            configs=_describe_configs(broker, topic.name, configs),
        )
        if not validate_only:
            result.topic_id = (await broker.topics.create(topic.name, plan, configs)).topic_id
    except ApiError as error:
        return CreatableTopicResult(topic.name, error_code=error.code, error_message=error.message)
    return result


def _configs_of(topic: CreatableTopic) -> dict[str, str]:
    configs: dict[str, str] = {}
    for config in topic.configs:
        if config.value is None:
            raise ApiError(
                ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {config.name}"
            )
        configs[config.name] = config.value
    return configs


def _describe_configs(
    broker: "Broker", name: str, configs: dict[str, str]
) -> Sequence[CreatableTopicConfigs]:
    return [
        CreatableTopicConfigs(entry.name, entry.value, entry.read_only, entry.source, entry.is_sensitive)
        for entry in broker.configs.describe_topic(name, configs)
    ]
