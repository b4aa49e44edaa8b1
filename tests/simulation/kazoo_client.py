"""What `broker.coordination` uses of kazoo's client, over the simulated network.

It has kazoo's manners: what is under way when the connection breaks fails with ConnectionLoss, watches are told that
they are lost, what is asked meanwhile waits; a session that has expired is known only when the server can be reached
again, and then a new one begins.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

from kazoo.exceptions import (
    BadVersionError,
    ConnectionClosedError,
    ConnectionLoss,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    RolledBackError,
    RuntimeInconsistency,
    SessionExpiredError,
)
from kazoo.protocol.states import EventType, KazooState, KeeperState, WatchedEvent

from penstock.broker.coordination import Coordination, CoordinationError
from penstock.zookeeper.protocol import EventType as ServerEvent
from penstock.zookeeper.protocol import KeeperCode
from penstock.zookeeper.tree import Znode
from penstock.zookeeper.wire import CheckRequest, DeleteRequest, SetDataRequest
from tests.simulation import zookeeper as server
from tests.simulation.network import End, Network
from tests.simulation.virtual_loop import Process

SHORTEST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 0.05, 1.0

_ERRORS = {
    KeeperCode.NODE_EXISTS: NodeExistsError,
    KeeperCode.NO_NODE: NoNodeError,
    KeeperCode.BAD_VERSION: BadVersionError,
    KeeperCode.NOT_EMPTY: NotEmptyError,
    KeeperCode.RUNTIME_INCONSISTENCY: RuntimeInconsistency,
    KeeperCode.OK: RolledBackError,
}
_EVENTS = {
    ServerEvent.NODE_CREATED: EventType.CREATED,
    ServerEvent.NODE_DELETED: EventType.DELETED,
    ServerEvent.NODE_DATA_CHANGED: EventType.CHANGED,
    ServerEvent.NODE_CHILDREN_CHANGED: EventType.CHILD,
}

Watch = Callable[[WatchedEvent], None]


class Result:
    """Kazoo's `IAsyncResult`."""

    def __init__(self, convert: Callable[[Any], Any] = lambda value: value) -> None:
        self.value: Any = None
        self.exception: Exception | None = None
        self._convert = convert
        self._links: list[Callable[[Any], None]] = []
        self._is_ready = False

    def rawlink(self, callback: Callable[[Any], None]) -> None:
        if self._is_ready:
            callback(self)
        else:
            self._links.append(callback)

    def settle(self, value: Any, exception: Exception | None = None) -> None:
        self._is_ready = True
        self.value = None if exception is not None else self._convert(value)
        self.exception = exception
        for callback in self._links:
            callback(self)


class Stat:
    def __init__(self, node: Znode) -> None:
        self.version = node.version
        self.czxid = node.czxid
        self.mzxid = node.mzxid
        self.ephemeralOwner = node.ephemeral_owner


Asked = tuple[server.Request, Result, "tuple[bool, str, Watch] | None"]
"""With the watch that begins when it succeeds: on children or not, where, and whom to tell."""


class Transaction:
    def __init__(self, client: SimulatedKazoo) -> None:
        self._client = client
        self._operations: list[Any] = []

    def create(self, path: str, value: bytes, *, ephemeral: bool, sequence: bool) -> None:
        self._operations.append(server.create(path, value, ephemeral=ephemeral, sequence=sequence))

    def set_data(self, path: str, value: bytes, version: int) -> None:
        self._operations.append(SetDataRequest(path, value, version))

    def delete(self, path: str, version: int) -> None:
        self._operations.append(DeleteRequest(path, version))

    def check(self, path: str, version: int) -> None:
        self._operations.append(CheckRequest(path, version))

    def commit_async(self) -> Result:
        return self._client.ask(server.Multi(self._operations), Result(_outcomes))


def _outcomes(results: list[Any]) -> list[Any]:
    if any(isinstance(each, KeeperCode) for each in results):
        return [_ERRORS[each]() for each in results]
    return [Stat(each) if isinstance(each, Znode) else each for each in results]


