"""The znode tree: what ZooKeeper stores, as a pure fold over its transactions.

`Tree.replay` is the only thing that changes a tree, live and when the journal is read back, so a restarted server
arrives at the same tree. Whether a request is allowed, and which transaction it becomes, is decided in `decide`.

A znode is immutable: a change puts a new one in its place. That makes two things cheap. A snapshot is a shallow
copy of the table of nodes, which a thread can write while the server goes on. And the operations of a multi are
tried on a `Staging` laid over the tree, which is thrown away if one of them fails.

`creates` counts the children that a node ever had. It numbers sequential nodes, and clients see it as cversion in
the form (2 * creates - children), which counts deletes too.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from penstock.zookeeper.acl import OPEN_ACL, READ_ONLY_ACL, AclList
from penstock.zookeeper.paths import ROOT, name_of, parent_of
from penstock.zookeeper.protocol import EventType
from penstock.zookeeper.txn import (
    CheckTxn,
    CloseSessionTxn,
    CreateSessionTxn,
    CreateTxn,
    DeleteTxn,
    MultiTxn,
    NodeTxn,
    SetAclTxn,
    SetDataTxn,
    TxnRecord,
)

CONTAINER_OWNER = -(1 << 63)
_TTL_MARK = 0xFF << 56
MAX_TTL_MS = (1 << 40) - 1


class Znode(NamedTuple):
    data: bytes | None
    acl: AclList
    czxid: int
    mzxid: int
    pzxid: int
    ctime: int
    mtime: int
    version: int = 0
    creates: int = 0
    aversion: int = 0
    ephemeral_owner: int = 0
    num_children: int = 0

    @property
    def cversion(self) -> int:
        return wrap_int32(self.creates * 2 - self.num_children)


class SessionRecord(NamedTuple):
    """What must outlive a restart of a session."""

    timeout_ms: int
    password: bytes


class NodeEvent(NamedTuple):
    """What a transaction did to a node, for those who watch it or its parent."""

    kind: EventType
    path: str
    acl: AclList
    parent_acl: AclList


def wrap_int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def ttl_owner(ttl_ms: int) -> int:
    """The ephemeral owner that marks a node as one with a time to live."""
    return (_TTL_MARK | ttl_ms) - (1 << 64)


def ttl_of(owner: int) -> int | None:
    """The time to live in milliseconds that an ephemeral owner stands for, if it does."""
    unsigned = owner % (1 << 64)
    return unsigned & MAX_TTL_MS if unsigned & _TTL_MARK == _TTL_MARK else None


def is_session_owned(owner: int) -> bool:
    return owner != 0 and owner != CONTAINER_OWNER and ttl_of(owner) is None


class NodeView(Protocol):
    """Nodes by path: the tree itself, or a staging over it."""

    def get(self, path: str) -> Znode | None: ...
    def put(self, path: str, node: Znode) -> None: ...
    def drop(self, path: str) -> None: ...


class Staging:
    """Changes that are tried over a view and leave it as it is."""

    def __init__(self, base: NodeView) -> None:
        self._base = base
        self._changed: dict[str, Znode | None] = {}

    def get(self, path: str) -> Znode | None:
        return self._changed[path] if path in self._changed else self._base.get(path)

    def put(self, path: str, node: Znode) -> None:
        self._changed[path] = node

    def drop(self, path: str) -> None:
        self._changed[path] = None


def _present(view: NodeView, path: str) -> Znode:
    node = view.get(path)
    assert node is not None, f"a transaction on {path}, which is not there"
    return node


def _apply_create(view: NodeView, txn: CreateTxn, zxid: int, time_ms: int) -> NodeEvent:
    parent_path = parent_of(txn.path)
    parent = _present(view, parent_path)
    node = Znode(txn.data, txn.acl, zxid, zxid, zxid, time_ms, time_ms, ephemeral_owner=txn.ephemeral_owner)
    creates = wrap_int32(parent.creates + 1)
    view.put(parent_path, parent._replace(creates=creates, pzxid=zxid, num_children=parent.num_children + 1))
    view.put(txn.path, node)
    return NodeEvent(EventType.NODE_CREATED, txn.path, txn.acl, parent.acl)


def _apply_delete(view: NodeView, path: str, zxid: int) -> NodeEvent:
    parent_path = parent_of(path)
    parent, node = _present(view, parent_path), _present(view, path)
    view.put(parent_path, parent._replace(pzxid=zxid, num_children=parent.num_children - 1))
    view.drop(path)
    return NodeEvent(EventType.NODE_DELETED, path, node.acl, parent.acl)


def _apply_set_data(view: NodeView, txn: SetDataTxn, zxid: int, time_ms: int) -> NodeEvent:
    node = _present(view, txn.path)
    view.put(txn.path, node._replace(data=txn.data, version=txn.version, mzxid=zxid, mtime=time_ms))
    return NodeEvent(EventType.NODE_DATA_CHANGED, txn.path, node.acl, ())


def apply(view: NodeView, txn: NodeTxn, zxid: int, time_ms: int) -> NodeEvent | None:
    """Does to the nodes of a view what the transaction says."""
    match txn:
        case CreateTxn():
            return _apply_create(view, txn, zxid, time_ms)
        case DeleteTxn(path):
            return _apply_delete(view, path, zxid)
        case SetDataTxn():
            return _apply_set_data(view, txn, zxid, time_ms)
        case SetAclTxn(path, acl, version):
            view.put(path, _present(view, path)._replace(acl=acl, aversion=version))
        case CheckTxn():
            pass
    return None


class Tree:
    """All nodes and sessions as of `last_zxid`."""

    def __init__(self) -> None:
        self.last_zxid = 0
        self.last_session_id = 0
        self.nodes: dict[str, Znode] = {}
        self.sessions: dict[int, SessionRecord] = {}
        self.data_bytes = 0
        self._children: dict[str, dict[str, None]] = {}
        self._ephemerals: dict[int, dict[str, None]] = {}
        self._self_deleting: dict[str, None] = {}

    @staticmethod
    def fresh() -> "Tree":
        """The tree of a new server, with the nodes that ZooKeeper keeps for itself."""
        tree = Tree()
        system = Znode(b"", OPEN_ACL, 0, 0, 0, 0, 0)
        tree.put(ROOT, system._replace(num_children=1))
        tree.put("/zookeeper", system._replace(num_children=2))
        tree.put("/zookeeper/config", system._replace(acl=READ_ONLY_ACL))
        tree.put("/zookeeper/quota", system)
        return tree

    @staticmethod
    def of(nodes: Iterable[tuple[str, Znode]]) -> "Tree":
        """A tree of the nodes of a snapshot."""
        tree = Tree()
        for path, node in nodes:
            tree.put(path, node)
        return tree

    def get(self, path: str) -> Znode | None:
        return self.nodes.get(path)

    def children(self, path: str) -> list[str]:
        return list(self._children.get(path, ()))

    def ephemerals(self, session_id: int) -> list[str]:
        return list(self._ephemerals.get(session_id, ()))

    def ephemerals_by_session(self) -> dict[int, list[str]]:
        return {session_id: list(paths) for session_id, paths in self._ephemerals.items()}

    def self_deleting(self) -> list[str]:
        """The containers and the nodes with a time to live."""
        return list(self._self_deleting)

    def descendant_count(self, path: str) -> int:
        prefix = path if path == ROOT else path + "/"
        return sum(1 for other in self.nodes if other.startswith(prefix) and other != path)

    def put(self, path: str, node: Znode) -> None:
        """Part of replay: use `replay` to change a tree."""
        before = self.nodes.get(path)
        self.nodes[path] = node
        self.data_bytes += len(node.data or b"")
        if before is not None:
            self.data_bytes -= len(before.data or b"")
            return
        self.data_bytes += len(path)
        if path != ROOT:
            self._children.setdefault(parent_of(path), {})[name_of(path)] = None
        if node.ephemeral_owner:
            self._owned_like(node.ephemeral_owner)[path] = None

    def drop(self, path: str) -> None:
        """Part of replay: use `replay` to change a tree."""
        node = self.nodes.pop(path)
        self.data_bytes -= len(path) + len(node.data or b"")
        siblings = self._children[parent_of(path)]
        del siblings[name_of(path)]
        if not siblings:
            del self._children[parent_of(path)]
        if node.ephemeral_owner:
            self._disown(node.ephemeral_owner, path)

    def _owned_like(self, owner: int) -> dict[str, None]:
        return self._ephemerals.setdefault(owner, {}) if is_session_owned(owner) else self._self_deleting

    def _disown(self, owner: int, path: str) -> None:
        owned = self._owned_like(owner)
        del owned[path]
        if not owned:
            self._ephemerals.pop(owner, None)

    def replay(self, record: TxnRecord) -> list[NodeEvent]:
        """Applies a transaction and tells what happened to which node, in order."""
        assert record.zxid > self.last_zxid, f"zxid {record.zxid} after {self.last_zxid}"
        self.last_zxid = record.zxid
        match record.txn:
            case MultiTxn(txns):
                events = [apply(self, txn, record.zxid, record.time_ms) for txn in txns]
            case CreateSessionTxn(session_id, timeout_ms, password):
                self.sessions[session_id] = SessionRecord(timeout_ms, password)
                self.last_session_id = max(self.last_session_id, session_id)
                return []
            case CloseSessionTxn(session_id, ephemerals):
                self.sessions.pop(session_id, None)
                events = [_apply_delete(self, path, record.zxid) for path in ephemerals]
            case txn:
                events = [apply(self, txn, record.zxid, record.time_ms)]
        return [event for event in events if event is not None]
