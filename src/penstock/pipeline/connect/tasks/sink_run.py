"""A sink task's tick: reads its partitions from where they stand, puts records until the tick is over, and reports the
offsets that the sink says are safe. The worker commits them; nobody else reads or commits for this connector.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from penstock.client import KafkaConsumer
from penstock.client.librdkafka import Message
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, at_least
from penstock.pipeline.connect.api.task import SinkTask
from penstock.pipeline.connect.data import SinkColumns, SinkRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.tasks.client_configs import MAX_POLL_RECORDS, client_configs
from penstock.pipeline.connect.tasks.clock import TickClock
from penstock.pipeline.connect.tasks.dead_letters import DeadLetterQueue
from penstock.pipeline.connect.tasks.error_policy import ErrorPolicy, FailedRecord, Stage
from penstock.pipeline.connect.tasks.sink_decoding import SinkDecoder
from penstock.pipeline.connect.tasks.stages import make_stages, stop_quietly
from penstock.pipeline.connect.tasks.tally import Tally
from penstock.pipeline.connect.tasks.work import TaskWork
from penstock.types import TopicPartition as KafkaPartition

log = logging.getLogger("penstock.connect.tasks")

TopicPartition = tuple[str, int]
POLL_SECONDS: Final = 0.5
COLUMNS_AT_ONCE: Final = 20_000
"""How many records are read at a time, unless `max.poll.records` says so: what columns cost is mostly per column."""
RETRY_SECONDS: Final = 1.0
"""How long to wait before records are put again, if the sink does not say."""

SETTINGS: Final = ConfigDef().define(
    "offset.flush.interval.ms", ConfigType.LONG, 60_000, validator=at_least(1)
)


class SinkContext:
    """What the task asks for is done by the loop, between two calls of the task."""

    def __init__(self, configs: Mapping[str, str], assignment: set[TopicPartition]) -> None:
        self.configs, self.assignment = configs, assignment
        self.report: Callable[[SinkRecord, Exception], None] | None = None
        self.sought: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        self.retry_ms: int | None = None
        self.wants_commit = False

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._check(offsets)
        self.sought.update(offsets)

    def pause(self, *partitions: TopicPartition) -> None:
        self._check(partitions)
        self.paused |= set(partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        self._check(partitions)
        self.paused -= set(partitions)

    def timeout(self, milliseconds: int) -> None:
        self.retry_ms = milliseconds

    def request_commit(self) -> None:
        self.wants_commit = True

    def _check(self, partitions: Mapping[TopicPartition, int] | Sequence[TopicPartition]) -> None:
        unknown = set(partitions) - self.assignment
        if unknown:
            raise ConnectError(
                f"not assigned to this task: {', '.join(f'{t}-{p}' for t, p in sorted(unknown))}"
            )


class SinkRun:
    """`positions` are safe to commit at any time, also after a failure."""

    def __init__(self, work: TaskWork, tally: Tally, clock: TickClock) -> None:
        self._work, self._tally, self._clock = work, tally, clock
        self.positions: dict[TopicPartition, int] = {}
        self._current: dict[TopicPartition, int] = {}
        self._has_sought = False
        """And has not read anything since."""
        self._flush_seconds = (
            SETTINGS.parse({**work.worker_configs, **work.connector_configs})["offset.flush.interval.ms"]
            / 1000
        )
        self._flushed_at = time.monotonic()

    def run(self) -> None:
        work = self._work
        plugins = Plugins(work.worker_configs.get("plugin.path", ""))
        self._task: SinkTask = plugins.load_class(work.task_class)()
        self._context = SinkContext(work.connector_configs, set(work.positions))
        self._task.context = self._context
        self._dead_letters = DeadLetterQueue(work, self._tally) if DeadLetterQueue.is_wanted(work) else None
        put = None if self._dead_letters is None else self._dead_letters.put
        self._policy = ErrorPolicy(work.name, work.connector_configs, self._tally, self._clock, put)
        stages = make_stages(work, plugins)
        self._decoder = SinkDecoder(stages, self._policy)
        try:
            with KafkaConsumer(client_configs(work, "consumer")) as self._consumer:
                self._consume()
        finally:
            stages.close()
            if self._dead_letters is not None:
                self._dead_letters.close()

    def _consume(self) -> None:
        task, partitions = self._task, sorted(self._work.positions)
        self._assign()
        try:
            task.start(self._work.task_configs)
            task.open(partitions)
            self._clock.begin()
            while not self._clock.is_over() and self._decoder.retry_later is None:
                self._do_what_the_task_asked()
                messages = self._polled()
                if not self._deliver(messages) or (not messages and self._is_all_safe()):
                    break
                if self._context.wants_commit or time.monotonic() - self._flushed_at >= self._flush_seconds:
                    self._flush()
            if self._decoder.retry_later is not None:
                self._tally.trouble = str(self._decoder.retry_later)
            self._flush()
            task.close(partitions)
        finally:
            stop_quietly(task)

    # --- where to read

    def _assign(self) -> None:
        known = {
            KafkaPartition(*each): offset
            for each, offset in self._work.positions.items()
            if offset is not None
        }
        unknown = [KafkaPartition(*each) for each, offset in self._work.positions.items() if offset is None]
        self._consumer.assign({**known, **self._first_offsets(unknown)})

    def _first_offsets(self, partitions: list[KafkaPartition]) -> dict[KafkaPartition, int]:
        if not partitions:
            return {}
        reset = client_configs(self._work, "consumer")["auto.offset.reset"]
        if reset == "none":
            raise ConnectError(
                f"{partitions[0]} has no committed offset, and consumer.override.auto.offset.reset is none"
            )
        look = self._consumer.end_offsets if reset == "latest" else self._consumer.beginning_offsets
        found = look(partitions)
        if reset == "latest":  # from now on this is where it stands, though nothing was read
            self.positions |= {(each.topic, each.partition): offset for each, offset in found.items()}
        return found

    def _do_what_the_task_asked(self) -> None:
        context = self._context
        for partition, offset in context.sought.items():
            self._consumer.seek(KafkaPartition(*partition), offset)
            self._current[partition] = offset
            self._has_sought = True
        context.sought = {}
        paused: set[TopicPartition] = {(each.topic, each.partition) for each in self._consumer.paused()}
        if paused != context.paused:
            self._consumer.resume([KafkaPartition(*each) for each in paused - context.paused])
            self._consumer.pause([KafkaPartition(*each) for each in context.paused - paused])

    # --- records

    def _polled(self) -> Sequence[Message]:
        """What is there, after a while; for columns as much of it as makes them worth it."""
        polled = self._consumer.poll_batch(min(POLL_SECONDS, self._clock.seconds_left())).messages()
        is_asked_for = self._consumer.config.max_poll_records != MAX_POLL_RECORDS
        if not polled or not self._task.takes_columns or is_asked_for:
            return polled
        messages = list(polled)
        while len(messages) < COLUMNS_AT_ONCE and (more := self._consumer.poll_batch(0).messages()):
            messages += more
        return messages

    def _deliver(self, messages: Sequence[Message]) -> bool:
        """False if the tick is over and the records were not put: they come again in the next one."""
        if not messages:
            return self._put([])
        self._tally.polled += len(messages)
        self._has_sought = False
        columns = self._decoder.columns(messages) if self._task.takes_columns else None
        if columns is not None:
            return self._deliver_columns(columns, messages)
        batch = self._decoder.decode(messages)
        self._context.report = self._reporter(batch.messages)
        if not self._put(batch.records):
            return False
        done = messages[: batch.done]
        self._current.update({(each.topic(), each.partition()): each.offset() + 1 for each in done})  # type: ignore[misc,operator]
        self._tally.records += len(batch.records)
        self._tally.bytes += sum(len(each.value() or b"") for each in done)
        self._tally.topics.update(each.topic() or "" for each in done)
        return True

    def _deliver_columns(self, columns: SinkColumns, messages: Sequence[Message]) -> bool:
        self._context.report = self._reporter(messages)
        if not self._put(columns):
            return False
        self._current.update(
            {(columns.topic, partition): of.offsets[-1] + 1 for partition, of in columns.runs()}
        )
        self._tally.records += len(columns)
        self._tally.bytes += sum(map(len, messages))
        self._tally.topics.add(columns.topic)
        return True

    def _put(self, records: Sequence[SinkRecord]) -> bool:
        while True:
            try:
                self._task.put(records)
            except RetriableConnectError as error:
                log.warning("put: %s; it is tried again", error)
                self._tally.failures += 1
                self._tally.retries += 1
                self._tally.trouble = str(error)
            else:
                self._tally.trouble = None
                return True
            seconds = RETRY_SECONDS if self._context.retry_ms is None else self._context.retry_ms / 1000
            self._context.retry_ms = None
            self._clock.wait(seconds)
            if self._clock.is_over():
                return False

    def _reporter(self, messages: Sequence[Message]) -> Callable[[SinkRecord, Exception], None] | None:
        if self._dead_letters is None and not self._policy.tolerates_all:
            return None
        name = f"{type(self._task).__module__}.{type(self._task).__qualname__}"

        def report(record: SinkRecord, error: Exception) -> None:
            where = record.original_topic, record.original_partition, record.original_offset
            original = next(
                each for each in messages if (each.topic(), each.partition(), each.offset()) == where
            )
            self._policy.failed(FailedRecord(Stage.TASK_PUT, name, original, error))

        return report

    # --- offsets

    def _is_all_safe(self) -> bool:
        """After a while without records: whether there were some, and the sink has all of them. Then the tick ends,
        so that they are committed; if it has not, they would only be read again."""
        is_behind = self._has_sought or self._context.paused
        if is_behind or not self._current.items() - self.positions.items():
            return False
        self._flush()
        return not self._current.items() - self.positions.items()

    def _flush(self) -> None:
        """What the sink says is safe may be committed; a sink that cannot say so now says it in the next tick."""
        self._flushed_at = time.monotonic()
        self._context.wants_commit = False
        try:
            safe = self._task.pre_commit(dict(self._current))
        except RetriableConnectError as error:
            self._tally.trouble = str(error)
            return
        if self._dead_letters is not None:
            self._dead_letters.flush()
        self.positions.update(
            {each: offset for each, offset in (safe or {}).items() if each in self._context.assignment}
        )
