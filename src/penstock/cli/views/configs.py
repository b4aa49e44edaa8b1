"""`penstock configs --describe` of topics, brokers, groups and client metrics."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output import Record, View
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
from penstock.client.cluster import Cluster, now
from penstock.client.errors import KafkaError

TYPES = {
    "topics": ResourceType.TOPIC,
    "brokers": ResourceType.BROKER,
    "groups": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}
SHORT_FLAGS = {"topic": "topics", "broker": "brokers", "group": "groups", "client-metrics": "client-metrics"}
OWN_SOURCE = {
    ResourceType.TOPIC: ConfigSource.DYNAMIC_TOPIC_CONFIG,
    ResourceType.BROKER: ConfigSource.DYNAMIC_BROKER_CONFIG,
    ResourceType.GROUP: ConfigSource.DYNAMIC_GROUP_CONFIG,
    ResourceType.CLIENT_METRICS: ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG,
}
FLAGS = ("describe", "all", "entity-type", "entity-name", *SHORT_FLAGS)


def view(options: OptionSet) -> View | None:
    if not options.has("describe") or not has_only(options, *FLAGS):
        return None
    entity = _entity(options)
    if entity is None:
        return None
    with cluster_of(options) as cluster:
        return now(_described(cluster, *entity, everything=options.has("all")))


def _entity(options: OptionSet) -> tuple[str, str | None] | None:
    """Type and name; None for what there is no view of, or what the tool has to refuse."""
    given = [(kind, options.value(flag)) for flag, kind in SHORT_FLAGS.items() if options.has(flag)]
    if options.has("entity-type"):
        given += [(kind, _only(options.values("entity-name"))) for kind in options.values("entity-type")]
    if len(given) != 1 or given[0][0] not in TYPES:
        return None
    return given[0]


def _only(names: list[str]) -> str | None:
    return names[0] if names else None


async def _described(cluster: Cluster, kind: str, name: str | None, *, everything: bool) -> View:
    resources = [ConfigResource(TYPES[kind], each) for each in await _names(cluster, kind, name)]
    records: list[Record] = []
    rows: list[Record] = []
    for resource, config in (await describe_configs(cluster, resources)).items():
        if isinstance(config, KafkaError):
            raise config
        entries = [
            _entry(each)
            for each in sorted(config.values(), key=lambda each: each.name)
            if everything or each.source is OWN_SOURCE[resource.type]
        ]
        records.append({"entity_type": kind, "entity_name": resource.name, "configs": entries})
        rows += [{"entity": resource.name, **entry} for entry in entries]
    return View(records, rows, () if rows else ["no configs of their own"])


async def _names(cluster: Cluster, kind: str, name: str | None) -> list[str]:
    if name is not None:
        return [name]
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
