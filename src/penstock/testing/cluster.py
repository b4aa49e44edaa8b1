"""A cluster of brokers for tests of what happens when one of them dies, hangs, or can't reach the others.

    with Cluster(brokers=3) as cluster:
        cluster.create_topic("orders")
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        ...
        cluster.kill(cluster.leader("orders"))

Each broker, and ZooKeeper, is a process of its own, since nothing less dies as a broker does in `kill -9`. Brokers are
numbered from 1. They reach each other, and ZooKeeper, through proxies in the test's process, which carry nothing where
a link is cut; clients reach them directly. The settings are Kafka's for a cluster of this size (topics have three
replicas, two of which acknowledge), with times that suit tests: a broker that is killed has been replaced as leader
four seconds later.
"""

import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self, TypeVar

from penstock.client.admin.topic_changes import NewTopic, create_topics, delete_topics
from penstock.errors import PenstockError
from penstock.settings.broker import find_unknown
from penstock.settings.table import refuse_unknown
from penstock.testing.config_text import as_text
from penstock.testing.free_ports import free_port
from penstock.testing.network import Network
from penstock.testing.server_process import ServerProcess
from penstock.testing.waiting import wait_for
from penstock.testing.zookeeper_process import ZooKeeperProcess
from penstock.wire.messages.metadata import MetadataResponse, MetadataResponsePartition
from penstock.wire_client import Cluster as WireCluster
from penstock.wire_client import ClusterConfig, blocking_cluster, now
from penstock.wire_client.errors import KafkaError

T = TypeVar("T")

HOST: Final = "127.0.0.1"
ZOOKEEPER: Final = "zookeeper"
MOST_REPLICAS = 3
PATIENCE_SECONDS = 90.0
ASK_TIMEOUT_MS = 5_000
LOG_LINES = 15
CLUSTER_SETTINGS: Mapping[str, str] = {
    "auto.create.topics.enable": "true",
    "num.partitions": "1",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "share.coordinator.state.topic.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "log.segment.delete.delay.ms": "0",
    "zookeeper.session.timeout.ms": "4000",
    "replica.lag.time.max.ms": "2500",
    "replica.fetch.backoff.ms": "200",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,BROKERS:PLAINTEXT",
    "inter.broker.listener.name": "BROKERS",
}
"""What brokers are started with, below the settings of a test, and beside replication for their number."""
OWN_SETTINGS = {
    "broker.id",
    "node.id",
    "listeners",
    "advertised.listeners",
    "log.dir",
    "log.dirs",
    "zookeeper.connect",
}
"""What is each broker's own."""

Place = int | Literal["zookeeper"]


class ClusterTrouble(PenstockError):
    """A broker does not start or stop, or what a test asks for can't be."""


