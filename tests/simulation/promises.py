"""What a cluster promises, checked after every step of the simulation, by looking into all brokers at once.

- At most one leader per epoch, which is one life of one broker.
- What lies below a leader's high watermark is committed. It is the same on all replicas, at the same offsets, for good.
- Whoever becomes leader has all that leaders of earlier epochs have committed.
- No replica that ZooKeeper has as in sync, in its present life, lacks anything that is committed.
- No high watermark goes back while its broker lives; after a start it is at least what the disk has.
- What a producer was told is acknowledged is committed, at the offset that it was told; nothing is there twice.
- A consumer reads what is committed.
- `kill -9` and an orderly stop lose nothing that was written; a power cut nothing but an end of the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from penstock.broker.partition import Partition
from penstock.controller import znodes
from penstock.log import checkpoint
from penstock.replica.replica_set import Assignment, ReplicaSet
from penstock.types import TopicPartition
from penstock.zookeeper.txn import CreateTxn, MultiTxn, SetDataTxn, Txn
from tests.simulation.machines import Machine
from tests.simulation.views import LogView, Stored
from tests.simulation.zookeeper import ZooKeeper


class Broken(AssertionError):
    """A promise, and how."""


class Seen(NamedTuple):
    """What of a replica may have changed since it was looked at."""

    replica: object
    replica_set: ReplicaSet
    high_watermark: int
    end: int


class Replica:
    """One replica in one life of its broker."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.view = LogView()
        self.view.read_anew(partition.log)
        self.high_watermark = -1
        self.seen: Seen | None = None
        self.leads: object = None


class History:
    """Of one partition."""

    def __init__(self, where: TopicPartition) -> None:
        self.where = where
        self.committed: list[Stored] = []
        self.committed_in: list[int] = []
        """The leader's epoch in which each was."""
        self.place_of: dict[int, int] = {}
        """Of a committed batch, by its checksum: its base offset."""
        self.leaders: dict[int, tuple[int, object]] = {}
        self.replicas: dict[int, Replica] = {}
        self.left: dict[int, tuple[str, list[Stored]]] = {}
        """By broker that is down: how its life ended, and what stood in its log."""

    @property
    def end(self) -> int:
        return self.committed[-1].next_offset if self.committed else 0

    def commit(self, batches: Iterable[Stored], epoch: int) -> None:
        for stored in batches:
            twice = self.place_of.get(stored.crc)
            if twice is not None:
                raise Broken(f"{self.where}: {stored} is committed a second time, first at {twice}")
            self.place_of[stored.crc] = stored.base_offset
            self.committed.append(stored)
            self.committed_in.append(epoch)

    def compare(self, broker_id: int, view: LogView, count: int) -> None:
        """The first `count` batches of what is committed are in a replica's log."""
        while view.matching < count:
            number = view.matching
            stored = view.batches[number] if number < len(view.batches) else None
            if stored != self.committed[number]:
                raise Broken(
                    f"{self.where}: broker {broker_id} has {stored} in the place of {self.committed[number]}"
                )
            view.matching += 1


