from __future__ import annotations

from penstock.client.admin.configs import (
    AlterConfig,
    ConfigOperation,
    ConfigResource,
    ConfigSource,
    ResourceType,
    alter_configs,
    describe_configs,
    list_config_resources,
)
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.errors import ErrorCode
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError
from tests.wire_client.conftest import Asker

SET, DELETE, APPEND = ConfigOperation.SET, ConfigOperation.DELETE, ConfigOperation.APPEND


async def value_of(cluster: Cluster, resource: ConfigResource, name: str) -> tuple[str | None, ConfigSource]:
    config = (await describe_configs(cluster, [resource]))[resource]
    assert not isinstance(config, KafkaError)
    return config[name].value, config[name].source


def test_a_topic(ask: Asker, servers: str, topic: str) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic)

    async def change(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic)])
        own = ConfigSource.DYNAMIC_TOPIC_CONFIG
        changes = [AlterConfig("retention.ms", SET, "5000"), AlterConfig("cleanup.policy", APPEND, "compact")]
        assert await alter_configs(cluster, {resource: changes}, validate_only=True) == {resource: None}
        assert (await value_of(cluster, resource, "retention.ms"))[1] is ConfigSource.DEFAULT_CONFIG
        assert await alter_configs(cluster, {resource: changes}) == {resource: None}
        assert await value_of(cluster, resource, "retention.ms") == ("5000", own)
        assert await value_of(cluster, resource, "cleanup.policy") == ("delete,compact", own)
        assert await alter_configs(cluster, {resource: [AlterConfig("retention.ms", DELETE)]}) == {
            resource: None
        }
        assert (await value_of(cluster, resource, "retention.ms"))[1] is ConfigSource.DEFAULT_CONFIG

    ask(change, servers)


def test_what_is_said_of_a_config(ask: Asker, servers: str, topic: str) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic)

    async def describe(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic, configs={"retention.ms": "1"})])
        config = (
            await describe_configs(cluster, [resource], include_synonyms=True, include_documentation=True)
        )[resource]
        assert not isinstance(config, KafkaError)
        entry = config["retention.ms"]
        assert entry.synonyms[0].name == "retention.ms"
        assert entry.documentation
        assert not entry.is_default
        assert not entry.is_sensitive
        assert not entry.is_read_only
        assert config["segment.bytes"].is_default

    ask(describe, servers)


def test_each_resource_has_its_own_outcome(ask: Asker, servers: str, topic: str) -> None:
    mine, missing = (ConfigResource(ResourceType.TOPIC, name) for name in (topic, "no-such-topic"))
    broker, nobody = (ConfigResource(ResourceType.BROKER, name) for name in ("0", ""))

    async def outcomes(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic)])
        described = await describe_configs(cluster, [mine, missing, broker, nobody])
        assert isinstance(described[mine], dict)
        assert isinstance(described[broker], dict)
        assert isinstance(described[nobody], dict)
        error = described[missing]
        assert isinstance(error, KafkaError)
        assert error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        bad = AlterConfig("retention.ms", SET, "soon")
        altered = await alter_configs(cluster, {mine: [bad], missing: [bad]})
        refused = altered[mine]
        assert isinstance(refused, KafkaError)
        assert refused.code is ErrorCode.INVALID_CONFIG

    ask(outcomes, servers)


def test_brokers_and_groups(ask: Asker, servers: str, topic: str) -> None:
    group = ConfigResource(ResourceType.GROUP, f"group-of-{topic}")
    broker = ConfigResource(ResourceType.BROKER, "0")
    default = ConfigResource(ResourceType.BROKER, "")

    async def change(cluster: Cluster) -> None:
        wanted = {
            group: [AlterConfig("consumer.session.timeout.ms", SET, "50000")],
            broker: [AlterConfig("log.cleaner.threads", SET, "2")],
            default: [AlterConfig("log.cleaner.threads", SET, "3")],
        }
        assert await alter_configs(cluster, wanted) == dict.fromkeys(wanted)
        assert await value_of(cluster, group, "consumer.session.timeout.ms") == (
            "50000",
            ConfigSource.DYNAMIC_GROUP_CONFIG,
        )
        assert group in await list_config_resources(cluster, [ResourceType.GROUP])
        assert await value_of(cluster, broker, "log.cleaner.threads") == (
            "2",
            ConfigSource.DYNAMIC_BROKER_CONFIG,
        )
        undone = {resource: [AlterConfig("log.cleaner.threads", DELETE)] for resource in (broker, default)}
        assert await alter_configs(cluster, undone) == dict.fromkeys(undone)

    ask(change, servers)
