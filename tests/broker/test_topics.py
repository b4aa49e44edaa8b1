"""Topics that can't be made, grown or deleted, and what becomes of those that can."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.broker import coordination
from penstock.broker.coordination import TooLarge
from penstock.errors import ApiError, ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.asking import (
    APPEND,
    TOPIC_RESOURCE,
    batch_of,
    create_topic,
    fetch,
    log_end_offset,
    log_start_offset,
    metadata,
    new_topic,
    produce,
    produced,
    set_config,
    topic_id,
    unique_topic,
    values_in,
    wanted,
)
from tests.broker.conftest import only_penstock
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient


def topic_names(client: WireClient) -> list[str]:
    return [topic.name for topic in client.send(MetadataRequest(topics=None)).topics]


def delete_topic(client: WireClient, name: str) -> ErrorCode:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=30_000)
    return ErrorCode(client.send(request).responses[0].error_code)


# creating


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ä", "a\0b", "x" * 250])
def test_bad_names(client: WireClient, name: str) -> None:
    before = topic_names(client)
    result = create_topic(client, name)
    assert ErrorCode(result.error_code) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert result.error_message.startswith("Topic name is invalid")
    assert topic_names(client) == before


def test_the_longest_name(client: WireClient) -> None:
    name = new_topic(client, "x" * 249)
    assert produced(client, name, batch_of(b"bread")) == 0
    assert delete_topic(client, name) == ErrorCode.NONE


def test_a_topic_that_exists(client: WireClient, topic: str) -> None:
    before = topic_id(client, topic)
    result = create_topic(client, topic, 3)
    assert result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert result.error_message == f"Topic '{topic}' already exists."
    assert topic_id(client, topic) == before
    assert len(metadata(client, topic).topics[0].partitions) == 1


def test_a_name_that_collides_in_metrics(client: WireClient) -> None:
    new_topic(client, "col.lide")
    result = create_topic(client, "col_lide")
    assert result.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert result.error_message == "Topic 'col_lide' collides with existing topic: col.lide"
    assert delete_topic(client, "col.lide") == ErrorCode.NONE


@pytest.mark.parametrize("partitions", [0, -2, -(2**31)])
def test_bad_partition_counts(client: WireClient, partitions: int) -> None:
    assert create_topic(client, "bad-count", partitions).error_code == ErrorCode.INVALID_PARTITIONS
    assert "bad-count" not in topic_names(client)


@pytest.mark.parametrize("replication_factor", [0, -2, 2])
def test_bad_replication_factors(client: WireClient, replication_factor: int) -> None:
    topic = CreatableTopic(name="bad-factor", num_partitions=1, replication_factor=replication_factor)
    (result,) = client.send(CreateTopicsRequest(topics=[topic], timeout_ms=30_000)).topics
    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert "bad-factor" not in topic_names(client)


@pytest.mark.parametrize(
    "configs",
    [{"retention_ms": "soon"}, {"no_such": "1"}, {"segment_bytes": "-1"}, {"cleanup_policy": "burn"}],
)
def test_bad_configs(client: WireClient, configs: dict[str, str]) -> None:
    result = create_topic(client, "bad-config", 1, **configs)
    assert result.error_code == ErrorCode.INVALID_CONFIG
    assert next(iter(configs)).replace("_", ".") in result.error_message
    assert "bad-config" not in topic_names(client)


def test_the_same_name_twice_in_a_request(client: WireClient) -> None:
    topic = CreatableTopic(name="twice", num_partitions=1, replication_factor=1)
    (result,) = client.send(CreateTopicsRequest(topics=[topic, topic], timeout_ms=30_000)).topics
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert "twice" not in topic_names(client)


def test_one_bad_topic_does_not_hold_up_the_others(client: WireClient) -> None:
    topics = [CreatableTopic(name, 1, 1) for name in ("good-one", "bad one", "good-two")]
    results = client.send(CreateTopicsRequest(topics=topics, timeout_ms=30_000)).topics
    codes = {result.name: result.error_code for result in results}
    assert codes == {"good-one": 0, "bad one": ErrorCode.INVALID_TOPIC_EXCEPTION, "good-two": 0}
    for name in ("good-one", "good-two"):
        wait_for(lambda name=name: delete_topic(client, name) == ErrorCode.NONE)


def test_validate_only_makes_nothing(client: WireClient) -> None:
    topic = CreatableTopic(name="only-checked", num_partitions=2, replication_factor=1)
    (result,) = client.send(CreateTopicsRequest(topics=[topic], timeout_ms=1000, validate_only=True)).topics
    assert (result.error_code, result.num_partitions) == (0, 2)
    assert "only-checked" not in topic_names(client)


# asking for topics that are not there


@pytest.mark.parametrize(
    ("name", "code"),
    [("no-such", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), ("a/b", ErrorCode.INVALID_TOPIC_EXCEPTION)],
)
def test_metadata_of_no_topic(client: WireClient, name: str, code: ErrorCode) -> None:
    (found,) = metadata(client, name).topics
    assert (ErrorCode(found.error_code), found.name, found.partitions) == (code, name, [])


def test_metadata_of_no_topic_id(client: WireClient) -> None:
    wanted_topic = MetadataRequestTopic(name=None, topic_id=b"z" * 16)
    (found,) = client.send(MetadataRequest(topics=[wanted_topic])).topics
    assert (found.error_code, found.topic_id) == (ErrorCode.UNKNOWN_TOPIC_ID, b"z" * 16)


def test_a_fetch_creates_nothing(client: WireClient) -> None:
    (answer,) = fetch(client, wanted("not-yet")).responses
    assert answer.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert "not-yet" not in topic_names(client)


# growing


def grow(client: WireClient, name: str, count: int) -> ErrorCode:
    wanted_topic = CreatePartitionsTopic(name=name, count=count, assignments=None)
    request = CreatePartitionsRequest(topics=[wanted_topic], timeout_ms=30_000)
    return ErrorCode(client.send(request).results[0].error_code)


@pytest.mark.parametrize("count", [2, 1, 0, -1])
def test_growing_to_less(client: WireClient, count: int) -> None:
    topic = unique_topic(client, 2)
    assert grow(client, topic, count) == ErrorCode.INVALID_PARTITIONS
    assert len(metadata(client, topic).topics[0].partitions) == 2


def test_growing(client: WireClient, topic: str) -> None:
    assert grow(client, topic, 3) == ErrorCode.NONE
    wait_for(lambda: produce(client, topic, batch_of(b"bread"), 2).error_code == 0)
    assert grow(client, "no-such", 3) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# deleting


def test_deleting_what_is_not_there(client: WireClient) -> None:
    for name in ("no-such", "a/b", ""):
        assert delete_topic(client, name) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=b"z" * 16)], timeout_ms=1000)
    assert client.send(request).responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_a_topic_made_again_is_another_one(client: WireClient, topic: str) -> None:
    produced(client, topic, batch_of(b"bread"))
    old_id = topic_id(client, topic)
    assert delete_topic(client, topic) == ErrorCode.NONE
    wait_for(lambda: metadata(client, topic).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    new_topic(client, topic)
    assert topic_id(client, topic) not in (old_id, bytes(16))
    assert log_end_offset(client, topic) == 0


def partition_files(log_dir: Path, topic: str) -> list[Path]:
    return list(log_dir.glob(f"{topic}-*"))


@only_penstock
def test_deletion_removes_the_files(broker: InProcessBroker) -> None:
    (log_dir,) = broker.log_dirs
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods", 2)
        produced(client, "foods", batch_of(b"bread"))
        assert len(partition_files(log_dir, "foods")) == 2
        assert delete_topic(client, "foods") == ErrorCode.NONE
        assert "foods" not in topic_names(client)
    wait_for(lambda: not partition_files(log_dir, "foods"), what="the files to go")


@only_penstock
def test_a_restart_does_not_bring_a_deleted_topic_back(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods")
        produced(client, "foods", batch_of(b"bread"))
        assert delete_topic(client, "foods") == ErrorCode.NONE
    broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        assert topic_names(client) == []
        new_topic(client, "foods")
        assert values_in(client, "foods") == []


# deleting records


def delete_records(client: WireClient, topic: str, offset: int) -> tuple[ErrorCode, int]:
    asked = DeleteRecordsTopic(name=topic, partitions=[DeleteRecordsPartition(0, offset)])
    request = DeleteRecordsRequest(topics=[asked], timeout_ms=30_000)
    result = client.send(request).topics[0].partitions[0]
    return ErrorCode(result.error_code), result.low_watermark


def test_delete_records(client: WireClient, topic: str) -> None:
    for value in (b"bread", b"wine", b"salt"):
        produced(client, topic, batch_of(value))
    assert delete_records(client, topic, 2) == (ErrorCode.NONE, 2)
    assert (log_start_offset(client, topic), log_end_offset(client, topic)) == (2, 3)
    assert delete_records(client, topic, 1) == (ErrorCode.NONE, 2), "what is gone is gone"
    assert values_in(client, topic) == [b"salt"]
    (answer,) = fetch(client, wanted(topic, 0)).responses
    assert answer.partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert delete_records(client, topic, -1) == (ErrorCode.NONE, 3)
    assert log_start_offset(client, topic) == 3


@pytest.mark.parametrize("offset", [-2, 2, 2**62])
def test_deleting_records_that_are_not_there(client: WireClient, topic: str, offset: int) -> None:
    produced(client, topic, batch_of(b"bread"))
    assert delete_records(client, topic, offset) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert values_in(client, topic) == [b"bread"]


def test_deleting_records_where_it_is_not_allowed(client: WireClient) -> None:
    topic = unique_topic(client, cleanup_policy="compact")
    assert delete_records(client, topic, 0) == (ErrorCode.POLICY_VIOLATION, -1)
    assert delete_records(client, "no-such", 0) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)


@only_penstock
def test_deleted_records_stay_deleted_after_a_restart(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods")
        for value in (b"bread", b"wine", b"salt"):
            produced(client, "foods", batch_of(value))
        assert delete_records(client, "foods", 2) == (ErrorCode.NONE, 2)
    broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        assert log_start_offset(client, "foods") == 2
        assert values_in(client, "foods") == [b"salt"]


@only_penstock
def test_where_an_earlier_topic_of_that_name_began_is_forgotten(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods")
        produced(client, "foods", batch_of(*[b"old"] * 10))
        assert delete_records(client, "foods", 9) == (ErrorCode.NONE, 9)
        assert delete_topic(client, "foods") == ErrorCode.NONE
        new_topic(client, "foods")
        produced(client, "foods", batch_of(b"new"))
        broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        assert values_in(client, "foods") == [b"new"]


# what ZooKeeper can't store


@only_penstock
def test_what_zookeeper_cannot_store_is_refused_and_others_go_on(broker: InProcessBroker) -> None:
    broker.run(create_with_a_long_config(broker))
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "small")
        assert topic_names(client) == ["small"]


async def create_with_a_long_config(broker: InProcessBroker) -> None:
    throttled = ",".join(f"{index}:0" for index in range(200_000))
    with pytest.raises(
        ApiError, match=r"/config/topics/large would take .* ZooKeeper, which stores"
    ) as refused:
        await broker.broker.topics.create(
            "large", {0: (0,)}, {"follower.replication.throttled.replicas": throttled}
        )
    assert refused.value.code == ErrorCode.POLICY_VIOLATION


@only_penstock
def test_a_topic_that_outgrows_its_znode_keeps_its_partitions(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "kept", 3)
        broker.run(outgrow(broker))
        assert len(metadata(client, "kept").topics[0].partitions) == 3
        new_topic(client, "small")


def longer_lists(key: str) -> Iterator[AlterableConfig]:
    """Each adds as much to a list as a string may hold."""
    for start in range(0, 200_000, 3_000):
        replicas = ",".join(f"{index}:0" for index in range(start, start + 3_000))
        yield AlterableConfig(key, APPEND, replicas)


@only_penstock
def test_what_zookeeper_cannot_store_is_refused_on_the_wire(broker: InProcessBroker) -> None:
    key = "follower.replication.throttled.replicas"
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "kept")
        for config in longer_lists(key):
            resource = AlterConfigsResource(TOPIC_RESOURCE, "kept", [config])
            (answer,) = client.send(IncrementalAlterConfigsRequest([resource])).responses
            if answer.error_code:
                break
        assert answer.error_code == ErrorCode.POLICY_VIOLATION
        assert re.match("/config/topics/kept would take .* ZooKeeper, which stores", answer.error_message)
        set_config(client, "kept", key, "0:0")


@only_penstock
def test_partitions_that_zookeeper_cannot_store_are_refused_on_the_wire(
    broker: InProcessBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a lower limit: a request may have 10,000 partitions, and with its own a topic has room for 80,000."""
    monkeypatch.setattr(coordination, "MAX_REQUEST_BYTES", 50_000)
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "kept", 3)
        grown = CreatePartitionsTopic("kept", 9_000, None)
        (result,) = client.send(CreatePartitionsRequest([grown], 30_000)).results
        assert result.error_code == ErrorCode.POLICY_VIOLATION
        assert re.match("/brokers/topics/kept would take .* ZooKeeper, which stores", result.error_message)
        assert len(metadata(client, "kept").topics[0].partitions) == 3
        new_topic(client, "small")


