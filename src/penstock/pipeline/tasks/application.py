"""A program as it runs in one process: its topics, its membership, and the packs that it has Spark run.

STARTING until the topics are as they should be and the group has given it something to do; then packs run on Spark's
executors, tick after tick, until the group deals tasks out anew, something fails, or it is stopped. What Kafka or Spark
do wrong is tried again, after a while; what the program does wrong ends it, unless its handlers go on.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, Protocol

from penstock.client import KafkaAdmin
from penstock.errors import PenstockError
from penstock.pipeline.tasks.control import ControlServer
from penstock.pipeline.tasks.internal_topics import make_own_topics, names_of, partitions_of
from penstock.pipeline.tasks.layout import Layout, TaskId, lay_out, topics_from_outside, topics_of_patterns
from penstock.pipeline.tasks.membership import Membership
from penstock.pipeline.tasks.pack import run_pack
from penstock.pipeline.tasks.program import ProgramFile
from penstock.pipeline.tasks.queries import QueryError, StoreQueries
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.pipeline.tasks.work import Ending, PackReport, PackWork
from penstock.pipeline.tick_calls import TickCalls
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError, RetriableError

log = logging.getLogger("penstock.streams")

HAND_OVER_SECONDS: Final = 15.0
BACKOFF_SECONDS: Final = (0.2, 1.0, 5.0, 20.0)


class State(Enum):
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    FAILED = "FAILED"
    STOPPED = "STOPPED"


class ProgramError(PenstockError):
    """The program does not work; the message says where."""


class TickQuery(Protocol):
    def wake(self) -> None: ...
    def went_well(self) -> None: ...
    def stop(self, wait_ms: int = ...) -> None: ...


class TickEngine(Protocol):
    def run_ticks(self, name: str, calls: TickCalls) -> TickQuery: ...


class StreamsApplication:
    def __init__(
        self,
        file: ProgramFile,
        configs: Mapping[str, Any],
        engine: TickEngine,
        *,
        packs: int,
        control_host: str = "127.0.0.1",
    ) -> None:
        """`configs` go on top of the program's own; tasks are packed into so many `packs`."""
        program = file.load()
        self.file, self.topology, self.id = file, program.topology, program.application_id
        self.settings = StreamsSettings.from_configs({**program.configs, **configs}, file.path)
        self._engine, self._most_packs, self._control_host = engine, packs, control_host
        self.process_id = uuid.uuid4().hex[:8]
        self.failure: ProgramError | None = None
        self.records: dict[str, int] = {}
        """How many the packs have processed, by pack."""
        self._skipped: Counter[str] = Counter()
        self._skipped_of: dict[str, Counter[str]] = {}
        """Of the packs of the tick that runs."""
        self.on_end: Callable[[], object] = lambda: None
        """Called in some thread when it has ended, by itself or because it was stopped."""
        self._states: dict[str, str] = {}
        self._changed = threading.Condition()
        self._mine: frozenset[TopicPartition] = frozenset()
        self._group_metadata = b""
        self._is_ticking = False
        self._failures = 0
        """In a row."""
        self.disturbances = 0
        """How often Kafka, or another process that has the tasks now, ended a tick."""
        self._retry: threading.Timer | None = None
        self._is_held_back = False
        self._ended = threading.Event()
        self._stopping = False
        self._layout: Layout
        self._patterns: dict[str, tuple[str, ...]] = {}
        self._query: TickQuery | None = None
        self._membership: Membership | None = None
        self._control: ControlServer | None = None
        self._purging = threading.Thread(target=self._purge, name="streams-purge", daemon=True)

    # --- life

    def start(self) -> None:
        """Makes its topics, joins its group, and has Spark run its tasks; refused if something does not fit."""
        with self._admin() as admin:
            self._lay_out(admin)
            make_own_topics(admin, self._layout.own_topics, self.settings)
        self._control = ControlServer(self._control_host, self._on_news)
        self._query = self._engine.run_ticks(
            f"streams-{self.id}",
            TickCalls(self._plan, run_pack, self._on_reports, self._on_tick_failed),
        )
        self._membership = Membership(
            self.settings,
            self.id,
            set(self._layout.leading_topics.values()),
            self._on_assignment,
            self._on_group_failure,
        )
        self._membership.start()
        self._purging.start()

    def _lay_out(self, admin: KafkaAdmin) -> None:
        own = {*self.topology.changelogs(self.id), *self.topology.repartition_topics(self.id)}
        self._patterns = topics_of_patterns(self.topology, names_of(admin) - own)
        outside = topics_from_outside(self.topology, self._patterns)
        self._layout = lay_out(self.topology, self.id, partitions_of(admin, outside), self._patterns)

    def wait(self, timeout: float | None = None) -> bool:
        """Until it has ended, by itself or because it was stopped."""
        return self._ended.wait(timeout)

    def wait_until_running(self, timeout: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.state is not State.STARTING, timeout)

    @property
    def skipped(self) -> dict[str, int]:
        """How many records were of no use, by what went wrong with them."""
        with self._changed:
            return dict(sum(self._skipped_of.values(), self._skipped))

    @property
    def state(self) -> State:
        if self.failure is not None:
            return State.FAILED
        if self._stopping:
            return State.STOPPED
        if self._group_metadata and not self._own_tasks():
            return State.RUNNING  # with nothing to do: others have all tasks
        running = self._states and all(state == "RUNNING" for state in self._states.values())
        return State.RUNNING if running else State.STARTING

    def stop(self) -> None:
        """Commits what is done, and leaves the group: others take over at once."""
        self._stopping = True
        if self._retry is not None:
            self._retry.cancel()
        self._stop_packs()
        if self._membership is not None:
            self._membership.stop()
        if self._query is not None:
            self._query.stop()
        if self._control is not None:
            self._control.close()
        self._end()

    def _end(self) -> None:
        self._ended.set()
        self.on_end()

    def store(self, name: str) -> StoreQueries:
        """One of the program's stores, to be asked here; the caller closes it."""
        spec = self.topology.stores.get(name)
        if spec is None:
            known = ", ".join(sorted(self.topology.stores)) or "none"
            raise QueryError(f"there is no store {name!r} (stores: {known})")
        partitions = {topic.name: topic.partitions for topic in self._layout.changelogs}
        return StoreQueries(self.settings, self.id, spec, partitions.get(f"{self.id}-{spec.changelog}", 0))

    def _fail(self, error: ProgramError) -> None:
        with self._changed:
            self.failure = self.failure or error
            self._changed.notify_all()
        self._end()

    def _admin(self) -> KafkaAdmin:
        return KafkaAdmin(self.settings.client_configs("admin"))

    # --- the group

    def _on_assignment(self, mine: frozenset[TopicPartition], group_metadata: bytes) -> None:
        with self._changed:
            self._mine, self._group_metadata = mine, group_metadata
            self._states = {}
            query = self._query
        self._stop_packs()
        if query is not None and mine:
            query.wake()

    def _stop_packs(self) -> None:
        """Waits until they have committed; those that can't be reached any more will be refused."""
        if self._control is not None:
            self._control.stop_packs()
        with self._changed:
            if not self._changed.wait_for(lambda: not self._is_ticking, HAND_OVER_SECONDS):
                log.warning("tasks of %s have not stopped in time; they can't commit any more", self.id)

    def _on_group_failure(self, error: KafkaError) -> None:
        if isinstance(error, RetriableError):
            log.warning("%s", error)
        else:
            self._fail(ProgramError(str(error)))

    # --- ticks, in the thread of the query

    def _plan(self, tick: int) -> list[PackWork]:
        with self._changed:
            if self._stopping or self._is_held_back or self.failure is not None:
                return []
            tasks = self._own_tasks()
            if not tasks:
                return []
            assert self._control is not None
            self._is_ticking = True
            generation = uuid.uuid4().hex[:8]
            self._control.expect(generation)
            packs = min(self._most_packs, len(tasks))
            return [self._work(number, packs, tasks, generation) for number in range(packs)]

    def _own_tasks(self) -> list[TaskId]:
        leading = self._layout.leading_topics
        return [
            task
            for task in self._layout.tasks
            if TopicPartition(leading[task.sub_topology], task.partition) in self._mine
        ]

    def own_task_names(self) -> list[str]:
        """Of the tasks that this process has."""
        with self._changed:
            return sorted(map(str, self._own_tasks()))

    def _work(self, number: int, packs: int, tasks: list[TaskId], generation: str) -> PackWork:
        assert self._control is not None
        return PackWork(
            self.file,
            self.settings.configs,
            self.id,
            f"{self.process_id}-{number}",
            generation,
            self._group_metadata,
            {task: self._layout.tasks[task] for task in tasks[number::packs]},
            self._layout.global_inputs,
            self._patterns,
            self.settings.tick_ms,
            self._control.address,
        )

    def _on_reports(self, tick: int, reports: list[PackReport]) -> None:
        with self._changed:
            for report in reports:
                self._skipped_of.pop(report.pack, None)
                self._skipped += Counter(report.skipped)
            disturbed = [report for report in reports if report.ending is Ending.DISTURBED]
            if disturbed and not self._stopping:
                self._hold_back(disturbed[0].error or "")
            elif reports and all(report.ending is Ending.DONE for report in reports):
                self._failures = 0
            self._is_ticking = False
            self._changed.notify_all()
        failed = next((report for report in reports if report.ending is Ending.FAILED), None)
        if failed is not None:
            log.error("%s: %s", self.id, failed.trace)
            self._fail(ProgramError(failed.error or "the program failed"))

    def _on_tick_failed(self, reason: str) -> None:
        with self._changed:
            self._skipped = sum(self._skipped_of.values(), self._skipped)
            self._skipped_of.clear()
            self._is_ticking = False
            self._changed.notify_all()

    def _hold_back(self, reason: str) -> None:
        """Tries again after a while."""
        seconds = BACKOFF_SECONDS[min(self._failures, len(BACKOFF_SECONDS) - 1)]
        self._failures += 1
        self.disturbances += 1
        log.warning("%s goes on in %g s: %s", self.id, seconds, reason)
        self._is_held_back = True
        self._retry = threading.Timer(seconds, self._go_on)
        self._retry.daemon = True
        self._retry.start()

    def _go_on(self) -> None:
        with self._changed:
            self._is_held_back = False
        if self._query is not None:
            self._query.wake()

    def _on_news(self, pack: str, news: dict[str, Any]) -> None:
        """From a pack, at any time; one that fails takes the others with it, so that the tick ends."""
        with self._changed:
            self._states[pack] = str(news.get("state"))
            if skipped := news.get("skipped"):
                self._skipped_of[pack] = Counter(skipped)
            self.records[pack] = int(news.get("records", self.records.get(pack, 0)))
            self._changed.notify_all()
        if news.get("state") == "RUNNING" and self._query is not None:
            self._failures = 0
            self._query.went_well()
        if news.get("state") == "FAILED" and self._control is not None:
            self._control.stop_packs()

    # --- repartition topics

    def _purge(self) -> None:
        """What was read of them is of no use to anybody else."""
        own = [
            TopicPartition(topic.name, number)
            for topic in self._layout.repartition_topics
            for number in range(topic.partitions)
        ]
        while own and not self._ended.wait(self.settings.repartition_purge_interval_ms / 1000):
            try:
                with self._admin() as admin:
                    committed = admin.committed_offsets(self.id, own)
                    read = {where: found.offset for where, found in committed.items() if found is not None}
                    admin.delete_records({where: offset for where, offset in read.items() if offset > 0})
            except KafkaError as error:
                log.warning("records that were read stay in repartition topics for now: %s", error)
