"""Drives the machines of one internal topic: one machine per partition that this broker leads.

A shard is a machine and its partition. Whoever asks goes through `Shards.ask` (the answer to a client) or
`Shards.call` (an answer that the broker itself awaits); both run a handler of the machine and carry out what it
returns, in the order that `penstock.machine` promises. All of it happens in one step of the event loop, so no
two requests see each other half done.

A shard is loaded when the broker comes to lead its partition: the log is read in pieces, so that other requests go on,
and meanwhile whoever asks is told COORDINATOR_LOAD_IN_PROGRESS.

When an append fails because the disk does, the machine's soft state may be ahead of its log. Then the shard is dropped,
those who wait in it are told NOT_COORDINATOR, and it is loaded again if the directory still works.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar, cast

from penstock.broker.internal_topics import InternalTopic, partition_for
from penstock.broker.partition import Partition
from penstock.broker.shard_log import build_batches, read_batches
from penstock.broker.tickets import Await, Call
from penstock.broker.timers import Timers
from penstock.clock import Clock
from penstock.controller.image import ClusterImage, TopicImage
from penstock.errors import ApiError, ErrorCode, PenstockError
from penstock.machine import Machine, Outcome, Producer, RecordContext, Ticket, TimerKey
from penstock.records.batch import Batch
from penstock.records.control import read_end_transaction_marker
from penstock.records.reader import iterate_records
from penstock.replica.replica_set import NO_LEADER
from penstock.wire.schema import ApiMessage
from penstock.wire.stored_records import decode_key, decode_value

log = logging.getLogger("penstock.broker.shards")

MachineT = TypeVar("MachineT", bound=Machine)
Handle = Callable[[MachineT, Ticket, int], Outcome]
"""Asks a machine: (machine, ticket, now_ms) -> what is to be done."""

WRITE_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""What a client is told when the coordinator's own write fails."""

