"""One task as it runs: the pure `Task`, the partitions that it reads, and what becomes of records of no use."""

from __future__ import annotations

import json
import logging
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from penstock.client.librdkafka import Message
from penstock.pipeline.operators.base import Raw
from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.operators.task import InvalidTimestampError, Task
from penstock.pipeline.plan.nodes import Source
from penstock.pipeline.plan.topology import Topology
from penstock.pipeline.tasks.layout import TaskId
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.types import TopicPartition

log = logging.getLogger("penstock.streams")

ERROR_HEADER: Final = "__streams.errors."
LONGEST_NOTE: Final = 3_500
"""Brokers take 4,096 bytes with a position."""
NEVER_WAITS: Final = -1
LONGEST_HEADER: Final = 10_000
"""Characters: an error may repeat all of the record."""
SendAside = Callable[[str, bytes | None, bytes | None, int, list[tuple[str, bytes]]], None]


class LatestChanges:
    """Of a store, since they were written last: one for each of its keys, in the order of the latest ones.

    Nobody sees what a store had in the middle of a transaction, so that its changelog need not tell. Compaction would
    leave as much.
    """

    def __init__(self) -> None:
        self._changes: dict[bytes, tuple[bytes | None, int]] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def take(self, key: bytes, value: bytes | None, timestamp: int) -> None:
        self._changes.pop(key, None)
        self._changes[key] = value, timestamp

    def take_all(self) -> dict[bytes, tuple[bytes | None, int]]:
        taken, self._changes = self._changes, {}
        return taken


