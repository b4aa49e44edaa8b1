"""The way to ZooKeeper: kazoo's threads on one side, the broker's event loop on the other.

This is the only module that imports kazoo. Calls are sent from the loop without blocking and their answers come
back to it as futures; many may be under way at once. Watches and session events are handed to the loop too,
so that nothing of the broker ever runs on one of kazoo's threads.

A call that is made while ZooKeeper is away waits for it. One that was under way when the connection broke may have been
done or not; as in Kafka it is made again, so that who asked sees at worst that it was done already (NodeExists, NoNode,
VersionConflict). Ephemeral nodes are left to those who make them, since their session may be another one by then.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import (
    BadVersionError,
    ConnectionLoss,
    KazooException,
    NodeExistsError,
    NoNodeError,
    RolledBackError,
)
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import EventType, KazooState, KeeperState, WatchedEvent

from penstock.errors import PenstockError

log = logging.getLogger("penstock.broker.coordination")

MAX_OPERATIONS_PER_TRANSACTION = 500
"""Keeps a transaction short; its bytes are counted besides."""
MAX_REQUEST_BYTES = 1024 * 1024 - 1
"""What ZooKeeper takes in one request (its jute.maxbuffer); it hangs up on a longer one, which says nothing of why."""
REQUEST_OVERHEAD_BYTES = 4096
OPERATION_OVERHEAD_BYTES = 128
"""Headers, lengths, flags and ACLs, rounded up."""
REPEAT_SECONDS = 0.05
"""Before a call is made again whose connection broke."""


class CoordinationError(PenstockError):
    """ZooKeeper can't be reached, or refused what was asked."""

    path: str = ""
    """Of the node that it is about, if it is about one."""


class NodeExists(CoordinationError):
    """The znode is there already."""


class NoNode(CoordinationError):
    """The znode is not there."""


class VersionConflict(CoordinationError):
    """The znode was changed by somebody else."""


class CheckFailed(CoordinationError):
    """A node that was not to have changed has changed, so nothing was done."""


class TooLarge(CoordinationError):
    """The znode would be larger than what ZooKeeper stores; nothing was sent."""


class MalformedNode(CoordinationError):
    """What the znode holds is not what belongs there; says which node."""


class ConnectionBroke(CoordinationError):
    """Before the answer came: whether it was done is not known."""


_ERRORS: tuple[tuple[type[Exception], type[CoordinationError]], ...] = (
    (NodeExistsError, NodeExists),
    (NoNodeError, NoNode),
    (BadVersionError, VersionConflict),
    (ConnectionLoss, ConnectionBroke),
)


@dataclass(frozen=True, slots=True)
class Node:
    data: bytes
    version: int
    creation_zxid: int
    modification_zxid: int
    ephemeral_owner: int


@dataclass(frozen=True, slots=True)
class Create:
    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequence: bool = False


@dataclass(frozen=True, slots=True)
class Set:
    path: str
    data: bytes
    version: int = -1


@dataclass(frozen=True, slots=True)
class Delete:
    path: str
    version: int = -1


@dataclass(frozen=True, slots=True)
class Check:
    """Nothing is changed; all that stands beside it is refused if the node has another version."""

    path: str
    version: int


Operation = Create | Set | Delete | Check


def _size(operation: Operation) -> int:
    data = b"" if isinstance(operation, Delete | Check) else operation.data
    return len(operation.path.encode()) + len(data) + OPERATION_OVERHEAD_BYTES


def _check_size(operation: Operation) -> None:
    size = _size(operation) + REQUEST_OVERHEAD_BYTES
    if size > MAX_REQUEST_BYTES:
        raise TooLarge(
            f"{operation.path} would take {size} bytes in ZooKeeper, which stores {MAX_REQUEST_BYTES} at most"
        )


def check_sizes(operations: Iterable[Operation]) -> None:
    """TooLarge if one of them can't be stored; for who writes several, before the first of them."""
    for operation in operations:
        _check_size(operation)


def _split(operations: list[Operation]) -> Iterator[list[Operation]]:
    """As few transactions as will do."""
    part: list[Operation] = []
    left = MAX_REQUEST_BYTES - REQUEST_OVERHEAD_BYTES
    for operation in operations:
        size = _size(operation)
        if part and (size > left or len(part) == MAX_OPERATIONS_PER_TRANSACTION):
            yield part
            part, left = [], MAX_REQUEST_BYTES - REQUEST_OVERHEAD_BYTES
        part.append(operation)
        left -= size
    if part:
        yield part


