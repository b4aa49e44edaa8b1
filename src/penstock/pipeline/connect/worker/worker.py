"""One worker of a Connect cluster.

It knows what all know (the topics), runs what the group gives it, and, while it leads, writes connectors'
configurations. Reads are answered from what it knows; a write by the leader, a restart by the worker that runs the
connector: the others say whose it is. See `interface` for what REST asks of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from penstock.client.table.writer import Fenced, FencedWriter
from penstock.errors import PenstockError
from penstock.pipeline.connect.api.connector import SinkConnector
from penstock.pipeline.connect.errors import AlreadyExistsError, ConnectError, NotFoundError
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.settings import CONNECT_TABLE, ConnectSettings
from penstock.pipeline.connect.storage import config_records
from penstock.pipeline.connect.storage.cluster_storage import ClusterStorage
from penstock.pipeline.connect.storage.config_state import (
    ConnectorChanged,
    KnownConnector,
    LoggerRequest,
    RestartRequest,
    Said,
)
from penstock.pipeline.connect.storage.offset_topics import OffsetTopic
from penstock.pipeline.connect.storage.status_state import STOPPED, Status, topic_key
from penstock.pipeline.connect.worker import offset_requests
from penstock.pipeline.connect.worker.answers import (
    connector_info,
    current,
    invalid_config,
    restarting,
    status_info,
    task_infos,
    task_state,
)
from penstock.pipeline.connect.worker.assignment import Assignment, Member
from penstock.pipeline.connect.worker.config_providers import ConfigVariables
from penstock.pipeline.connect.worker.daemon_call import call_in_thread
from penstock.pipeline.connect.worker.engine import RunTask, TickEngine
from penstock.pipeline.connect.worker.errors import (
    BadRequestError,
    NotAssignedError,
    NotLeaderError,
    RebalanceNeededError,
    RequestTimeoutError,
)
from penstock.pipeline.connect.worker.interface import (
    CheckConfig,
    ConnectorInfo,
    ConnectorOffset,
    ConnectorOffsets,
    ConnectorStateInfo,
    ConnectorType,
    Health,
    LoggerLevel,
    Put,
    TargetState,
    TaskInfo,
    TaskState,
)
from penstock.pipeline.connect.worker.loggers import Loggers
from penstock.pipeline.connect.worker.membership import Membership
from penstock.pipeline.connect.worker.own_connectors import OwnConnectors
from penstock.pipeline.connect.worker.published_states import removal_of
from penstock.pipeline.connect.worker.running_connector import RunningConnector, Surroundings
from penstock.settings.kinds import to_text
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.connect.worker")

REQUEST_SECONDS = 90.0
"""How long a request waits for a worker that is still starting, as in Connect."""
LOOK_AGAIN_SECONDS = 0.05
T = TypeVar("T")


class ConnectWorker:
    def __init__(
        self,
        settings: ConnectSettings,
        engine: TickEngine,
        run_task: RunTask,
        plugins: Plugins,
        check_config: CheckConfig,
    ) -> None:
        self.settings = settings
        self._engine = engine
        self._run_task = run_task
        self._plugins = plugins
        self._check_config = check_config
        self._variables = ConfigVariables(settings.configs)
        self._storage = ClusterStorage(settings, self._on_said)
        self._membership = Membership(settings, self, self._connectors_to_assign)
        self._own = OwnConnectors(self._make_connector, self._membership.rejoin)
        self._loggers = Loggers()
        self._types: dict[str, ConnectorType] = {}
        self._url = ""
        self._cluster_id = ""
        self._admin: Cluster | None = None
        self._member_id = ""
        self._generation = -1
        self._assignment: Assignment | None = None
        self._agreed = asyncio.Event()
        self._leader_writer: FencedWriter | None = None
        self._has_claimed = False
        self._leader_turn = asyncio.Lock()
        self._chores: set[asyncio.Task[None]] = set()

    # life

    async def run(self, port: int) -> None:
        """Until cancelled; raises what makes it pointless to go on. `port` is where its REST API listens."""
        settings = self.settings
        host = settings.advertised_host()
        shown_host = f"[{host}]" if ":" in host else host
        self._url = f"http://{shown_host}:{settings.rest_advertised_port or port}"
        config = ClusterConfig.from_configs(settings.client_configs)._replace(client_id="connect-worker")
        async with asyncio_cluster(config) as self._admin, self._storage.running() as reading:
            taking_part = asyncio.create_task(self._take_part(self._admin))
            try:
                done, _ = await asyncio.wait([reading, taking_part], return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                await _end(taking_part)

    async def _take_part(self, admin: Cluster) -> None:
        await self._storage.until_ready()
        if any(
            each.target_state == config_records.STARTED for each in self._storage.configs.connectors.values()
        ):
            self._engine.prepare()  # not only when the group has agreed, which takes long if a member was killed
        self._cluster_id = await _cluster_id(admin)
        try:
            await self._membership.run(before_leaving=self._end_connectors)
        finally:
            await self._step_down()

    async def _end_connectors(self) -> None:
        await self._own.end()
        for chore in self._chores:
            chore.cancel()

    async def until_ready(self) -> None:
        """Returns when requests can be answered."""
        await self._agreed.wait()

    # membership

    def member(self) -> Member:
        offset = self._storage.config_log.position.get(0, 0)
        return Member(self._url, offset, self._own.names())

    async def _connectors_to_assign(self) -> Iterable[str]:
        await self._storage.read_configs_to_end(self._known_admin())
        return list(self._storage.configs.connectors)

    def on_assignment(self, assignment: Assignment, member_id: str, generation: int) -> None:
        self._assignment, self._member_id, self._generation = assignment, member_id, generation
        self._own.become(assignment.connectors.get(self._url, ()))
        if assignment.leader_id != member_id:
            self._do(self._step_down())
        elif self._leader_writer is None:
            self._leader_writer = self._storage.leader_writer()
        if assignment.leader_id == member_id:
            self._do(self._remove_leftovers(assignment))
        self._agreed.set()

    def on_lost(self) -> None:
        self._assignment = None
        self._agreed.clear()
        self._own.become(())
        self._do(self._step_down())

    async def _step_down(self) -> None:
        writer, self._leader_writer, self._has_claimed = self._leader_writer, None, False
        if writer is not None:
            await writer.close()

    async def _remove_leftovers(self, assignment: Assignment) -> None:
        """States of connectors that were deleted while the worker was away that ran them."""
        known = self._storage.configs.connectors
        running = {name for names in assignment.connectors.values() for name in names}
        for name in list(self._storage.statuses.connectors):
            if name not in known and name not in running and name not in assignment.ending:
                await self._storage.write_statuses(removal_of(name, self._storage))

    def _do(self, chore: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(chore)
        self._chores.add(task)
        task.add_done_callback(self._on_chore_end)

    def _on_chore_end(self, task: asyncio.Task[None]) -> None:
        self._chores.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("%s", error)

    def _is_member(self) -> bool:
        return self._assignment is not None and self._membership.is_current()

    def _make_connector(self, name: str) -> RunningConnector:
        return RunningConnector(
            name,
            Surroundings(
                *(self.settings, self._storage, self._plugins, self._variables, self._worker_configs()),
                self._engine,
                self._run_task,
                self._known_admin(),
                self._url.removeprefix("http://"),
                lambda: self._generation,
                self._is_member,
            ),
        )

    def _worker_configs(self) -> dict[str, str]:
        """For tasks: what the file says, and what it leaves to defaults."""
        values = {name: to_text(getattr(self.settings, one.attribute)) for name, one in CONNECT_TABLE.items()}
        known = {name: text for name, text in values.items() if text is not None}
        return {**known, **self._variables.resolve(self.settings.configs)}

    def _on_said(self, said: Said) -> None:
        match said:
            case ConnectorChanged(name):
                self._on_connector_changed(name)
            case RestartRequest():
                self._on_restart_request(said)
            case LoggerRequest(namespace, level):
                with suppress(KeyError):
                    self._loggers.set_level(namespace, level)

    def _on_connector_changed(self, name: str) -> None:
        if (running := self._own.get(name)) is not None:
            running.wake()
        is_assigned = self._assignment is not None and self._assignment.owner_url(name) is not None
        if is_assigned != (name in self._storage.configs.connectors):
            self._membership.rejoin()

    def _on_restart_request(self, request: RestartRequest) -> None:
        running = self._own.get(request.connector)
        if running is None:
            return
        if request.include_tasks:
            for task in running.failed_tasks() if request.only_failed else running.all_tasks():
                running.restart_task(task)
        if running.has_failed or not request.only_failed:
            running.restart()

    # the cluster

    def kafka_cluster_id(self) -> str:
        return self._cluster_id

    def health(self) -> Health:
        if not self._storage.is_ready or not self._agreed.is_set():
            why = f" {self._storage.trouble}" if self._storage.trouble else ""
            return Health("starting", f"Worker is still starting up.{why}")
        if self._storage.trouble:
            return Health(
                "unhealthy",
                "Worker was unable to handle this request and may be unable to handle other requests. "
                + self._storage.trouble,
            )
        return Health("healthy", "Worker has completed startup and is ready to handle requests.")

    def leader_url(self) -> str | None:
        return None if self._assignment is None else self._assignment.leader_url

    def owner_url(self, name: str) -> str | None:
        return None if self._assignment is None else self._assignment.owner_url(name)

    def _known_admin(self) -> Cluster:
        assert self._admin is not None, "the worker runs"
        return self._admin

    async def _ready(self) -> None:
        if self._storage.is_ready and self._agreed.is_set():
            return
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                await self._storage.until_ready()
                await self._agreed.wait()
        except TimeoutError:
            raise RequestTimeoutError(
                f"Request timed out. The worker is still starting: {self._storage.trouble or 'no leader is known'}"
            ) from None

    async def _fresh(self) -> None:
        """What was written before the request is known now; if Kafka is slow, what is known has to do."""
        await self._ready()
        with suppress(TimeoutError, KafkaError):
            async with asyncio.timeout(self.settings.worker_sync_timeout_ms / 1000):
                await self._storage.read_configs_to_end(self._known_admin())

    def _connector(self, name: str, message: str = "Connector {} not found") -> KnownConnector:
        known = self._storage.configs.connectors.get(name)
        if known is None:
            raise NotFoundError(message.format(name))
        return known

    def _type_of(self, config: Mapping[str, str]) -> ConnectorType:
        class_name = config.get("connector.class", "")
        if class_name not in self._types:
            try:
                is_sink = issubclass(self._plugins.find_connector(class_name).cls, SinkConnector)
            except (PenstockError, ImportError):
                return "unknown"
            self._types[class_name] = "sink" if is_sink else "source"
        return self._types[class_name]

    # connectors

    async def connectors(self) -> list[str]:
        await self._fresh()
        return sorted(self._storage.configs.connectors)

    async def connector_info(self, name: str) -> ConnectorInfo:
        await self._fresh()
        return self._info(name)

    def _info(self, name: str) -> ConnectorInfo:
        known = self._connector(name)
        return connector_info(name, known, self._type_of(known.config))

    async def create(
        self, name: str, config: Mapping[str, str], initial_state: TargetState | None = None
    ) -> ConnectorInfo:
        config = await self._checked(name, config)
        async with self._leading("Only the leader can set connector configs.") as writer:
            if name in self._storage.configs.connectors:
                raise AlreadyExistsError(f"Connector {name} already exists")
            state = [] if initial_state is None else [config_records.target_state(name, initial_state)]
            await self._write(writer, [*state, config_records.connector_config(name, config)])
        return self._info(name)

    async def put_config(self, name: str, config: Mapping[str, str]) -> Put:
        config = await self._checked(name, config)
        async with self._leading("Only the leader can set connector configs.") as writer:
            is_new = name not in self._storage.configs.connectors
            await self._write(writer, [config_records.connector_config(name, config)])
        return Put(is_new, self._info(name))

    async def patch_config(self, name: str, patch: Mapping[str, str | None]) -> ConnectorInfo:
        async with self._leading("Only the leader can set connector configs.") as writer:
            merged = {**self._connector(name).config, **patch}
            config = await self._checked(
                name, {key: each for key, each in merged.items() if each is not None}
            )
            await self._write(writer, [config_records.connector_config(name, config)])
        return self._info(name)

    async def _checked(self, name: str, config: Mapping[str, str]) -> dict[str, str]:
        named = {"name": name, **config}
        resolved = self._variables.resolve(named)
        errors = await call_in_thread(f"check-{name}", self._check_config, resolved)
        if errors:
            raise BadRequestError(invalid_config(errors))
        return named

    async def delete(self, name: str) -> None:
        async with self._leading("Only the leader can delete connector configs.") as writer:
            self._connector(name)
            await self._write(writer, config_records.removal(name))

    @asynccontextmanager
    async def _leading(self, message: str) -> AsyncIterator[FencedWriter]:
        """The right to write, with all that was written before read; NotLeaderError where it is another's."""
        await self._ready()
        async with self._leader_turn:
            writer = self._leader_writer
            if writer is None:
                raise NotLeaderError(message, self.leader_url())
            try:
                if not self._has_claimed:
                    await writer.claim()
                    await self._storage.read_configs_to_end(self._known_admin())
                    self._has_claimed = True
                yield writer
            except Fenced as error:
                log.warning("another worker leads: %s", error)
                await self._step_down()
                self._membership.rejoin()
                raise RebalanceNeededError(
                    "Request cannot be completed because a rebalance is expected"
                ) from None
            except KafkaError as error:
                raise ConnectError(
                    "Failed to write to config topic; this may be due to a transient error and the request can be "
                    f"safely retried: {error}"
                ) from error

    async def _write(self, writer: FencedWriter, records: Sequence[config_records.Record]) -> None:
        log_of_configs = self._storage.config_log
        await self._storage.replayed(log_of_configs, await writer.write(records))

    # tasks and states

    async def tasks(self, name: str) -> list[TaskInfo]:
        await self._fresh()
        return task_infos(name, self._connector(name))

    async def status(self, name: str) -> ConnectorStateInfo:
        await self._ready()
        own = self._storage.statuses.connectors.get(name)
        if own is None:
            raise NotFoundError(f"No status found for connector {name}")
        known = self._storage.configs.connectors.get(name)
        type_: ConnectorType = "unknown" if known is None else self._type_of(known.config)
        tasks = self._storage.statuses.tasks.get(name, {})
        shown = {task: self._current(name, each, known) for task, each in tasks.items()}
        return status_info(name, self._current(name, own, known), shown, type_)

    def _current(self, name: str, status: Status, known: KnownConnector | None) -> Status:
        is_ours = self._url == self.owner_url(name) == f"http://{status.worker_id}"
        return current(status, known, is_of_earlier_life=is_ours and not self._own.has_spoken(name))

    async def task_status(self, name: str, task: int) -> TaskState:
        await self._ready()
        found = self._storage.statuses.tasks.get(name, {}).get(task)
        if found is None:
            raise NotFoundError(f"No status found for task {name}-{task}")
        return task_state(task, self._current(name, found, self._storage.configs.connectors.get(name)))

    async def pause(self, name: str) -> None:
        await self._set_target_state(name, config_records.PAUSED)

    async def resume(self, name: str) -> None:
        await self._set_target_state(name, config_records.STARTED)

    async def stop(self, name: str) -> None:
        await self._set_target_state(name, config_records.STOPPED)

    async def _set_target_state(self, name: str, state: str) -> None:
        """Any worker may: the last word counts."""
        await self._fresh()
        self._connector(name, "Unknown connector {}")
        try:
            await self._storage.write_target_state(name, state)
        except KafkaError as error:
            raise ConnectError(f"Error writing target state to Kafka: {error}") from error

    async def restart(
        self, name: str, include_tasks: bool = False, only_failed: bool = False
    ) -> ConnectorStateInfo | None:
        await self._fresh()
        self._connector(name, "Unknown connector: {}")
        if include_tasks or only_failed:
            return await self._restart_by_leader(name, include_tasks, only_failed)
        self._running(name, "connector").restart()
        return None

    async def _restart_by_leader(
        self, name: str, include_tasks: bool, only_failed: bool
    ) -> ConnectorStateInfo:
        async with self._leading("Only the leader can process restart requests.") as writer:
            statuses = self._storage.statuses
            if name not in statuses.connectors:
                raise NotFoundError(f"Status for connector {name} not found")
            own = restarting(statuses.connectors[name], only_failed=only_failed)
            tasks = {
                task: restarting(status, only_failed=only_failed) if include_tasks else status
                for task, status in statuses.tasks.get(name, {}).items()
            }
            answer = status_info(name, own, tasks, self._type_of(self._connector(name).config))
            record = config_records.restart_request(
                name, include_tasks=include_tasks, only_failed=only_failed
            )
            await self._write(writer, [record])
            return answer

    async def restart_task(self, name: str, task: int) -> None:
        await self._fresh()
        if not 0 <= task < len(self._connector(name, "Unknown connector: {}").tasks):
            raise NotFoundError(f"Unknown task: {name}-{task}")
        if not self._running(name, "task").restart_task(task):
            raise ConnectError(f"Failed to start task: {name}-{task}")

    def _running(self, name: str, what: str) -> RunningConnector:
        """Here, or an error that says where."""
        if (running := self._own.get(name)) is not None:
            return running
        message = f"Cannot restart {what} since it is not assigned to this member"
        if self._assignment is not None and self._assignment.leader_id == self._member_id:
            raise NotAssignedError(message, self.owner_url(name))
        raise NotLeaderError(message, self.leader_url())

    # offsets and topics

    async def offsets(self, name: str) -> ConnectorOffsets:
        await self._fresh()
        config = self._connector(name).config
        if self._type_of(config) == "sink":
            resolved = self._variables.resolve(config)
            found = await self._asking(offset_requests.sink_offsets(self._known_admin(), name, resolved))
        else:
            topics = await self._asking(self._read_offsets(self._variables.resolve(config)))
            found = offset_requests.source_offsets(topics, name)
        return {"offsets": found}

    async def alter_offsets(self, name: str, offsets: Sequence[ConnectorOffset]) -> str:
        if not offsets:
            raise BadRequestError("Partitions / offsets need to be provided for an offset alter request")
        return await self._change_offsets(name, offsets)

    async def reset_offsets(self, name: str) -> str:
        return await self._change_offsets(name, None)

    async def _change_offsets(self, name: str, offsets: Sequence[ConnectorOffset] | None) -> str:
        message = "Only the leader can process external offsets modification requests"
        async with self._leading(message):
            await self._storage.read_configs_to_end(self._known_admin())
            await self._until_stopped(name)
            config = self._variables.resolve(self._connector(name).config)
            connector = self._plugins.find_connector(config["connector.class"]).cls()
            if isinstance(connector, SinkConnector):
                wanted = None if offsets is None else offset_requests.parse_sink_offsets(offsets)
                return await offset_requests.change_sink_offsets(
                    self._known_admin(), name, connector, config, wanted
                )
            topics = await self._read_offsets(config)
            return await offset_requests.change_source_offsets(
                self._storage, topics, name, connector, config, offsets
            )

    async def _read_offsets(self, config: Mapping[str, str]) -> list[OffsetTopic]:
        topics = await self._storage.offset_topics.of(config)
        for topic in topics:
            await topic.log.read_to_end(self._known_admin())
        return topics

    async def _until_stopped(self, name: str) -> None:
        """One that was told to stop may take the length of a tick."""
        wait_ms = self.settings.tick_ms + self.settings.task_shutdown_graceful_timeout_ms
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_ms / 1000):
                while self._connector(name).target_state == config_records.STOPPED:
                    status = self._storage.statuses.connectors.get(name)
                    if status is not None and status.state == STOPPED and not self._connector(name).tasks:
                        return
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
        raise BadRequestError(
            "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the "
            f"specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
        )

    async def topics(self, name: str) -> dict[str, dict[str, list[str]]]:
        await self._ready()
        return {name: {"topics": sorted(self._storage.statuses.topics.get(name, {}))}}

    async def reset_topics(self, name: str) -> None:
        await self._ready()
        known = self._storage.statuses.topics.get(name, {})
        await self._asking(
            self._storage.write_statuses([(topic_key(each, name), None) for each in sorted(known)])
        )

    @staticmethod
    async def _asking(asking: Coroutine[Any, Any, T]) -> T:
        try:
            return await asking
        except KafkaError as error:
            raise ConnectError(f"Kafka cannot be asked now: {error}") from error

    # logging

    def loggers(self) -> dict[str, LoggerLevel]:
        return self._loggers.levels()

    def logger(self, name: str) -> LoggerLevel:
        return self._loggers.level(name)

    def set_logger_level(self, namespace: str, level: str) -> list[str]:
        return self._loggers.set_level(namespace, level)

    async def set_cluster_logger_level(self, namespace: str, level: str) -> None:
        await self._ready()
        await self._asking(self._storage.write_logger_level(namespace, level.upper()))


async def _cluster_id(admin: Cluster) -> str:
    while True:
        try:
            return (await admin.describe()).cluster_id or ""
        except KafkaError as error:
            log.warning("Kafka cannot be asked now: %s", error)  # after having tried for a while


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, PenstockError):
        await task
