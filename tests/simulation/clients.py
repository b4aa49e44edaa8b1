"""Producers and consumers: they ask whichever broker they take to lead, and say what they were told."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TypeVar

from penstock.errors import ErrorCode
from penstock.records.batch import Batch, split_batches
from penstock.records.builder import build_batch
from penstock.records.reader import Record
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from penstock.wire.schema import ApiMessage
from penstock.wire_client import Address, ClusterConfig, Disconnected
from penstock.wire_client.connection import Connection
from tests.simulation.machines import Clock
from tests.simulation.network import Network
from tests.simulation.promises import Promises
from tests.simulation.virtual_loop import Process
from tests.simulation.wire import PORT, ClientNetwork

AnswerT = TypeVar("AnswerT", bound=ApiMessage)

WITH_TOPIC_NAMES = 12
"""The last version of Produce and of Fetch that has them."""
PATIENCE_MS = 1_000
ALL_IN_SYNC = -1
CONFIG = ClusterConfig((), "simulated", PATIENCE_MS, connection_setup_timeout_ms=PATIENCE_MS)
STORED = (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)


class Client:
    def __init__(self, network: Network, name: str, brokers: list[int], chance: Random) -> None:
        self.process = Process(network.loop, name)
        self.chance = chance
        self._network = ClientNetwork(network, self.process, name)
        self._brokers = brokers
        self._asked = chance.choice(brokers)
        self._connection: Connection | None = None

    async def ask(
        self, request: ApiMessage, answer: type[AnswerT], at_most: int | None = None
    ) -> AnswerT | None:
        """None if there was none; then another broker is asked next."""
        try:
            if self._connection is None or self._connection.is_closed:
                address = Address(f"kafka{self._asked}", PORT)
                self._connection = await Connection.open(self._network, address, CONFIG)
            return await self._connection.ask(request, answer, at_most=at_most)
        except Disconnected:
            self.go_elsewhere()
            return None

    def go_elsewhere(self, leader: int = -1) -> None:
        """To the leader, if its name is known."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        others = [one for one in self._brokers if one != self._asked]
        self._asked = leader if leader in others else self.chance.choice(others)

    async def rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds * (0.5 + self.chance.random()))


class Producer(Client):
    """An idempotent one sends a batch again until it is acknowledged, another one never."""

    def __init__(
        self,
        network: Network,
        name: str,
        brokers: list[int],
        chance: Random,
        promises: Promises,
        where: list[TopicPartition],
        pause_seconds: float,
        *,
        is_idempotent: bool,
    ) -> None:
        super().__init__(network, name, brokers, chance)
        self.name = name
        self.where = where
        self.pause_seconds = pause_seconds
        self.is_idempotent = is_idempotent
        self.acknowledged = 0
        self._promises = promises
        self._clock = Clock(network.loop)
        self._sent = 0
        self._producer_id, self._epoch = -1, -1
        self._sequences = dict.fromkeys(where, 0)

    async def run(self) -> None:
        while True:
            if self.is_idempotent and self._producer_id < 0:
                await self._take_an_id()
            else:
                await self.send(self.chance.choice(self.where))
            await self.rest(self.pause_seconds)

    async def _take_an_id(self) -> None:
        answer = await self.ask(InitProducerIdRequest(None, 60_000), InitProducerIdResponse)
        if answer is not None and not answer.error_code:
            self._producer_id, self._epoch = answer.producer_id, answer.producer_epoch

    async def send(self, where: TopicPartition) -> bool:
        batch = self._next_batch(where)
        is_stored = await self._offer(where, batch)
        while self.is_idempotent and not is_stored:
            await self.rest(0.05)
            is_stored = await self._offer(where, batch)
        if is_stored:
            self.acknowledged += 1
            self._sequences[where] += batch.record_count
        return is_stored

    def _next_batch(self, where: TopicPartition) -> Batch:
        count = self.chance.randint(1, 3)
        values = [b"%s %d" % (self.name.encode(), self._sent + number) for number in range(count)]
        self._sent += count
        return build_batch(
            [Record(number, self._clock.now_ms(), None, value) for number, value in enumerate(values)],
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            base_sequence=self._sequences[where] if self.is_idempotent else -1,
        )

    async def _offer(self, where: TopicPartition, batch: Batch) -> bool:
        data = PartitionProduceData(where.partition, batch.view)
        request = ProduceRequest(
            None, ALL_IN_SYNC, PATIENCE_MS, [TopicProduceData(where.topic, partition_data=[data])]
        )
        answer = await self.ask(request, ProduceResponse, WITH_TOPIC_NAMES)
        if answer is None:
            return False
        one = answer.responses[0].partition_responses[0]
        if one.error_code in STORED:
            self._promises.on_acknowledged(where, one.base_offset, batch.crc)
            return True
        if one.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
            self.go_elsewhere(one.current_leader.leader_id if one.current_leader else -1)
        elif one.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            self.go_elsewhere()  # a leader that has not heard yet that it is none any more
        return False


class Consumer(Client):
    def __init__(
        self,
        network: Network,
        name: str,
        brokers: list[int],
        chance: Random,
        promises: Promises,
        where: TopicPartition,
        pause_seconds: float,
    ) -> None:
        super().__init__(network, name, brokers, chance)
        self.where = where
        self.pause_seconds = pause_seconds
        self.offset = 0
        self._promises = promises

    async def run(self) -> None:
        while True:
            await self._fetch()
            await self.rest(self.pause_seconds)

    async def _fetch(self) -> None:
        asked = FetchPartition(self.where.partition, fetch_offset=self.offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=500, min_bytes=1, topics=[FetchTopic(self.where.topic, partitions=[asked])]
        )
        request.session_epoch = -1
        answer = await self.ask(request, FetchResponse, WITH_TOPIC_NAMES)
        if answer is None:
            return
        found = answer.responses[0].partitions[0]
        if found.error_code:
            self.go_elsewhere(found.current_leader.leader_id if found.current_leader else -1)
            return
        assert found.records is None or isinstance(found.records, bytes | memoryview)
        for batch in split_batches(memoryview(found.records or b"")):
            if batch.base_offset >= self.offset:
                self._promises.on_consumed(self.where, batch.base_offset, batch.crc)
                self.offset = batch.next_offset
