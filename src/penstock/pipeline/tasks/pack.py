"""`run_pack`: some tasks of a program in one process of Spark's, for a tick.

A tick begins where the last committed transaction of the tasks ended, whoever made it: the pack locks out whoever had
its transactional id, asks for the positions of its inputs, makes its stores again out of their changelogs, and goes on.
Each commit is one Kafka transaction of results, changes of stores and positions. So whatever dies, and wherever, what
is seen afterwards is as if nothing had.

Who planned the pack is a member of the program's group, and its membership goes with each commit: when tasks have gone
to another process meanwhile, the broker refuses it.

Results are committed as soon as nothing more waits to be read, and else every `commit.interval.ms`.
"""

from __future__ import annotations

import gc
import logging
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.client.librdkafka import Message
from penstock.errors import ErrorCode, PenstockError
from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.operators.task import Task
from penstock.pipeline.tasks.control import ControlLine
from penstock.pipeline.tasks.layout import TaskId
from penstock.pipeline.tasks.reading import Reader
from penstock.pipeline.tasks.running_task import RunningTask
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.pipeline.tasks.work import Ending, PackReport, PackWork
from penstock.pipeline.tasks.writing import Writer
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.streams")

LONGEST_POLL_SECONDS: Final = 0.1
"""Wall-clock punctuators run, and a wish to stop is heard, at least that often."""
TELL_SECONDS: Final = 1.0
MOST_CHANGES_KEPT: Final = 50_000
"""How many changes of a task's stores wait for the end of the transaction, to be written once for each key."""
COLLECT_GARBAGE_AFTER: Final = (200_000, 20, 50)
"""Objects that are there at a time, as slices of records make them, then turns: a tenth of the CPU went into looking
through them for cycles, of which there are hardly any."""


class StoppedError(PenstockError):
    """Before everything was restored."""


