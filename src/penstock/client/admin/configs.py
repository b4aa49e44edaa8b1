"""Configs of topics, brokers, their loggers, groups and client metrics.

What is asked of one broker's own configs goes to that broker, the rest to any. An empty name of a broker means the
default of all brokers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypeVar

from penstock.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from penstock.wire.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for, raise_for

T = TypeVar("T")


class ResourceType(IntEnum):
    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigSource(IntEnum):
    """Where a value comes from."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8


class ConfigOperation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigResource(NamedTuple):
    type: ResourceType
    name: str

    def __str__(self) -> str:
        return f"ConfigResource(type={self.type.name}, name='{self.name}')"


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    name: str
    value: str | None
    source: ConfigSource
    is_sensitive: bool
    is_read_only: bool
    synonyms: tuple[ConfigSynonym, ...]
    documentation: str | None

    @property
    def is_default(self) -> bool:
        return self.source is ConfigSource.DEFAULT_CONFIG


@dataclass(frozen=True, slots=True)
class AlterConfig:
    """One change: SET to a value, DELETE, or APPEND to and SUBTRACT from a list."""

    name: str
    operation: ConfigOperation
    value: str | None = None


Config = dict[str, ConfigEntry]
Errors = dict[ConfigResource, KafkaError | None]


async def cleanup_policy(cluster: Cluster, topic: str) -> str | None:
    """Of one topic: `compact`, `delete` or both."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    configs = (await describe_configs(cluster, [resource]))[resource]
    if isinstance(configs, KafkaError):
        raise configs
    return configs["cleanup.policy"].value


async def describe_configs(
    cluster: Cluster,
    resources: Iterable[ConfigResource],
    *,
    include_synonyms: bool = False,
    include_documentation: bool = False,
) -> dict[ConfigResource, Config | KafkaError]:
    """The configs of each by name, or why there are none."""
    found: dict[ConfigResource, Config | KafkaError] = {}
    for node, part in _by_node(dict.fromkeys(resources)).items():
        request = DescribeConfigsRequest(
            [DescribeConfigsResource(each.type, each.name, None) for each in part],
            include_synonyms,
            include_documentation,
        )
        if node is None:
            answer = await cluster.ask_any(request, DescribeConfigsResponse)
        else:
            answer = await cluster.ask_node(node, request, DescribeConfigsResponse)
        results = {(each.resource_type, each.resource_name): each for each in answer.results}
        found |= {resource: _config_of(resource, results.get(resource)) for resource in part}
    return found


def _config_of(resource: ConfigResource, result: DescribeConfigsResult | None) -> Config | KafkaError:
    if result is None:
        return _left_out(resource)
    if result.error_code:
        return error_for(result.error_code, result.error_message)
    return {each.name: _entry(each) for each in result.configs}


def _entry(entry: DescribeConfigsResourceResult) -> ConfigEntry:
    return ConfigEntry(
        entry.name,
        entry.value,
        _source(entry.config_source),
        entry.is_sensitive,
        entry.read_only,
        tuple(ConfigSynonym(each.name, each.value, _source(each.source)) for each in entry.synonyms),
        entry.documentation,
    )


def _source(code: int) -> ConfigSource:
    return ConfigSource(code) if code in ConfigSource.__members__.values() else ConfigSource.UNKNOWN


async def alter_configs(
    cluster: Cluster,
    changes: Mapping[ConfigResource, Sequence[AlterConfig]],
    *,
    validate_only: bool = False,
    through_controller: bool = False,
) -> Errors:
    """Changes only what is named; for each resource why it could not be done, or None.

    With `through_controller` the cluster's nodes are controllers, and the active one changes brokers, but for loggers.
    """
    errors: Errors = {}
    for node, part in _by_node(changes, _LOGGERS if through_controller else _OF_ONE_BROKER).items():
        request = IncrementalAlterConfigsRequest(
            [_resource_changes(resource, each) for resource, each in part.items()], validate_only
        )
        if node is None:
            answer = await cluster.ask_any(request, IncrementalAlterConfigsResponse)
        else:
            answer = await cluster.ask_node(node, request, IncrementalAlterConfigsResponse)
        results = {(each.resource_type, each.resource_name): each for each in answer.responses}
        errors |= {resource: _error_of(resource, results.get(resource)) for resource in part}
    return errors


def _resource_changes(resource: ConfigResource, changes: Sequence[AlterConfig]) -> AlterConfigsResource:
    configs = [AlterableConfig(each.name, each.operation, each.value) for each in changes]
    return AlterConfigsResource(resource.type, resource.name, configs)


def _error_of(resource: ConfigResource, result: AlterConfigsResourceResponse | None) -> KafkaError | None:
    if result is None:
        return _left_out(resource)
    return error_for(result.error_code, result.error_message) if result.error_code else None


async def list_config_resources(cluster: Cluster, types: Iterable[ResourceType] = ()) -> list[ConfigResource]:
    """Those that have configs of their own, of these types or of all."""
    answer = await cluster.ask_any(ListConfigResourcesRequest(list(types)), ListConfigResourcesResponse)
    raise_for(answer.error_code)
    return [
        ConfigResource(ResourceType(each.resource_type), each.resource_name)
        for each in answer.config_resources
    ]


# --- who is asked


_LOGGERS = (ResourceType.BROKER_LOGGER,)
_OF_ONE_BROKER = (ResourceType.BROKER, ResourceType.BROKER_LOGGER)


def _by_node(
    wanted: Mapping[ConfigResource, T], of_one_node: Sequence[ResourceType] = _OF_ONE_BROKER
) -> dict[int | None, dict[ConfigResource, T]]:
    parts: dict[int | None, dict[ConfigResource, T]] = {}
    for resource, value in wanted.items():
        node = int(resource.name) if resource.name and resource.type in of_one_node else None
        parts.setdefault(node, {})[resource] = value
    return parts


def _left_out(resource: ConfigResource) -> KafkaError:
    return KafkaError(f"The node response did not contain a result for config resource {resource}")
