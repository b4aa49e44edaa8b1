"""Configs of topics, of brokers, and of all brokers at once (`broker-configs`): one set of operations for the three."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from penstock.client.admin.configs import (
    AlterConfig,
    Config,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ResourceType,
    alter_configs,
    describe_configs,
)
from penstock.rest.errors import not_found
from penstock.rest.fields import Field, Fields
from penstock.rest.kafka import Kafka
from penstock.rest.operations import Handler
from penstock.rest.v3.clusters import brokers_of, required_broker
from penstock.rest.v3.resources import Links, Resource, links_of, listing
from penstock.rest.v3.topics import described_topics, required_topic
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_response
from penstock.wire_client.errors import KafkaError

NEW_VALUE = Fields("UpdateConfigRequest", {"value": Field(str)})
CHANGES = Fields(
    "AlterConfigBatchRequest",
    {
        "data": Field(
            list,
            required=True,
            items=Fields(
                "AlterConfig",
                {
                    "name": Field(str, required=True),
                    "value": Field(str),
                    "operation": Field(str, values=tuple(each.name for each in ConfigOperation)),
                },
            ),
        ),
        "validate_only": Field(bool),
    },
)


class Owner(NamedTuple):
    """Whose configs they are: `fields` say so in an answer, `steps` and `name` where it is."""

    kind: str
    resource: ConfigResource
    steps: tuple[object, ...]
    name: str
    fields: Mapping[str, Any]
    has_all: bool = True
    """Whether every config is there to be seen; of all brokers at once only those that are set are."""

    def __str__(self) -> str:
        return f"{self.resource.type.name} {self.resource.name}".rstrip()


def topic_owner(topic: str) -> Owner:
    return Owner(
        "KafkaTopicConfig",
        ConfigResource(ResourceType.TOPIC, topic),
        ("topics", topic, "configs"),
        f"/topic={topic}/config=",
        {"topic_name": topic},
    )


def broker_owner(broker_id: int) -> Owner:
    return Owner(
        "KafkaBrokerConfig",
        ConfigResource(ResourceType.BROKER, str(broker_id)),
        ("brokers", broker_id, "configs"),
        f"/broker={broker_id}/config=",
        {"broker_id": broker_id},
    )


ALL_BROKERS = Owner(
    "KafkaClusterConfig",
    ConfigResource(ResourceType.BROKER, ""),
    ("broker-configs",),
    "/broker-config=",
    {"config_type": "BROKER"},
    has_all=False,
)


async def _topic(kafka: Kafka, request: Request) -> Owner:
    return topic_owner((await required_topic(kafka, request)).name or "")


async def _broker(kafka: Kafka, request: Request) -> Owner:
    return broker_owner((await required_broker(kafka, request)).id)


async def _all_brokers(kafka: Kafka, request: Request) -> Owner:
    return ALL_BROKERS


_FIND_OWNER = {"a topic": _topic, "a broker": _broker, "all brokers at once": _all_brokers}


# --- reading


async def _configs_of(kafka: Kafka, owners: Iterable[Owner]) -> list[tuple[Owner, Config]]:
    wanted = list(owners)
    found = await describe_configs(kafka.cluster, [owner.resource for owner in wanted], include_synonyms=True)
    described = [(owner, found[owner.resource]) for owner in wanted]
    return [(owner, _config(config)) for owner, config in described]


def _config(config: Config | KafkaError) -> Config:
    if isinstance(config, KafkaError):
        raise config
    return config


def _entry(links: Links, owner: Owner, entry: ConfigEntry) -> Resource:
    return links.resource(
        owner.kind,
        links.to(*owner.steps, entry.name),
        owner.name + entry.name,
        {
            **owner.fields,
            "name": entry.name,
            "value": entry.value,
            "is_default": entry.is_default,
            "is_read_only": entry.is_read_only,
            "is_sensitive": entry.is_sensitive,
            "source": entry.source.name,
            "synonyms": [
                {"name": each.name, "value": each.value, "source": each.source.name}
                for each in entry.synonyms
            ],
        },
    )


def _entries(links: Links, described: Iterable[tuple[Owner, Config]]) -> list[Resource]:
    return [_entry(links, owner, config[name]) for owner, config in described for name in sorted(config)]


async def list_all_topic_configs(kafka: Kafka, request: Request) -> Response:
    """List the configs of all topics."""
    links = await links_of(kafka, request)
    names = sorted(topic.name or "" for topic in await described_topics(kafka))
    described = await _configs_of(kafka, map(topic_owner, names))
    return listing("KafkaTopicConfig", links.to("topics", "-", "configs"), _entries(links, described))


async def list_all_broker_configs(kafka: Kafka, request: Request) -> Response:
    """List the configs of all brokers."""
    links = await links_of(kafka, request)
    described = await _configs_of(kafka, [broker_owner(node.id) for node in await brokers_of(kafka)])
    return listing("KafkaBrokerConfig", links.to("brokers", "-", "configs"), _entries(links, described))


async def _required_entry(kafka: Kafka, owner: Owner, name: str, cluster_id: str) -> ConfigEntry:
    [(_, config)] = await _configs_of(kafka, [owner])
    if name not in config:
        raise not_found(f"Config {name} cannot be found for {owner} in cluster {cluster_id}.")
    return config[name]


# --- changing


async def _alter(
    kafka: Kafka, owner: Owner, changes: list[AlterConfig], validate_only: bool = False
) -> Response:
    errors = await alter_configs(kafka.cluster, {owner.resource: changes}, validate_only=validate_only)
    error = errors[owner.resource]
    if error is not None:
        raise error
    return NO_CONTENT


async def _alter_one(kafka: Kafka, request: Request, owner: Owner, change: AlterConfig) -> Response:
    if owner.has_all:
        await _required_entry(kafka, owner, change.name, request.path["cluster_id"])
    return await _alter(kafka, owner, [change])


# --- the operations of each kind of owner


class ConfigHandlers(NamedTuple):
    list: Handler
    get: Handler
    update: Handler
    reset: Handler
    alter: Handler


def handlers_for(whose: str) -> ConfigHandlers:
    """`whose` is a key of `_FIND_OWNER`."""
    find_owner = _FIND_OWNER[whose]

    async def list_configs(kafka: Kafka, request: Request) -> Response:
        links = await links_of(kafka, request)
        owner = await find_owner(kafka, request)
        entries = _entries(links, await _configs_of(kafka, [owner]))
        return listing(owner.kind, links.to(*owner.steps), entries)

    async def get_config(kafka: Kafka, request: Request) -> Response:
        links = await links_of(kafka, request)
        owner = await find_owner(kafka, request)
        entry = await _required_entry(kafka, owner, request.path["name"], links.cluster_id)
        return json_response(_entry(links, owner, entry))

    async def update_config(kafka: Kafka, request: Request) -> Response:
        await links_of(kafka, request)
        value = (await NEW_VALUE.read(request)).get("value")
        change = AlterConfig(request.path["name"], ConfigOperation.SET, value)
        return await _alter_one(kafka, request, await find_owner(kafka, request), change)

    async def reset_config(kafka: Kafka, request: Request) -> Response:
        await links_of(kafka, request)
        change = AlterConfig(request.path["name"], ConfigOperation.DELETE)
        return await _alter_one(kafka, request, await find_owner(kafka, request), change)

    async def alter_all(kafka: Kafka, request: Request) -> Response:
        await links_of(kafka, request)
        given = await CHANGES.read(request)
        owner = await find_owner(kafka, request)
        changes = [
            AlterConfig(each["name"], ConfigOperation[each.get("operation", "SET")], each.get("value"))
            for each in given["data"]
        ]
        return await _alter(kafka, owner, changes, given.get("validate_only", False))

    list_configs.__doc__ = f"List the configs of {whose}."
    get_config.__doc__ = f"Get a config of {whose}."
    update_config.__doc__ = f"Set a config of {whose}."
    reset_config.__doc__ = f"Reset a config of {whose} to its default."
    alter_all.__doc__ = f"Set or reset several configs of {whose} at once."
    return ConfigHandlers(list_configs, get_config, update_config, reset_config, alter_all)