class SimulatedKazoo:
    def __init__(
        self, network: Network, process: Process, host: str, timeout_ms: int, chance: Random
    ) -> None:
        self._network = network
        self._loop = network.loop
        self._process = process
        self._host = host
        self._timeout_ms = timeout_ms
        self._chance = chance
        self._state = KeeperState.CLOSED
        self._listeners: list[Callable[[str], None]] = []
        self._watches: dict[tuple[bool, str], dict[Watch, None]] = {}
        self._queue: deque[Asked] = deque()
        self._pending: deque[Asked | None] = deque()
        """Sent, in order; None is a ping."""
        self._end: End | None = None
        self._session_id = 0
        self._heard_at = 0.0
        self._retry_seconds = SHORTEST_RETRY_SECONDS
        self._attempt = 0
        self.connected = asyncio.Event()

    # what Coordination calls

    @property
    def client_id(self) -> tuple[int, bytes]:
        return self._session_id, b""

    def add_listener(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def begin(self) -> None:
        self._connect()

    def stop(self) -> None:
        if self._end is not None and not self._end.is_closed:
            self._end.send(server.CloseSession())
            self._end.close()
        self._end = None
        self._attempt += 1
        self._become(KeeperState.CLOSED)

    def close(self) -> None:
        """Nothing is held beyond `stop`."""

    def get_async(self, path: str, watch: Watch | None = None) -> Result:
        result = Result(lambda node: (node.data, Stat(node)))
        return self.ask(server.Read(path, watch is not None), result, _begun(False, path, watch))

    def get_children_async(self, path: str, watch: Watch | None = None) -> Result:
        request = server.Read(path, watch is not None, of_children=True)
        return self.ask(request, Result(), _begun(True, path, watch))

    def create_async(
        self, path: str, data: bytes, *, ephemeral: bool, sequence: bool, makepath: bool
    ) -> Result:
        operation = server.create(path, data, ephemeral=ephemeral, sequence=sequence)
        return self.ask(server.Write(operation, makepath))

    def set_async(self, path: str, data: bytes, version: int) -> Result:
        return self.ask(server.Write(SetDataRequest(path, data, version)), Result(Stat))

    def delete_async(self, path: str, version: int) -> Result:
        return self.ask(server.Write(DeleteRequest(path, version)))

    def transaction(self) -> Transaction:
        return Transaction(self)

    def ask(
        self,
        request: server.Request,
        result: Result | None = None,
        watch: tuple[bool, str, Watch] | None = None,
    ) -> Result:
        result = result or Result()
        if self._state == KeeperState.CLOSED:
            result.settle(None, ConnectionClosedError("Connection has been closed"))
        elif self._state == KeeperState.EXPIRED_SESSION:
            result.settle(None, SessionExpiredError())
        else:
            self._queue.append((request, result, watch))
            self._send_queue()
        return result

    # the connection

    def _connect(self) -> None:
        self._attempt += 1
        attempt = self._attempt
        self._become(KeeperState.CONNECTING)

        def done(end: End | None) -> None:
            if attempt != self._attempt:
                if end is not None:
                    end.close()
            elif end is None:
                self._connect_later()
            else:
                self._end = end
                end.begin(self)
                end.send(server.Connect(self._session_id, self._timeout_ms))

        self._network.connect(self._process, self._host, server.HOST, done)
        self._loop.call_later(self._timeout_ms / 1000, self._give_up, attempt)

    def _give_up(self, attempt: int) -> None:
        if attempt == self._attempt and self._state == KeeperState.CONNECTING:
            self._drop()

    def _connect_later(self) -> None:
        self._attempt += 1
        self._loop.call_later(self._retry_seconds * (0.5 + self._chance.random()), self._retry, self._attempt)
        self._retry_seconds = min(2 * self._retry_seconds, LONGEST_RETRY_SECONDS)

    def _retry(self, attempt: int) -> None:
        if attempt == self._attempt:
            self._connect()

    def on_message(self, message: object) -> None:
        self._heard_at = self._loop.time()
        match message:
            case server.Connected(session_id):
                self._on_connected(session_id)
            case server.Event(kind, path):
                self._on_event(kind, path)
            case server.Reply():
                self._on_reply(message)

    def on_closed(self) -> None:
        self._drop()

    def _drop(self) -> None:
        if self._end is not None:
            self._end.close()
            self._end = None
        if self._state != KeeperState.CLOSED:
            self._become(KeeperState.CONNECTING)
            self._connect_later()

    def _on_connected(self, session_id: int) -> None:
        self._retry_seconds = SHORTEST_RETRY_SECONDS
        if not session_id:
            self._become(KeeperState.EXPIRED_SESSION)
            assert self._end is not None
            self._end.close()
            self._end = None
            self._connect_later()
            return
        self._session_id = session_id
        self._become(KeeperState.CONNECTED)
        self._send_queue()
        self._loop.call_later(self._timeout_ms / 3000, self._ping, self._attempt)

    def _ping(self, attempt: int) -> None:
        if attempt != self._attempt or self._end is None:
            return
        if self._loop.time() - self._heard_at > self._timeout_ms * 2 / 3000:
            self._drop()
            return
        self._pending.append(None)
        self._end.send(server.Ping())
        self._loop.call_later(self._timeout_ms / 3000, self._ping, attempt)

    def _send_queue(self) -> None:
        if self._state == KeeperState.CONNECTED and self._end is not None:
            while self._queue:
                asked = self._queue.popleft()
                self._pending.append(asked)
                self._end.send(asked[0])

    def _on_reply(self, reply: server.Reply) -> None:
        asked = self._pending.popleft()
        if asked is None:
            return
        _, result, watch = asked
        if reply.code is not KeeperCode.OK:
            result.settle(None, _ERRORS[reply.code]())
            return
        if watch is not None:
            of_children, path, callback = watch
            self._watches.setdefault((of_children, path), {})[callback] = None
        result.settle(reply.result)

    def _on_event(self, kind: ServerEvent, path: str) -> None:
        told: dict[Watch, None] = {}
        if kind is not ServerEvent.NODE_CHILDREN_CHANGED:
            told.update(self._watches.pop((False, path), {}))
        if kind in (ServerEvent.NODE_CHILDREN_CHANGED, ServerEvent.NODE_DELETED):
            told.update(self._watches.pop((True, path), {}))
        for watch in told:
            watch(WatchedEvent(_EVENTS[kind], KeeperState.CONNECTED, path))

    # states, as in KazooClient._session_callback

    def _become(self, state: str) -> None:
        if state == self._state:
            return
        was_closed = self._state in (KeeperState.CLOSED, KeeperState.EXPIRED_SESSION)
        self._state = state
        if was_closed and state == KeeperState.CONNECTING:
            return
        if state == KeeperState.CONNECTED:
            self.connected.set()
            self._tell(KazooState.CONNECTED)
        elif state in (KeeperState.CLOSED, KeeperState.EXPIRED_SESSION):
            self._tell(KazooState.LOST)
            self._fail_all(SessionExpiredError if state == KeeperState.EXPIRED_SESSION else ConnectionLoss)
            self._session_id = 0
            self._lose_watches()
        else:
            self._fail_all(ConnectionLoss)
            self._tell(KazooState.SUSPENDED)
            self._lose_watches()

    def _tell(self, state: str) -> None:
        for listener in self._listeners:
            listener(state)

    def _fail_all(self, error: type[Exception]) -> None:
        failed = [asked for asked in (*self._pending, *self._queue) if asked is not None]
        self._pending.clear()
        self._queue.clear()
        for _, result, _ in failed:
            result.settle(None, error())

    def _lose_watches(self) -> None:
        watches, self._watches = self._watches, {}
        for callbacks in watches.values():
            for callback in callbacks:
                callback(WatchedEvent(EventType.NONE, self._state, None))


def _begun(of_children: bool, path: str, watch: Watch | None) -> tuple[bool, str, Watch] | None:
    return None if watch is None else (of_children, path, watch)


class SimulatedCoordination(Coordination):
    """The broker's own, which makes another client, and does not wait for it in a thread."""

    def __init__(
        self, hosts: str, session_timeout_ms: int, make_client: Callable[[int], SimulatedKazoo]
    ) -> None:
        self._made_by = make_client
        super().__init__(hosts, session_timeout_ms)

    def _make_client(self, hosts: str, session_timeout_ms: int) -> SimulatedKazoo:
        return self._made_by(session_timeout_ms)

    async def connect(self, timeout_ms: int) -> None:
        self._client.add_listener(self._on_state)
        self._client.begin()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._client.connected.wait()
        except TimeoutError as error:
            raise CoordinationError("zookeeper.connect: no answer in time") from error

    async def close(self) -> None:
        self._stop()