class Coordination:
    def __init__(self, hosts: str, session_timeout_ms: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._hosts = hosts
        self._client = self._make_client(hosts, session_timeout_ms)
        self._on_session_lost: Callable[[], None] = lambda: None
        self._lost = False

    def _make_client(self, hosts: str, session_timeout_ms: int) -> KazooClient:
        return KazooClient(
            hosts=hosts,
            timeout=session_timeout_ms / 1000,
            connection_retry={"max_tries": -1, "delay": 0.05, "backoff": 2, "max_delay": 1.0},
        )

    async def connect(self, timeout_ms: int) -> None:
        self._client.add_listener(self._on_state)
        try:
            await asyncio.to_thread(self._client.start, timeout_ms / 1000)
        except KazooTimeoutError as error:
            raise CoordinationError(
                f"zookeeper.connect: no answer within {timeout_ms} ms from {self._hosts}"
            ) from error

    async def close(self) -> None:
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        self._client.stop()
        self._client.close()

    def on_session_lost(self, callback: Callable[[], None]) -> None:
        """Called on the loop when a session ended and a new one has begun: ephemeral nodes are gone."""
        self._on_session_lost = callback

    def _on_state(self, state: str) -> None:
        if state == KazooState.LOST:
            self._lost = True
        elif state == KazooState.CONNECTED and self._lost:
            self._lost = False
            self._loop.call_soon_threadsafe(self._on_session_lost)

    @property
    def session_id(self) -> int:
        return int(self._client.client_id[0])

    # single calls

    async def get(self, path: str, on_change: Callable[[], None] | None = None) -> Node:
        """`on_change` is called on the loop, once, when the node changes or goes, or nobody watches it any more."""
        watch = None if on_change is None else self._watch(on_change)
        data, stat = await self._repeat(lambda: self._client.get_async(path, watch=watch))
        return Node(data, stat.version, stat.czxid, stat.mzxid, stat.ephemeralOwner)

    async def children(self, path: str, on_change: Callable[[], None] | None = None) -> list[str]:
        """The names of the children; `on_change` is called on the loop, once, when they change."""
        watch = None if on_change is None else self._watch(on_change)
        return sorted(await self._repeat(lambda: self._client.get_children_async(path, watch=watch)))

    async def create(self, create: Create, *, make_parents: bool = False) -> str:
        _check_size(create)

        def begin() -> Any:
            return self._client.create_async(
                create.path,
                create.data,
                ephemeral=create.ephemeral,
                sequence=create.sequence,
                makepath=make_parents,
            )

        return str(await (self._call(begin()) if create.ephemeral else self._repeat(begin)))

    async def ensure(self, path: str, data: bytes = b"") -> None:
        """The node is there then; one that was there keeps its data."""
        try:
            await self.create(Create(path, data), make_parents=True)
        except NodeExists:
            return

    async def set(self, path: str, data: bytes, version: int = -1) -> int:
        _check_size(Set(path, data, version))
        stat = await self._repeat(lambda: self._client.set_async(path, data, version))
        return int(stat.version)

    async def delete(self, path: str, version: int = -1) -> None:
        await self._repeat(lambda: self._client.delete_async(path, version))

    # many at once

    async def transact(self, operations: Iterable[Operation], guard: Check | None = None) -> str:
        """All or nothing, for what fits in one transaction; longer lists go as several, in order, each with the guard.

        Returns the path of the last node, which for a sequential one is news."""
        pending = list(operations)
        check_sizes(pending)
        guards: list[Operation] = [] if guard is None else [guard]
        last: Any = ""
        for part in _split(pending):
            last = (await self._commit(guards + part))[-1]
        return str(last)

    async def _commit(self, operations: list[Operation]) -> list[Any]:
        is_ephemeral = any(isinstance(each, Create) and each.ephemeral for each in operations)
        begin = partial(self._begin_transaction, operations)
        results = await (self._call(begin()) if is_ephemeral else self._repeat(begin))
        for operation, result in zip(operations, results, strict=True):
            if isinstance(result, Exception) and not isinstance(result, RolledBackError):
                error = _translate(result, operation.path)
                if isinstance(operation, Check) and isinstance(error, NoNode | VersionConflict):
                    error = CheckFailed(str(error))
                if isinstance(error, CoordinationError):
                    error.path = operation.path
                raise error
        return list(results)

    def _begin_transaction(self, operations: list[Operation]) -> Any:
        transaction = self._client.transaction()
        for operation in operations:
            match operation:
                case Create(path, data, ephemeral, sequence):
                    transaction.create(path, data, ephemeral=ephemeral, sequence=sequence)
                case Set(path, data, version):
                    transaction.set_data(path, data, version)
                case Delete(path, version):
                    transaction.delete(path, version)
                case Check(path, version):
                    transaction.check(path, version)
        return transaction.commit_async()

    async def delete_tree(self, path: str) -> None:
        """Removes a node and all below it; nothing happens if it is not there."""
        paths = [path]
        for parent in paths:
            try:
                paths += [f"{parent}/{child}" for child in await self.children(parent)]
            except NoNode:
                continue
        try:
            await self.transact(Delete(doomed) for doomed in reversed(paths))
            return
        except CoordinationError as error:
            log.debug("%s is removed node by node: %s", path, error)
        for doomed in reversed(paths):
            try:
                await self.delete(doomed)
            except NoNode:
                continue

    # the bridge

    async def _repeat(self, begin: Callable[[], Any]) -> Any:
        """Makes a call, again if its connection broke."""
        while True:
            try:
                return await self._call(begin())
            except ConnectionBroke as error:
                log.info("%s: asking again", error)
                await asyncio.sleep(REPEAT_SECONDS)

    def _call(self, result: Any) -> Awaitable[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()

        def settle() -> None:
            if future.cancelled():
                return
            error = result.exception
            if error is None:
                future.set_result(result.value)
            else:
                future.set_exception(_translate(error, "ZooKeeper"))

        def on_answer(_: Any) -> None:
            self._loop.call_soon_threadsafe(settle)

        result.rawlink(on_answer)
        return future

    def _watch(self, on_change: Callable[[], None]) -> Callable[[WatchedEvent], None]:
        def on_event(event: WatchedEvent) -> None:
            is_watch_lost = event.type == EventType.NONE and event.state == KeeperState.CONNECTING
            if event.type != EventType.NONE or is_watch_lost:
                self._loop.call_soon_threadsafe(on_change)

        return on_event


def _translate(error: Exception, where: str) -> Exception:
    for theirs, ours in _ERRORS:
        if isinstance(error, theirs):
            return ours(f"{where}: {error or type(error).__name__}")
    if isinstance(error, (KazooException, OSError)):
        return CoordinationError(f"{where}: {type(error).__name__} {error}")
    return error
