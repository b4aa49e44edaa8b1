"""A member on librdkafka, of either protocol, with any assignor, static or not."""

from __future__ import annotations

import os
import struct
import sys
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from tests.faults.drivers.journal import Journal, number_in
from tests.faults.drivers.settings import MemberSettings, told
from tests.faults.drivers.switches import Switches

POLL_SECONDS = 0.2
RECORDS_PER_BATCH = 100
METADATA_MAGIC = b"CGMDv2:"


def generation_in(metadata: Any) -> int:
    """librdkafka's opaque group metadata: a magic word, the generation (or member epoch), ids."""
    assert metadata.startswith(METADATA_MAGIC), metadata
    (generation,) = struct.unpack_from("=i", metadata, len(METADATA_MAGIC))
    return int(generation)


def consumer_settings(settings: MemberSettings) -> dict[str, Any]:
    common: dict[str, Any] = {
        "bootstrap.servers": settings.bootstrap,
        "group.id": settings.group,
        "group.protocol": settings.protocol,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "max.poll.interval.ms": settings.max_poll_interval_ms,
        "fetch.wait.max.ms": 100,
        "reconnect.backoff.max.ms": 500,
        "log_level": 4,
    }
    if settings.instance_id is not None:
        common["group.instance.id"] = settings.instance_id
    if settings.protocol == "classic":
        common["partition.assignment.strategy"] = settings.assignor
        common["session.timeout.ms"] = settings.session_timeout_ms
        common["heartbeat.interval.ms"] = settings.heartbeat_interval_ms
    else:
        common["group.remote.assignor"] = settings.assignor
    return common


class ConfluentMember:
    def __init__(self, settings: MemberSettings) -> None:
        self.settings = settings
        self.switches = Switches()
        self.journal = Journal(settings)
        self.owned: set[int] = set()
        self.consumer = Consumer({**consumer_settings(settings), "error_cb": self._on_error})

    # what the client tells

    def _on_error(self, error: KafkaError) -> None:
        self.journal.note("error", error)
        if error.fatal() or error.code() == KafkaError._FATAL:
            os._exit(1)  # after a fatal error the client's calls may not return

    def _note_owned(self) -> None:
        self.journal.note_owned(generation_in(self.consumer.consumer_group_metadata()), self.owned)

    def _on_assign(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.owned |= {each.partition for each in partitions}
        self._note_owned()

    def _on_revoke(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.owned -= {each.partition for each in partitions}
        self._note_owned()

    # the loop

    def run(self) -> int:
        self.consumer.subscribe(
            [self.settings.topic],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_revoke,
        )
        while not self.switches.stopping:
            self._process(self.consumer.consume(RECORDS_PER_BATCH, POLL_SECONDS))
        self.consumer.close()
        self.journal.note("closed")
        return 0

    def _process(self, messages: list[Message]) -> None:
        records = [message for message in messages if self._is_record(message)]
        if not records:
            return
        numbered = [(each.partition() or 0, each.offset() or 0, number_in(each.value())) for each in records]
        self.journal.note_records(numbered)
        self.switches.wait_while_held(self.journal)
        self._commit({partition: offset + 1 for partition, offset, _ in numbered})

    def _is_record(self, message: Message) -> bool:
        if (error := message.error()) is not None:
            self._on_error(error)
        return error is None

    def _commit(self, positions: dict[int, int]) -> None:
        offsets = [TopicPartition(self.settings.topic, *position) for position in positions.items()]
        try:
            committed = self.consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as failure:
            self.journal.note("commit-failed", failure)
            return
        for each in committed or ():
            if each.error is not None:
                self.journal.note("commit-failed", each.error)


if __name__ == "__main__":
    sys.exit(ConfluentMember(told()).run())
