"""Copies each record of the input to the same partition of the output, a batch in a transaction, on librdkafka.

The group's metadata is taken before the poll: the offsets of a batch then count only if the group still is what it was
when the batch was read, and a processor that was put out of the group meanwhile commits nothing.
"""

from __future__ import annotations

import sys

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from tests.faults.drivers.confluent_member import consumer_settings, generation_in
from tests.faults.drivers.journal import Journal, number_in
from tests.faults.drivers.settings import MemberSettings, told
from tests.faults.drivers.switches import Switches

POLL_SECONDS = 0.2
RECORDS_PER_BATCH = 100
PATIENCE_SECONDS = 60.0
RECOVERY = {"metadata.recovery.strategy": "none"}
"""By itself librdkafka 2.16 forgets all brokers when the last one is gone, but for the one that it knows as the group's
coordinator: when the broker is back, sending offsets to a transaction waits for a connection that is never made."""


class ConfluentProcessor:
    def __init__(self, settings: MemberSettings) -> None:
        self.settings = settings
        self.switches = Switches()
        self.journal = Journal(settings)
        self.consumer = Consumer(
            {
                **consumer_settings(settings),
                "isolation.level": "read_committed",
                **RECOVERY,
                "error_cb": self._on_error,
            }
        )
        self.producer = Producer(
            {
                "bootstrap.servers": settings.bootstrap,
                "transactional.id": settings.transactional_id,
                "transaction.timeout.ms": settings.transaction_timeout_ms,
                "message.timeout.ms": settings.transaction_timeout_ms,
                "linger.ms": 1,
                **RECOVERY,
                "reconnect.backoff.max.ms": 500,
                "log_level": 4,
                "error_cb": self._on_error,
            }
        )

    def _on_error(self, error: KafkaError) -> None:
        self.journal.note("error", error)

    def run(self) -> int:
        self.producer.init_transactions(PATIENCE_SECONDS)
        self.consumer.subscribe([self.settings.topic])
        while not self.switches.stopping:
            metadata = self.consumer.consumer_group_metadata()
            batch = self.consumer.consume(RECORDS_PER_BATCH, POLL_SECONDS)
            records = [message for message in batch if message.error() is None]
            if records and generation_in(metadata) < 0:
                self._rewind()  # it joined in the midst of the poll
            elif records:
                self._transact(records, metadata)
        self.consumer.close()
        self.journal.note("closed")
        return 0

    def _transact(self, records: list[Message], metadata: object) -> None:
        """What cannot be recovered from here is raised; the next process recovers from it."""
        self.producer.begin_transaction()
        try:
            for record in records:
                self.producer.produce(self.settings.output, record.value(), partition=record.partition() or 0)
            self.producer.send_offsets_to_transaction(next_offsets(records), metadata, PATIENCE_SECONDS)
            self.producer.commit_transaction(PATIENCE_SECONDS)
        except KafkaException as failure:
            self.journal.note("commit-failed", failure)
            error: KafkaError = failure.args[0]
            if not error.txn_requires_abort():
                raise
            self.producer.abort_transaction(PATIENCE_SECONDS)
            self._rewind()
            return
        self.journal.note_records(
            (each.partition() or 0, each.offset() or 0, number_in(each.value())) for each in records
        )

    def _rewind(self) -> None:
        """Back to what is committed."""
        for each in self.consumer.committed(self.consumer.assignment(), PATIENCE_SECONDS):
            if each.error is not None:
                raise KafkaException(each.error)
            if each.offset < 0:
                each.offset = 0
            self.consumer.seek(each)


def next_offsets(records: list[Message]) -> list[TopicPartition]:
    latest = {record.partition() or 0: record for record in records}
    return [
        TopicPartition(record.topic() or "", partition, (record.offset() or 0) + 1)
        for partition, record in latest.items()
    ]


if __name__ == "__main__":
    sys.exit(ConfluentProcessor(told()).run())
