"""Changes of the replicas in sync: a leader asks ZooKeeper for them, on condition that nobody has changed the state,
nor which replicas there are: that one of them is none any more may be news that this broker is still to hear, and then
it must not come in sync.

What was written comes back as a change of the image, by which the partition hears of it. A change that somebody else
was quicker with, or of which nobody knows whether it was made, is forgotten only when the state has been read since: a
replica that others take to be in sync must count for the high watermark.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping

from penstock.broker.coordination import Check, CheckFailed, Coordination, CoordinationError
from penstock.broker.coordination import Set as SetNode
from penstock.broker.image_follower import ImageFollower
from penstock.broker.image_writing import news_of
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.clock import Clock
from penstock.controller import znodes
from penstock.controller.changes import Changes, of_states
from penstock.replica.leader import LeaderState
from penstock.replica.replica_set import NOBODY, ReplicaSet
from penstock.settings.broker import BrokerSettings

log = logging.getLogger("penstock.broker.in_sync")

RETRY_SECONDS = 0.5
MOST_BETWEEN_LOOKS_MS = 1000
SILENCE_SECONDS = 0.25
"""Between looks at who lags, while a replica is silent."""


class InSync:
    def __init__(
        self,
        partitions: Partitions,
        settings: Callable[[], BrokerSettings],
        clock: Clock,
        coordination: Coordination,
        follower: ImageFollower,
    ) -> None:
        self.partitions = partitions
        self.settings = settings
        self.clock = clock
        self.coordination = coordination
        self.follower = follower
        self._asking: set[asyncio.Task[None]] = set()
        self._look_handle: asyncio.Handle | None = None

    def on_caught_up(
        self, partition: Partition, broker_id: int, broker_epoch: int, isr: tuple[int, ...]
    ) -> None:
        """A follower has all that is committed. One that leaves, or fetches from an earlier life, stays out."""
        known = self.follower.image.brokers.get(broker_id)
        if known is None or known.is_leaving or broker_epoch not in (-1, known.epoch):
            return
        self._ask(partition, isr, {broker_id: known.epoch})

    def look_soon(self) -> None:
        """Brokers have come or gone, or this one leads more than before: it may be alone somewhere, which is for nobody
        else to say. Where others are left the controller drops those that are gone."""
        if self._look_handle is None:
            self._look_handle = asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        self._look_handle = None
        for partition in self.partitions:
            leader = partition.leader
            if leader is None or leader.is_alone or leader.wanted_isr is not None:
                continue
            is_gone, own_id = self._is_gone_from(leader.replica_set), leader.broker_id
            if all(is_gone(replica) for replica in leader.replica_set.isr if replica != own_id):
                self._ask(partition, (own_id,))

    async def drop_those_that_lag(self) -> None:
        """Looks more often while a replica is silent: a producer that keeps records in order writes to the next
        partition when it has the answer of the one before, and would wait for the next look at each."""
        is_silent = self._drop_those_that_lag()
        while is_silent:
            await asyncio.sleep(SILENCE_SECONDS)
            is_silent = self._drop_those_that_lag()

    def _drop_those_that_lag(self) -> bool:
        """True if a replica in sync that lacks nothing yet is silent."""
        max_lag_ms = self.settings().replica_lag_time_max_ms
        now_ms = self.clock.monotonic_ms()
        is_silent = False
        for partition in self.partitions:
            leader = partition.leader
            if leader is None or leader.is_alone:
                continue
            isr = leader.decide_leaving(
                partition.log.log_end_offset,
                now_ms,
                max_lag_ms,
                self._is_gone_from(leader.replica_set),
            )
            if isr is not None:
                self._ask(partition, isr)
            is_silent = is_silent or leader.awaits_silent_replica(now_ms, max_lag_ms)
        return is_silent

    def _is_gone_from(self, state: ReplicaSet) -> Callable[[int], bool]:
        """Whether a broker is away, or was started anew since it came to be in sync."""
        brokers = self.follower.image.brokers
        return lambda broker_id: (
            broker_id not in brokers or not state.is_about(broker_id, brokers[broker_id].epoch)
        )

    def _ask(self, partition: Partition, isr: tuple[int, ...], joining: Mapping[int, int] = NOBODY) -> None:
        leader, topic = partition.leader, self.follower.image.topics.get(partition.topic_partition.topic)
        assert leader is not None
        if topic is None:
            return
        log.info("%s: in sync %s, now %s", partition.topic_partition, leader.replica_set.isr, isr)
        wanted = leader.ask_for(isr, joining)
        task = asyncio.get_running_loop().create_task(self._write(partition, leader, wanted, topic.version))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _write(
        self, partition: Partition, leader: LeaderState, state: ReplicaSet, assigned: int
    ) -> None:
        """`assigned` is the version of the topic's node, which says which replicas there are."""
        where = partition.topic_partition
        path, data = znodes.state_path(*where), znodes.encode_state(state, state.controller_epoch)
        try:
            change = await self.coordination.transact(
                [SetNode(path, data, state.version), news_of(of_states([where]))],
                Check(znodes.topic_path(where.topic), assigned),
            )
            await self.follower.applied(change)
        except CoordinationError as error:
            log.warning("%s: the replicas in sync may not be as asked for: %s", where, error)
            await asyncio.sleep(RETRY_SECONDS)
            is_moved = isinstance(error, CheckFailed)
            await self.follower.read_now(Changes(topics={where.topic}) if is_moved else of_states([where]))
        if leader.wanted_isr == state.isr:  # the image has not told of it: it is not so
            leader.forget_wish()
            if partition.leader is leader and leader.on_log_end_offset(partition.log.log_end_offset):
                partition.wake_all()

    def close(self) -> None:
        for task in self._asking:
            task.cancel()
        if self._look_handle is not None:
            self._look_handle.cancel()
