"""`penstock configs --describe` of topics, brokers, groups and client metrics."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.tools.configs.entities import DEFAULT_FLAGS, NAME_FLAGS, entities_of
from penstock.cli.views.asking import cluster_of, has_only
from penstock.client.admin.configs import (
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourceType,
    describe_configs,
)
from penstock.client.admin.groups import list_groups
from penstock.client.admin.topics import list_topics
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

TYPES = {
    "topics": ResourceType.TOPIC,
    "brokers": ResourceType.BROKER,
    "groups": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}
OWN_SOURCES = {
    ResourceType.TOPIC: {ConfigSource.DYNAMIC_TOPIC_CONFIG},
    ResourceType.BROKER: {ConfigSource.DYNAMIC_BROKER_CONFIG, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG},
    ResourceType.GROUP: {ConfigSource.DYNAMIC_GROUP_CONFIG},
    ResourceType.CLIENT_METRICS: {ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG},
}
"""What counts as set, and not as a default."""
FLAGS = ("describe", "all", "entity-type", "entity-name", "entity-default", *NAME_FLAGS, *DEFAULT_FLAGS)


def view(options: OptionSet) -> View | None:
    if not options.has("describe") or not has_only(options, *FLAGS):
        return None
    types, names = entities_of(options)
    if len(types) != 1 or types[0] not in TYPES or len(names) > 1:
        return None
    with cluster_of(options) as cluster:
        return now(_described(cluster, types[0], names, everything=options.has("all")))


async def _described(cluster: Cluster, kind: str, names: list[str], *, everything: bool) -> View:
    resources = [ConfigResource(TYPES[kind], each) for each in names or await _all_names(cluster, kind)]
    records: list[Record] = []
    rows: list[Record] = []
    for resource, config in (await describe_configs(cluster, resources)).items():
        if isinstance(config, KafkaError):
            raise config
        entries = [
            _entry(each)
            for each in sorted(config.values(), key=lambda each: each.name)
            if everything or each.source in OWN_SOURCES[resource.type]
        ]
        records.append({"entity_type": kind, "entity_name": resource.name, "configs": entries})
        rows += [{"entity": resource.name, **entry} for entry in entries]
    return View(records, rows, () if rows else ["no configs of their own"])


async def _all_names(cluster: Cluster, kind: str) -> list[str]:
    if kind == "topics":
        return sorted(topic.name for topic in await list_topics(cluster))
    if kind == "brokers":
        return [str(node.id) for node in (await cluster.describe()).nodes]
    if kind == "groups":
        return sorted(group.group_id for group in await list_groups(cluster))
    return []


def _entry(entry: ConfigEntry) -> Record:
    return {
        "name": entry.name,
        "value": entry.value,
        "source": entry.source.name,
        "sensitive": entry.is_sensitive,
        "read_only": entry.is_read_only,
    }
