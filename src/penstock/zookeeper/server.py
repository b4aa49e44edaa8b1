"""The embedded ZooKeeper server: sockets, timers and the disk around the pure parts.

connection -> frames -> processor -> state (tree, watches, sessions) -> batch -> committer -> disk -> connections
"""

import asyncio
import logging
import os
import platform
import sys
from collections import Counter

from penstock.clock import Clock, SystemClock
from penstock.zookeeper.committer import Committer
from penstock.zookeeper.config import ZooKeeperConfig
from penstock.zookeeper.connection import Connection
from penstock.zookeeper.four_letter import Situation, answer, word_of
from penstock.zookeeper.processor import Moment, Processor
from penstock.zookeeper.sessions import first_session_id
from penstock.zookeeper.state import Batch, Client, ServerState
from penstock.zookeeper.statistics import Statistics
from penstock.zookeeper.storage import Storage
from penstock.zookeeper.tree import Tree

log = logging.getLogger(__name__)

_LISTEN_BACKLOG = 1024
_CLOSE_SECONDS = 1


class ZooKeeperServer:
    """Serves from `start` to `stop`. `failure` is done if the disk fails, after which nothing is served."""

    failure: "asyncio.Future[BaseException]"

    def __init__(self, config: ZooKeeperConfig, clock: Clock | None = None) -> None:
        self.config = config
        self._clock = clock or SystemClock()
        self._statistics = Statistics()
        self._storage: Storage | None = None
        self._connections: dict[Client, Connection] = {}
        self._per_host: Counter[str] = Counter()
        self._backlogged: set[Connection] = set()
        self._listener: asyncio.Server | None = None
        self._stopped = True
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.failure = self._loop.create_future()
        tree = await self._open_storage()
        try:
            self._build(tree)
            await self._listen()
        except BaseException:
            self._close_storage()
            raise
        self._stopped = False
        self._statistics.started_at_ms = self._clock.monotonic_ms()
        self._start_timers()

    async def _open_storage(self) -> Tree:
        if self.config.data_dir is None:
            return Tree.fresh()
        self._storage = Storage(
            self.config.data_dir, self.config.data_log_dir, force_sync=self.config.force_sync
        )
        return await asyncio.to_thread(self._storage.open)

    def _close_storage(self) -> None:
        if self._storage is not None:
            self._storage.close()
            self._storage = None

    def _build(self, tree: Tree) -> None:
        self._state = ServerState(tree, self._clock.monotonic_ms())
        self._processor = Processor(
            self._state,
            self.config.smallest_timeout_ms,
            self.config.largest_timeout_ms,
            first_session_id(self._clock.now_ms(), tree.last_session_id),
            os.urandom,
        )
        self._committer = Committer(
            self._state,
            self._storage,
            self._release,
            self._fail,
            snap_count=self.config.snap_count,
            snap_size_bytes=self.config.snap_size_limit_kb * 1024,
        )

    async def _listen(self) -> None:
        self._listener = await self._loop.create_server(
            lambda: Connection(self),
            self.config.client_port_address,
            self.config.client_port,
            backlog=_LISTEN_BACKLOG,
        )
        self._port = int(self._listener.sockets[0].getsockname()[1])

    @property
    def port(self) -> int:
        """The port that the server listens on, also when `client_port` was 0."""
        return self._port

    async def stop(self) -> None:
        """Answers what was already asked, then closes. Sessions stay: their clients may come back."""
        if self._stopped:
            return
        self._stopped = True
        self._stop_listening()
        await self._committer.close()
        await self._close_connections()
        self._close_storage()

    async def _close_connections(self) -> None:
        connections = list(self._connections.values())
        for connection in connections:
            connection.close()
        if connections:
            await asyncio.wait([connection.closed for connection in connections], timeout=_CLOSE_SECONDS)
        for connection in connections:
            connection.transport.abort()

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for timer in self._timers.values():
            timer.cancel()

    # Connections

    def admit(self, connection: Connection, host: str, port: int) -> Client | None:
        """Takes a new connection in, unless its host or the server has too many."""
        config = self.config
        full = 0 < config.max_cnxns <= len(self._connections)
        if full or self._listener is None or 0 < config.max_client_cnxns <= self._per_host[host]:
            log.warning("refusing a connection from %s: too many connections", host)
            self._statistics.connections_refused += 1
            return None
        client = Client(host, port, self._clock.now_ms())
        self._per_host[host] += 1
        self._connections[client] = connection
        self._state.clients[client] = None
        return client

    def on_connection_lost(self, client: Client) -> None:
        connection = self._connections.pop(client, None)
        if connection is None:
            return
        self._backlogged.discard(connection)
        self._per_host[client.host] -= 1
        if not self._per_host[client.host]:
            del self._per_host[client.host]
        self._state.forget(client)

    def drop(self, connection: Connection) -> None:
        if connection.client is not None:
            self._state.forget(connection.client)
        connection.transport.abort()

    def answer_four_letter_word(self, opening: bytes) -> bytes | None:
        word = word_of(opening)
        if word is None:
            return None
        return answer(word, self._situation()).encode()

    def _situation(self) -> Situation:
        environment = {"host.name": platform.node(), "os.name": sys.platform, "python.version": sys.version}
        return Situation(
            self._state,
            self._statistics,
            self.config,
            self.port,
            self._clock.monotonic_ms(),
            environment,
        )

    # Requests

    @property
    def pending_bytes(self) -> int:
        return self._state.batch.size

    @property
    def is_backlogged(self) -> bool:
        return self._state.batch.size > self.config.max_outstanding_bytes

    def note_backlogged(self, connection: Connection) -> None:
        self._backlogged.add(connection)

    def process_later(self, connection: Connection) -> None:
        self._loop.call_soon(connection.process)

    def _now(self) -> Moment:
        return Moment(self._clock.monotonic_ms(), self._clock.now_ms())

    def handle_frame(self, client: Client, frame: bytes) -> None:
        if self._stopped or self.failure.done():
            return
        now = self._now()
        self._statistics.packets_received += 1
        if not self._state.batch.opened_at_ms:
            self._state.batch.opened_at_ms = now.monotonic_ms
        self._processor.handle_frame(client, frame, now)
        self._committer.schedule()

    def _release(self, batch: Batch) -> None:
        """Sends what a durable batch has to say and closes whom it ends."""
        latency_ms = self._clock.monotonic_ms() - (batch.opened_at_ms or self._clock.monotonic_ms())
        for client, frames in batch.frames.items():
            connection = self._connections.get(client)
            if connection is not None:
                client.sent += len(frames)
                self._statistics.note_sent(len(frames), latency_ms)
                connection.release(frames)
        for client in batch.closing:
            connection = self._connections.get(client)
            if connection is not None:
                connection.close()
        waiting, self._backlogged = self._backlogged, set()
        for connection in waiting:
            self.process_later(connection)

    def _fail(self, error: BaseException) -> None:
        """What is in memory may not be on disk any more: nothing may be served from it."""
        log.critical("the journal failed, the server stops serving: %s", error)
        self._stop_listening()
        for connection in list(self._connections.values()):
            connection.transport.abort()
        if not self.failure.done():
            self.failure.set_result(error)

    # Timers

    def _start_timers(self) -> None:
        self._run_expiry(self._loop.time())
        self._run_container_check()

    def _run_expiry(self, expected: float) -> None:
        """Expires sessions, but not on account of time in which this process could not read their pings."""
        interval = self.config.expiry_interval_ms / 1000
        late = self._loop.time() - expected
        if late > interval:
            self._state.sessions.postpone(int(late * 1000))
        self.expire_sessions()
        following = self._loop.time() + interval
        self._timers["expiry"] = self._loop.call_at(following, self._run_expiry, following)

    def expire_sessions(self) -> None:
        """Closes what has been silent for too long: sessions, and connections that never opened one."""
        now = self._now()
        for session_id in self._processor.expire_sessions(now):
            log.info("session %#x has expired", session_id)
        oldest_ms = now.wall_clock_ms - self.config.sessionless_timeout_ms
        for client, connection in list(self._connections.items()):
            if not client.session_id and client.connected_at_ms < oldest_ms:
                self.drop(connection)
        self._committer.schedule()

    def _run_container_check(self) -> None:
        self._processor.delete_overdue_nodes(self._now())
        self._committer.schedule()
        interval_s = self.config.container_check_interval_ms / 1000
        self._timers["containers"] = self._loop.call_later(interval_s, self._run_container_check)
