"""A member on kafka-python: the classic protocol."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from tests.faults.drivers.journal import Journal, number_in
from tests.faults.drivers.settings import MemberSettings, told
from tests.faults.drivers.switches import Switches

POLL_MS = 200
RECORDS_PER_BATCH = 100


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        self.journal.note_owned(-1, ())

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self.journal.note_owned(-1, (each.partition for each in assigned))


class KafkaPythonMember:
    def __init__(self, settings: MemberSettings) -> None:
        assert (settings.protocol, settings.assignor) == ("classic", "range")
        self.switches = Switches()
        self.journal = Journal(settings)
        self.consumer = KafkaConsumer(
            bootstrap_servers=settings.bootstrap,
            group_id=settings.group,
            group_instance_id=settings.instance_id,
            partition_assignment_strategy=[RangePartitionAssignor],
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            max_poll_interval_ms=settings.max_poll_interval_ms,
            request_timeout_ms=settings.max_poll_interval_ms + 5_000,
            connections_max_idle_ms=settings.max_poll_interval_ms + 60_000,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=RECORDS_PER_BATCH,
        )
        self.consumer.subscribe([settings.topic], listener=Listener(self.journal))

    def run(self) -> int:
        while not self.switches.stopping:
            self._process(self.consumer.poll(POLL_MS))
        self.consumer.close()
        self.journal.note("closed")
        return 0

    def _process(self, batches: dict[TopicPartition, list[Any]]) -> None:
        if not batches:
            return
        self.journal.note_records(
            (record.partition, record.offset, number_in(record.value))
            for records in batches.values()
            for record in records
        )
        self.switches.wait_while_held(self.journal)
        offsets = {
            partition: OffsetAndMetadata(records[-1].offset + 1, "", -1)
            for partition, records in batches.items()
        }
        try:
            self.consumer.commit(offsets)
        except KafkaError as failure:
            self.journal.note("commit-failed", repr(failure))


if __name__ == "__main__":
    sys.exit(KafkaPythonMember(told()).run())