COORDINATOR_IS_AWAY = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""With these a coordinator may be there, or elsewhere, when it is asked again."""


TELL_AGAIN_SECONDS = 10.0


class Shard(Generic[MachineT]):
    def __init__(self, shards: "Shards[MachineT]", partition: Partition) -> None:
        self.shards = shards
        self.partition = partition
        self.machine = shards.make_machine(partition.topic_partition.partition)
        self.is_active = False
        self._is_closed = False
        self.timers = Timers(asyncio.get_running_loop(), self._on_timer)
        self._uncommitted: deque[tuple[int, Outcome]] = deque()
        self._tickets: set[Call | Await] = set()

    # loading

    async def load(self) -> None:
        """Ends without effect if the partition's leadership is lost meanwhile."""
        position = self.partition.log.log_start_offset
        while position < self.partition.log.log_end_offset and not self._is_closed:
            for batch in await read_batches(self.partition.log, position):
                self._replay_batch(batch)
                position = batch.next_offset
            position = max(position, self.partition.log.log_start_offset)
        if not self._is_closed:
            self._become_active()

    def load_at_once_if_empty(self) -> bool:
        if self.partition.log.log_start_offset < self.partition.log.log_end_offset:
            return False
        self._become_active()
        return True

    def _become_active(self) -> None:
        self.is_active = True
        self._carry_out(self.machine.on_loaded(self.shards.now_ms()))

    def _replay_batch(self, batch: Batch) -> None:
        producer = Producer(batch.producer_id, batch.producer_epoch) if batch.is_transactional else None
        if batch.is_control:
            marker = read_end_transaction_marker(batch)
            if marker is not None and producer is not None:
                self.machine.replay_end_transaction(producer, is_commit=marker.is_commit)
            return
        types = self.machine.RECORD_TYPES
        for record in iterate_records(batch):
            key = decode_key(types, record.key or b"")
            if key is None:
                continue
            value = None if record.value is None else decode_value(types, key.RECORD_TYPE, record.value)
            self.machine.replay(key, value, RecordContext(record.offset, record.timestamp, producer))

    # asking

    def run(self, handle: Handle[MachineT], ticket: Call | Await) -> None:
        try:
            outcome = handle(self.machine, ticket, self.shards.now_ms())
        except ApiError as error:
            ticket.refuse(error)
            return
        self._tickets.add(ticket)
        self._carry_out(outcome)

    def run_unasked(self, handle: Callable[[MachineT, int], Outcome]) -> None:
        """Lets the machine act by itself: a timer, news of the cluster, the end of an effect."""
        if self.is_active:
            self._carry_out(handle(self.machine, self.shards.now_ms()))

    def _on_timer(self, key: Hashable) -> None:
        self.run_unasked(lambda machine, now_ms: machine.on_timer(cast(TimerKey, key), now_ms))

    def _carry_out(self, outcome: Outcome) -> None:
        if outcome.records:
            try:
                self._write(outcome)
            except ApiError as error:
                self._on_write_failed(outcome, error)
                return
        for timer in outcome.timers:
            if timer.delay_ms is None:
                self.timers.stop(timer.key)
            else:
                self.timers.start(timer.key, timer.delay_ms)
        end_offset = self.partition.log.log_end_offset
        if self.partition.high_watermark >= end_offset and not self._uncommitted:
            self._finish(outcome)
        else:
            self._uncommitted.append((end_offset, outcome))
            self.partition.waiters[self] = None

    def _write(self, outcome: Outcome) -> None:
        now_ms = self.shards.now_ms()
        batches = build_batches(outcome.records, outcome.producer, now_ms, self.partition.log.settings)
        offset = self.partition.append_as_coordinator(batches, now_ms).first_offset
        for index, record in enumerate(outcome.records):
            context = RecordContext(offset + index, now_ms, outcome.producer)
            self.machine.replay(record.key, record.value, context)

    def _on_write_failed(self, outcome: Outcome, error: ApiError) -> None:
        log.warning("coordinator %s can't write: %s", self.partition.topic_partition, error)
        refusal = ApiError(WRITE_ERRORS.get(error.code, error.code))
        for ticket, _ in outcome.replies:
            self._take(ticket).refuse(refusal)
        if error.code == ErrorCode.KAFKA_STORAGE_ERROR:
            self.shards.unload(self.partition)
        elif outcome.on_refused is not None:
            self._carry_out(outcome.on_refused(refusal.code))

    def on_progress(self) -> None:
        """The high watermark has moved."""
        high_watermark = self.partition.high_watermark
        while self._uncommitted and self._uncommitted[0][0] <= high_watermark:
            self._finish(self._uncommitted.popleft()[1])
        if not self._uncommitted:
            self.partition.waiters.pop(self, None)

    def _finish(self, outcome: Outcome) -> None:
        for ticket, response in outcome.replies:
            self._take(ticket).reply(response)
        for effect in outcome.effects:
            self.shards.begin_effect(self, effect)

    def _take(self, ticket: Ticket) -> Call | Await:
        mine = cast(Call | Await, ticket)
        self._tickets.discard(mine)
        return mine

    # transactions

    def end_transaction(
        self,
        producer: Producer,
        is_commit: bool,
        coordinator_epoch: int,
        transaction_version: int,
        *,
        now_ms: int,
    ) -> None:
        """Writes the marker that decides on what a transaction wrote here."""
        self.partition.append_marker(
            producer, is_commit, coordinator_epoch, transaction_version, now_ms=now_ms
        )
        self.machine.replay_end_transaction(producer, is_commit=is_commit)

    # the end

    def close(self) -> None:
        self.is_active, self._is_closed = False, True
        self.timers.stop_all()
        self.partition.waiters.pop(self, None)
        self._uncommitted.clear()
        for ticket in self._tickets:
            ticket.refuse(ApiError(ErrorCode.NOT_COORDINATOR))
        self._tickets.clear()


