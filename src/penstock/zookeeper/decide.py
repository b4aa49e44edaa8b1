"""Decisions: which transaction a request becomes, or why it is refused.

Each function looks at a view of the nodes and changes nothing. The order of the checks is ZooKeeper's own, so that a
request with two faults gets the answer that ZooKeeper gives.
"""

from typing import NamedTuple

from penstock.zookeeper.acl import Identity, check_permission, resolve_acl
from penstock.zookeeper.paths import ROOT, check_path, parent_of
from penstock.zookeeper.protocol import (
    ANY_VERSION,
    CREATE_MODES,
    CreateMode,
    KeeperCode,
    KeeperError,
    OpCode,
    Permission,
)
from penstock.zookeeper.tree import (
    CONTAINER_OWNER,
    MAX_TTL_MS,
    NodeView,
    Znode,
    is_session_owned,
    ttl_of,
    ttl_owner,
    wrap_int32,
)
from penstock.zookeeper.txn import CheckTxn, CreateTxn, DeleteTxn, NodeTxn, SetAclTxn, SetDataTxn
from penstock.zookeeper.wire import (
    CheckRequest,
    CreateRequest,
    DeleteRequest,
    SetAclRequest,
    SetDataRequest,
    WriteRequest,
)

SYSTEM_PATHS = frozenset([ROOT, "/zookeeper", "/zookeeper/config", "/zookeeper/quota"])


class Caller(NamedTuple):
    session_id: int
    identities: frozenset[Identity]


def existing(view: NodeView, path: str) -> Znode:
    node = view.get(path)
    if node is None:
        raise KeeperError(KeeperCode.NO_NODE)
    return node


def _check_version(current: int, expected: int) -> int:
    """The next version; -1, which means any version in a request, is never one."""
    if expected not in (ANY_VERSION, current):
        raise KeeperError(KeeperCode.BAD_VERSION)
    following = wrap_int32(current + 1)
    return 0 if following == ANY_VERSION else following


def _create_mode(request: CreateRequest) -> CreateMode:
    mode = CREATE_MODES.get(request.flags)
    if mode is None or mode.ttl != (request.opcode == OpCode.CREATE_TTL):
        raise KeeperError(KeeperCode.BAD_ARGUMENTS)
    if mode.ttl and not 0 < request.ttl_ms <= MAX_TTL_MS:
        raise KeeperError(KeeperCode.BAD_ARGUMENTS)
    return mode


def _owner(mode: CreateMode, session_id: int, ttl_ms: int) -> int:
    if mode.container:
        return CONTAINER_OWNER
    if mode.ttl:
        return ttl_owner(ttl_ms)
    return session_id if mode.ephemeral else 0


def decide_create(view: NodeView, request: CreateRequest, caller: Caller) -> CreateTxn:
    mode = _create_mode(request)
    path = request.path
    check_path(path + "0" if mode.sequential else path)
    acl = resolve_acl(request.acl, caller.identities)
    if path == ROOT:
        raise KeeperError(KeeperCode.NODE_EXISTS)
    parent = existing(view, parent_of(path))
    check_permission(parent.acl, Permission.CREATE, caller.identities)
    if mode.sequential:
        path = f"{path}{parent.creates:010d}"
    if view.get(path) is not None:
        raise KeeperError(KeeperCode.NODE_EXISTS)
    if is_session_owned(parent.ephemeral_owner):
        raise KeeperError(KeeperCode.NO_CHILDREN_FOR_EPHEMERALS)
    return CreateTxn(path, request.data, acl, _owner(mode, caller.session_id, request.ttl_ms))


def decide_delete(view: NodeView, request: DeleteRequest, caller: Caller) -> DeleteTxn:
    check_path(request.path)
    if request.path in SYSTEM_PATHS:
        raise KeeperError(KeeperCode.BAD_ARGUMENTS)
    parent = existing(view, parent_of(request.path))
    check_permission(parent.acl, Permission.DELETE, caller.identities)
    node = existing(view, request.path)
    _check_version(node.version, request.version)
    if node.num_children:
        raise KeeperError(KeeperCode.NOT_EMPTY)
    return DeleteTxn(request.path)


def decide_set_data(view: NodeView, request: SetDataRequest, caller: Caller) -> SetDataTxn:
    check_path(request.path)
    node = existing(view, request.path)
    check_permission(node.acl, Permission.WRITE, caller.identities)
    return SetDataTxn(request.path, request.data, _check_version(node.version, request.version))


def decide_set_acl(view: NodeView, request: SetAclRequest, caller: Caller) -> SetAclTxn:
    check_path(request.path)
    acl = resolve_acl(request.acl, caller.identities)
    node = existing(view, request.path)
    check_permission(node.acl, Permission.ADMIN, caller.identities)
    return SetAclTxn(request.path, acl, _check_version(node.aversion, request.version))


def decide_check(view: NodeView, request: CheckRequest, caller: Caller) -> CheckTxn:
    check_path(request.path)
    node = existing(view, request.path)
    check_permission(node.acl, Permission.READ, caller.identities)
    _check_version(node.version, request.version)
    return CheckTxn(request.path)


def decide_write(view: NodeView, request: WriteRequest, caller: Caller) -> NodeTxn:
    match request:
        case CreateRequest():
            return decide_create(view, request, caller)
        case DeleteRequest():
            return decide_delete(view, request, caller)
        case SetDataRequest():
            return decide_set_data(view, request, caller)
        case SetAclRequest():
            return decide_set_acl(view, request, caller)
        case CheckRequest():
            return decide_check(view, request, caller)


def is_overdue(node: Znode, now_ms: int) -> bool:
    """Whether a container has lost its last child, or a node without children has outlived its time to live."""
    if node.num_children:
        return False
    if node.ephemeral_owner == CONTAINER_OWNER:
        return node.creates > 0
    ttl_ms = ttl_of(node.ephemeral_owner)
    return ttl_ms is not None and node.mtime + ttl_ms < now_ms
