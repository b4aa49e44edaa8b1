"""ZooKeeper goes away while the broker serves: records flow on, and the broker finds its way back."""

import itertools
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from penstock.errors import ErrorCode
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.metadata import MetadataRequest
from tests.broker.asking import batch_of, create_topic, fetch_one, metadata, new_topic, produced, values_in
from tests.broker.platform import Platform
from tests.broker.test_idempotence import Sender, new_producer_id
from tests.broker.test_topics import delete_topic, grow
from tests.support.cluster_fixture import PEER
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = [
    pytest.mark.processes,
    pytest.mark.faults,
    pytest.mark.skipif(PEER == "apache", reason="Apache Kafka runs without ZooKeeper"),
]

SHORTEST_SESSION_MS = 400


@pytest.fixture
@starts_processes
def hasty(tmp_path: Path) -> Iterator[Platform]:
    """Sessions that expire soon."""
    platform = Platform(tmp_path / "platform", {"zookeeper.session.timeout.ms": str(SHORTEST_SESSION_MS)})
    platform.zookeeper_settings["tickTime"] = str(SHORTEST_SESSION_MS // 2)
    with platform:
        yield platform


def owner(zookeeper: KazooClient, path: str) -> int:
    """The session that holds an ephemeral node; 0 if there is no such node."""
    try:
        _, stat = zookeeper.get(path)
    except NoNodeError:
        return 0
    session: int = stat.ephemeralOwner
    return session


@pytest.fixture
def zookeeper(hasty: Platform) -> Iterator[KazooClient]:
    client = KazooClient(f"127.0.0.1:{hasty.zookeeper_port}")
    client.start()
    yield client
    client.stop()
    client.close()


def test_the_broker_serves_without_zookeeper(platform: Platform) -> None:
    with WireClient(platform.bootstrap) as client:
        new_topic(client, "foods")
        sender = Sender(client, "foods")
        platform.zookeeper.kill()
        assert produced(client, "foods", batch_of(b"bread")) == 0
        assert sender.sent(0, b"wine") == 1
        assert Sender(client, "foods").sent(0, b"salt") == 2, "producer ids come in blocks"
        assert fetch_one(client, "foods").high_watermark == 3
        assert [topic.name for topic in client.send(MetadataRequest(topics=None)).topics] == ["foods"]
        platform.start_zookeeper()
        assert create_topic(client, "drinks").error_code == 0
        assert delete_topic(client, "foods") == 0
    platform.restart_broker(kill=False)
    with WireClient(platform.bootstrap) as client:
        assert [topic.name for topic in client.send(MetadataRequest(topics=None)).topics] == ["drinks"]


def test_a_topic_asked_for_while_zookeeper_is_away(platform: Platform) -> None:
    """The request waits for ZooKeeper; others are served meanwhile."""
    request = CreateTopicsRequest(topics=[CreatableTopic("foods", 1, 1)], timeout_ms=30_000)
    with WireClient(platform.bootstrap) as client, WireClient(platform.bootstrap) as other:
        platform.zookeeper.kill()
        client.post(request)
        client.expect_silence()
        assert metadata(other, "foods").topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        platform.start_zookeeper()
        assert client.receive(request).topics[0].error_code == 0
        assert metadata(other, "foods").topics[0].error_code == 0


def test_a_topic_asked_for_as_zookeeper_dies(platform: Platform) -> None:
    """It has the request, and is killed before it looks at it: the broker asks again."""
    request = CreateTopicsRequest(topics=[CreatableTopic("foods", 1, 1)], timeout_ms=30_000)
    with WireClient(platform.bootstrap) as client:
        platform.zookeeper.signal(signal.SIGSTOP)
        client.post(request)
        client.expect_silence()
        platform.zookeeper.kill()
        platform.start_zookeeper()
        assert client.receive(request).topics[0].error_code == 0
        assert metadata(client, "foods").topics[0].error_code == 0


class Churn:
    """Makes topics, grows every second one and deletes every third, on a thread of its own."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.made: set[str] = set()
        self.grown: set[str] = set()
        self.deleted: set[str] = set()
        self.unsure: set[str] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="churn")

    def _run(self) -> None:
        with WireClient(self.bootstrap) as client:
            for number in itertools.count():
                if self._stopping.is_set():
                    return
                self._change(client, number)

    def _change(self, client: WireClient, number: int) -> None:
        name = f"churn-{number}"
        if not self._did(self.made, name, create_topic(client, name).error_code):
            return
        if number % 2 == 0 and not self._did(self.grown, name, grow(client, name, 3)):
            return
        if number % 3 == 0:
            self._did(self.deleted, name, delete_topic(client, name))

    def _did(self, done: set[str], name: str, code: int) -> bool:
        (self.unsure if code else done).add(name)
        return code == 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()


def partition_counts(client: WireClient) -> dict[str, int]:
    topics = client.send(MetadataRequest(topics=None)).topics
    assert not [topic for topic in topics if topic.error_code]
    return {topic.name: len(topic.partitions) for topic in topics}


def test_topics_are_changed_while_zookeeper_is_killed(
    platform: Platform, rounds: int, chance: random.Random
) -> None:
    """What was answered holds; what was refused may have happened or not, and can be asked for again."""
    with Churn(platform.bootstrap) as churn:
        for _ in range(2 * rounds):
            made = len(churn.made)
            wait_for(lambda made=made: len(churn.made) > made, 60, "topics to be made")
            threading.Event().wait(chance.uniform(0, 0.2))
            platform.zookeeper.kill()
            platform.start_zookeeper()
    print(f"made {len(churn.made)}, grown {len(churn.grown)}, deleted {len(churn.deleted)}, {churn.unsure=}")
    with WireClient(platform.bootstrap) as client:
        for name in churn.unsure:
            wait_for(lambda name=name: create_topic(client, name).error_code in (0, 36))
            assert produced(client, name, batch_of(b"bread")) >= 0
        before = partition_counts(client)
        sure = churn.made - churn.unsure
        assert {name: before.get(name, 0) for name in sure} == {
            name: 0 if name in churn.deleted else 3 if name in churn.grown else 1 for name in sure
        }
    platform.restart_broker(kill=True)
    with WireClient(platform.bootstrap) as client:
        assert partition_counts(client) == before, "a restart finds the same topics"


def test_producer_ids_while_zookeeper_is_killed(
    platform: Platform, rounds: int, chance: random.Random
) -> None:
    """They come from ZooKeeper in blocks: none is handed out twice, whatever becomes of an answer."""
    ids: list[int] = []
    stopping = threading.Event()

    def ask() -> None:
        with WireClient(platform.bootstrap) as client:
            while not stopping.is_set():
                ids.append(new_producer_id(client))

    asking = threading.Thread(target=ask, name="producer-ids")
    asking.start()
    try:
        for _ in range(rounds):
            threading.Event().wait(chance.uniform(0, 0.3))
            platform.zookeeper.kill()
            platform.start_zookeeper()
            count = len(ids)
            wait_for(lambda count=count: len(ids) > count + 1000 or not asking.is_alive(), 60, "producer ids")
    finally:
        stopping.set()
        asking.join()
    assert len(ids) == len(set(ids)) > 1000 * rounds


def test_an_expired_session_is_replaced(hasty: Platform, zookeeper: KazooClient) -> None:
    with WireClient(hasty.bootstrap) as client:
        new_topic(client, "foods")
        before = owner(zookeeper, "/brokers/ids/0")
        assert before == owner(zookeeper, "/controller") != 0
        hasty.broker.signal(signal.SIGSTOP)
        wait_for(lambda: owner(zookeeper, "/brokers/ids/0") == 0, what="the session to expire")
        hasty.broker.signal(signal.SIGCONT)
        wait_for(lambda: owner(zookeeper, "/brokers/ids/0"), what="the broker to register anew")
        wait_for(lambda: owner(zookeeper, "/controller"), what="the controller to be elected anew")
        assert owner(zookeeper, "/brokers/ids/0") not in (0, before)
        assert produced(client, "foods", batch_of(b"bread")) == 0
        assert create_topic(client, "drinks").error_code == 0
        assert values_in(client, "foods") == [b"bread"]


def test_zookeeper_comes_back_with_another_tree(tmp_path: Path) -> None:
    """A ZooKeeper that lost its data is not the broker's cluster: the next start is refused."""
    with Platform(tmp_path / "platform") as platform:
        with WireClient(platform.bootstrap) as client:
            new_topic(client, "foods")
        platform.broker.stop()
        platform.zookeeper.stop()
        platform.zookeeper_settings["dataDir"] = str(tmp_path / "empty")
        platform.start_zookeeper()
        process = platform.launch_broker()
        assert process.wait(60) == 1
        assert "belongs to the cluster" in process.log_text()
