"""A member on aiokafka: the classic protocol.

aiokafka rebalances in the background, while the application works. A lock makes the commit of a batch and a change of
the assignment take turns: else offsets could be committed in the name of a later generation, when the partition is
another's. A batch that a change overtook is dropped: its partitions are read again from what is committed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError

from tests.faults.drivers.journal import Journal, number_in
from tests.faults.drivers.settings import MemberSettings, told
from tests.faults.drivers.switches import Switches

POLL_MS = 200
RECORDS_PER_BATCH = 100


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, journal: Journal, turn: asyncio.Lock) -> None:
        self.journal = journal
        self.turn = turn
        self.changes = 0

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        async with self.turn:
            self.changes += 1
            self.journal.note_owned(-1, ())

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self.journal.note_owned(-1, (each.partition for each in assigned))


class AiokafkaMember:
    def __init__(self, settings: MemberSettings) -> None:
        assert (settings.protocol, settings.assignor) == ("classic", "range")
        self.settings = settings
        self.switches = Switches()
        self.journal = Journal(settings)
        self.turn = asyncio.Lock()
        self.listener = Listener(self.journal, self.turn)

    async def run(self) -> int:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.settings.bootstrap,
            group_id=self.settings.group,
            group_instance_id=self.settings.instance_id,
            partition_assignment_strategy=(RangePartitionAssignor,),
            session_timeout_ms=self.settings.session_timeout_ms,
            heartbeat_interval_ms=self.settings.heartbeat_interval_ms,
            max_poll_interval_ms=self.settings.max_poll_interval_ms,
            rebalance_timeout_ms=self.settings.max_poll_interval_ms,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        consumer.subscribe([self.settings.topic], listener=self.listener)
        await consumer.start()
        while not self.switches.stopping:
            batches = await consumer.getmany(timeout_ms=POLL_MS, max_records=RECORDS_PER_BATCH)
            changes = self.listener.changes
            async with self.turn:
                if batches and changes == self.listener.changes:
                    await self._process(consumer, batches)
        await consumer.stop()
        self.journal.note("closed")
        return 0

    async def _process(self, consumer: Any, batches: dict[TopicPartition, list[Any]]) -> None:
        self.journal.note_records(
            (record.partition, record.offset, number_in(record.value))
            for records in batches.values()
            for record in records
        )
        offsets = {partition: records[-1].offset + 1 for partition, records in batches.items()}
        try:
            await consumer.commit(offsets)
        except KafkaError as failure:
            self.journal.note("commit-failed", repr(failure))


if __name__ == "__main__":
    sys.exit(asyncio.run(AiokafkaMember(told()).run()))
