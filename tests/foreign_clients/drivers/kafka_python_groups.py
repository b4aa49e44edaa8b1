"""Groups and transactions with kafka-python."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.foreign_clients.drivers.model import (
    Client,
    ClientError,
    Consumed,
    GroupInfo,
    GroupListing,
    MemberInfo,
    Record,
    TransactionInfo,
)
from tests.foreign_clients.drivers.sessions import (
    HEARTBEAT_INTERVAL_MS,
    METADATA_MAX_AGE_MS,
    SESSION_TIMEOUT_MS,
    Committed,
    Member,
    Membership,
    Offsets,
    PolledMember,
    TopicAndPartition,
    TransactionalProducer,
    transform_step_by_step,
)

with warnings.catch_warnings():  # its own use of importlib.resources is out of date
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka import errors as kafka_errors
    from kafka.admin import KafkaAdminClient, MemberToRemove
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.errors import KafkaError
    from kafka.structs import OffsetAndMetadata

TIMEOUT_SECONDS = 30.0
POLL_MS = 500  # a join that outlasts the poll in which it began may be lost
TIMESTAMP_TYPES = {0: "CreateTime", 1: "LogAppendTime"}
ASSIGNORS = {"classic": RangePartitionAssignor, "cooperative": CooperativeStickyAssignor}


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except KafkaError as failure:
        raise ClientError(getattr(failure, "errno", -1), repr(failure)) from failure


def consumed(found: Any) -> Consumed:
    record = Record(found.value, found.key, tuple(found.headers), found.timestamp, found.partition)
    return Consumed(record, found.offset, TIMESTAMP_TYPES.get(found.timestamp_type))


def _to_offsets(offsets: Offsets) -> dict[Any, Any]:
    return {
        TopicPartition(topic, partition): OffsetAndMetadata(at.offset, at.metadata, -1)
        for (topic, partition), at in offsets.items()
    }


def _check(kind: type[KafkaError]) -> None:
    if kind.errno:
        raise ClientError(kind.errno, kind.__name__)


class KafkaPythonMember(PolledMember):
    def __init__(self, bootstrap: str, membership: Membership) -> None:
        super().__init__()
        self._bootstrap = bootstrap
        self._membership = membership

    def _open(self) -> None:
        wanted = self._membership
        self.consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            group_id=wanted.group,
            group_instance_id=wanted.instance_id,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level=wanted.isolation,
            partition_assignment_strategy=[ASSIGNORS[wanted.protocol]],
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            metadata_max_age_ms=METADATA_MAX_AGE_MS,
        )
        if wanted.assigned:
            self.consumer.assign([TopicPartition(*each) for each in wanted.assigned])
        elif wanted.pattern is not None:
            self.consumer.subscribe(pattern=wanted.pattern, listener=self._listener())
        else:
            self.consumer.subscribe(list(wanted.topics), listener=self._listener())

    def _listener(self) -> Any:
        member = self

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
            def on_partitions_revoked(self, revoked: Any) -> None:
                member._revoked += [(each.topic, each.partition) for each in revoked]

            def on_partitions_assigned(self, assigned: Any) -> None:
                member._rebalances += 1

        return Listener()

    def _poll(self) -> list[Consumed]:
        with translated():
            batches = self.consumer.poll(POLL_MS)
        return [consumed(record) for records in batches.values() for record in records]

    def _assigned(self) -> set[TopicAndPartition]:
        return {(each.topic, each.partition) for each in self.consumer.assignment()}

    def _shut(self) -> None:
        self.consumer.close()

    def commit(self, offsets: Offsets) -> None:
        with translated():
            self.in_its_thread(lambda: self.consumer.commit(_to_offsets(offsets)))

    def committed(self, partitions: Sequence[TopicAndPartition]) -> dict[TopicAndPartition, Committed]:
        def ask() -> dict[TopicAndPartition, Committed]:
            found = {
                each: self.consumer.committed(TopicPartition(*each), metadata=True) for each in partitions
            }
            return {each: Committed(at.offset, at.metadata) for each, at in found.items() if at is not None}

        with translated():
            return self.in_its_thread(ask)


class KafkaPythonTransactionalProducer(TransactionalProducer):
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            max_block_ms=30_000,
            request_timeout_ms=15_000,
            delivery_timeout_ms=25_000,
        )
        with translated():
            self._producer.init_transactions()

    def begin(self) -> None:
        with translated():
            self._producer.begin_transaction()

    def send(self, topic: str, records: Sequence[Record]) -> None:
        with translated():
            futures = [
                self._producer.send(
                    topic,
                    record.value,
                    record.key,
                    list(record.headers),
                    record.partition,
                    record.timestamp,
                )
                for record in records
            ]
            for future in futures:
                future.get(TIMEOUT_SECONDS)

    def send_offsets(self, offsets: Offsets, member: Member) -> None:
        assert isinstance(member, KafkaPythonMember)
        group = member.in_its_thread(lambda: member.consumer.group_metadata())
        with translated():
            self._producer.send_offsets_to_transaction(_to_offsets(offsets), group)

    def commit(self) -> None:
        with translated():
            self._producer.commit_transaction()

    def abort(self) -> None:
        with translated():
            self._producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(timeout=0)


class KafkaPythonGroups(Client):
    group_protocols = ("classic", "cooperative")
    describes_consumer_groups = False

    @contextmanager
    def _admin(self) -> Iterator[KafkaAdminClient]:
        raise NotImplementedError

    def open_member(self, membership: Membership) -> Member:
        return KafkaPythonMember(self.bootstrap, membership).start()

    def list_groups(
        self, *, states: Sequence[str] = (), kinds: Sequence[str] = ()
    ) -> dict[str, GroupListing]:
        with self._admin() as admin:
            listed = admin.list_groups(states_filter=list(states), types_filter=list(kinds))
        return {
            group["group_id"]: GroupListing(
                group["protocol_type"], group["group_state"], group["group_type"].lower()
            )
            for group in listed
        }

    def describe_group(self, group: str) -> GroupInfo:
        with self._admin() as admin:
            described = admin.describe_groups([group])[group]
        if described["error"] is not None:
            raise ClientError(self._code_in(described["error"]), described["error"])
        members = tuple(self._member_info(node) for node in described["members"])
        return GroupInfo(described["group_state"], None, described["protocol_data"], members)

    @staticmethod
    def _code_in(text: str) -> int:
        """An error comes as text only, with its number in brackets."""
        return int(text.partition("[Error ")[2].partition("]")[0] or -1)

    @staticmethod
    def _member_info(node: Mapping[str, Any]) -> MemberInfo:
        assigned = node["member_assignment"] or {"assigned_partitions": []}
        places = frozenset(
            (topic["topic"], number)
            for topic in assigned["assigned_partitions"]
            for number in topic["partitions"]
        )
        identity = (node["member_id"], node["group_instance_id"], node["client_id"], node["client_host"])
        return MemberInfo(*identity, places)

    def delete_group(self, group: str) -> None:
        with self._admin() as admin:
            said = admin.delete_groups([group])[group]
        if said != "OK":
            _check(getattr(kafka_errors, said))

    def group_offsets(self, group: str) -> dict[TopicAndPartition, Committed]:
        with self._admin() as admin:
            found = admin.list_group_offsets(group)[group]
        return {
            (place.topic, place.partition): Committed(at.offset, at.metadata) for place, at in found.items()
        }

    def alter_group_offsets(self, group: str, offsets: Offsets) -> None:
        with self._admin() as admin:
            for kind in admin.alter_group_offsets(group, _to_offsets(offsets)).values():
                _check(kind)

    def delete_group_offsets(self, group: str, partitions: Sequence[TopicAndPartition]) -> None:
        wanted = [TopicPartition(*each) for each in partitions]
        with self._admin() as admin:
            for kind in admin.delete_group_offsets(group, wanted).values():
                _check(kind)

    def remove_static_member(self, group: str, instance_id: str) -> None:
        with self._admin() as admin:
            answer = admin.remove_group_members(group, [MemberToRemove(group_instance_id=instance_id)])
        for kind in answer.values():
            _check(kind)

    def open_transactional_producer(
        self, transactional_id: str, *, timeout_ms: int = 60_000
    ) -> TransactionalProducer:
        return KafkaPythonTransactionalProducer(self.bootstrap, transactional_id, timeout_ms)

    def transform(
        self, source: str, target: str, group: str, transactional_id: str, count: int, *, commit: bool
    ) -> None:
        transform_step_by_step(self, source, target, group, transactional_id, count, commit)

    def describe_transaction(self, transactional_id: str) -> TransactionInfo:
        with self._admin() as admin:
            found = admin.describe_transactions([transactional_id])[transactional_id]
        places = frozenset((each.topic, each.partition) for each in found.topic_partitions)
        return TransactionInfo(
            found.state.value,
            found.producer_id,
            found.producer_epoch,
            found.transaction_timeout_ms,
            places,
        )

    def list_transactions(self) -> dict[str, str]:
        with self._admin() as admin:
            listed = admin.list_transactions()
        return {
            found.transactional_id: found.state.value
            for of_one_broker in listed.values()
            for found in of_one_broker
        }