class Shards(Generic[MachineT]):
    """The shards of one internal topic."""

    def __init__(
        self,
        clock: Clock,
        image: ClusterImage,
        topic: InternalTopic,
        create_topic: Callable[[InternalTopic], Awaitable[None]],
        make_machine: Callable[[int], MachineT],
        begin_effect: Callable[[Shard[MachineT], Any], None] | None = None,
    ) -> None:
        self.clock = clock
        self.image = image
        self.topic = topic
        self._create_topic = create_topic
        self.make_machine = make_machine
        self._begin_effect = begin_effect
        self._shards: dict[int, Shard[MachineT]] = {}
        self._loading: set[asyncio.Task[None]] = set()
        self._told_at = -TELL_AGAIN_SECONDS

    def now_ms(self) -> int:
        return self.clock.now_ms()

    def begin_effect(self, shard: Shard[MachineT], effect: Any) -> None:
        assert self._begin_effect is not None, effect
        self._begin_effect(shard, effect)

    # finding

    async def ensure_topic(self) -> None:
        """Creates the topic on first use; says in the log if it can't, though not with every client that asks."""
        if self.topic.name in self.image.topics:
            return
        try:
            await self._create_topic(self.topic)
        except ApiError as error:
            now = asyncio.get_running_loop().time()
            if now - self._told_at >= TELL_AGAIN_SECONDS:
                self._told_at = now
                log.error("no coordinator is available: %s", error.message)
            raise

    def partition_count(self) -> int:
        topic = self.image.topics.get(self.topic.name)
        return 0 if topic is None else len(topic.partitions)

    def leader_of(self, key: str) -> int:
        """The broker that leads the partition that is responsible for a key."""
        topic = self.image.topics.get(self.topic.name)
        if topic is None:
            return NO_LEADER
        return topic.partitions[partition_for(key, len(topic.partitions))].leader

    def find(self, key: str) -> Shard[MachineT]:
        """The shard that is responsible for a key; an ApiError if it is not (yet) here."""
        count = self.partition_count()
        return self.at(partition_for(key, count)) if count else self.at(-1)

    def at(self, index: int) -> Shard[MachineT]:
        shard = self._shards.get(index)
        if shard is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        if not shard.is_active:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return shard

    def __iter__(self) -> Iterator[Shard[MachineT]]:
        return iter(list(self._shards.values()))

    # asking

    def ask(
        self, key: str, handle: Handle[MachineT], refuse: Callable[[ApiError], ApiMessage]
    ) -> ApiMessage | Call:
        """The answer to a client, or the ticket that will get it. `refuse` makes the answer for an error."""
        call = Call(refuse)
        try:
            self.find(key).run(handle, call)
        except ApiError as error:
            return refuse(error)
        return call if call.response is None else call.response

    def begin_call(self, key: str, handle: Handle[MachineT]) -> "asyncio.Future[Any]":
        """The machine's answer, for the broker itself, or the ApiError that a client would be told.

        The machine is asked at once; if nothing has to be waited for, so is the future done.
        """
        ticket = Await(asyncio.get_running_loop())
        try:
            self.find(key).run(handle, ticket)
        except ApiError as error:
            ticket.refuse(error)
        return ticket.future

    async def call(self, key: str, handle: Handle[MachineT]) -> Any:
        return await self.begin_call(key, handle)

    # life

    def on_partition(self, partition: Partition) -> None:
        """This broker has come to lead a partition of the topic."""
        shard = Shard(self, partition)
        self._shards[partition.topic_partition.partition] = shard
        if not shard.load_at_once_if_empty():
            task = asyncio.get_running_loop().create_task(self._load(shard))
            self._loading.add(task)
            task.add_done_callback(self._loading.discard)

    async def _load(self, shard: Shard[MachineT]) -> None:
        try:
            await shard.load()
        except PenstockError:
            where = shard.partition.topic_partition
            log.exception("the coordinator %s can't be loaded", where)
            if self._shards.get(where.partition) is shard:
                self._drop(shard.partition)

    def unload(self, partition: Partition) -> None:
        """The shard's state is in doubt; it is loaded anew if the partition still works and is led here."""
        self._drop(partition)
        if partition.leader is not None and not partition.directory.offline:
            self.on_partition(partition)

    def on_partition_lost(self, partition: Partition) -> None:
        self._drop(partition)

    def _drop(self, partition: Partition) -> None:
        shard = self._shards.pop(partition.topic_partition.partition, None)
        if shard is not None:
            shard.close()

    def on_topic_removed(self, topic: TopicImage) -> None:
        if topic.name == self.topic.name:
            for shard in self:
                self._drop(shard.partition)
        else:
            self.on_topics_changed(frozenset({topic.name}))

    def on_topics_changed(self, names: frozenset[str]) -> None:
        for shard in self:
            shard.run_unasked(lambda machine, now_ms: machine.on_topics_changed(names, now_ms))

    def close(self) -> None:
        for task in self._loading:
            task.cancel()
        for shard in self:
            self._drop(shard.partition)
