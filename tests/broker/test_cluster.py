"""The broker beside a ZooKeeper in which somebody else has been at work."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient

from penstock.broker.coordination import Node
from penstock.controller import znodes
from penstock.controller.changes import Changes, encode_changes
from penstock.controller.image import TopicImage
from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from tests.broker.asking import batch_of, create_topic, metadata, new_topic, produced, values_in
from tests.broker.conftest import only_penstock
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = only_penstock


@pytest.fixture
def zookeeper(broker: InProcessBroker) -> Iterator[KazooClient]:
    client = KazooClient(broker.zookeeper_connect)
    client.start()
    yield client
    client.stop()
    client.close()


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/brokers/topics/broken", b""),
        ("/brokers/topics/broken", b"not json"),
        ("/brokers/topics/broken", b"[]"),
        ("/brokers/topics/broken", b'{"partitions": {"zero": [0]}, "topic_id": "x"}'),
        ("/brokers/topics/broken/partitions/0/state", b"{}"),
        ("/config/topics/broken", b'{"version": 1}'),
    ],
)
def test_a_topic_with_a_malformed_node_is_left_alone(
    broker: InProcessBroker, zookeeper: KazooClient, path: str, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        for name in ("broken", "sound"):
            new_topic(client, name)
            produced(client, name, batch_of(b"bread"))
    broker.stop_broker()
    sound, _ = zookeeper.get(path)
    zookeeper.set(path, data)
    broker.start_broker()
    assert any(path in record.getMessage() for record in caplog.records)
    with WireClient(broker.bootstrap_servers) as client:
        assert values_in(client, "sound") == [b"bread"]
        (topic,) = metadata(client, "broken").topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert create_topic(client, "broken").error_code != 0, "its records are still there"
    broker.stop_broker()
    zookeeper.set(path, sound)
    broker.start_broker()
    with WireClient(broker.bootstrap_servers) as client:
        assert values_in(client, "broken") == [b"bread"]


def test_a_controller_node_that_was_deleted_is_taken_again(
    broker: InProcessBroker, zookeeper: KazooClient
) -> None:
    for _ in range(3):
        epoch = int(zookeeper.get("/controller_epoch")[0])
        zookeeper.delete("/controller")
        wait_for(lambda: zookeeper.exists("/controller") is not None, what="a controller")
        wait_for(lambda: int(zookeeper.get("/controller_epoch")[0]) == epoch + 1, what="its epoch")  # noqa: B023
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "after")
        assert metadata(client).controller_id == 0


def test_a_controller_node_that_goes_as_it_is_read_is_taken_again(
    broker: InProcessBroker, zookeeper: KazooClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The news that it is gone come before the broker has looked at what it read."""
    coordination, lost = broker.broker.coordination, threading.Event()
    read = coordination.get

    async def read_and_lose(path: str, on_change: Callable[[], None] | None = None) -> Node:
        if path != "/controller" or on_change is None or lost.is_set():
            return await read(path, on_change)
        told = asyncio.Event()

        def on_news() -> None:
            on_change()
            told.set()

        node = await read(path, on_news)
        await coordination.delete(path)
        await told.wait()
        lost.set()
        return node

    monkeypatch.setattr(coordination, "get", read_and_lose)
    zookeeper.delete("/controller")
    assert lost.wait(30.0)
    wait_for(lambda: zookeeper.exists("/controller") is not None, what="a controller")
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "after")


