"""What befalls a cluster: drawn from the seed, inside what docs/operating/cluster.md promises to survive.

Faults overlap as they come, but for the power cut, which loses what a replica has acknowledged and not yet written to
its disk. One replica at a time may lose that, while another one in sync has it too, be it there or away, and until the
state of its partitions in ZooKeeper no longer counts on it; for so long nothing else happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from random import Random

from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from tests.simulation import zookeeper
from tests.simulation.cluster import REPLICAS, Cluster
from tests.simulation.machines import Machine
from tests.simulation.network import SLOW_DELAY_SECONDS, USUAL_DELAY_SECONDS

LONGEST_STOP_SECONDS = 12.0
LONGEST_OUTAGE_SECONDS = 4.0
LONGEST_BLACKOUT_SECONDS = 30.0
MOST_CHANGES_BEFORE_A_CRASH = 40

Fault = Callable[[], Coroutine[None, None, None]]


class Faults:
    def __init__(self, cluster: Cluster, chance: Random, on_told: Callable[[str], None]) -> None:
        self.cluster = cluster
        self.loop = cluster.loop
        self.network = cluster.network
        self.chance = chance
        self.told: list[str] = []
        self._on_told = on_told
        self._under_way: set[asyncio.Task[None]] = set()
        self._touched: set[int] = set()
        """Machines that some fault has its hands on: each is stopped, started and paused by one at a time."""

    async def happen(self) -> None:
        kinds: list[Fault] = [
            *([self.kill] * 4),
            *([self.kill_in_the_midst] * 3),
            *([self.cut_power] * 3),
            *([self.pause] * 3),
            self.kill_all,
            self.fail_to_write,
            self.stop,
            *([self.reassign] * 3),
            self.cut_from_brokers,
            self.cut_one_way,
            self.cut_from_zookeeper,
            self.cut_from_clients,
            self.cut_from_all,
            self.zookeeper_is_away,
            self.restart_zookeeper,
            self.expire_session,
            self.break_connections,
            self.slow_down,
            *([self.elect_preferred] * 3),
        ]
        drawn = self.chance.sample(kinds, self.chance.randint(3, len(kinds)))
        longest_pause = self.chance.choice((0.3, 1.0, 2.5))
        for _ in range(self.chance.randint(4, 12)):
            await asyncio.sleep(self.chance.random() * longest_pause)
            fault = self.chance.choice(drawn)
            if fault == self.cut_power:
                await self._wait_for_those_under_way()
                await fault()
            else:
                self._begin(fault)
        await self._wait_for_those_under_way()

    def _begin(self, fault: Fault) -> None:
        task = self.loop.create_task(fault())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _wait_for_those_under_way(self) -> None:
        while self._under_way:
            await asyncio.gather(*self._under_way)

    async def end(self) -> None:
        for link in self.network.links():
            assert not link.is_cut
        for machine in self.cluster.machines:
            machine.disk.heal()
            machine.start_if_down()

    def _tell(self, what: str) -> None:
        self.told.append(what)
        self._on_told(what)

    async def _outage(self) -> None:
        await asyncio.sleep(self.chance.random() ** 2 * LONGEST_OUTAGE_SECONDS)

    # machines

    @contextmanager
    def _some_machine(self, *, serving: bool = False) -> Iterator[Machine | None]:
        machines = [
            machine
            for machine in self.cluster.machines
            if machine.broker_id not in self._touched
            and machine.is_up
            and (machine.is_serving or not serving)
        ]
        machine = self.chance.choice(machines) if machines else None
        if machine is not None:
            self._touched.add(machine.broker_id)
        try:
            yield machine
        finally:
            if machine is not None:
                self._touched.discard(machine.broker_id)

    async def kill(self) -> None:
        with self._some_machine() as machine:
            if machine is not None:
                self._tell(f"kill -9 of {machine.host}")
                machine.kill()
                await self._start_again(machine)

    async def _start_again(self, machine: Machine) -> None:
        await self._outage()
        self._tell(f"start of {machine.host}")
        machine.start_if_down()

    async def kill_in_the_midst(self) -> None:
        with self._some_machine() as machine:
            if machine is not None:
                changes = self.chance.randrange(MOST_CHANGES_BEFORE_A_CRASH)
                self._tell(f"kill -9 of {machine.host} at its change {changes} of files")
                machine.kill_at_change(changes)
                await asyncio.sleep(self.chance.random() * 3)
                machine.disk.heal()
                if not machine.is_up:
                    await self._start_again(machine)

    async def kill_all(self) -> None:
        self._tell("kill -9 of all")
        with ExitStack() as stack:
            machines = []
            while (machine := stack.enter_context(self._some_machine())) is not None:
                machine.kill()
                machines.append(machine)
            await asyncio.gather(*map(self._start_again, machines))

    async def fail_to_write(self) -> None:
        with self._some_machine() as machine:
            if machine is not None:
                changes = self.chance.randrange(MOST_CHANGES_BEFORE_A_CRASH)
                self._tell(f"the disk of {machine.host} fails at change {changes} of files")
                machine.fail_at_change(changes)
                await asyncio.sleep(self.chance.random() * 3)
                machine.disk.heal()
                machine.start_if_down()

    async def pause(self) -> None:
        with self._some_machine() as machine:
            if machine is not None and machine.process is not None:
                self._tell(f"pause of {machine.host}")
                process = machine.process
                process.pause()
                await self._outage()
                process.go_on()
                self._tell(f"{machine.host} goes on")

    async def stop(self) -> None:
        with self._some_machine(serving=True) as machine:
            if machine is not None:
                self._tell(f"stop of {machine.host}")
                machine.stop()
                if not await self.cluster.holds(lambda: not machine.is_up, LONGEST_STOP_SECONDS):
                    self._tell(f"kill -9 of {machine.host}, which does not end")
                    machine.kill()
                await self._start_again(machine)

    async def cut_power(self) -> None:
        promises = self.cluster.promises
        machine = self.chance.choice(self.cluster.machines)
        if not machine.is_serving or not promises.can_lose(machine):
            return
        states = dict(promises.states)
        self._tell(f"power cut of {machine.host}")
        come_back = machine.lose_power()
        machine.lost_until = self.cluster.zookeeper.tree.last_zxid
        await self._outage()
        come_back()
        self._tell(f"start of {machine.host}")
        machine.start_if_down()

        def is_counted_on() -> bool:
            return any(promises.counts_on(machine, where, states[where]) for where in states)

        is_over = await self.cluster.holds(lambda: not is_counted_on(), LONGEST_BLACKOUT_SECONDS)
        assert is_over, f"{machine.host} is counted on still, in an earlier life"

    # links

    @contextmanager
    def _cut(self, pairs: list[tuple[str, str]]) -> Iterator[None]:
        links = [self.network.link(*pair) for pair in pairs]
        mine = [link for link in links if not link.is_cut]
        for link in mine:
            link.is_cut = True
        try:
            yield
        finally:
            for link in mine:
                link.mend()

    async def _cut_for_a_while(self, what: str, hosts: list[str], others: list[str]) -> None:
        self._tell(f"{', '.join(hosts)} cut from {what}")
        pairs = [pair for host in hosts for other in others for pair in ((host, other), (other, host))]
        with self._cut(pairs):
            await self._outage()
            self._tell(f"{', '.join(hosts)} again with {what}")

    def _some_host(self) -> str:
        return self.chance.choice(self.cluster.machines).host

    def _brokers_but(self, host: str) -> list[str]:
        return [machine.host for machine in self.cluster.machines if machine.host != host]

    def _clients(self) -> list[str]:
        return [client.process.name for client in self.cluster.clients]

    async def cut_from_brokers(self) -> None:
        host = self._some_host()
        others = self._brokers_but(host)
        others = others if self.chance.random() < 0.5 else [self.chance.choice(others)]
        await self._cut_for_a_while(", ".join(others), [host], others)

    async def cut_one_way(self) -> None:
        host = self._some_host()
        other = self.chance.choice([*self._brokers_but(host), zookeeper.HOST])
        pair = (host, other) if self.chance.random() < 0.5 else (other, host)
        self._tell(f"nothing goes from {pair[0]} to {pair[1]}")
        with self._cut([pair]):
            await self._outage()
            self._tell(f"again from {pair[0]} to {pair[1]}")

    async def cut_from_zookeeper(self) -> None:
        await self._cut_for_a_while("zookeeper", [self._some_host()], [zookeeper.HOST])

    async def cut_from_clients(self) -> None:
        await self._cut_for_a_while("clients", [self._some_host()], self._clients())

    async def cut_from_all(self) -> None:
        host = self._some_host()
        others = [
            *self._brokers_but(host),
            zookeeper.HOST,
            *(self._clients() if self.chance.random() < 0.5 else []),
        ]
        await self._cut_for_a_while("all", [host], others)

    async def zookeeper_is_away(self) -> None:
        await self._cut_for_a_while(
            "zookeeper", [one.host for one in self.cluster.machines], [zookeeper.HOST]
        )

    async def break_connections(self) -> None:
        host = self._some_host()
        other = self.chance.choice([*self._brokers_but(host), zookeeper.HOST, *self._clients()])
        self._tell(f"connections of {host} with {other} break")
        self.network.break_between(host, other)

    async def slow_down(self) -> None:
        host = self._some_host()
        others = [*self._brokers_but(host), *self._clients()]
        other = zookeeper.HOST if self.chance.random() < 0.5 else self.chance.choice(others)
        self._tell(f"{host} and {other} are slow to hear of each other")
        links = [self.network.link(host, other), self.network.link(other, host)]
        for link in links:
            link.delay_seconds = SLOW_DELAY_SECONDS
        await self._outage()
        for link in links:
            link.delay_seconds = USUAL_DELAY_SECONDS

    # ZooKeeper, and what an administrator does

    async def restart_zookeeper(self) -> None:
        self._tell("restart of zookeeper")
        self.cluster.zookeeper.drop_all_connections()

    async def expire_session(self) -> None:
        machine = self.chance.choice(self.cluster.machines)
        if machine.broker is not None:
            self._tell(f"the session of {machine.host} expires")
            self.cluster.zookeeper.expire(machine.broker.coordination.session_id)

    async def elect_preferred(self) -> None:
        self._tell("election of preferred leaders")
        await self.cluster.probe.ask(ElectLeadersRequest(0, None, 1_000), ElectLeadersResponse)

    async def reassign(self) -> None:
        """A partition moves to other brokers, or stops to."""
        where = self.chance.choice(self.cluster.partitions)
        replicas = None if self.chance.random() < 0.2 else self.chance.sample(self.cluster.brokers, REPLICAS)
        self._tell(f"{where} is to be on {replicas}" if replicas else f"{where} stays where it is")
        partition = ReassignablePartition(where.partition, replicas)
        request = AlterPartitionReassignmentsRequest(
            1_000, topics=[ReassignableTopic(where.topic, [partition])]
        )
        await self.cluster.probe.ask(request, AlterPartitionReassignmentsResponse)