class Promises:
    def __init__(
        self, zookeeper: ZooKeeper, machines: list[Machine], partitions: list[TopicPartition]
    ) -> None:
        self.zookeeper = zookeeper
        self.machines = machines
        self.histories = {where: History(where) for where in partitions}
        self.states: dict[TopicPartition, ReplicaSet] = {}
        self._by_path = {znodes.state_path(*where): where for where in partitions}
        self._topics = {znodes.topic_path(where.topic) for where in partitions}
        self._on_disk: dict[int, dict[TopicPartition, int]] = {}
        zookeeper.on_commit = self._on_commit
        for machine in machines:
            machine.on_start, machine.on_end = self._on_start, self._on_end

    # what happens beside the brokers' steps

    def _on_commit(self, txn: Txn) -> None:
        for one in txn.txns if isinstance(txn, MultiTxn) else [txn]:
            if isinstance(one, CreateTxn | SetDataTxn) and one.path in self._by_path:
                where = self._by_path[one.path]
                state = znodes.decode_state(one.data or b"", Assignment(()), 0, self.zookeeper.tree.last_zxid)
                self.states[where] = state
                self._check_in_sync(self.histories[where])
            elif isinstance(one, SetDataTxn) and one.path in self._topics:
                self._on_assignment(one.data or b"")

    def _on_assignment(self, data: bytes) -> None:
        """Who is no replica any more throws away what it has."""
        for index, assigned in znodes.decode_topic(data)[1].items():
            for where, history in self.histories.items():
                if where.partition == index:
                    for broker_id in history.left.keys() - set(assigned.replicas):
                        del history.left[broker_id]

    def _on_start(self, machine: Machine) -> None:
        path = f"/log/{checkpoint.HIGH_WATERMARK}"
        self._on_disk[machine.broker_id] = checkpoint.read_checkpoint(machine.disk, path)

    def _on_end(self, machine: Machine, how: str) -> None:
        for history in self.histories.values():
            replica = history.replicas.pop(machine.broker_id, None)
            if replica is not None:
                if how != "crash":
                    self._look_at_one(history, machine, replica)
                if machine.broker_id in self.assignment_of(history.where).replicas:
                    history.left[machine.broker_id] = (how, replica.view.batches)
            elif machine.broker_id in history.left and how in ("power", "crash"):
                history.left[machine.broker_id] = (how, history.left[machine.broker_id][1])

    def assignment_of(self, where: TopicPartition) -> Assignment:
        node = self.zookeeper.node(znodes.topic_path(where.topic))
        return Assignment(()) if node is None else znodes.decode_topic(node.data or b"")[1][where.partition]

    # after a step

    def look(self) -> None:
        for machine in self.machines:
            broker = machine.broker
            if broker is None or machine.process not in self.zookeeper.network.loop.ran:
                continue
            for history in self.histories.values():
                replica = history.replicas.get(machine.broker_id)
                hosted = broker.partitions.by_name.get(history.where.topic)
                partition = hosted.partitions.get(history.where.partition) if hosted else None
                if partition is None:
                    history.replicas.pop(machine.broker_id, None)  # it has moved to another broker
                    continue
                if replica is None or replica.partition is not partition:
                    replica = history.replicas[machine.broker_id] = Replica(partition)
                    self._on_opened(history, machine, replica)
                self._look_at_one(history, machine, replica)

    def _on_opened(self, history: History, machine: Machine, replica: Replica) -> None:
        at_least = self._on_disk[machine.broker_id].pop(history.where, 0)
        high_watermark, end = replica.partition.high_watermark, replica.view.end
        if high_watermark < min(at_least, end):
            raise Broken(
                f"{history.where}: broker {machine.broker_id} has started with the high watermark "
                f"{high_watermark}, and on its disk is {at_least}"
            )
        how, before = history.left.pop(machine.broker_id, ("", []))
        now = replica.view.batches
        if how in ("kill", "stop") and now != before:
            raise Broken(f"{history.where}: broker {machine.broker_id} had {before[-3:]} and has {now[-3:]}")
        if how == "power" and now != before[: len(now)]:
            raise Broken(f"{history.where}: broker {machine.broker_id} had {before} and has {now}")

    def _look_at_one(self, history: History, machine: Machine, replica: Replica) -> None:
        partition = replica.partition
        known = partition.replica
        seen = Seen(known, known.replica_set, known.high_watermark, partition.log.log_end_offset)
        if seen == replica.seen:
            return
        is_new_role = replica.seen is None or replica.seen.replica is not known
        replica.seen = seen
        if is_new_role:
            replica.view.read_anew(partition.log)
        else:
            replica.view.read(partition.log)
        broker_id = machine.broker_id
        if seen.high_watermark < replica.high_watermark:
            raise Broken(
                f"{history.where}: the high watermark of broker {broker_id} went back "
                f"from {replica.high_watermark} to {seen.high_watermark}"
            )
        replica.high_watermark = seen.high_watermark
        if partition.leader is not None and is_new_role:
            self._check_new_leader(history, machine, replica, seen.replica_set.leader_epoch)
        self._check_committed(history, broker_id, replica, seen)
        self._check_in_sync(history)

    def _check_new_leader(self, history: History, machine: Machine, replica: Replica, epoch: int) -> None:
        other = history.leaders.setdefault(epoch, (machine.broker_id, replica.partition.leader))
        if other != (machine.broker_id, replica.partition.leader):
            raise Broken(
                f"{history.where}: brokers {other[0]} and {machine.broker_id} both lead in epoch {epoch}"
            )
        history.compare(
            machine.broker_id,
            replica.view,
            sum(1 for committed_in in history.committed_in if committed_in < epoch),
        )

    def _check_committed(self, history: History, broker_id: int, replica: Replica, seen: Seen) -> None:
        if seen.high_watermark > seen.end:
            raise Broken(f"{history.where}: broker {broker_id} has committed more than it has: {seen}")
        view, end = replica.view, history.end
        if seen.high_watermark > end:
            if replica.partition.leader is None:
                raise Broken(
                    f"{history.where}: broker {broker_id} follows, and thinks that more is committed: {seen}"
                )
            history.compare(broker_id, view, len(history.committed))
            fresh = [one for one in view.batches[view.matching :] if one.next_offset <= seen.high_watermark]
            history.commit(fresh, seen.replica_set.leader_epoch)
            view.matching = len(history.committed)
            if history.end != seen.high_watermark:
                raise Broken(
                    f"{history.where}: broker {broker_id} has a high watermark within a batch: {seen}"
                )
            return
        while view.matching < len(history.committed):
            if history.committed[view.matching].next_offset > seen.high_watermark:
                break
            history.compare(broker_id, view, view.matching + 1)

    def _check_in_sync(self, history: History) -> None:
        state = self.states.get(history.where)
        if state is None:
            return
        for machine in self.machines:
            broker_id = machine.broker_id
            replica = history.replicas.get(broker_id)
            if replica is None or broker_id not in state.isr or not self._is_meant(machine, state):
                continue
            try:
                history.compare(broker_id, replica.view, len(history.committed))
            except Broken as broken:
                raise Broken(f"in sync are {state.isr}, but {broken}") from None

    def _is_meant(self, machine: Machine, state: ReplicaSet) -> bool:
        """Whether a replica in sync is one by the life that its broker has now."""
        node = self.zookeeper.node(znodes.broker_path(machine.broker_id))
        if node is None or machine.broker is None:
            return False
        is_own = node.ephemeral_owner == machine.broker.coordination.session_id
        return is_own and bool(state.lives) and state.is_about(machine.broker_id, node.czxid)

    # what faults ask

    def can_lose(self, machine: Machine) -> bool:
        """Whether another replica in sync has all that a machine has of each partition, be it there or not."""
        return all(
            any(self._has_kept_all(other, state) for other in self.machines if other is not machine)
            for state in self.states.values()
        )

    def _has_kept_all(self, machine: Machine, state: ReplicaSet) -> bool:
        life = _life_of(machine, state)
        return life is not None and life > machine.lost_until

    def counts_on(self, machine: Machine, where: TopicPartition, before: ReplicaSet) -> bool:
        """Whether a state takes a broker to be in sync by the life that it was so before."""
        life = _life_of(machine, before)
        return life is not None and _life_of(machine, self.states[where]) == life

    # what clients hear

    def on_acknowledged(self, where: TopicPartition, base_offset: int, crc: int) -> None:
        if base_offset >= 0 and self.histories[where].place_of.get(crc) != base_offset:
            raise Broken(f"{where}: {crc:08x} was acknowledged at {base_offset}, and is not committed there")
        if crc not in self.histories[where].place_of:
            raise Broken(f"{where}: {crc:08x} was acknowledged, and is not committed")

    def on_consumed(self, where: TopicPartition, base_offset: int, crc: int) -> None:
        if self.histories[where].place_of.get(crc) != base_offset:
            raise Broken(
                f"{where}: a consumer has read {crc:08x} at {base_offset}, which is not committed there"
            )


def _life_of(machine: Machine, state: ReplicaSet) -> int | None:
    return dict(zip(state.isr, state.lives, strict=True)).get(machine.broker_id)
