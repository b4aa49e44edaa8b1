"""The consumer itself, without its faces: `KafkaConsumer` and `AsyncKafkaConsumer` show what is here.

librdkafka fetches, rebalances and commits in threads of its own; what it has to say waits in one queue, which `poll`
serves. Three rules keep records from getting lost between it and the user:

- What was fetched is in the progress (see `consumer_progress`) before anything can be raised. An exception in a
  callback would make librdkafka drop what it was about to return, so none leaves one: it is kept, and raised when the
  records are safe.
- Waiting is done in slices, between which signals arrive, `wakeup` is heard and the time that is lost is watched.
- A partition that was assigned is started after the listener was told, at the offsets that the listener sought.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import ParamSpec, TypeVar

from penstock.client.config import ConsumerConfig
from penstock.client.consumer.commits import CommitCallback, Commits, Committed, OffsetsToCommit, to_native
from penstock.client.consumer.decode import Decoder, OnDeserializationError, plain_records, plain_turn
from penstock.client.consumer.errors import ConsumerErrors
from penstock.client.consumer.fetched_batch import FetchedBatch
from penstock.client.consumer.look import Wanted, look
from penstock.client.consumer.lookups import Lookups
from penstock.client.consumer.partitions import Partitions, Topics
from penstock.client.consumer.progress import Progress, Turn
from penstock.client.consumer.rebalance import Listeners
from penstock.client.consumer.stall import Stall
from penstock.client.consumer.state import IS_LOOKED_INTO, ConsumerState, Facts, Finding, decide_state
from penstock.client.consumer.use import OneThreadAtATime, WakeupError
from penstock.client.librdkafka import (
    BrokerTroubles,
    Consumer,
    KafkaException,
    Message,
    NativeTopicPartition,
    client_error,
    config_error,
    error_of,
    with_diagnostics,
)
from penstock.client.records import ConsumerRecord, OffsetAndMetadata
from penstock.client.serializers import resolve_deserializer
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError, RetriableError, error_for

logger = logging.getLogger("penstock.client")

P = ParamSpec("P")
T = TypeVar("T")

SLICE_SECONDS = 0.1
"""How long librdkafka may wait before signals and wakeups are looked at."""
MOST_AT_ONCE = 600
"""Messages stay below the 700 new objects at which Python's garbage collector starts to look at them: with larger
batches it would take a fifth of the time. Records count as well, unless they are bytes."""
FILL_SECONDS = 0.005
"""How long a batch that is far behind the end may take to get full."""
NO_GROUP = "penstock-without-a-group"
"""librdkafka wants a group's name even where there is none; it is never joined, and nothing is committed to it."""
_error_of_message = Message.error


