"""Elections, reassignments and directories. What three brokers do is told in tests/cli/tools; here is one."""

from __future__ import annotations

import pytest

from penstock.client.admin.elections import ElectionType, elect_leaders
from penstock.client.admin.reassignments import alter_partition_reassignments, list_partition_reassignments
from penstock.client.admin.replica_log_dirs import (
    ReplicaLogDir,
    TopicPartitionReplica,
    alter_replica_log_dirs,
    describe_replica_log_dirs,
)
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError
from tests.support.apache_kafka import ApacheKafka, require_java
from tests.wire_client.conftest import Asker
from tools.suite.processes import starts_processes


def test_where_replicas_are(ask: Asker, servers: str, topic: str) -> None:
    async def look(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic)])
        broker_id = (await cluster.describe()).nodes[0].id
        there, nowhere = (TopicPartitionReplica(topic, each, broker_id) for each in (0, 9))
        async for _ in cluster.attempts("the replica"):
            found = await describe_replica_log_dirs(cluster, [there, nowhere])
            if found[there].current:
                break
        assert found[there].future is None
        assert found[nowhere] == ReplicaLogDir()

    ask(look, servers)


def test_a_directory_that_the_broker_does_not_have(ask: Asker, servers: str, topic: str) -> None:
    async def move(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic)])
        replica = TopicPartitionReplica(topic, 0, (await cluster.describe()).nodes[0].id)
        (error,) = (await alter_replica_log_dirs(cluster, {replica: "/elsewhere"})).values()
        assert error is not None
        assert error.code == ErrorCode.LOG_DIR_NOT_FOUND

    ask(move, servers)


@pytest.fixture(scope="module")
@starts_processes
def apache(tmp_path_factory: pytest.TempPathFactory) -> ApacheKafka:
    require_java()
    with ApacheKafka(tmp_path_factory.mktemp("apache")) as server:
        yield server


def codes(errors: dict[TopicPartition, KafkaError | None]) -> dict[int, ErrorCode | None]:
    return {partition.partition: error.code if error else None for partition, error in errors.items()}


async def elect(cluster: Cluster, topic: str) -> None:
    there, nowhere = TopicPartition(topic, 0), TopicPartition(topic, 9)
    elected = await elect_leaders(cluster, ElectionType.PREFERRED, [there, nowhere])
    assert codes(elected) == {0: ErrorCode.ELECTION_NOT_NEEDED, 9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert await elect_leaders(cluster, ElectionType.UNCLEAN) == {}


def test_elections_on_one_broker(ask: Asker, servers: str, topic: str) -> None:
    async def try_all(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic)])
        await elect(cluster, topic)

    ask(try_all, servers)


def test_one_broker_of_apache_kafka(ask: Asker, apache: ApacheKafka, topic: str) -> None:
    there, nowhere = TopicPartition(topic, 0), TopicPartition(topic, 9)

    async def move(cluster: Cluster) -> None:
        await create_topics(cluster, [NewTopic(topic)])
        await elect(cluster, topic)
        moved = await alter_partition_reassignments(cluster, {there: [1], nowhere: [1]})
        assert codes(moved) == {0: None, 9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
        stopped = await alter_partition_reassignments(cluster, {there: None})
        assert codes(stopped) == {0: ErrorCode.NO_REASSIGNMENT_IN_PROGRESS}
        assert await list_partition_reassignments(cluster) == {}
        assert await list_partition_reassignments(cluster, [there, nowhere]) == {}

    ask(move, apache.bootstrap)