async def outgrow(broker: InProcessBroker) -> None:
    controller = broker.broker.controller
    with pytest.raises(TooLarge, match="/brokers/topics/kept would take"):
        await controller.create_partitions(
            controller.image.topics["kept"], dict.fromkeys(range(3, 100000), (0,))
        )


# a name that is used again


@only_penstock
def test_a_topic_that_is_being_deleted_is_not_created_by_who_still_asks_for_it(
    broker: InProcessBroker,
) -> None:
    broker.create_topic("again", 50)
    broker.run(ask_during_deletion(broker))
    with WireClient(broker.bootstrap_servers) as client:
        assert create_topic(client, "again", 2).error_code == 0


async def ask_during_deletion(broker: InProcessBroker) -> None:
    topics = broker.broker.topics
    deletion = asyncio.ensure_future(topics.delete("again"))
    while "again" in topics.image.topics:  # noqa: ASYNC110 - what it waits for is not announced
        await asyncio.sleep(0)
    assert not deletion.done()
    with pytest.raises(ApiError) as refused:
        await broker.broker.topic_creation.auto_create("again")
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    await deletion


@only_penstock
def test_nor_is_one_in_the_moment_after_its_deletion(broker: InProcessBroker) -> None:
    asking = MetadataRequest([MetadataRequestTopic(name="again")], allow_auto_topic_creation=True)
    with WireClient(broker.bootstrap_servers) as client:
        for _ in range(3):
            assert create_topic(client, "again", 2).error_code == 0
            assert delete_topic(client, "again") == ErrorCode.NONE
            assert client.send(asking).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        wait_for(lambda: client.send(asking).topics[0].error_code == 0, what="the topic, later")