class Cluster:
    """`settings` are those of server.properties, for all brokers; `directory` is removed at the end unless it is given.

    `zookeeper_connect` names servers of an ensemble that somebody else has started, as in Kafka's setting.
    """

    def __init__(
        self,
        brokers: int = 3,
        settings: Mapping[str, object] | None = None,
        *,
        directory: Path | None = None,
        zookeeper_connect: str | None = None,
    ) -> None:
        if brokers < 1:
            raise ClusterTrouble(f"brokers: got {brokers}; takes 1 or more")
        self.settings = {**CLUSTER_SETTINGS, **_replication(brokers), **_known(settings)}
        self.ports = {number: free_port() for number in range(1, brokers + 1)}
        self.processes: dict[int, ServerProcess] = {}
        """The last one of each broker."""
        self._paused: set[int] = set()
        self._given_directory = directory
        self._directory: Path | None = None
        self._given_zookeeper = zookeeper_connect
        self._zookeeper: ZooKeeperProcess | None = None
        self._inner_ports = {number: free_port() for number in self.ports}
        self._told_ports: dict[int, int] = {}
        self._connect: dict[int, str] = {}
        self._network: Network | None = None
        self._left = ExitStack()

    # where it is

    @property
    def bootstrap_servers(self) -> str:
        """What clients take as `bootstrap.servers`: the addresses of all brokers."""
        return ",".join(self.address(number) for number in self.ports)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of its brokers."""
        return tuple(self.ports)

    def address(self, number: int) -> str:
        """Of one broker, for clients."""
        return f"{HOST}:{self.ports[self._checked(number)]}"

    @property
    def directory(self) -> Path:
        """With the data and the logs of all servers."""
        assert self._directory is not None, "not started"
        return self._directory

    def log_dir(self, number: int) -> Path:
        """Where a broker keeps its partitions."""
        return self.directory / f"broker-{number}"

    def log_tail(self, number: int, lines: int = LOG_LINES) -> str:
        """The end of what a broker has said."""
        return self.processes[self._checked(number)].log_tail(lines)

    # its life

    def start(self, number: int | None = None, *, wait: bool = True) -> None:
        """A broker that was stopped or killed; without a number, whatever does not run. Returns when it serves."""
        if self._directory is None:
            self._prepare()
        numbers = [each for each in self.ports if not self._runs(each)] if number is None else [number]
        for each in numbers:
            self._launch(self._checked(each))
        for each in numbers if wait else ():
            self._wait_until_serving(each)

    def _prepare(self) -> None:
        given = self._given_directory
        self._directory = Path(tempfile.mkdtemp(prefix="penstock-cluster-")) if given is None else given
        if given is None:
            self._left.callback(shutil.rmtree, self._directory, ignore_errors=True)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._network = Network()
        self._left.callback(self._network.close)
        if self._given_zookeeper is None:
            self._zookeeper = ZooKeeperProcess(self._directory / ZOOKEEPER)
            self._left.callback(self._zookeeper.kill)
            self._zookeeper.start()
        self._lay_links(self._network)

    def _lay_links(self, network: Network) -> None:
        for number, port in self._inner_ports.items():
            self._told_ports[number] = network.to_broker(number, port)
            links = [
                network.to_zookeeper(number, name, port) for name, port in self._zookeeper_ports().items()
            ]
            self._connect[number] = ",".join(f"{HOST}:{link}" for link in links)

    def _zookeeper_ports(self) -> dict[str, int]:
        servers = (self._given_zookeeper or self.zookeeper.connect).split(",")
        return {f"{ZOOKEEPER}-{place}": int(each.rpartition(":")[2]) for place, each in enumerate(servers, 1)}

    def settings_of(self, number: int) -> Mapping[str, str]:
        """What a broker is started with."""
        to_clients = f"PLAINTEXT://{self.address(number)}"
        return {
            "broker.id": str(number),
            "listeners": f"{to_clients},BROKERS://{HOST}:{self._inner_ports[number]}",
            "advertised.listeners": f"{to_clients},BROKERS://{HOST}:{self._told_ports[number]}",
            "log.dirs": str(self.log_dir(number)),
            "zookeeper.connect": self._connect[number],
            **self.settings,
        }

    def _launch(self, number: int) -> None:
        if self._runs(number):
            raise ClusterTrouble(f"broker {number} runs already")
        file = self.directory / f"broker-{number}.properties"
        file.write_text("".join(f"{name}={text}\n" for name, text in self.settings_of(number).items()))
        command = [sys.executable, "-m", "penstock.cli.tools.kafka_server_start", str(file)]
        self._paused.discard(number)
        self.processes[number] = ServerProcess(command, self.directory / f"broker-{number}.log")

    def _wait_until_serving(self, number: int) -> None:
        def serves() -> bool:
            if not self._runs(number):
                raise ClusterTrouble(f"broker {number} has ended:\n{self.log_tail(number)}")
            return self._metadata(number, []) is not None

        self._wait(serves, f"broker {number} to serve")

    def kill(self, number: int) -> None:
        """With SIGKILL: it says goodbye to nobody, and what it had not written is lost."""
        self._running(number).kill()

    def stop(self, number: int) -> None:
        """As an operator does: others take over what it leads, then it ends."""
        self.resume(number)
        if code := self._running(number).stop():
            raise ClusterTrouble(f"broker {number} ended with {code}:\n{self.log_tail(number)}")

    def pause(self, number: int) -> None:
        """With SIGSTOP: it takes connections and requests, and does nothing until `resume`."""
        self._running(number).signal(signal.SIGSTOP)
        self._paused.add(number)

    def resume(self, number: int) -> None:
        self._running(number).signal(signal.SIGCONT)
        self._paused.discard(number)

    @property
    def zookeeper(self) -> ZooKeeperProcess:
        """Its own ZooKeeper, which can be killed and started, too."""
        assert self._zookeeper is not None, "not started, or somebody else's"
        return self._zookeeper

    def restore(self) -> None:
        """Undoes whatever a test has done to it: mends links, resumes, starts what ended. Returns when all replicas are
        in sync."""
        self.heal()
        if self._zookeeper is not None and not self._zookeeper.alive:
            self._zookeeper.start()
        for number in sorted(self._paused):
            if self._runs(number):
                self.resume(number)
        self.start()
        self.wait_until_in_sync()

    def close(self) -> None:
        """Ends all processes and removes the temporary directory."""
        for process in self.processes.values():
            process.kill()
        self._left.close()
        self._directory = None

    def __enter__(self) -> Self:
        """Returns when each broker knows all others."""
        try:
            self.start()
            self.wait_until_in_sync()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # its network

    @property
    def network(self) -> Network:
        assert self._network is not None, "not started"
        return self._network

    def partition(self, number: int, *others: Place) -> None:
        """Cuts the links between a broker and others, in both directions: brokers by their numbers, and "zookeeper".
        Without others, it is cut from all of them, and reached by clients only."""
        for other in others or (*(each for each in self.ports if each != number), ZOOKEEPER):
            self.cut(number, other)
            if other != ZOOKEEPER:
                self.cut(other, number)

    def cut(self, source: int, target: Place) -> None:
        """In one direction: `source` can ask `target` nothing any more, whatever `target` asks of it."""
        if source == target:
            raise ClusterTrouble(f"broker {source} has no link to itself")
        names = self._zookeeper_ports() if target == ZOOKEEPER else [f"broker-{self._checked(target)}"]
        for name in names:
            self.network.cut(f"broker-{self._checked(source)}", name)

    def heal(self) -> None:
        """Mends all links."""
        self.network.mend()

    # looking at it

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        configs: Mapping[str, object] | None = None,
        *,
        replication_factor: int | None = None,
    ) -> None:
        """Makes a topic without a client, with `default.replication.factor` replicas unless a number is given; returns
        when all brokers that run know it and its replicas are in sync."""
        new = NewTopic(name, partitions, replication_factor, configs=as_text(configs or {}))
        with self._asking(self.bootstrap_servers, PATIENCE_SECONDS * 1000) as cluster:
            made = now(create_topics(cluster, [new]))[name]
        if isinstance(made, KafkaError):
            raise made
        self._wait(lambda: self._is_in_sync(self._that_answer(), [name]), f"topic {name} to be everywhere")

    def delete_topic(self, name: str) -> None:
        """Returns when no broker that runs knows it any more."""
        with self._asking(self.bootstrap_servers, PATIENCE_SECONDS * 1000) as cluster:
            failed = now(delete_topics(cluster, [name]))[name]
        if failed is not None:
            raise failed
        running = self._that_answer()
        self._wait(
            lambda: not any(self._may_know(number, name) for number in running), f"topic {name} to be gone"
        )

    def _may_know(self, number: int, topic: str) -> bool:
        said = self._metadata(number, None)
        return said is None or any(each.name == topic for each in said.topics)

    def leader(self, topic: str, partition: int = 0) -> int:
        """The broker that leads a partition, as soon as all brokers that run agree on one of them."""
        running = self._that_answer()

        def agreed() -> int:
            said = {self._leader_by(number, topic, partition) for number in running}
            return said.pop() if len(said) == 1 and said <= set(running) else 0

        return self._wait(agreed, f"a leader of {topic}-{partition}")

    def controller(self) -> int:
        """As soon as all brokers that run agree who it is."""
        running = self._that_answer()

        def agreed() -> int:
            said = {self._controller_by(number) for number in running}
            return said.pop() if len(said) == 1 and said <= set(running) else 0

        return self._wait(agreed, "a controller")

    def wait_until_in_sync(self, *topics: str) -> None:
        """All replicas of these topics, or of all there are, are in sync, and each broker knows so. Brokers all have to
        run for that."""
        for number in self.ports:
            self._running(number)
            if number in self._paused:
                raise ClusterTrouble(f"broker {number} is paused, and can't be in sync")
        self._wait(lambda: self._is_in_sync(self.numbers, list(topics) or None), "replicas to be in sync")

    def _is_in_sync(self, numbers: Sequence[int], topics: Sequence[str] | None) -> bool:
        return all(self._is_in_sync_by(number, topics, len(numbers)) for number in numbers)

    def _is_in_sync_by(self, number: int, topics: Sequence[str] | None, brokers: int) -> bool:
        said = self._metadata(number, topics)
        return (
            said is not None
            and len(said.brokers) >= brokers
            and not any(topic.error_code for topic in said.topics)
            and all(_is_whole(partition) for topic in said.topics for partition in topic.partitions)
        )

    def _controller_by(self, number: int) -> int:
        said = self._metadata(number, [])
        return -1 if said is None else said.controller_id

    def _leader_by(self, number: int, topic: str, partition: int) -> int:
        said = self._metadata(number, [topic])
        found = said.topics[0].partitions if said is not None and said.topics else []
        return next((each.leader_id for each in found if each.partition_index == partition), -1)

    def _metadata(self, number: int, topics: Sequence[str] | None) -> MetadataResponse | None:
        """What a broker says; None if it does not."""
        try:
            with self._asking(self.address(number)) as cluster:
                return now(cluster.metadata(topics))
        except KafkaError:
            return None

    def _asking(
        self, servers: str, patience_ms: float = ASK_TIMEOUT_MS
    ) -> AbstractContextManager[WireCluster]:
        configs = {
            "bootstrap.servers": servers,
            "default.api.timeout.ms": int(patience_ms),
            "request.timeout.ms": ASK_TIMEOUT_MS,
            "client.id": "penstock-testing",
        }
        return blocking_cluster(ClusterConfig.from_configs(configs)._replace(first_contact_timeout_ms=0))

    # its brokers

    def _checked(self, number: int) -> int:
        if number not in self.ports:
            raise ClusterTrouble(f"got broker {number}; there are {', '.join(map(str, self.ports))}")
        return number

    def _runs(self, number: int) -> bool:
        return number in self.processes and self.processes[number].alive

    def _running(self, number: int) -> ServerProcess:
        if not self._runs(self._checked(number)):
            raise ClusterTrouble(f"broker {number} does not run")
        return self.processes[number]

    def _that_answer(self) -> list[int]:
        return [number for number in self.ports if self._runs(number) and number not in self._paused]

    def _wait(self, condition: Callable[[], T], what: str) -> T:
        def logs() -> str:
            return "\n".join(f"broker {number}:\n{self.log_tail(number)}" for number in self.processes)

        try:
            return wait_for(condition, PATIENCE_SECONDS, what)
        except TimeoutError as error:
            raise ClusterTrouble(f"{error}\n{logs()}") from None


def _replication(brokers: int) -> dict[str, str]:
    """As many replicas as there are brokers, up to three; one of them may be away."""
    replicas = min(MOST_REPLICAS, brokers)
    factor, in_sync = str(replicas), str(max(1, replicas - 1))
    return {
        "default.replication.factor": factor,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": factor,
        "share.coordinator.state.topic.min.isr": in_sync,
    }


def _known(settings: Mapping[str, object] | None) -> dict[str, str]:
    given = as_text(settings or {})
    refuse_unknown(find_unknown(given), "settings of the test's cluster")
    for name in OWN_SETTINGS & given.keys():
        raise ClusterTrouble(f"{name}: got {given[name]!r}; is each broker's own, and the cluster says it")
    return given


def _is_whole(partition: MetadataResponsePartition) -> bool:
    return partition.leader_id >= 0 and set(partition.isr_nodes) == set(partition.replica_nodes)
