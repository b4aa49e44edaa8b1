"""Configs of topics, brokers, their loggers, client metrics and groups: describing and altering them."""

from __future__ import annotations

from penstock.cli.options.kinds import java_int
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.configs.changes import Changes
from penstock.cli.tools.configs.entities import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENT_METRICS,
    DEFAULT_NAME,
    GROUPS,
    TOPICS,
    singular,
)
from penstock.cli.tools.configs.scala_order import in_scala_order
from penstock.client.admin.configs import (
    AlterConfig,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ConfigSource,
    ResourceType,
    alter_configs,
    describe_configs,
    list_config_resources,
)
from penstock.client.admin.groups import list_groups
from penstock.client.admin.topics import list_topics
from penstock.controller.topics import check_topic_name
from penstock.errors import ApiError, ErrorCode
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError

RESOURCE_TYPES = {
    TOPICS: ResourceType.TOPIC,
    BROKERS: ResourceType.BROKER,
    BROKER_LOGGERS: ResourceType.BROKER_LOGGER,
    CLIENT_METRICS: ResourceType.CLIENT_METRICS,
    GROUPS: ResourceType.GROUP,
}
DYNAMIC_SOURCES = {
    TOPICS: ConfigSource.DYNAMIC_TOPIC_CONFIG,
    CLIENT_METRICS: ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG,
    GROUPS: ConfigSource.DYNAMIC_GROUP_CONFIG,
}
NO_INCREMENTAL_ALTER_CONFIGS = (
    "The INCREMENTAL_ALTER_CONFIGS API is not supported by the cluster. The API is supported starting from version "
    "2.3.0. You may want to use an older version of this tool to interact with your cluster, or upgrade your brokers "
    "to version 2.3.0 or newer to avoid this error."
)


# --- describing


async def describe_resources(cluster: Cluster, entity_type: str, name: str | None, *, all_: bool) -> None:
    if name is not None and not all_ and not await _exists(cluster, entity_type, name):
        print(f"The {singular(entity_type)} '{name}' doesn't exist and doesn't have dynamic config.")
        return
    for entity in await _all_of(cluster, entity_type) if name is None else [name]:
        if entity == DEFAULT_NAME:
            print(f"Default configs for {entity_type} in the cluster are:")
        else:
            print(f"{'All' if all_ else 'Dynamic'} configs for {singular(entity_type)} {entity} are:")
        for entry in await _entries(cluster, entity_type, entity, all_=all_):
            _print_entry(entry)


def _print_entry(entry: ConfigEntry) -> None:
    synonyms = ", ".join(f"{each.source.name}:{each.name}={_shown(each.value)}" for each in entry.synonyms)
    sensitive = str(entry.is_sensitive).lower()
    print(f"  {entry.name}={_shown(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}")


def _shown(value: str | None) -> str:
    return "null" if value is None else value


async def _exists(cluster: Cluster, entity_type: str, name: str) -> bool:
    if entity_type == TOPICS:
        _check_topic_name(name)
        return name in [topic.name for topic in await list_topics(cluster)]
    if entity_type == GROUPS:
        return await _group_exists(cluster, name)
    return name in await _all_of(cluster, entity_type)


async def _all_of(cluster: Cluster, entity_type: str) -> list[str]:
    if entity_type == TOPICS:
        return in_hash_order(topic.name for topic in await list_topics(cluster))
    if entity_type == CLIENT_METRICS:
        return [each.name for each in await list_config_resources(cluster, [ResourceType.CLIENT_METRICS])]
    if entity_type == GROUPS:
        groups = in_hash_order(group.group_id for group in await list_groups(cluster))
        return in_scala_order([*groups, *(await _groups_with_configs(cluster) or ())])
    node_ids = in_hash_order(node.id for node in (await cluster.describe()).nodes)
    return [*map(str, node_ids), DEFAULT_NAME]


async def _group_exists(cluster: Cluster, name: str) -> bool:
    """Also where the cluster does not tell which groups have configs."""
    if name in [group.group_id for group in await list_groups(cluster)]:
        return True
    with_configs = await _groups_with_configs(cluster)
    return with_configs is None or name in with_configs


async def _groups_with_configs(cluster: Cluster) -> list[str] | None:
    try:
        return [each.name for each in await list_config_resources(cluster, [ResourceType.GROUP])]
    except UnsupportedVersionError:
        return None
    except KafkaError as error:
        if error.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            return None
        raise


async def _entries(cluster: Cluster, entity_type: str, name: str, *, all_: bool) -> list[ConfigEntry]:
    if entity_type == TOPICS:
        _check_topic_name(name)
    elif entity_type in (BROKERS, BROKER_LOGGERS):
        _check_broker_id(name, entity_type)
    resource = ConfigResource(RESOURCE_TYPES[entity_type], name)
    config = (await describe_configs(cluster, [resource], include_synonyms=True))[resource]
    if isinstance(config, KafkaError):
        raise config
    source = None if all_ else _dynamic_source(entity_type, name)
    return [config[key] for key in sorted(config) if source is None or config[key].source is source]


def _dynamic_source(entity_type: str, name: str) -> ConfigSource | None:
    """Where a config comes from that is the entity's own; None for loggers, which have no other."""
    if entity_type == BROKERS:
        default = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
        return default if name == DEFAULT_NAME else ConfigSource.DYNAMIC_BROKER_CONFIG
    return DYNAMIC_SOURCES.get(entity_type)


def _check_topic_name(name: str) -> None:
    try:
        check_topic_name(name)
    except ApiError as error:
        raise CommandFailure(str(error)) from None


def _check_broker_id(name: str, entity_type: str) -> None:
    try:
        java_int(name or "0")
    except ValueError:
        raise CommandFailure(
            f"The entity name for {entity_type} must be a valid integer broker id, found: {name}"
        ) from None


# --- altering


async def alter_resource(
    cluster: Cluster, entity_type: str, name: str, changes: Changes, *, through_controller: bool
) -> None:
    if entity_type == BROKERS:
        _check_broker_id(name, entity_type)
    if entity_type == BROKER_LOGGERS:
        await _check_loggers(cluster, name, changes)
    resource = ConfigResource(RESOURCE_TYPES[entity_type], name)
    operations = [AlterConfig(key, ConfigOperation.DELETE, "") for key in changes.deleted]
    operations += [AlterConfig(key, ConfigOperation.SET, value) for key, value in changes.added.items()]
    try:
        altered = await alter_configs(cluster, {resource: operations}, through_controller=through_controller)
        error = altered[resource]
    except UnsupportedVersionError as unsupported:
        if entity_type == BROKER_LOGGERS:
            raise
        raise CommandFailure(NO_INCREMENTAL_ALTER_CONFIGS) from unsupported
    if error is not None:
        raise error


async def _check_loggers(cluster: Cluster, name: str, changes: Changes) -> None:
    known = {entry.name for entry in await _entries(cluster, BROKER_LOGGERS, name, all_=False)}
    unknown = [logger for logger in (*changes.deleted, *changes.added) if logger not in known]
    if unknown:
        raise CommandFailure(f"Invalid broker logger(s): {','.join(unknown)}")
