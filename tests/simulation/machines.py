"""A machine with a disk and, most of the time, a broker: the whole `penstock.broker.broker.Broker`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from penstock.broker.broker import Broker
from penstock.broker.coordination import CoordinationError
from penstock.errors import StorageError
from penstock.settings.broker import BrokerSettings
from penstock.testing.memory_fs import Crash, MemoryFileSystem
from tests.simulation.kazoo_client import SimulatedCoordination, SimulatedKazoo
from tests.simulation.network import Network
from tests.simulation.virtual_loop import Life, Process, VirtualLoop
from tests.simulation.wire import ClientNetwork, SimulatedListeners, SimulatedPeers

EPOCH_MS = 1_700_000_000_000
SESSION_TIMEOUT_MS = 1_500
START_AGAIN_SECONDS = 0.5

SETTINGS = {
    "log.dirs": "/log",
    "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
    "zookeeper.connection.timeout.ms": "10000",
    "replica.lag.time.max.ms": "1200",
    "replica.fetch.wait.max.ms": "400",
    "replica.fetch.backoff.ms": "200",
    "replica.socket.timeout.ms": "1000",
    "socket.connection.setup.timeout.ms": "1000",
    "replica.high.watermark.checkpoint.interval.ms": "1000",
    "log.flush.offset.checkpoint.interval.ms": "2000",
    "log.initial.task.delay.ms": "500",
    "min.insync.replicas": "2",
    "default.replication.factor": "3",
    "leader.imbalance.check.interval.seconds": "5",
    "auto.create.topics.enable": "false",
}


class Clock:
    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now_ms(self) -> int:
        return EPOCH_MS + int(self._loop.time() * 1000)

    def monotonic_ms(self) -> int:
        return int(self._loop.time() * 1000)


class Disk(MemoryFileSystem):
    """Tells when it is the place where a process ends."""

    def __init__(self) -> None:
        super().__init__()
        self.on_crash: Callable[[], None] = lambda: None

    def change(self, path: str, half: Callable[[], None] | None = None) -> None:
        try:
            super().change(path, half)
        except Crash:
            self.on_crash()
            raise


class Machine:
    """`broker` is there from when its process begins until it ends, whether it serves yet or not."""

    def __init__(self, loop: VirtualLoop, network: Network, broker_id: int, chance: Random) -> None:
        self.loop = loop
        self.network = network
        self.broker_id = broker_id
        self.host = f"kafka{broker_id}"
        self.disk = Disk()
        self.disk.on_crash = self._on_crash
        self.process: Process | None = None
        self.broker: Broker | None = None
        self.is_serving = False
        self.lost_until = -1
        """The last moment, in ZooKeeper's count, of which it may have lost what it wrote."""
        self._chance = chance
        own = {"broker.id": str(broker_id), "listeners": f"PLAINTEXT://{self.host}:9092"}
        self._settings = BrokerSettings.from_configs({**SETTINGS, **own}, "simulation")
        self.on_start: Callable[[Machine], None] = lambda machine: None
        self.on_end: Callable[[Machine, str], None] = lambda machine, how: None
        """Hears how: by "kill", by "stop", by "power", or by a "crash", perhaps in the midst of a change."""

    @property
    def is_up(self) -> bool:
        return self.process is not None and self.process.life is not Life.DEAD

    # its life

    def start(self) -> None:
        assert not self.is_up
        self.process = Process(self.loop, self.host)
        self.process.run(self._run(self.process))

    async def _run(self, process: Process) -> None:
        """As a service manager has it: a broker that ends by itself is started again."""
        self.broker = self._make_broker(process)
        self.on_start(self)
        try:
            await self.broker.start()
            self.is_serving = True
            await self.broker.directories.all_offline.wait()
            self._end(process, "crash")
        except (CoordinationError, StorageError):
            self._end(process, "crash")
        self.loop.call_later(START_AGAIN_SECONDS, self.start_if_down, context=process.loop.outside)

    def start_if_down(self) -> None:
        if not self.is_up:
            self.start()

    def _make_broker(self, process: Process) -> Broker:
        network, chance = self.network, self._chance

        def make_client(timeout_ms: int) -> SimulatedKazoo:
            return SimulatedKazoo(network, process, self.host, timeout_ms, chance)

        return Broker(
            self._settings,
            Clock(self.loop),
            self.disk,
            coordination=lambda hosts, timeout_ms: SimulatedCoordination(hosts, timeout_ms, make_client),
            peers=lambda settings, registration, image: SimulatedPeers(
                settings, registration, image, ClientNetwork(network, process, self.host)
            ),
            listeners=lambda router: SimulatedListeners(router, network, self.host, process),
        )

    def _end(self, process: Process, how: str) -> None:
        process.kill()
        self.on_end(self, how)
        self.is_serving = False
        self.broker = None
        self.disk.kill()
        self.network.close_all_of(process, self.host)

    # faults

    def kill(self) -> None:
        """kill -9: what was written is there."""
        assert self.process is not None
        self._end(self.process, "kill")

    def kill_at_change(self, changes: int) -> None:
        """kill -9, in the midst of what the broker does to its files."""
        self.disk.crash_after(changes)

    def fail_at_change(self, changes: int) -> None:
        """The disk takes no more, until it is mended or the broker has ended."""
        self.disk.fail_after(changes)

    def _on_crash(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.loop.call_soon(self._end, self.process, "crash", context=self.loop.outside)

    def lose_power(self) -> Callable[[], None]:
        """What was not synced is there in part. What is returned is to be called when the machine is back."""
        assert self.process is not None
        process = self.process
        process.kill()
        self.on_end(self, "power")
        self.is_serving = False
        self.broker = None
        self.disk.lose_power(self._chance)
        self.network.stop_listening(self.host, process)
        return lambda: self.network.close_all_of(process, self.host)

    def stop(self) -> None:
        assert self.process is not None
        self.is_serving = False
        self.process.run(self._stop(self.process))

    async def _stop(self, process: Process) -> None:
        assert self.broker is not None
        await self.broker.stop()
        self._end(process, "stop")
