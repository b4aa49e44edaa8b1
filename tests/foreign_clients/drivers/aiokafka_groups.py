"""Groups and transactions with aiokafka: one event loop, in a thread of its own, for all that stays open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.errors import KafkaError, ProducerFenced
from aiokafka.structs import OffsetAndMetadata

from tests.foreign_clients.drivers.model import (
    PRODUCER_FENCED,
    Client,
    ClientError,
    Consumed,
    GroupInfo,
    GroupListing,
    MemberInfo,
    Record,
)
from tests.foreign_clients.drivers.sessions import (
    ANSWER_TIMEOUT_SECONDS,
    HEARTBEAT_INTERVAL_MS,
    METADATA_MAX_AGE_MS,
    SESSION_TIMEOUT_MS,
    Committed,
    Member,
    Membership,
    Offsets,
    TopicAndPartition,
    TransactionalProducer,
    transform_step_by_step,
)

TIMESTAMP_TYPES = {0: "CreateTime", 1: "LogAppendTime"}
T = TypeVar("T")


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except ProducerFenced as failure:
        raise ClientError(PRODUCER_FENCED, repr(failure)) from failure
    except KafkaError as failure:
        raise ClientError(getattr(failure, "errno", -1), repr(failure)) from failure


def consumed(found: Any) -> Consumed:
    record = Record(found.value, found.key, tuple(found.headers), found.timestamp, found.partition)
    return Consumed(record, found.offset, TIMESTAMP_TYPES.get(found.timestamp_type))


def _to_offsets(offsets: Offsets) -> dict[Any, Any]:
    return {
        TopicPartition(topic, partition): OffsetAndMetadata(at.offset, at.metadata)
        for (topic, partition), at in offsets.items()
    }


class LoopThread:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        async def started() -> T:
            return await operation()

        with translated():
            future = asyncio.run_coroutine_threadsafe(started(), self._loop)
            return future.result(ANSWER_TIMEOUT_SECONDS)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class AiokafkaMember(Member):
    def __init__(self, loop: LoopThread, bootstrap: str, membership: Membership) -> None:
        self._loop = loop
        self._bootstrap = bootstrap
        self.membership = membership
        self._seen: list[Consumed] = []
        self._rebalances = 0
        self._revoked: list[TopicAndPartition] = []
        self._failure: BaseException | None = None
        loop.run(self._open)

    async def _open(self) -> None:
        wanted = self.membership
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            group_id=wanted.group,
            group_instance_id=wanted.instance_id,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level=wanted.isolation,
            partition_assignment_strategy=(RangePartitionAssignor,),
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            metadata_max_age_ms=METADATA_MAX_AGE_MS,
        )
        if wanted.assigned:
            self._consumer.assign([TopicPartition(*each) for each in wanted.assigned])
        elif wanted.pattern is not None:
            self._consumer.subscribe(pattern=wanted.pattern, listener=self._listener())
        else:
            self._consumer.subscribe(list(wanted.topics), listener=self._listener())
        # With a subscription, starting waits until the member has joined, which others may hold up.
        self._reading = asyncio.create_task(self._read())

    def _listener(self) -> ConsumerRebalanceListener:
        member = self

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
            def on_partitions_revoked(self, revoked: Any) -> None:
                member._revoked += [(each.topic, each.partition) for each in revoked]

            def on_partitions_assigned(self, assigned: Any) -> None:
                member._rebalances += 1

        return Listener()

    async def _read(self) -> None:
        try:
            await self._consumer.start()
            while True:
                batches = await self._consumer.getmany(timeout_ms=200)
                self._seen += [consumed(each) for records in batches.values() for each in records]
        except Exception as failure:
            self._failure = failure

    def _raise_failure(self) -> None:
        with translated():
            if self._failure is not None:
                raise self._failure

    def assignment(self) -> set[TopicAndPartition]:
        self._raise_failure()
        return {(each.topic, each.partition) for each in self._consumer.assignment()}

    def records(self) -> list[Consumed]:
        self._raise_failure()
        return list(self._seen)

    def rebalances(self) -> int:
        return self._rebalances

    def revoked(self) -> list[TopicAndPartition]:
        return list(self._revoked)

    def commit(self, offsets: Offsets) -> None:
        self._loop.run(lambda: self._consumer.commit(_to_offsets(offsets)))

    def committed(self, partitions: Sequence[TopicAndPartition]) -> dict[TopicAndPartition, Committed]:
        """Its consumer tells offsets without their metadata."""

        async def ask() -> dict[TopicAndPartition, Committed]:
            found = {each: await self._consumer.committed(TopicPartition(*each)) for each in partitions}
            return {each: Committed(offset) for each, offset in found.items() if offset is not None}

        return self._loop.run(ask)

    def close(self) -> None:
        async def stop() -> None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            await self._consumer.stop()

        self._loop.run(stop)


class AiokafkaTransactionalProducer(TransactionalProducer):
    def __init__(self, loop: LoopThread, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._loop = loop

        async def start() -> None:
            self._producer = AIOKafkaProducer(
                bootstrap_servers=bootstrap,
                transactional_id=transactional_id,
                transaction_timeout_ms=timeout_ms,
                request_timeout_ms=25_000,
            )
            await self._producer.start()

        loop.run(start)

    def begin(self) -> None:
        self._loop.run(self._producer.begin_transaction)

    def send(self, topic: str, records: Sequence[Record]) -> None:
        async def send() -> None:
            futures = [
                await self._producer.send(
                    topic,
                    record.value,
                    record.key,
                    record.partition,
                    record.timestamp,
                    list(record.headers),
                )
                for record in records
            ]
            for future in futures:
                await future

        self._loop.run(send)

    def send_offsets(self, offsets: Offsets, member: Member) -> None:
        assert isinstance(member, AiokafkaMember)
        group = member.membership.group
        self._loop.run(lambda: self._producer.send_offsets_to_transaction(_to_offsets(offsets), group))

    def commit(self) -> None:
        self._loop.run(self._producer.commit_transaction)

    def abort(self) -> None:
        self._loop.run(self._producer.abort_transaction)

    def close(self) -> None:
        self._loop.run(self._producer.stop)


class AiokafkaGroups(Client):
    filters_groups = False
    describes_consumer_groups = False
    unknown_group_is_dead = True
    _loop: LoopThread | None = None

    def _administer(self, operation: Callable[[AIOKafkaAdminClient], Awaitable[T]]) -> T:
        raise NotImplementedError

    def _loop_thread(self) -> LoopThread:
        if self._loop is None:
            self._loop = LoopThread()
        return self._loop

    def close(self) -> None:
        if self._loop is not None:
            self._loop.close()

    def open_member(self, membership: Membership) -> Member:
        return AiokafkaMember(self._loop_thread(), self.bootstrap, membership)

    def list_groups(
        self, *, states: Sequence[str] = (), kinds: Sequence[str] = ()
    ) -> dict[str, GroupListing]:
        listed = self._administer(lambda admin: admin.list_consumer_groups())
        return {group[0]: GroupListing(group[1], None, None) for group in listed}

    def describe_group(self, group: str) -> GroupInfo:
        [answer] = self._administer(lambda admin: admin.describe_consumer_groups([group]))
        [(code, _name, state, _kind, assignor, members, *_)] = answer.groups
        if code:
            raise ClientError(code, f"describing {group}")
        return GroupInfo(state, None, assignor, tuple(self._member_info(member) for member in members))

    @staticmethod
    def _member_info(member: Sequence[Any]) -> MemberInfo:
        *_, client_id, host, _metadata, assignment = member
        places = ConsumerProtocolMemberAssignment.decode(assignment).partitions() if assignment else []
        instance_id = member[1] if len(member) > 5 else None
        return MemberInfo(
            member[0],
            instance_id,
            client_id,
            host,
            frozenset((each.topic, each.partition) for each in places),
        )

    def group_offsets(self, group: str) -> dict[TopicAndPartition, Committed]:
        found = self._administer(lambda admin: admin.list_consumer_group_offsets(group))
        return {
            (place.topic, place.partition): Committed(at.offset, at.metadata) for place, at in found.items()
        }

    def open_transactional_producer(
        self, transactional_id: str, *, timeout_ms: int = 60_000
    ) -> TransactionalProducer:
        return AiokafkaTransactionalProducer(
            self._loop_thread(), self.bootstrap, transactional_id, timeout_ms
        )

    def transform(
        self, source: str, target: str, group: str, transactional_id: str, count: int, *, commit: bool
    ) -> None:
        transform_step_by_step(self, source, target, group, transactional_id, count, commit)
