"""The harm that comes to a cluster: one fault after the other, each kind in turn, in random order, at random places."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.faults.broker_cluster import SESSION_TIMEOUT_MS, EmbeddedZooKeeper
from tests.faults.cuttable_cluster import CuttableCluster
from tests.support.zookeeper_ensemble import ZooKeeperEnsemble

LONGEST_AWAY_SECONDS = 1.5 * SESSION_TIMEOUT_MS / 1000

Mend = Callable[[], None]
"""What ends a fault, once writes go on."""


def nothing_to_mend() -> None:
    pass


class Fault(NamedTuple):
    name: str
    inflict: Callable[[int], Mend]
    """On this broker."""
    leaves_enough: bool = True
    """Whether enough replicas stay in sync to acknowledge writes."""


class ZooKeeperFaults:
    """Of the embedded server: it is away for a while, longer or shorter than sessions last."""

    def __init__(self, directory: Path) -> None:
        self._server = EmbeddedZooKeeper(directory / "zookeeper")
        self.connect = self._server.connect
        self.servers = 1

    def __enter__(self) -> ZooKeeperFaults:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.kill()

    def kill_one(self, chance: random.Random, sleep: Callable[[], None]) -> None:
        self._server.kill()
        sleep()
        self._server.start()

    def kill_leader(self, sleep: Callable[[], None]) -> None:
        raise NotImplementedError("there is one server")


class EnsembleFaults(ZooKeeperFaults):
    """Of a real ensemble: one server is killed, and started again."""

    def __init__(self, directory: Path) -> None:
        self._ensemble = ZooKeeperEnsemble(directory / "ensemble")
        self.connect = self._ensemble.connect
        self.servers = len(self._ensemble.ports)

    def __enter__(self) -> EnsembleFaults:
        self._ensemble.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._ensemble.__exit__(None, None, None)

    def kill_one(self, chance: random.Random, sleep: Callable[[], None]) -> None:
        self._kill(chance.randint(1, self.servers), sleep)

    def kill_leader(self, sleep: Callable[[], None]) -> None:
        self._kill(self._ensemble.leader(), sleep)

    def _kill(self, number: int, sleep: Callable[[], None]) -> None:
        self._ensemble.kill(number)
        sleep()
        self._ensemble.start(number)
        self._ensemble.wait_until_serving([number])


class Faults:
    def __init__(self, cluster: CuttableCluster, zookeeper: ZooKeeperFaults, chance: random.Random) -> None:
        self.cluster = cluster
        self.zookeeper = zookeeper
        self.chance = chance
        self.kinds = [
            Fault("kill", self.kill),
            Fault("kill the controller", self.kill_the_controller),
            Fault("kill two", self.kill_two, leaves_enough=False),
            Fault("bounce", self.bounce),
            Fault("pause", self.pause),
            Fault("stop in order", self.stop),
            Fault("kill ZooKeeper", self.kill_zookeeper),
            Fault("cut from another broker", self.cut_from_another),
            Fault("cut one way", self.cut_one_way),
            Fault("cut from ZooKeeper", self.cut_from_zookeeper),
            Fault("cut from all servers", self.isolate),
        ]
        if zookeeper.servers > 1:
            self.kinds.append(Fault("kill ZooKeeper's leader", self.kill_zookeepers_leader))
        if cluster.disks:
            self.kinds.append(Fault("full disk", self.fill_disk))

    def draw(self) -> Iterator[tuple[Fault, int]]:
        """A fault and a broker; each kind once before one comes again."""
        while True:
            for fault in self.chance.sample(self.kinds, len(self.kinds)):
                yield fault, self.chance.choice(list(self.cluster.ports))

    def sleep(self) -> None:
        """The moment of a fault's end is random on purpose."""
        threading.Event().wait(self.chance.uniform(0, LONGEST_AWAY_SECONDS))

    def _another(self, place: int) -> int:
        return self.chance.choice([number for number in self.cluster.ports if number != place])

    # brokers

    def kill(self, place: int) -> Mend:
        self.cluster.kill(place)
        return lambda: self.cluster.start(place, wait=False)

    def kill_the_controller(self, _: int) -> Mend:
        return self.kill(self.cluster.controller())

    def kill_two(self, place: int) -> Mend:
        """There are not enough replicas in sync to go on, until one is back."""
        other = self._another(place)
        self.cluster.kill(place)
        self.cluster.kill(other)
        self.sleep()
        self.cluster.start(place, wait=False)
        self.cluster.start(other, wait=False)
        return nothing_to_mend

    def bounce(self, place: int) -> Mend:
        """It is back before anybody has missed it."""
        self.cluster.kill(place)
        self.cluster.start(place, wait=False)
        return nothing_to_mend

    def pause(self, place: int) -> Mend:
        self.cluster.pause(place)

        def mend() -> None:
            self.sleep()
            self.cluster.resume(place)

        return mend

    def stop(self, place: int) -> Mend:
        self.cluster.stop(place)
        return lambda: self.cluster.start(place, wait=False)

    def fill_disk(self, _: int) -> Mend:
        """A broker without a place to write to ends."""
        place = self.chance.choice(list(self.cluster.disks))
        self.cluster.fill_disk(place)

        def mend() -> None:
            self.cluster.make_room(place)
            self.cluster.start(place, wait=False)

        return mend

    # ZooKeeper

    def kill_zookeeper(self, _: int) -> Mend:
        self.zookeeper.kill_one(self.chance, self.sleep)
        return nothing_to_mend

    def kill_zookeepers_leader(self, _: int) -> Mend:
        self.zookeeper.kill_leader(self.sleep)
        return nothing_to_mend

    # the network

    def _mend_links_later(self) -> None:
        self.sleep()
        self.cluster.heal()

    def cut_from_another(self, place: int) -> Mend:
        self.cluster.partition(place, self._another(place))
        return self._mend_links_later

    def cut_one_way(self, place: int) -> Mend:
        """The one can ask the other nothing; the other can."""
        self.cluster.cut(place, self._another(place))
        return self._mend_links_later

    def cut_from_zookeeper(self, place: int) -> Mend:
        """Its session ends, which it can't hear of."""
        self.cluster.partition(place, "zookeeper")
        return self._mend_links_later

    def isolate(self, place: int) -> Mend:
        """Clients still reach it."""
        self.cluster.partition(place)
        return self._mend_links_later
