"""A ZooKeeper server, from the pure parts of the embedded one: its tree, its decisions, its watches.

What is left out is what stands between: jute, the journal, and ACLs. The server keeps what it has answered.

A session lives as long as its client is heard from; who is not heard from for the session's timeout loses it, and its
ephemeral nodes go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.zookeeper.acl import OPEN_ACL
from penstock.zookeeper.decide import Caller, decide_write
from penstock.zookeeper.paths import parent_of
from penstock.zookeeper.protocol import EventType, KeeperCode, KeeperError
from penstock.zookeeper.tree import Staging, Tree, Znode, apply
from penstock.zookeeper.txn import (
    CloseSessionTxn,
    CreateSessionTxn,
    CreateTxn,
    MultiTxn,
    NodeTxn,
    SetDataTxn,
    Txn,
    TxnRecord,
)
from penstock.zookeeper.watches import Watches, WatchMode
from penstock.zookeeper.wire import CreateRequest, WriteRequest
from tests.simulation.network import End, Network
from tests.simulation.virtual_loop import Process

HOST = "zookeeper"
NOBODY_IN_PARTICULAR: frozenset[Any] = frozenset()


# what clients send and are answered


@dataclass(frozen=True, slots=True)
class Connect:
    session_id: int
    timeout_ms: int


@dataclass(frozen=True, slots=True)
class Connected:
    session_id: int
    """0 if the session has expired."""


@dataclass(frozen=True, slots=True)
class Read:
    path: str
    watch: bool
    of_children: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    operation: WriteRequest
    make_parents: bool = False


@dataclass(frozen=True, slots=True)
class Multi:
    operations: list[WriteRequest]


@dataclass(frozen=True, slots=True)
class Ping:
    pass


@dataclass(frozen=True, slots=True)
class CloseSession:
    pass


Request = Read | Write | Multi | Ping | CloseSession


@dataclass(frozen=True, slots=True)
class Reply:
    result: Any = None
    code: KeeperCode = KeeperCode.OK


@dataclass(frozen=True, slots=True)
class Event:
    kind: EventType
    path: str


def create(path: str, data: bytes, *, ephemeral: bool, sequence: bool) -> CreateRequest:
    return CreateRequest(1, path, data, OPEN_ACL, ephemeral | sequence << 1, 0)


# the server


@dataclass
class Session:
    session_id: int
    timeout_seconds: float
    deadline: float
    client: Client | None = None


class Client:
    """A connection, as the server sees it."""

    def __init__(self, server: ZooKeeper, end: End) -> None:
        self.server = server
        self.end = end
        self.session: Session | None = None

    def on_message(self, message: object) -> None:
        self.server.handle(self, message)

    def on_closed(self) -> None:
        self.end.close()
        self.server.forget(self)


@dataclass
class ZooKeeper:
    network: Network
    process: Process
    tree: Tree = field(default_factory=Tree.fresh)
    sessions: dict[int, Session] = field(default_factory=dict)
    on_commit: Callable[[Txn], None] = lambda txn: None

    def __post_init__(self) -> None:
        self.watches: Watches[Client] = Watches()
        self.clients: dict[Client, None] = {}
        self.network.listen(HOST, self.process, self._accept)

    def _accept(self, end: End) -> None:
        client = Client(self, end)
        self.clients[client] = None
        end.begin(client)

    def forget(self, client: Client) -> None:
        """Its session may come back over another connection."""
        self.clients.pop(client, None)
        self.watches.remove_watcher(client)
        if client.session is not None and client.session.client is client:
            client.session.client = None

    def drop_all_connections(self) -> None:
        """As the server does that is started again; sessions are given their time anew."""
        for client in list(self.clients):
            client.end.close()
            self.forget(client)
        for session in self.sessions.values():
            session.deadline = self.network.loop.time() + session.timeout_seconds

    # sessions

    def handle(self, client: Client, message: object) -> None:
        if isinstance(message, Connect):
            self._connect(client, message)
            return
        session = client.session
        if session is None or session.session_id not in self.sessions:
            client.on_closed()
            return
        self._touch(session)
        try:
            client.end.send(Reply(self._execute(client, session, message)))
        except KeeperError as error:
            client.end.send(Reply(code=error.code))

    def _connect(self, client: Client, asked: Connect) -> None:
        session = self.sessions.get(asked.session_id)
        if asked.session_id and session is None:
            client.end.send(Connected(0))
            return
        if session is None:
            session = self._open_session(asked.timeout_ms)
        elif session.client is not None:
            session.client.on_closed()
        session.client, client.session = client, session
        self._touch(session)
        client.end.send(Connected(session.session_id))

    def _open_session(self, timeout_ms: int) -> Session:
        session_id = self.tree.last_session_id + 1
        self._commit(CreateSessionTxn(session_id, timeout_ms, b""))
        seconds = timeout_ms / 1000
        session = self.sessions[session_id] = Session(session_id, seconds, 0.0)
        self._touch(session)
        self._await_silence(session)
        return session

    def _touch(self, session: Session) -> None:
        session.deadline = self.network.loop.time() + session.timeout_seconds

    def _await_silence(self, session: Session) -> None:
        if session.session_id not in self.sessions:
            return
        if session.deadline <= self.network.loop.time():
            self.expire(session.session_id)
        else:
            self.process.call_at(session.deadline, self._await_silence, session)

    def expire(self, session_id: int) -> None:
        session = self.sessions.pop(session_id, None)
        if session is not None:
            self._commit(CloseSessionTxn(session_id, self.tree.ephemerals(session_id)))
            if session.client is not None:
                session.client.on_closed()

    # requests

    def _execute(self, client: Client, session: Session, request: object) -> object:
        match request:
            case Ping():
                return None
            case Read():
                return self._read(client, request)
            case Write(operation, make_parents):
                if make_parents and isinstance(operation, CreateRequest):
                    self._make(parent_of(operation.path))
                txn = decide_write(self.tree, operation, _caller(session))
                self._commit(txn)
                return self._outcome(txn, self.tree)
            case Multi(operations):
                return self._multi(operations, _caller(session))
            case CloseSession():
                self.expire(session.session_id)
                return None
        raise AssertionError(request)

    def _read(self, client: Client, request: Read) -> object:
        node = self.tree.get(request.path)
        if node is None:
            raise KeeperError(KeeperCode.NO_NODE)
        if request.watch:
            table = self.watches.child if request.of_children else self.watches.data
            table.add(request.path, client, WatchMode.STANDARD)
        return self.tree.children(request.path) if request.of_children else node

    def _make(self, path: str) -> None:
        if self.tree.get(path) is None:
            self._make(parent_of(path))
            self._commit(CreateTxn(path, b"", OPEN_ACL, 0))

    def _multi(self, operations: list[WriteRequest], caller: Caller) -> list[object]:
        """What became of each; of one that is refused the code, and then nothing is done."""
        staging, zxid = Staging(self.tree), self.tree.last_zxid + 1
        txns: list[NodeTxn] = []
        results: list[object] = []
        for operation in operations:
            try:
                txn = decide_write(staging, operation, caller)
            except KeeperError as error:
                untried = len(operations) - len(txns) - 1
                before, after = [KeeperCode.OK] * len(txns), [KeeperCode.RUNTIME_INCONSISTENCY] * untried
                return [*before, error.code, *after]
            apply(staging, txn, zxid, self._now_ms())
            txns.append(txn)
            results.append(self._outcome(txn, staging))
        self._commit(MultiTxn(txns))
        return results

    def _outcome(self, txn: NodeTxn, view: Tree | Staging) -> object:
        if isinstance(txn, CreateTxn):
            return txn.path
        return view.get(txn.path) if isinstance(txn, SetDataTxn) else True

    def _now_ms(self) -> int:
        return int(self.network.loop.time() * 1000)

    def _commit(self, txn: Txn) -> None:
        record = TxnRecord(self.tree.last_zxid + 1, self._now_ms(), txn)
        for event in self.tree.replay(record):
            for told in self.watches.trigger(event):
                told.watcher.end.send(Event(told.kind, told.path))
        self.on_commit(txn)

    def node(self, path: str) -> Znode | None:
        return self.tree.get(path)


def _caller(session: Session) -> Caller:
    return Caller(session.session_id, NOBODY_IN_PARTICULAR)