class ConsumerCore:
    def __init__(
        self,
        config: ConsumerConfig,
        on_deserialization_error: OnDeserializationError = "raise",
        what: str = "KafkaConsumer",
    ) -> None:
        self.config = config
        self._use = OneThreadAtATime(what)
        self._decoder = Decoder(
            resolve_deserializer(config.key_deserializer, "key", config),
            resolve_deserializer(config.value_deserializer, "value", config),
            on_deserialization_error,
        )
        self._max_poll_records = config.max_poll_records
        self._most_at_once = MOST_AT_ONCE if self._decoder.is_plain else MOST_AT_ONCE // 2
        self._troubles = BrokerTroubles()
        self._errors = ConsumerErrors(self._troubles)
        self._commits = Commits(self._troubles)
        self._native = self._make_native()
        self._progress = Progress(self._native)
        self._stall = Stall(self._facts, self._look)
        self._errors.on_finding = self._stall.found
        self._lookups = Lookups(self._native, self._troubles)
        self._partitions = Partitions(
            *(self._native, config, self._progress, self._lookups, self._errors),
            before_they_go=self._commit_before_they_go,
            on_change=self._stall.ended,
        )
        self._commits_by_itself = config.enable_auto_commit and config.group_id is not None
        self._commits_early = bool(config["enable.auto.offset.store"])
        self._next_commit = 0.0
        self._watermarks: dict[TopicPartition, int] = {}
        self._stop: Callable[[], bool] | None = None
        self._is_behind = False
        self._is_woken = False
        self.is_closed = False

    def _make_native(self) -> Consumer:
        settings = {
            **with_diagnostics(self.config.for_librdkafka(), self._troubles),
            "error_cb": self._errors.kept_from(self._errors.on_error),
            "on_commit": self._errors.kept_from(self._commits.on_commit),
            "enable.partition.eof": True,
            "enable.auto.commit": False,  # it is done here, after what was processed is known
            "enable.auto.offset.store": False,
        }
        settings.setdefault("group.id", NO_GROUP)
        try:
            return Consumer(settings)
        except KafkaException as error:
            raise config_error(error) from error

    # records

    def poll(
        self, timeout: float | None, max_records: int | None = None, stop: Callable[[], bool] | None = None
    ) -> list[ConsumerRecord]:
        """Until there are records, the time is up, or `stop` says so."""
        with self._use:
            self._stop = stop
            deadline = None if timeout is None else time.monotonic() + timeout
            most = max_records or self._max_poll_records
            while True:
                messages = self._next_messages(most, deadline)
                records = self._to_records(messages)
                if records or not messages:
                    return records

    def poll_batch(self, timeout: float | None, max_records: int | None = None) -> FetchedBatch:
        if not self._decoder.is_plain:
            records = self.poll(timeout, max_records)
            return FetchedBatch([record._message for record in records], records)
        with self._use:
            self._stop = None
            deadline = None if timeout is None else time.monotonic() + timeout
            return FetchedBatch(self._next_messages(max_records or self._max_poll_records, deadline))

    def _to_records(self, messages: list[Message]) -> list[ConsumerRecord]:
        if self._decoder.is_plain:
            return plain_records(messages)
        later = list(self._progress.pending)
        try:
            records, done = self._decoder.records(messages)
        except RetriableError:
            self._progress.hand_out_later([*messages, *later])
            raise
        except Exception:  # of the first message, which is handed out by raising it
            self._progress.hand_out_later([*messages[1:], *later])
            raise
        if done < len(messages):
            self._progress.hand_out_later([*messages[done:], *later])
        return records

    def _next_messages(self, most: int, deadline: float | None) -> list[Message]:
        """Those that were fetched earlier and not handed out, or new ones; none if the time is up."""
        pending = self._progress.pending
        if pending:
            self._progress.ask_on()
            return [pending.popleft() for _ in range(min(most, len(pending)))]
        return self._fetch(most, deadline)

    def iterate(self, timeout: float | None) -> Iterator[ConsumerRecord]:
        """Record by record; ends when the consumer is closed, or nothing came for so long."""
        turns = self._plain_turns if self._decoder.is_plain else self._decoded_turns
        return chain.from_iterable(turns(timeout))

    def _plain_turns(self, timeout: float | None) -> Iterator[Iterator[ConsumerRecord]]:
        while (turn := self._next_turn(timeout)) is not None:
            yield plain_turn(*turn)

    def _decoded_turns(self, timeout: float | None) -> Iterator[Iterator[ConsumerRecord]]:
        while (turn := self._next_turn(timeout)) is not None:
            messages, _list = turn
            yield filter(None, map(self._decoded, messages))

    def _next_turn(self, timeout: float | None) -> Turn | None:
        if self.is_closed:
            return None
        with self._use:
            self._stop = None
            if self._progress.pending:
                return self._progress.go_on_in_turn()
            messages = self._fetch(
                self._max_poll_records, None if timeout is None else time.monotonic() + timeout
            )
            return self._progress.begin_turn(messages) if messages else None

    def fill(self, timeout: float | None, stop: Callable[[], bool]) -> bool:
        """Gets records to hand out one by one with `next_at_hand`; False if there are none."""
        with self._use:
            self._stop = stop
            if not self._progress.pending:
                deadline = None if timeout is None else time.monotonic() + timeout
                self._progress.hand_out_one_by_one(self._fetch(self._max_poll_records, deadline))
            return bool(self._progress.pending)

    def next_at_hand(self) -> ConsumerRecord | None:
        pending = self._progress.pending
        while pending:
            record = self._decoded(pending.popleft())
            if record is not None:
                return record
        return None

    def _decoded(self, message: Message) -> ConsumerRecord | None:
        """None if it cannot be read; what can be read later stays where it was."""
        try:
            return self._decoder.record(message)
        except RetriableError:
            self._progress.take_back([message])
            raise

    def _fetch(self, most: int, deadline: float | None) -> list[Message]:
        """What was handed out before counts as processed from here on."""
        self.require_open("poll")
        progress = self._progress
        progress.settle()
        while True:
            self._partitions.start()
            if self._commits_by_itself and time.monotonic() >= self._next_commit:
                self._commit_by_itself()
            messages = self._serve(min(most, self._most_at_once), deadline)
            if messages:
                progress.begin(messages)
                self._stall.ended()
            if self._is_woken or self._errors.are_kept:
                self._raise_what_happened(messages)
            if messages or self._is_time_up(deadline) or (self._stop is not None and self._stop()):
                return messages
            self._stall.goes_on()

    def _serve(self, most: int, deadline: float | None) -> list[Message]:
        """One slice: what is there already, or what comes while it lasts."""
        fill = FILL_SECONDS if self._is_behind else 0
        try:
            messages = self._native.consume(most, fill)
            if not messages and not self._is_woken:
                messages = self._wait(most, fill, deadline)
        except KafkaException as error:
            raise client_error(error_of(error), "poll", self._troubles) from error
        except BaseException as error:
            self._partitions.go_back()
            self._errors.raise_kept()
            if "without setting an exception" in str(error):  # a signal came while librdkafka ran a callback
                raise KeyboardInterrupt from error
            raise
        self._is_behind = 2 * len(messages) > most
        return self._errors.sort_out(messages) if any(map(_error_of_message, messages)) else messages

    def _wait(self, most: int, fill: float, deadline: float | None) -> list[Message]:
        left = SLICE_SECONDS if deadline is None else deadline - time.monotonic()
        first = self._native.poll(max(0.0, min(left, SLICE_SECONDS)))
        if first is None or most == 1:
            return [] if first is None else [first]
        return [first, *self._native.consume(most - 1, fill)]

    @staticmethod
    def _is_time_up(deadline: float | None) -> bool:
        return deadline is not None and time.monotonic() >= deadline

    def _raise_what_happened(self, messages: list[Message]) -> None:
        """The records, if there are some, are for the next who asks."""
        self._progress.hand_out_later(messages)
        self._errors.raise_kept()
        self._is_woken = False
        raise WakeupError("wakeup() was called")

    def take_back(self, records: list[ConsumerRecord]) -> None:
        """Records that `poll` returned, but that did not reach the user."""
        self._progress.take_back([record._message for record in records])

    def wakeup(self) -> None:
        self._is_woken = True

    # offsets

    def commit(self, offsets: OffsetsToCommit | None) -> Committed:
        with self._use:
            return self._commits.now(self._native, self._to_commit(offsets))

    def commit_async(self, offsets: OffsetsToCommit | None, callback: CommitCallback | None) -> None:
        with self._use:
            kept = None if callback is None else self._errors.kept_from(callback)
            self._commits.soon(self._native, self._to_commit(offsets), kept)

    def _to_commit(self, offsets: OffsetsToCommit | None) -> list[NativeTopicPartition]:
        self.require_open("commit")
        if self.config.group_id is None:
            raise error_for(ErrorCode.INVALID_GROUP_ID, "commit: group.id is missing")
        return list(self._progress.handed_out().values()) if offsets is None else to_native(offsets)

    def _commit_by_itself(self) -> None:
        self._next_commit = time.monotonic() + self.config.auto_commit_interval_ms / 1000
        offsets = self._progress.uncommitted(self._progress.assigned, early=self._commits_early)
        self._commits.soon(self._native, offsets.values(), self._on_own_commit)

    def _on_own_commit(self, offsets: Committed, error: KafkaError | None) -> None:
        if error is not None:
            logger.warning("%s; it is tried again", error.message)
            self._progress.forget_what_was_asked()

    def _commit_before_they_go(self, partitions: Iterable[TopicPartition]) -> bool:
        """False if they are gone already."""
        if not self._commits_by_itself:
            return True
        return self._commits.before_they_go(self._native, self._progress.uncommitted(partitions))

    def positions(self) -> dict[TopicPartition, OffsetAndMetadata]:
        with self._use:
            found = self._progress.handed_out().items()
            return {key: OffsetAndMetadata(each.offset, "", each.leader_epoch) for key, each in found}

    def position(self, partition: TopicPartition, timeout: float) -> int:
        with self._use:
            chosen = TopicPartition(*partition)
            if not self._progress.is_assigned(chosen):
                raise KafkaError(f"position: {chosen} is not assigned to this consumer")
            known = self._progress.handed_out().get(chosen)
            return known.offset if known is not None else self._start_offset(chosen, timeout)

    def _start_offset(self, partition: TopicPartition, timeout: float) -> int:
        """Where a partition that nothing was read of will be read from."""
        if self.config.group_id is not None:
            committed = self._lookups.committed([partition], timeout)[partition]
            if committed is not None:
                return committed.offset
        first, end = self._lookups.watermarks([partition], timeout)[partition]
        if self.config.auto_offset_reset == "none":
            message = f"{partition} has no committed offset, and auto.offset.reset is none: seek"
            raise error_for(ErrorCode.OFFSET_OUT_OF_RANGE, message)
        return first if self.config.auto_offset_reset == "earliest" else end

    # what is wanted, and what is there

    def subscribe(self, topics: Topics, listeners: Listeners) -> None:
        self._call("subscribe", self._partitions.subscribe, topics, listeners)

    def assign(self, partitions: Iterable[TopicPartition] | Mapping[TopicPartition, int]) -> None:
        self._call("assign", self._partitions.assign, partitions)

    def unsubscribe(self) -> None:
        with self._use:
            self.require_open("unsubscribe")
            self._progress.settle_at_the_end(all_processed=True)
            self._partitions.unsubscribe()
            self._errors.raise_kept()

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        for partition, offset in offsets.items():
            self._call("seek", self._partitions.seek, TopicPartition(*partition), offset)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        self._call("pause", self._partitions.pause, partitions)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        self._call("resume", self._partitions.resume, partitions)

    def _call(self, what: str, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
        with self._use:
            self.require_open(what)
            return function(*arguments, **keywords)

    def require_open(self, what: str) -> None:
        if self.is_closed:
            raise KafkaError(f"{what}: the consumer is closed")

    @property
    def assignment(self) -> list[TopicPartition]:
        return sorted(self._progress.assigned)

    @property
    def paused(self) -> list[TopicPartition]:
        return sorted(self._partitions.paused)

    @property
    def subscription(self) -> list[str]:
        return list(self._partitions.names)

    # asking

    def committed(
        self, partitions: Iterable[TopicPartition], timeout: float
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        if self.config.group_id is None:
            raise error_for(ErrorCode.INVALID_GROUP_ID, "committed: group.id is missing")
        return self._call("committed", self._lookups.committed, partitions, timeout)

    def watermarks(
        self, partitions: Iterable[TopicPartition], timeout: float
    ) -> dict[TopicPartition, tuple[int, int]]:
        return self._call("offsets", self._lookups.watermarks, partitions, timeout)

    def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int], timeout: float
    ) -> dict[TopicPartition, int | None]:
        return self._call("offsets_for_times", self._lookups.offsets_for_times, times_ms, timeout)

    def topics(self, timeout: float) -> dict[str, list[TopicPartition]]:
        return self._call("topics", self._lookups.topics, timeout)

    def partitions_for(self, topic: str, timeout: float) -> list[TopicPartition]:
        return self._call("partitions_for", self._lookups.partitions_for, topic, timeout)

    def group_metadata(self) -> object:
        return self._call("group_metadata", self._native.consumer_group_metadata)

    # what it waits for

    @property
    def state(self) -> ConsumerState:
        return self._stall.state()

    def _facts(self) -> Facts:
        if self.is_closed:
            return Facts(is_closed=True)
        assigned = self._progress.assigned
        handed_out = {key: each.offset for key, each in self._progress.handed_out().items()}
        ends = self._errors.ends
        pattern = self._partitions.pattern
        return Facts(
            wanted=", ".join(self._partitions.names)
            or (f"topics that match {pattern.pattern}" if pattern else ""),
            unmatched=pattern.pattern if pattern and not self._partitions.names else "",
            group_id=self.config.group_id or "",
            assigned=assigned,
            paused=frozenset(self._partitions.paused),
            positions={**ends, **handed_out},
            ends={
                key: max(ends.get(key, -1), self._watermarks.get(key, -1))
                for key in {*ends, *self._watermarks}
            },
            trouble=self._troubles.explain(),
            reads_committed=self.config.isolation_level == "read_committed",
        )

    def _refresh_watermarks(self) -> None:
        """What librdkafka has heard of the ends of partitions, which may be behind open transactions."""
        cached = self._native.get_watermark_offsets
        ends = {key: cached(NativeTopicPartition(*key), cached=True)[1] for key in self._progress.assigned}
        self._watermarks = {key: end for key, end in ends.items() if end >= 0}

    def _look(self) -> Finding | None:
        """Asks the cluster, unless it is clear that nothing is wrong."""
        self._refresh_watermarks()
        facts = self._facts()
        if not facts.trouble and decide_state(facts, None, 0.0).waits_for not in IS_LOOKED_INTO:
            return None
        member_id = self._native.memberid() or ""
        group_id = None if self._partitions.are_by_hand else self.config.group_id
        return look(
            self.config.given,
            Wanted(self._partitions.names, self._progress.assigned, group_id, member_id),
        )

    # the end

    def close(self, *, all_processed: bool) -> None:
        """Commits what was processed, if that is done by itself, and leaves the group."""
        with self._use:
            if self.is_closed:
                return
            self._progress.settle_at_the_end(all_processed=all_processed or self._commits_early)
            try:
                self._commit_before_they_go(self._progress.assigned)
                self._native.close()
            finally:
                self.is_closed = True
        self._errors.raise_kept()
