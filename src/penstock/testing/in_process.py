"""A broker with its ZooKeeper inside the test's own process, on a free port.

`AsyncInProcessBroker` lives in a running event loop. `InProcessBroker` brings a thread and a loop of its own, so that
a client that blocks can talk to it. Both are real: clients reach them through a socket, and the log is on disk.

    with InProcessBroker({"num.partitions": "3"}) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})

ZooKeeper keeps its tree in memory until `stop`: `restart`, or `stop_broker` and `start_broker`, find the same topics,
the same records and the same port again.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from penstock.broker.broker import Broker
from penstock.broker.topics import DEFAULT
from penstock.clock import Clock
from penstock.log.fs import FileSystem
from penstock.settings.broker import BrokerSettings, find_unknown
from penstock.settings.table import refuse_unknown
from penstock.testing.interception import Interceptor
from penstock.testing.interception.router import InterceptedRouter
from penstock.testing.loop_thread import LoopThread
from penstock.zookeeper.config import ZooKeeperConfig
from penstock.zookeeper.server import ZooKeeperServer

T = TypeVar("T")

HOST = "127.0.0.1"
TEST_SETTINGS: Mapping[str, str] = {
    "broker.id": "0",
    "auto.create.topics.enable": "true",
    "num.partitions": "1",
    "default.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.segment.delete.delay.ms": "0",
    "zookeeper.session.timeout.ms": "6000",
}
"""What the broker is started with, below the overrides of a test: one of everything, and nothing waits."""


def _known(overrides: Mapping[str, str] | None) -> dict[str, str]:
    given = dict(overrides or {})
    refuse_unknown(find_unknown(given), "settings of the test's broker")
    return given


class AsyncInProcessBroker:
    """A broker in the running event loop; `async with`, or `start` and `stop`.

    Without `log_dirs` the log goes to a temporary directory, which `stop` removes.
    """

    def __init__(
        self,
        overrides: Mapping[str, str] | None = None,
        *,
        log_dirs: Sequence[Path] | None = None,
        clock: Clock | None = None,
        file_system: FileSystem | None = None,
    ) -> None:
        self.overrides = _known(overrides)
        self.clock = clock
        self.file_system = file_system
        self.interceptor = Interceptor()
        self.host, self.port = HOST, 0
        self._given_log_dirs = log_dirs
        self._temporary: Path | None = None
        self._zookeeper: ZooKeeperServer | None = None
        self._broker: Broker | None = None

    # what tests ask for

    @property
    def bootstrap_servers(self) -> str:
        """What clients take as `bootstrap.servers`."""
        return f"{self.host}:{self.port}"

    @property
    def zookeeper_connect(self) -> str:
        assert self._zookeeper is not None, "not started"
        return f"{HOST}:{self._zookeeper.port}"

    @property
    def broker(self) -> Broker:
        """The running broker itself; only its own loop's thread may touch it."""
        assert self._broker is not None, "not started"
        return self._broker

    @property
    def is_running(self) -> bool:
        return self._broker is not None

    @property
    def log_dirs(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.settings().data_dirs))

    def settings(self) -> BrokerSettings:
        return BrokerSettings.from_configs(self._configs(), "overrides")

    def _configs(self) -> dict[str, str]:
        configs = {
            **TEST_SETTINGS,
            "listeners": f"PLAINTEXT://{HOST}:{self.port}",
            "zookeeper.connect": self.zookeeper_connect,
            **self.overrides,
        }
        if not {"log.dirs", "log.dir"} & configs.keys():
            configs["log.dirs"] = ",".join(map(str, self._own_log_dirs()))
        return configs

    def _own_log_dirs(self) -> Sequence[Path]:
        if self._given_log_dirs is not None:
            return self._given_log_dirs
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="penstock-"))
        return [self._temporary]

    # life

    async def start(self) -> None:
        """Returns when clients are served; a start that fails leaves nothing behind."""
        try:
            if self._zookeeper is None:
                zookeeper = ZooKeeperServer(ZooKeeperConfig(client_port=0))
                await zookeeper.start()
                self._zookeeper = zookeeper
            await self.start_broker()
        except BaseException:
            await self.stop()
            raise

    async def start_broker(self) -> None:
        router = partial(InterceptedRouter, self.interceptor)
        broker = Broker(self.settings(), self.clock, self.file_system, router)
        await broker.start()
        self._broker = broker
        self.host, self.port = next(iter(broker.addresses.values()))

    async def create_topic(
        self, name: str, partitions: int = DEFAULT, configs: Mapping[str, str] | None = None
    ) -> None:
        """Makes a topic without a client; `num.partitions` of the broker if no number is given."""
        topics, chosen = self.broker.topics, dict(configs or {})
        await topics.create(name, topics.plan(name, partitions, DEFAULT, {}, chosen), chosen)

    async def delete_topic(self, name: str) -> None:
        await self.broker.topics.delete(name)

    async def stop_broker(self) -> None:
        """Stops the broker cleanly; its log and its ZooKeeper stay for `start_broker`."""
        broker, self._broker = self._broker, None
        if broker is not None:
            await broker.stop()

    async def restart(self, overrides: Mapping[str, str] | None = None) -> None:
        """Stops, and starts on the same port and log; the overrides are added to the earlier ones."""
        known = _known(overrides)
        await self.stop_broker()
        self.overrides.update(known)
        await self.start_broker()

    async def stop(self) -> None:
        """Stops everything and removes the temporary log directory."""
        await self.stop_broker()
        zookeeper, self._zookeeper = self._zookeeper, None
        if zookeeper is not None:
            await zookeeper.stop()
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            await asyncio.to_thread(shutil.rmtree, temporary, ignore_errors=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()


class InProcessBroker:
    """The same for tests that block: the broker runs on a thread of its own."""

    def __init__(
        self,
        overrides: Mapping[str, str] | None = None,
        *,
        log_dirs: Sequence[Path] | None = None,
        clock: Clock | None = None,
        file_system: FileSystem | None = None,
    ) -> None:
        self._inner = AsyncInProcessBroker(overrides, log_dirs=log_dirs, clock=clock, file_system=file_system)
        self._thread: LoopThread | None = None

    @property
    def bootstrap_servers(self) -> str:
        """What clients take as `bootstrap.servers`."""
        return self._inner.bootstrap_servers

    @property
    def host(self) -> str:
        return self._inner.host

    @property
    def port(self) -> int:
        return self._inner.port

    @property
    def zookeeper_connect(self) -> str:
        return self._inner.zookeeper_connect

    @property
    def is_running(self) -> bool:
        return self._inner.is_running

    @property
    def log_dirs(self) -> tuple[Path, ...]:
        return self._inner.log_dirs

    @property
    def interceptor(self) -> Interceptor:
        """Rules for the requests that come to the broker; they outlive a restart."""
        return self._inner.interceptor

    @property
    def broker(self) -> Broker:
        """The running broker itself; only `run` may touch what it owns."""
        return self._inner.broker

    # life

    def start(self) -> None:
        """Returns when clients are served; whatever keeps the broker from starting is raised here."""
        if self._thread is not None:
            return
        self._thread = LoopThread("penstock-broker")
        try:
            self.run(self._inner.start())
        except BaseException:
            self._end_thread()
            raise

    def start_broker(self) -> None:
        self.run(self._inner.start_broker())

    def create_topic(
        self, name: str, partitions: int = DEFAULT, configs: Mapping[str, str] | None = None
    ) -> None:
        """Makes a topic without a client; `num.partitions` of the broker if no number is given."""
        self.run(self._inner.create_topic(name, partitions, configs))

    def delete_topic(self, name: str) -> None:
        self.run(self._inner.delete_topic(name))

    def stop_broker(self) -> None:
        """Stops the broker cleanly; its log and its ZooKeeper stay for `start_broker`."""
        self.run(self._inner.stop_broker())

    def restart(self, overrides: Mapping[str, str] | None = None) -> None:
        """Stops, and starts on the same port and log; the overrides are added to the earlier ones."""
        self.run(self._inner.restart(overrides))

    def stop(self) -> None:
        """Stops everything, the thread too, and removes the temporary log directory."""
        if self._thread is None:
            return
        try:
            self.run(self._inner.stop())
        finally:
            self._end_thread()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the broker's loop and returns what it returns."""
        assert self._thread is not None, "not started"
        return self._thread.run(coroutine)

    def _end_thread(self) -> None:
        assert self._thread is not None
        self._thread.end()
        self._thread = None
