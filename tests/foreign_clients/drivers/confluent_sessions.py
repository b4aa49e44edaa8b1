"""Members, transactional producers and share consumers of confluent-kafka."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import (
    AcknowledgeType,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    ShareConsumer,
    TopicPartition,
)

from tests.foreign_clients.drivers.confluent_errors import TIMEOUT_SECONDS, raised, translated
from tests.foreign_clients.drivers.model import Consumed, Record
from tests.foreign_clients.drivers.sessions import (
    HEARTBEAT_INTERVAL_MS,
    METADATA_MAX_AGE_MS,
    SESSION_TIMEOUT_MS,
    Committed,
    Member,
    Membership,
    Offsets,
    PolledMember,
    Shared,
    ShareMember,
    TopicAndPartition,
    TransactionalProducer,
)
from tests.support.processes import wait_for

TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}
CLASSIC_SETTINGS = {
    "session.timeout.ms": SESSION_TIMEOUT_MS,
    "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
}
PROTOCOL_SETTINGS: dict[str, dict[str, Any]] = {
    "classic": {"partition.assignment.strategy": "range", **CLASSIC_SETTINGS},
    "cooperative": {"partition.assignment.strategy": "cooperative-sticky", **CLASSIC_SETTINGS},
    "consumer": {"group.protocol": "consumer"},
}
# Said aloud, although the library goes on and tries again.
PASSING = {
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
}
ACKNOWLEDGEMENTS = {
    "accept": AcknowledgeType.ACCEPT,
    "release": AcknowledgeType.RELEASE,
    "reject": AcknowledgeType.REJECT,
}


def consumed(message: Any) -> Consumed:
    kind, timestamp = message.timestamp()
    headers = tuple(message.headers() or ())
    record = Record(message.value(), message.key(), headers, timestamp, message.partition())
    return Consumed(record, message.offset(), TIMESTAMP_TYPES.get(kind))


def to_partitions(offsets: Offsets) -> list[TopicPartition]:
    return [
        TopicPartition(topic, partition, at.offset, at.metadata) for (topic, partition), at in offsets.items()
    ]


def from_partitions(partitions: Sequence[Any]) -> dict[TopicAndPartition, Committed]:
    """Without metadata: the library reads past its end, into whatever is there."""
    found = {}
    for each in partitions:
        if each.error is not None:
            raise raised(each.error)
        if each.offset >= 0:
            found[each.topic, each.partition] = Committed(each.offset)
    return found


class ConfluentMember(PolledMember):
    def __init__(self, settings: Mapping[str, Any], membership: Membership) -> None:
        super().__init__()
        self._membership = membership
        self._settings = {
            **settings,
            "group.id": membership.group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": membership.isolation,
            "topic.metadata.refresh.interval.ms": METADATA_MAX_AGE_MS,
            **PROTOCOL_SETTINGS[membership.protocol],
        }
        if membership.instance_id is not None:
            self._settings["group.instance.id"] = membership.instance_id

    def _open(self) -> None:
        self.consumer = Consumer(self._settings)
        wanted = self._membership
        if wanted.assigned:
            wait_for(self._finds_its_coordinator, what="the coordinator")
            self.consumer.assign([TopicPartition(*each) for each in wanted.assigned])
        else:
            topics = list(wanted.topics) if wanted.pattern is None else [wanted.pattern]
            self.consumer.subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_revoke)

    def _finds_its_coordinator(self) -> bool:
        """Without a group to join, the library gives up where a coordinator that loads refuses it once."""
        try:
            self.consumer.committed(
                [TopicPartition(*each) for each in self._membership.assigned], TIMEOUT_SECONDS
            )
        except KafkaException as failure:
            if failure.args[0].code() not in PASSING:
                raise
            return False
        return True

    def _on_assign(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self._rebalances += 1

    def _on_revoke(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._revoked += [(each.topic, each.partition) for each in partitions]

    def _poll(self) -> list[Consumed]:
        found = []
        for message in self.consumer.consume(100, timeout=0.1):
            if (error := message.error()) is None:
                found.append(consumed(message))
            elif error.code() not in PASSING:
                raise raised(error)
        return found

    def _assigned(self) -> set[TopicAndPartition]:
        return {(each.topic, each.partition) for each in self.consumer.assignment()}

    def _shut(self) -> None:
        self.consumer.close()

    def commit(self, offsets: Offsets) -> None:
        def commit() -> None:
            with translated():
                from_partitions(self.consumer.commit(offsets=to_partitions(offsets), asynchronous=False))

        self.in_its_thread(commit)

    def committed(self, partitions: Sequence[TopicAndPartition]) -> dict[TopicAndPartition, Committed]:
        def ask() -> dict[TopicAndPartition, Committed]:
            with translated():
                wanted = [TopicPartition(*each) for each in partitions]
                return from_partitions(self.consumer.committed(wanted, TIMEOUT_SECONDS))

        return self.in_its_thread(ask)


class ConfluentTransactionalProducer(TransactionalProducer):
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._producer = Producer(dict(settings))
        with translated():
            self._producer.init_transactions(TIMEOUT_SECONDS)

    def begin(self) -> None:
        with translated():
            self._producer.begin_transaction()

    def send(self, topic: str, records: Sequence[Record]) -> None:
        failures: list[KafkaError] = []

        def on_delivery(error: KafkaError | None, _message: Any) -> None:
            if error is not None:
                failures.append(error)

        for record in records:
            arguments: dict[str, Any] = {"headers": list(record.headers), "on_delivery": on_delivery}
            if record.timestamp is not None:
                arguments["timestamp"] = record.timestamp
            with translated():
                self._producer.produce(topic, record.value, record.key, record.partition or 0, **arguments)
        left = self._producer.flush(TIMEOUT_SECONDS)
        assert left == 0, f"{left} records neither delivered nor failed"
        if failures:
            raise raised(failures[0])

    def send_offsets(self, offsets: Offsets, member: Member) -> None:
        assert isinstance(member, ConfluentMember)
        group = member.in_its_thread(lambda: member.consumer.consumer_group_metadata())
        with translated():
            self._producer.send_offsets_to_transaction(to_partitions(offsets), group, TIMEOUT_SECONDS)

    def commit(self) -> None:
        with translated():
            self._producer.commit_transaction(TIMEOUT_SECONDS)

    def abort(self) -> None:
        with translated():
            self._producer.abort_transaction(TIMEOUT_SECONDS)

    def close(self) -> None:
        with suppress(KafkaException):  # one that was fenced says so again
            self._producer.purge()
            self._producer.close()


class ConfluentShareMember(ShareMember):
    def __init__(self, settings: Mapping[str, Any], topic: str) -> None:
        self._consumer = ShareConsumer(dict(settings))
        self._consumer.subscribe([topic])

    def poll(self) -> list[Shared]:
        records = []
        for message in self._consumer.poll(1.0):
            if (error := message.error()) is not None:
                raise raised(error)
            place: Any = (message.topic(), message.partition(), message.offset())
            records.append(Shared(*place, message.value(), message.delivery_count() or -1))
        return records

    def acknowledge(self, record: Shared, how: str) -> None:
        with translated():
            place = (record.topic, record.partition, record.offset)
            self._consumer.acknowledge_offset(*place, ACKNOWLEDGEMENTS[how])

    def commit(self) -> None:
        with translated():
            for failure in self._consumer.commit_sync(TIMEOUT_SECONDS).values():
                if failure is not None:
                    raise failure

    def close(self) -> None:
        self._consumer.close()