def test_states_of_many_topics_are_read_together_and_before_any_is_acted_on(
    broker: InProcessBroker, zookeeper: KazooClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a broker dies, all that others have to lead from then on waits for this."""
    topics = [f"topic-{number}" for number in range(8)]
    with WireClient(broker.bootstrap_servers) as client:
        for topic in topics:
            new_topic(client, topic)
    coordination, host = broker.broker.coordination, broker.broker
    get, on_partitions = coordination.get, host.on_partitions
    events: list[str] = []

    async def note_get(path: str, on_change: Callable[[], None] | None = None) -> Node:
        is_state = path.endswith("/state")
        events.extend(["asked"] * is_state)
        node = await get(path, on_change)
        events.extend(["read"] * is_state)
        return node

    def note_on_partitions(topic: TopicImage) -> None:
        events.append("acted on")
        on_partitions(topic)

    monkeypatch.setattr(coordination, "get", note_get)
    monkeypatch.setattr(host, "on_partitions", note_on_partitions)
    with zookeeper.transaction() as transaction:
        for topic in topics:
            state, _ = zookeeper.get(path := znodes.state_path(topic, 0))
            transaction.set_data(path, state.replace(b'"leader_epoch":0', b'"leader_epoch":1'))
        news = encode_changes(Changes(states={topic: {0} for topic in topics}))
        transaction.create(znodes.CHANGE_PREFIX, news, sequence=True)
    wait_for(lambda: events.count("acted on") == len(topics), what="all of them")
    assert events == ["asked"] * 8 + ["read"] * 8 + ["acted on"] * 8
    with WireClient(broker.bootstrap_servers) as client:
        assert {metadata(client, topic).topics[0].partitions[0].leader_epoch for topic in topics} == {1}


def test_who_finds_no_change_that_it_knows_reads_everything(
    broker: InProcessBroker, zookeeper: KazooClient
) -> None:
    """What others have changed meanwhile was cleared away unseen."""
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "orders")
        with zookeeper.transaction() as transaction:
            state, _ = zookeeper.get(path := znodes.state_path(topic, 0))
            transaction.set_data(path, state.replace(b'"leader_epoch":0', b'"leader_epoch":1'))
            for name in zookeeper.get_children(znodes.CHANGES):
                transaction.delete(f"{znodes.CHANGES}/{name}")
            transaction.create(znodes.CHANGE_PREFIX, encode_changes(Changes()), sequence=True)
        wait_for(
            lambda: metadata(client, topic).topics[0].partitions[0].leader_epoch == 1, what="the new state"
        )


def test_only_the_youngest_changes_are_kept(
    broker: InProcessBroker, zookeeper: KazooClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change has every broker list all of them."""
    monkeypatch.setattr("penstock.broker.controller.KEPT_CHANGES", 3)
    with WireClient(broker.bootstrap_servers) as client:
        for number in range(5):
            new_topic(client, f"topic-{number}")
        names = sorted(zookeeper.get_children(znodes.CHANGES))
        broker.run(broker.broker.controller._clear_changes())
        assert sorted(zookeeper.get_children(znodes.CHANGES)) == names[-3:]
        new_topic(client, "one-more")


def test_who_is_in_sync_and_no_replica_does_not_count(
    broker: InProcessBroker, zookeeper: KazooClient, caplog: pytest.LogCaptureFixture
) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "orders")
        state = json.loads(zookeeper.get(path := znodes.state_path(topic, 0))[0])
        state |= {"isr": [0, 7], "isr_epochs": [*state["isr_epochs"], 1], "leader_epoch": 1}
        with zookeeper.transaction() as transaction:
            transaction.set_data(path, json.dumps(state).encode())
            news = encode_changes(Changes(states={topic: {0}}))
            transaction.create(znodes.CHANGE_PREFIX, news, sequence=True)
        wait_for(lambda: metadata(client, topic).topics[0].partitions[0].leader_epoch == 1, what="the state")
        assert metadata(client, topic).topics[0].partitions[0].isr_nodes == [0]
        assert values_in(client, topic) == []
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_move_that_is_called_off_takes_nobody_in_sync_with_it(
    broker: InProcessBroker, zookeeper: KazooClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was to come is in sync just before, and is no replica just after."""
    path = znodes.broker_path(7)
    zookeeper.create(path, zookeeper.get(znodes.broker_path(0))[0], ephemeral=True)
    life = zookeeper.exists(path).creation_transaction_id
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "orders")
        node = json.loads(zookeeper.get(znodes.topic_path(topic))[0])
        node |= {"partitions": {"0": [0, 7]}, "adding_replicas": {"0": [7]}, "removing_replicas": {"0": []}}
        with zookeeper.transaction() as transaction:
            transaction.set_data(znodes.topic_path(topic), json.dumps(node).encode())
            news = encode_changes(Changes(topics={topic}))
            transaction.create(znodes.CHANGE_PREFIX, news, sequence=True)
        image = broker.broker.image
        wait_for(lambda: image.topics[topic].partitions[0].adding == (7,), what="the move")
        state = json.loads(zookeeper.get(path := znodes.state_path(topic, 0))[0])
        state |= {"isr": [0, 7], "isr_epochs": [*state["isr_epochs"], life]}
        transact = broker.broker.coordination.transact

        async def be_slower_than_the_leader(*arguments: Any) -> str:
            monkeypatch.undo()
            await asyncio.to_thread(zookeeper.set, path, json.dumps(state).encode())
            return await transact(*arguments)

        monkeypatch.setattr(broker.broker.coordination, "transact", be_slower_than_the_leader)
        partition = ReassignablePartition(0, None)
        answer = client.send(
            AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(topic, [partition])])
        )
        assert answer.responses[0].partitions[0].error_code == ErrorCode.NONE
        assert json.loads(zookeeper.get(znodes.topic_path(topic))[0])["partitions"] == {"0": [0]}
        assert json.loads(zookeeper.get(path)[0])["isr"] == [0]