class Pack:
    def __init__(self, work: PackWork) -> None:
        program = work.file.load()
        self._work, self._topology = work, program.topology
        self.settings = StreamsSettings.from_configs(work.configs)
        self.report = PackReport(work.pack)
        self._line = ControlLine(work.control, work.pack, work.generation)
        self._client_id = client_id = f"{work.application_id}-{work.pack}"
        joins = any(len(wheres) > 1 for wheres in work.tasks.values())
        self._reader = Reader(self.settings, work.application_id, client_id, tells_ends_soon=joins)
        self._writer = Writer(self.settings, client_id, client_id, work.group_metadata)
        self._tasks: dict[TaskId, RunningTask] = {}
        self._task_of: dict[TopicPartition, RunningTask] = {}
        self._globals: list[Task] = []
        self._committed: dict[TopicPartition, tuple[int, str]] = {}
        self._last_commit = self._last_told = 0.0

    # --- a tick

    def run(self) -> None:
        try:
            self._begin()
            self._loop(time.monotonic() + self._work.run_ms / 1000)
        except StoppedError:
            pass
        finally:
            for task in self._tasks.values():
                task.task.close()
                for what, count in task.skipped.items():
                    self.report.skipped[what] = self.report.skipped.get(what, 0) + count

    def close(self) -> None:
        for part in (self._reader, self._writer, self._line):
            try:
                part.close()
            except KafkaError as error:
                log.warning("%s", error)

    def _begin(self) -> None:
        self._line.tell(state="RESTORING")
        self._writer.lock_out_earlier()
        inputs = [where for wheres in self._work.tasks.values() for where in wheres]
        committed = self._reader.committed(inputs)
        global_stores = self._make_globals()
        for task_id, wheres in self._work.tasks.items():
            task = RunningTask(
                task_id,
                wheres,
                self._topology,
                self._work.application_id,
                self.settings,
                self._work.patterns,
                global_stores,
                _now_ms(),
                self._send_aside,
            )
            self._tasks[task_id] = task
            self._task_of.update(dict.fromkeys(wheres, task))
        self._restore()
        for task in self._tasks.values():
            task.recall([committed[where][1] for where in task.inputs if where in committed])
            task.positions = {where: self._first_offset(task, where, committed) for where in task.inputs}
            task.task.start()
        self._committed = committed
        positions = {
            where: offset for task in self._tasks.values() for where, offset in task.positions.items()
        }
        self._reader.assign({**positions, **self._global_positions})
        self._last_commit = time.monotonic()
        gc.freeze()  # what is restored is no garbage
        self._line.tell(state="RUNNING")

    def _first_offset(
        self, task: RunningTask, where: TopicPartition, committed: Mapping[TopicPartition, tuple[int, str]]
    ) -> int:
        if where in committed:
            return committed[where][0]
        reset = task.offset_reset(where.topic)
        if reset == "none":
            raise PenstockError(f"nothing says where to begin in {where}, and its offset_reset is none")
        low, high = self._reader.bounds(where)
        return high if reset == "latest" else low

    def _loop(self, deadline: float) -> None:
        batches = self._reader.poll(0)
        while not (self._line.is_to_stop.is_set() or time.monotonic() >= deadline):
            now_ms = _now_ms()
            for where, messages in batches:
                if (task := self._task_of.get(where)) is not None:
                    task.take(where, messages, now_ms)
                else:
                    self._take_global(where, messages)
            for task in self._tasks.values():
                task.process(now_ms, self._reader.at_end)
                task.task.punctuate(now_ms)
                self._write(task)
            self._reader.hold_back(
                {where for task in self._tasks.values() for where in task.too_much_waits()}
            )
            batches = self._reader.poll(0)
            if not batches or time.monotonic() - self._last_commit >= self.settings.commit_interval_ms / 1000:
                self._commit()
            self._tell()
            batches = batches or self._reader.poll(LONGEST_POLL_SECONDS)
        if not self._line.is_broken:
            self._commit()

    def _write(self, task: RunningTask) -> None:
        if produced := task.task.take_produced():
            self._writer.write(produced)
        if sum(map(len, task.changes.values())) >= MOST_CHANGES_KEPT:
            self._write_changes(task)

    def _write_changes(self, task: RunningTask) -> None:
        for where in task.logged:
            if changes := task.changes[where.topic].take_all():
                self._writer.write_changes(where, changes)

    def _send_aside(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: list[tuple[str, bytes]],
    ) -> None:
        self._writer.begin()
        self._writer.send_aside(topic, key, value, timestamp, headers)

    def _commit(self) -> None:
        for task in self._tasks.values():
            self._write_changes(task)
        changed = {
            where: position
            for task in self._tasks.values()
            if self._writer.is_open or self._has_moved(task)
            for where, position in task.noted().items()
        }
        if changed:
            self._writer.commit(changed)
            self._committed.update(changed)
            self.report.commits += 1
        self._last_commit = time.monotonic()

    def _has_moved(self, task: RunningTask) -> bool:
        return any(
            self._committed.get(where, (None, ""))[0] != offset for where, offset in task.positions.items()
        )

    def _tell(self) -> None:
        if time.monotonic() - self._last_told < TELL_SECONDS:
            return
        self._last_told = time.monotonic()
        self.report.records = sum(task.processed for task in self._tasks.values())
        skipped = sum((Counter(task.skipped) for task in self._tasks.values()), Counter(self.report.skipped))
        self._line.tell(state="RUNNING", records=self.report.records, skipped=skipped)

    # --- stores

    def _restore(self) -> None:
        logged = {where: store for task in self._tasks.values() for where, store in task.logged.items()}
        self._read_to_the_end(
            dict.fromkeys(logged),
            lambda where, messages: _restore_from(logged[where], messages),
        )

    def _make_globals(self) -> dict[str, Any]:
        """All rows of all global tables, before the first record of any task."""
        self._globals = [
            Task(self._topology, group.nodes, self._work.application_id, now_ms=_now_ms())
            for group in self._topology.sub_topologies
            if group.is_global
        ]
        for task in self._globals:
            task.start()
        self._global_positions: dict[TopicPartition, int] = {}
        self._read_to_the_end(dict.fromkeys(self._work.global_inputs), self._take_global)
        return {name: store for task in self._globals for name, store in task.stores.items()}

    def _take_global(self, where: TopicPartition, messages: Any) -> None:
        for task in self._globals:
            if where.topic in task.topics:
                for message in messages:
                    self._add_global(task, message)
                while task.has_records:
                    task.process_next(_now_ms())
        self._global_positions[where] = messages[-1].offset() + 1

    def _add_global(self, task: Task, message: Any) -> None:
        topic, offset = message.topic(), message.offset()
        try:
            task.add(topic, offset, message.key(), message.value(), message.timestamp()[1])
        except Exception as error:
            if self.settings.deserialization_exception_handler == "fail":
                raise
            self.report.skipped["deserialization"] = self.report.skipped.get("deserialization", 0) + 1
            log.warning("goes on without the record at offset %d of %s: %s", offset, topic, error)

    def _read_to_the_end(self, wheres: Mapping[TopicPartition, None], take: Any) -> None:
        """By a reader of its own: behind a fetch that waits for more, brokers let all else of that consumer wait."""
        if not wheres:
            return
        reader = Reader(self.settings, self._work.application_id, self._client_id, tells_ends_soon=True)
        try:
            starts = {where: reader.bounds(where)[0] for where in wheres}
            if take == self._take_global:
                self._global_positions.update(starts)
            reader.assign(starts)
            is_own = take != self._take_global
            while not reader.has_read_all(starts, waits_for_transactions=is_own):
                if self._line.is_to_stop.is_set():
                    raise StoppedError("stopped while its stores were restored")
                for where, messages in reader.poll(LONGEST_POLL_SECONDS):
                    take(where, messages)
        finally:
            reader.close()


def _restore_from(store: Logged, messages: Sequence[Message]) -> None:
    restore = store.restore
    columns = (map(column, messages) for column in (Message.key, Message.value, Message.timestamp))
    for key, value, (_, timestamp) in zip(*columns, strict=True):
        restore(key or b"", value, timestamp)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


_HOPELESS: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.INVALID_RECORD,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
"""What Kafka says when it will say so again."""


def _ending_of(error: Exception) -> Ending:
    if getattr(error, "__notes__", ()):  # a step of the program raised it, or a serde
        return Ending.FAILED
    if isinstance(error, KafkaError):
        return Ending.FAILED if error.code in _HOPELESS else Ending.DISTURBED
    return Ending.DISTURBED if isinstance(error, OSError) else Ending.FAILED


def run_pack(work: PackWork) -> PackReport:
    """Nothing that it does raises: what goes wrong is in the report, and told at once."""
    gc.set_threshold(*COLLECT_GARBAGE_AFTER)
    pack: Pack | None = None
    report = PackReport(work.pack)
    try:
        pack = Pack(work)
        report = pack.report
        pack.run()
    except Exception as error:
        report.ending = _ending_of(error)
        report.error = _told(error)
        report.trace = "".join(traceback.format_exception(error))
        if pack is not None:
            pack._line.tell(state="FAILED", error=report.error, ending=report.ending.name)
    finally:
        gc.unfreeze()
        if pack is not None:
            pack.close()
    return report


def _told(error: Exception) -> str:
    notes = getattr(error, "__notes__", ())
    return " ".join([f"{type(error).__name__}: {error}", *notes])
