"""A cluster of a seed, with clients at work on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from tests.simulation import zookeeper
from tests.simulation.clients import Client, Consumer, Producer
from tests.simulation.machines import Machine
from tests.simulation.network import Network
from tests.simulation.promises import Promises
from tests.simulation.virtual_loop import Process, VirtualLoop

LEAST_BROKERS, MOST_BROKERS = 3, 4
REPLICAS = 3
TOPIC = "orders"
ORDERS = [[1, 2, 3], [2, 3, 1]]
"""Of the replicas of each partition."""
CALM_SECONDS = 20.0
"""Within which a cluster that nobody disturbs is whole again."""


class Cluster:
    def __init__(self, loop: VirtualLoop, chance: Random) -> None:
        self.loop = loop
        self.chance = chance
        self.network = Network(loop, chance)
        self.zookeeper = zookeeper.ZooKeeper(self.network, Process(loop, zookeeper.HOST))
        self.brokers = list(range(1, 1 + chance.choice((LEAST_BROKERS, LEAST_BROKERS, MOST_BROKERS))))
        self.machines = [Machine(loop, self.network, broker_id, chance) for broker_id in self.brokers]
        self.partitions = [TopicPartition(TOPIC, index) for index in range(chance.randint(1, len(ORDERS)))]
        self.promises = Promises(self.zookeeper, self.machines, self.partitions)
        pauses = [chance.choice((0.1, 0.3, 1.0)) for _ in range(3)]
        self.producers = [
            self._producer("plain", pauses[0], is_idempotent=False),
            self._producer("idempotent", pauses[1], is_idempotent=True),
        ]
        self.consumers = [
            Consumer(
                self.network,
                f"reader{where.partition}",
                self.brokers,
                chance,
                self.promises,
                where,
                pauses[2],
            )
            for where in self.partitions
        ]
        self.probe = self._producer("probe", 0.2, is_idempotent=False)

    def _producer(self, name: str, pause_seconds: float, *, is_idempotent: bool) -> Producer:
        return Producer(
            self.network,
            name,
            self.brokers,
            self.chance,
            self.promises,
            self.partitions,
            pause_seconds,
            is_idempotent=is_idempotent,
        )

    @property
    def clients(self) -> list[Client]:
        return [*self.producers, *self.consumers]

    async def start(self) -> None:
        for machine in self.machines:
            machine.start()
        await self._make_topic()
        await self.come_to_rest()

    async def _make_topic(self) -> None:
        assignments = [CreatableReplicaAssignment(w.partition, ORDERS[w.partition]) for w in self.partitions]
        segment_bytes = self.chance.choice(("500", "2000", "1000000"))
        configs = [CreatableTopicConfig("internal.segment.bytes", segment_bytes)]
        request = CreateTopicsRequest([CreatableTopic(TOPIC, -1, -1, assignments, configs)], 5_000)
        while True:
            await asyncio.sleep(0.1)
            answer = await self.probe.ask(request, CreateTopicsResponse)
            if answer is not None and answer.topics[0].error_code in (
                ErrorCode.NONE,
                ErrorCode.TOPIC_ALREADY_EXISTS,
            ):
                return

    def begin_work(self) -> None:
        for producer in self.producers:
            producer.process.run(producer.run())
        for consumer in self.consumers:
            consumer.process.run(consumer.run())

    async def end_work(self) -> None:
        """When each producer has got on since, and none is stuck for good."""
        before = [producer.acknowledged for producer in self.producers]

        def have_got_on() -> bool:
            return all(one.acknowledged > count for one, count in zip(self.producers, before, strict=True))

        assert await self.holds(have_got_on), f"after {CALM_SECONDS} seconds of peace a producer is stuck"
        for client in self.clients:
            client.process.kill()

    # rest

    async def holds(self, condition: Callable[[], bool], seconds: float = CALM_SECONDS) -> bool:
        """Whether it comes to hold within some time."""
        deadline = self.loop.time() + seconds
        while not condition():
            if self.loop.time() >= deadline:
                return False
            await asyncio.sleep(0.05)
        return True

    async def come_to_rest(self) -> None:
        """All replicas in sync, equal and committed; a new record is acknowledged."""
        is_at_rest = await self.holds(lambda: self._unrest() is None)
        assert is_at_rest, f"after {CALM_SECONDS} seconds of peace {self._unrest()}"
        deadline = self.loop.time() + CALM_SECONDS
        for where in self.partitions:
            while not await self.probe.send(where):
                assert self.loop.time() < deadline, (
                    f"after {CALM_SECONDS} seconds of peace {where} takes no record"
                )
                await asyncio.sleep(0.1)

    def _unrest(self) -> str | None:
        for where in self.partitions:
            state = self.promises.states.get(where)
            assigned = self.promises.assignment_of(where)
            if assigned.adding or assigned.removing:
                return f"{where} is on its way: {assigned}"
            if state is None or sorted(state.isr) != sorted(assigned.replicas):
                return f"in sync of {where} are {state and state.isr} of {assigned.replicas}"
            replicas = self.promises.histories[where].replicas
            ends = {
                broker_id: (one.partition.log.log_end_offset, one.partition.high_watermark)
                for broker_id, one in replicas.items()
            }
            are_equal = len({offset for end in ends.values() for offset in end}) == 1
            if ends.keys() != set(assigned.replicas) or not are_equal:
                return f"replicas of {where} end at {ends}"
        return None
