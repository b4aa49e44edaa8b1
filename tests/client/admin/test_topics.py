from __future__ import annotations

import pytest

from penstock.client.admin.topic_changes import (
    CreatedTopic,
    NewPartitions,
    NewTopic,
    create_partitions,
    create_topics,
    delete_topics,
    delete_topics_by_id,
)
from penstock.client.admin.topic_descriptions import TopicDescription, describe_topics, describe_topics_by_id
from penstock.client.admin.topics import list_topics
from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.api_versions import ApiVersionsResponse
from penstock.wire.schema import ApiMessage
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError
from tests.wire_client.conftest import Asker


def code_of(result: object) -> ErrorCode | None:
    assert isinstance(result, KafkaError)
    return result.code


def test_the_life_of_a_topic(ask: Asker, servers: str, topic: str) -> None:
    new = NewTopic(topic, 3, 1, configs={"retention.ms": "60000"})

    async def live(cluster: Cluster) -> None:
        created = (await create_topics(cluster, [new]))[topic]
        assert isinstance(created, CreatedTopic)
        assert (created.num_partitions, created.replication_factor) == (3, 1)
        assert created.configs["retention.ms"] == "60000"
        listed = {each.name: each for each in await list_topics(cluster)}
        assert listed[topic].topic_id == created.topic_id
        assert await create_partitions(cluster, {topic: NewPartitions(5)}) == {topic: None}
        by_name = (await describe_topics(cluster, [topic]))[topic]
        by_id = (await describe_topics_by_id(cluster, [created.topic_id]))[created.topic_id]
        assert isinstance(by_name, TopicDescription)
        assert isinstance(by_id, TopicDescription)
        assert [each.partition for each in by_name.partitions] == list(range(5))
        assert [each.leader for each in by_id.partitions] == [each.leader for each in by_name.partitions]
        assert await delete_topics(cluster, [topic]) == {topic: None}
        assert topic not in [each.name for each in await list_topics(cluster)]

    ask(live, servers)


def test_each_topic_has_its_own_outcome(ask: Asker, servers: str, topic: str) -> None:
    async def outcomes(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic, replicas={0: [0], 1: [0]})])
        created = await create_topics(
            cluster, [NewTopic(topic), NewTopic(f"{topic}-2"), NewTopic("not/legal")]
        )
        assert isinstance(created[f"{topic}-2"], CreatedTopic)
        assert code_of(created[topic]) is ErrorCode.TOPIC_ALREADY_EXISTS
        assert code_of(created["not/legal"]) is ErrorCode.INVALID_TOPIC_EXCEPTION
        described = await describe_topics(cluster, [topic, "no-such-topic"])
        assert list(described) == [topic, "no-such-topic"]
        assert code_of(described["no-such-topic"]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        grown = await create_partitions(
            cluster, {topic: NewPartitions(1), f"{topic}-2": NewPartitions(4, [[0]])}
        )
        assert code_of(grown[topic]) is ErrorCode.INVALID_PARTITIONS
        deleted = await delete_topics(cluster, [topic, "no-such-topic"])
        assert deleted[topic] is None
        assert code_of(deleted["no-such-topic"]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    ask(outcomes, servers)


def test_validating_changes_nothing(ask: Asker, servers: str, topic: str) -> None:
    async def validate(cluster: Cluster) -> None:
        planned = (await create_topics(cluster, [NewTopic(topic, 2)], validate_only=True))[topic]
        assert isinstance(planned, CreatedTopic)
        assert planned.num_partitions == 2
        assert topic not in [each.name for each in await list_topics(cluster)]

    ask(validate, servers)


def test_ids_that_nobody_has(ask: Asker, servers: str, topic: str) -> None:
    unknown = "AAAAAAAAAAAAAAAAAAAAAQ"

    async def by_id(cluster: Cluster) -> None:
        created = (await create_topics(cluster, [NewTopic(topic)]))[topic]
        assert isinstance(created, CreatedTopic)
        described = await describe_topics_by_id(cluster, [unknown])
        assert code_of(described[unknown]) is ErrorCode.UNKNOWN_TOPIC_ID
        deleted = await delete_topics_by_id(cluster, [created.topic_id, unknown])
        assert deleted[created.topic_id] is None
        assert code_of(deleted[unknown]) is ErrorCode.UNKNOWN_TOPIC_ID

    ask(by_id, servers)


def test_many_partitions_come_page_by_page(
    ask: Asker, servers: str, broker: InProcessBroker, topic: str
) -> None:
    names = [f"{topic}-{number}" for number in range(4)]

    async def pages(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(name, 7) for name in names])
        with broker.interceptor.recording() as recorded:
            described = await describe_topics(cluster, names, partitions_per_answer=5)
            assert len(recorded.seen("DescribeTopicPartitions")) == 6
        for name in names:
            description = described[name]
            assert isinstance(description, TopicDescription)
            assert [each.partition for each in description.partitions] == list(range(7))
            assert description.partitions[0].elr == ()

    ask(pages, servers)


def older(_: object, versions: ApiMessage) -> ApiMessage:
    """A broker that neither has pages nor deletes by id."""
    assert isinstance(versions, ApiVersionsResponse)
    versions.api_keys = [
        each for each in versions.api_keys if each.api_key != ApiKey.DESCRIBE_TOPIC_PARTITIONS
    ]
    for each in versions.api_keys:
        if each.api_key == ApiKey.DELETE_TOPICS:
            each.max_version = 5
    return versions


def test_an_older_broker(ask: Asker, servers: str, broker: InProcessBroker, topic: str) -> None:
    async def life(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic, 3)])
        described = (await describe_topics(cluster, [topic]))[topic]
        assert isinstance(described, TopicDescription)
        assert [each.elr for each in described.partitions] == [None] * 3
        assert await delete_topics(cluster, [topic]) == {topic: None}
        with pytest.raises(UnsupportedVersionError):
            await delete_topics_by_id(cluster, [described.topic_id])

    with broker.interceptor.change("ApiVersions", older):
        ask(life, servers)


@pytest.mark.parametrize("code", ["NOT_CONTROLLER", "THROTTLING_QUOTA_EXCEEDED"])
def test_what_is_put_off_is_asked_for_again(
    ask: Asker, servers: str, broker: InProcessBroker, topic: str, code: str
) -> None:
    async def again(cluster: Cluster) -> None:
        with broker.interceptor.answer("CreateTopics", code, times=2) as rule:
            created = (await create_topics(cluster, [NewTopic(topic)]))[topic]
        rule.assert_matched(2)
        assert isinstance(created, CreatedTopic)
        with broker.interceptor.answer("DeleteTopics", code, times=1):
            assert await delete_topics(cluster, [topic]) == {topic: None}

    ask(again, servers)


def test_the_caller_may_not_want_to_wait_for_the_quota(
    ask: Asker, servers: str, broker: InProcessBroker, topic: str
) -> None:
    async def once(cluster: Cluster) -> None:
        with broker.interceptor.answer("CreateTopics", "THROTTLING_QUOTA_EXCEEDED"):
            created = await create_topics(cluster, [NewTopic(topic)], retry_on_quota_violation=False)
        assert code_of(created[topic]) is ErrorCode.THROTTLING_QUOTA_EXCEEDED

    ask(once, servers)