class RunningTask:
    def __init__(
        self,
        task_id: TaskId,
        inputs: Sequence[TopicPartition],
        topology: Topology,
        application_id: str,
        settings: StreamsSettings,
        patterns: Mapping[str, Sequence[str]],
        global_stores: dict[str, Any],
        now_ms: int,
        send_aside: SendAside,
    ) -> None:
        self.id, self.inputs = task_id, tuple(inputs)
        self._settings, self._send_aside = settings, send_aside
        self._own_topics = set(topology.repartition_topics(application_id))
        group = topology.sub_topologies[task_id.sub_topology]
        self.task = Task(
            topology,
            group.nodes,
            application_id,
            task_id=str(task_id),
            partition=task_id.partition,
            now_ms=now_ms,
            global_stores=global_stores,
        )
        for pattern, topics in patterns.items():
            if any(isinstance(node, Source) and node.pattern == pattern for node in group.nodes):
                for topic in topics:
                    self.task.read_pattern(pattern, topic)
        self.logged: dict[TopicPartition, Logged] = {
            TopicPartition(f"{application_id}-{topology.stores[name].changelog}", task_id.partition): store
            for name, store in self.task.stores.items()
            if topology.stores[name].is_logged and isinstance(store, Logged)
        }
        self.changes = {where.topic: LatestChanges() for where in self.logged}
        for where, store in self.logged.items():
            store.log = self.changes[where.topic].take
        self.positions: dict[TopicPartition, int] = {}
        """Of the records that are processed, and not those that wait."""
        self.skipped: dict[str, int] = {}
        self.processed = 0
        self._places = {where.topic: where for where in self.inputs}
        goes_on = settings.processing_exception_handler != "fail"
        self._takes_slices = self.task.takes_slices and not goes_on
        self._takes_runs = self.task.takes_runs and not goes_on
        self._waits_since_ms: int | None = None
        self._taken: dict[TopicPartition, int] = {}
        """Where each input goes on when nothing of it waits."""
        self._unreadable: dict[TopicPartition, deque[tuple[Message, Exception]]] = {
            where: deque() for where in self.inputs
        }
        """They wait for their turn, too: what becomes of them is committed with the position behind them."""
        self._keeps_raw = (
            settings.processing_exception_handler == "continue"
            and settings.errors_dead_letter_queue_topic_name is not None
        )
        self._raw: dict[tuple[str, int], Message] = {}
        """Of what waits, by topic and offset."""

    def offset_reset(self, topic: str) -> str:
        """Where it begins in a topic of which nothing was read yet."""
        if topic in self._own_topics:
            return "earliest"
        return self.task.source(topic).offset_reset or self._settings.auto_offset_reset

    # --- what it remembers

    def recall(self, notes: Sequence[str]) -> None:
        """Notes that were kept with its positions: the first one that is whole."""
        for note in notes:
            try:
                known = json.loads(note)
            except ValueError:
                continue
            if isinstance(known, dict):
                self.task.recall(known)
                return

    def noted(self) -> dict[TopicPartition, tuple[int, str]]:
        """Positions to commit, and with the first of them what is to be remembered."""
        note = json.dumps(self.task.notes(), separators=(",", ":"))
        if len(note) > LONGEST_NOTE:
            log.warning(
                "task %s has more to remember than fits beside a position: it will know less after a restart",
                self.id,
            )
            note = ""
        return {
            where: (offset, note if number == 0 else "")
            for number, (where, offset) in enumerate(sorted(self.positions.items()))
        }

    # --- records

    def take(self, where: TopicPartition, messages: Sequence[Message], now_ms: int) -> None:
        records = None if self._keeps_raw else self._decoded_at_once(where.topic, messages)
        if self._takes_slices:
            if records is None:
                records = [record for message in messages if (record := self._decoded(message)) is not None]
            self.task.process_slice(where.topic, records, now_ms)
            self.processed += len(records)
            self.positions[where] = _next_offset(messages[-1])
            return
        if records is not None:
            offsets = (message.offset() or 0 for message in messages)
            self.task.add_decoded(where.topic, [*zip(records, offsets, strict=True)])
        else:
            for message in messages:
                self._add(where, message)
        self._taken[where] = _next_offset(messages[-1])
        if not self.task.waiting(where.topic):
            self._move(where, self._taken[where])

    def _decoded_at_once(self, topic: str, messages: Sequence[Message]) -> list[Raw] | None:
        """None if one of them can't be: which, is found one by one."""
        if not self.task.takes_time_as_it_is(topic):
            return None
        timestamps = [timestamp for _, timestamp in map(Message.timestamp, messages)]
        headers = [_pairs_of(each) if each else () for each in map(Message.headers, messages)]
        keys, values = map(Message.key, messages), map(Message.value, messages)
        try:
            return self.task.decoded_slice(topic, keys, values, timestamps, headers)
        except Exception:
            return None

    def _add(self, where: TopicPartition, message: Message) -> None:
        offset, waiting = message.offset() or 0, self.task.waiting(where.topic)
        try:
            self.task.add(where.topic, offset, *_parts(message))
        except Exception as error:
            self._refuse_unreadable(error)
            self._unreadable[where].append((message, error))
            return
        if self._keeps_raw and self.task.waiting(where.topic) > waiting:
            self._raw[where.topic, offset] = message

    def _decoded(self, message: Message) -> Raw | None:
        try:
            return self.task.decoded(message.topic() or "", message.offset() or 0, *_parts(message))
        except Exception as error:
            self._refuse_unreadable(error)
            self._skip("deserialization", message, error)
            return None

    def process(self, now_ms: int, at_end: set[TopicPartition]) -> None:
        """In the order of times, as long as each input has a record, has none any more, or was waited for."""
        task = self.task
        while task.has_records and self._may_go_on(now_ms, at_end):
            if self._takes_runs:
                topic, offset, count = task.process_run(now_ms)
                self.processed += count
                self._move_past(topic, offset)
                continue
            topic, offset = task.next_up()
            where, raw = self._places[topic], self._raw.pop((topic, offset), None)
            self._give_up_before(where, offset)
            try:
                task.process_next(now_ms)
            except Exception as error:
                if self._settings.processing_exception_handler == "fail":
                    raise
                self._count("processing", f"{topic}-{self.id.partition}", offset, error)
                if raw is not None:
                    self._put_aside(raw, error)
            self.processed += 1
            self._move_past(topic, offset)

    def _move_past(self, topic: str, offset: int) -> None:
        where = self._places[topic]
        self._move(where, offset + 1 if self.task.waiting(topic) else self._taken[where])

    def _move(self, where: TopicPartition, position: int) -> None:
        self.positions[where] = position
        self._give_up_before(where, position)

    def _give_up_before(self, where: TopicPartition, position: int) -> None:
        unreadable = self._unreadable[where]
        while unreadable and (unreadable[0][0].offset() or 0) < position:
            self._skip("deserialization", *unreadable.popleft())

    def _may_go_on(self, now_ms: int, at_end: set[TopicPartition]) -> bool:
        lacking = [where for where in self.inputs if not self.task.waiting(where.topic)]
        if not lacking:
            self._waits_since_ms = None
            return True
        if self._settings.max_task_idle_ms == NEVER_WAITS:
            return True
        if any(where not in at_end for where in lacking):
            return False
        if self._waits_since_ms is None:
            self._waits_since_ms = now_ms
        return now_ms - self._waits_since_ms >= self._settings.max_task_idle_ms

    def too_much_waits(self) -> list[TopicPartition]:
        most = self._settings.buffered_records_per_partition
        return [
            where
            for where in self.inputs
            if self.task.waiting(where.topic) + len(self._unreadable[where]) >= most
        ]

    # --- records that are of no use

    def _refuse_unreadable(self, error: Exception) -> None:
        if self._settings.deserialization_exception_handler == "fail" or isinstance(
            error, InvalidTimestampError
        ):
            raise error

    def _skip(self, what: str, message: Message, error: Exception) -> None:
        self._count(what, f"{message.topic()}-{message.partition()}", message.offset() or 0, error)
        self._put_aside(message, error)

    def _put_aside(self, message: Message, error: Exception) -> None:
        topic = self._settings.errors_dead_letter_queue_topic_name
        if topic is not None:
            key, value, timestamp, _ = _parts(message)
            self._send_aside(topic, key, value, timestamp, _told(message, error))

    def _count(self, what: str, where: str, offset: int, error: Exception) -> None:
        self.skipped[what] = self.skipped.get(what, 0) + 1
        said = _shortened(error).decode()
        log.warning("task %s goes on without the record at offset %d of %s: %s", self.id, offset, where, said)


def _shortened(value: object) -> bytes:
    """What an error says may have half a record in it, and what is no text."""
    return str(value)[:LONGEST_HEADER].encode(errors="backslashreplace")


def _next_offset(message: Message) -> int:
    return (message.offset() or 0) + 1


def _parts(message: Message) -> tuple[Any, Any, int, tuple[tuple[str, Any], ...]]:
    return message.key(), message.value(), message.timestamp()[1], _pairs_of(message.headers())


def _pairs_of(headers: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(headers.items() if isinstance(headers, dict) else headers or ())


def _told(message: Message, error: Exception) -> list[tuple[str, bytes]]:
    told = {
        "exception": type(error).__name__,
        "message": str(error),
        "stacktrace": "".join(traceback.format_exception(error)),
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
    }
    return [(f"{ERROR_HEADER}{name}", _shortened(value)) for name, value in told.items()]
