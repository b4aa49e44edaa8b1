"""DescribeConfigs: every setting of a topic, broker or group, with its source and synonyms.

v1 returns synonyms; v3 types and documentation; v4 is flexible.

Not done: the resource types for loggers and client metrics.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.controller.topics import check_topic_name
from penstock.errors import ApiError, ErrorCode
from penstock.settings.describe import ConfigEntry
from penstock.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

TOPIC, BROKER, GROUP = 2, 4, 32


@handles(DescribeConfigsRequest, versions=(1, 4))
def handle_describe_configs(
    broker: "Broker", request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        results=[_describe(broker, resource, request) for resource in request.resources]
    )


def _describe(
    broker: "Broker", resource: DescribeConfigsResource, request: DescribeConfigsRequest
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        resource_type=resource.resource_type, resource_name=resource.resource_name, error_message=None
    )
    try:
        entries = _entries(broker, resource.resource_type, resource.resource_name)
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message
        return result
    wanted = resource.configuration_keys
    result.configs = [_encode(entry, request) for entry in entries if wanted is None or entry.name in wanted]
    return result


def _entries(broker: "Broker", resource_type: int, name: str) -> Sequence[ConfigEntry]:
    if resource_type == TOPIC:
        check_topic_name(name)
        broker.topics.existing(name)
        return broker.configs.describe_topic(name)
    if resource_type == BROKER:
        return broker.configs.describe_broker(name)
    if resource_type == GROUP:
        return broker.configs.describe_group(name)
    raise ApiError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {resource_type}")


def _encode(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=(
            [
                DescribeConfigsSynonym(synonym.name, synonym.value, synonym.source)
                for synonym in entry.synonyms
            ]
            if request.include_synonyms
            else ()
        ),
        config_type=entry.kind or 0,
        documentation=entry.documentation if request.include_documentation else None,
    )
