"""A source task's tick: locks out earlier attempts, learns where the source stands, polls until the tick is over.

The order matters. `init_transactions` ends what an earlier attempt of this task has left open and locks it out; only
then are the offsets read, so that nothing can be added behind them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from penstock.client import KafkaProducer
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, at_least, one_of
from penstock.pipeline.connect.api.contexts import OffsetReader, TransactionContext
from penstock.pipeline.connect.api.task import SourceTask
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.tasks.client_configs import client_configs, transactional_id
from penstock.pipeline.connect.tasks.clock import TickClock
from penstock.pipeline.connect.tasks.error_policy import ErrorPolicy
from penstock.pipeline.connect.tasks.source_encoding import SourceEncoder
from penstock.pipeline.connect.tasks.source_offsets import OffsetsTopic, SourceOffsets
from penstock.pipeline.connect.tasks.source_writer import (
    CLOSE_SECONDS,
    AcknowledgedWriter,
    Due,
    SourceWriter,
    TransactionWriter,
    due_after_interval,
    due_after_poll,
    due_when_told,
)
from penstock.pipeline.connect.tasks.stages import Stages, make_stages, stop_quietly
from penstock.pipeline.connect.tasks.tally import Tally
from penstock.pipeline.connect.tasks.topic_creation import TopicCreation
from penstock.pipeline.connect.tasks.work import TaskWork
from penstock.wire_client import ClusterConfig, blocking_cluster

log = logging.getLogger("penstock.connect.tasks")

RETRY_POLL_SECONDS: Final = 1.0
EMPTY_POLL_SECONDS: Final = 0.01
"""A source that says at once that it has nothing is not asked again at once."""
TRANSACTION_OVERTIME_SECONDS: Final = 60.0
"""How long after the tick a transaction that the task itself ends may stay open."""

SETTINGS: Final = (
    ConfigDef()
    .define(
        "transaction.boundary", ConfigType.STRING, "poll", validator=one_of("poll", "connector", "interval")
    )
    .define("transaction.boundary.interval.ms", ConfigType.LONG, None)
    .define("offset.flush.interval.ms", ConfigType.LONG, 60_000, validator=at_least(1))
    .define("exactly.once.source.support", ConfigType.STRING, "enabled")
)


class TaskTransactions:
    """What a task says of its transactions while it is polled: behind the whole poll, or behind some records."""

    def __init__(self) -> None:
        self._ends: list[tuple[SourceRecord | None, bool]] = []

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        self._ends.append((record, True))

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        self._ends.append((record, False))

    def divided(self, polled: Sequence[SourceRecord]) -> Iterator[tuple[Sequence[SourceRecord], bool | None]]:
        """The records up to each end, and whether that commits; None for those that stay open."""
        ends, self._ends = self._ends, []
        behind = {id(record): commits for record, commits in ends if record is not None}
        start = 0
        for number, record in enumerate(polled, 1) if behind else ():
            if id(record) in behind:
                yield polled[start:number], behind[id(record)]
                start = number
        whole = [commits for record, commits in ends if record is None]
        if start < len(polled) or whole:
            yield polled[start:] if start else polled, whole[-1] if whole else None


class SourceContext:
    def __init__(
        self,
        configs: Mapping[str, str],
        offsets: SourceOffsets,
        transaction: TaskTransactions | None,
        clock: TickClock,
    ) -> None:
        self.configs = configs
        self.offsets: OffsetReader = offsets
        self.transaction: TransactionContext | None = transaction
        self.waits_for: str | None = None
        self._clock = clock

    def is_stopping(self) -> bool:
        return self._clock.is_over()


def run_source(work: TaskWork, tally: Tally, clock: TickClock) -> None:
    plugins = Plugins(work.worker_configs.get("plugin.path", ""))
    task: SourceTask = plugins.load_class(work.task_class)()
    settings = SETTINGS.parse({**work.worker_configs, **work.connector_configs})
    policy = ErrorPolicy(work.name, work.connector_configs, tally, clock)
    is_exact = settings["exactly.once.source.support"].lower() != "disabled"
    with _stages(work, plugins) as stages, _producer(work, is_exact) as producer, _offsets(work) as offsets:
        told = TaskTransactions() if settings["transaction.boundary"] == "connector" and is_exact else None
        task.context = SourceContext(work.connector_configs, offsets, told, clock)
        kind = TransactionWriter if is_exact else AcknowledgedWriter
        topic = _offsets_topic(work)
        writer = kind(producer, offsets, topic, task, policy, tally, clock, _due(settings))
        try:
            task.start(work.task_configs)
            clock.begin()
            _poll_all(task, SourceEncoder(stages, policy), writer, told, TopicCreation(work), tally, clock)
        finally:
            writer.stop()
            stop_quietly(task)


def _poll_all(
    task: SourceTask,
    encoder: SourceEncoder,
    writer: SourceWriter,
    told: TaskTransactions | None,
    topics: TopicCreation,
    tally: Tally,
    clock: TickClock,
) -> None:
    overtime = time.monotonic() + clock.seconds_left() + TRANSACTION_OVERTIME_SECONDS
    while encoder.retry_later is None:
        if clock.is_over() and not (told is not None and writer.is_open and time.monotonic() < overtime):
            break
        began = time.monotonic()
        polled = _polled(task, tally, clock)
        poll_seconds = time.monotonic() - began
        tally.polled += len(polled)
        for records, commits in told.divided(polled) if told is not None else ((polled, None),):
            if records:
                batch = encoder.encode(records)
                topics.ensure(batch.topics)
                writer.write(batch)
            if commits is not None:
                (writer.commit if commits else writer.abort)()
        writer.poll_ended(poll_seconds)
        writer.tell()
        if not polled and poll_seconds < EMPTY_POLL_SECONDS:
            clock.wait(EMPTY_POLL_SECONDS)
    if encoder.retry_later is not None:
        tally.trouble = str(encoder.retry_later)
    if told is None:
        writer.commit()
    elif writer.is_open:
        raise ConnectError(
            f"a transaction that the task began stays open for more than {TRANSACTION_OVERTIME_SECONDS:g} s"
        )
    writer.tell()


def _polled(task: SourceTask, tally: Tally, clock: TickClock) -> Sequence[SourceRecord]:
    try:
        polled = task.poll() or ()
    except RetriableConnectError as error:
        log.warning("poll: %s; it is tried again", error)
        tally.failures += 1
        tally.retries += 1
        tally.trouble = str(error)
        clock.wait(RETRY_POLL_SECONDS)
        return ()
    tally.trouble = task.context.waits_for
    return polled


def _due(settings: Mapping[str, object]) -> Due:
    boundary, is_exact = settings["transaction.boundary"], settings["exactly.once.source.support"]
    if boundary == "connector" and is_exact != "disabled":
        return due_when_told
    if boundary == "interval" or is_exact == "disabled":
        interval = settings["transaction.boundary.interval.ms"] or settings["offset.flush.interval.ms"]
        assert isinstance(interval, int)
        return due_after_interval(interval)
    return due_after_poll


def _offsets_topic(work: TaskWork) -> str:
    return work.connector_configs.get("offsets.storage.topic") or work.worker_configs["offset.storage.topic"]


@contextmanager
def _stages(work: TaskWork, plugins: Plugins) -> Iterator[Stages]:
    stages = make_stages(work, plugins)
    try:
        yield stages
    finally:
        stages.close()


@contextmanager
def _producer(work: TaskWork, is_exact: bool) -> Iterator[KafkaProducer]:
    configs = client_configs(work, "producer")
    if is_exact:
        configs["transactional.id"] = transactional_id(work)
    producer = KafkaProducer(configs)
    try:
        if is_exact:
            producer.init_transactions()
        yield producer
    finally:
        producer.close(CLOSE_SECONDS)


@contextmanager
def _offsets(work: TaskWork) -> Iterator[SourceOffsets]:
    config = ClusterConfig.from_configs(client_configs(work, "admin"))
    with blocking_cluster(config) as cluster:
        topic = OffsetsTopic(cluster, _offsets_topic(work), work.offsets_position)
        offsets = SourceOffsets(work.connector, work.offsets, topic)
        offsets.read_to_end()
        yield offsets
