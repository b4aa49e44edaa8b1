"""Partitions asked for at their leaders: what moves is found again, what fails does not take the others along."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.client.admin.features import (
    FeatureLevels,
    FeatureUpdate,
    UpgradeType,
    describe_features,
    update_features,
)
from penstock.client.admin.list_offsets import ListedOffset, OffsetSpec, list_offsets
from penstock.client.admin.log_dirs import describe_log_dirs
from penstock.client.admin.records import HIGH_WATERMARK, delete_records
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.client.admin.transactions import (
    AbortSpec,
    abort_transaction,
    describe_producers,
    describe_transaction,
    list_transactions,
    terminate_transaction,
)
from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.testing.interception import Interceptor
from penstock.types import TopicPartition
from penstock.wire_client import Cluster
from penstock.wire_client.errors import AuthorizationError, FatalError, KafkaError, KafkaTimeoutError
from tests.wire_client.conftest import Asker


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as running:
        yield running


@pytest.fixture
def intercept(broker: InProcessBroker) -> Iterator[Interceptor]:
    with broker.interceptor.recording() as interceptor:
        yield interceptor


@pytest.fixture
def partitions(ask: Asker, broker: InProcessBroker, topic: str) -> list[TopicPartition]:
    async def create(cluster: Cluster) -> Any:
        return await create_topics(cluster, [NewTopic(topic, 3, 1)])

    ask(create, broker.bootstrap_servers)
    return [TopicPartition(topic, partition) for partition in range(3)]


def test_a_leader_that_moved_is_found_again(
    ask: Asker, broker: InProcessBroker, intercept: Interceptor, partitions: list[TopicPartition]
) -> None:
    async def offsets(cluster: Cluster) -> Any:
        return await list_offsets(cluster, dict.fromkeys(partitions, OffsetSpec.LATEST))

    rule = intercept.answer("ListOffsets", "NOT_LEADER_OR_FOLLOWER", times=2)
    assert ask(offsets, broker.bootstrap_servers) == dict.fromkeys(partitions, ListedOffset(0, -1, 0))
    assert rule.matched == 2


def test_one_that_is_not_there_does_not_hide_the_others(
    ask: Asker, broker: InProcessBroker, partitions: list[TopicPartition]
) -> None:
    missing = TopicPartition("no-such-topic", 0)

    async def offsets(cluster: Cluster) -> Any:
        return await list_offsets(cluster, dict.fromkeys([*partitions, missing], OffsetSpec.EARLIEST))

    results = ask(offsets, broker.bootstrap_servers, default_api_timeout_ms="300")
    assert isinstance(results.pop(missing), KafkaTimeoutError)
    assert {partition: listed.offset for partition, listed in results.items()} == dict.fromkeys(partitions, 0)


def test_an_error_for_good_is_not_asked_about_again(
    ask: Asker, broker: InProcessBroker, intercept: Interceptor, partitions: list[TopicPartition]
) -> None:
    async def delete(cluster: Cluster) -> Any:
        return await delete_records(cluster, dict.fromkeys(partitions, HIGH_WATERMARK))

    rule = intercept.answer("DeleteRecords", "TOPIC_AUTHORIZATION_FAILED")
    results = ask(delete, broker.bootstrap_servers)
    assert {type(result) for result in results.values()} == {AuthorizationError}
    assert rule.matched == 1
    rule.remove()
    assert ask(delete, broker.bootstrap_servers) == dict.fromkeys(partitions, 0)


def test_log_dirs(ask: Asker, broker: InProcessBroker, partitions: list[TopicPartition]) -> None:
    async def describe(cluster: Cluster) -> Any:
        return await describe_log_dirs(cluster, [0])

    [described] = ask(describe, broker.bootstrap_servers)[0].values()
    assert described.error is None
    assert {partition: described.replicas[partition].size for partition in partitions} == dict.fromkeys(
        partitions, 0
    )


def test_features(ask: Asker, broker: InProcessBroker) -> None:
    async def off_and_on(cluster: Cluster) -> Any:
        off = FeatureUpdate(0, UpgradeType.SAFE_DOWNGRADE)
        too_far = FeatureUpdate(99, UpgradeType.UPGRADE)
        rehearsed = await update_features(cluster, {"share.version": off}, validate_only=True)
        failed = await update_features(cluster, {"share.version": too_far})
        return rehearsed, failed, await describe_features(cluster, node_id=0)

    rehearsed, failed, features = ask(off_and_on, broker.bootstrap_servers)
    assert rehearsed == {"share.version": None}
    assert isinstance(failed["share.version"], KafkaError)
    assert features.levels["share.version"] == FeatureLevels(0, 1, 1)


def test_a_transaction_is_ended_by_a_new_producer_of_its_id(
    ask: Asker, broker: InProcessBroker, intercept: Interceptor, topic: str
) -> None:
    async def terminate(cluster: Cluster) -> Any:
        await terminate_transaction(cluster, topic)
        listed = await list_transactions(cluster, transactional_id_pattern=topic)
        return listed, await describe_transaction(cluster, topic)

    rule = intercept.answer("InitProducerId", "CONCURRENT_TRANSACTIONS", times=2)
    listed, described = ask(terminate, broker.bootstrap_servers)
    assert rule.matched == 2
    assert [each.state for each in listed[0]] == ["Empty"]
    assert (described.coordinator_id, described.state, described.start_time_ms) == (0, "Empty", None)


def test_a_transaction_that_nobody_began(ask: Asker, broker: InProcessBroker) -> None:
    async def describe(cluster: Cluster) -> Any:
        return await describe_transaction(cluster, "nobody")

    with pytest.raises(KafkaError, match="the ID could not be found") as raised:
        ask(describe, broker.bootstrap_servers)
    assert raised.value.code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def test_producers_of_a_broker_that_is_no_replica(
    ask: Asker, broker: InProcessBroker, intercept: Interceptor, partitions: list[TopicPartition]
) -> None:
    """Its leader would be looked for; a broker that was asked for by its id is not."""

    async def describe(cluster: Cluster) -> Any:
        return await describe_producers(cluster, partitions, broker_id=0)

    rule = intercept.answer("DescribeProducers", "NOT_LEADER_OR_FOLLOWER")
    results = ask(describe, broker.bootstrap_servers)
    assert {str(result) for result in results.values()} == {
        f"Failed to describe active producers for partition {partition} on brokerId 0"
        for partition in partitions
    }
    assert rule.matched == 1
    rule.remove()
    assert ask(describe, broker.bootstrap_servers) == {partition: [] for partition in partitions}


def test_a_marker_of_a_producer_that_was_fenced(
    ask: Asker, broker: InProcessBroker, intercept: Interceptor, partitions: list[TopicPartition]
) -> None:
    async def abort(cluster: Cluster) -> None:
        await abort_transaction(cluster, AbortSpec(partitions[0], 5, 1, 0))

    intercept.answer("WriteTxnMarkers", "INVALID_PRODUCER_EPOCH")
    with pytest.raises(FatalError, match="failed due an invalid producer epoch"):
        ask(abort, broker.bootstrap_servers)
