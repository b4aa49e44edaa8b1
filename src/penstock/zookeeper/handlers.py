"""What each operation does: (state, client, request) in, the body of the response out.

A handler that refuses raises `KeeperError`. The table at the end is the list of what is served.

Not served: reconfig (there is no ensemble; it is refused as ZooKeeper refuses it when switched off) and SASL.
Quota limits can be set and read but are not enforced, which is ZooKeeper's default too.
"""

from collections.abc import Callable
from typing import Any

from penstock.zookeeper.acl import check_permission, digest_identity, is_permitted, without_secrets
from penstock.zookeeper.decide import decide_check, decide_write, existing
from penstock.zookeeper.jute import encode_buffer, encode_int32, encode_string, encode_strings
from penstock.zookeeper.protocol import EventType, KeeperCode, KeeperError, OpCode, Permission
from penstock.zookeeper.state import Client, ServerState
from penstock.zookeeper.tree import NodeView, Staging, Znode, apply
from penstock.zookeeper.txn import CreateTxn, MultiTxn, NodeTxn, SetAclTxn, SetDataTxn
from penstock.zookeeper.watches import ADD_WATCH_MODES, WatcherType, WatchMode
from penstock.zookeeper.wire import (
    AddWatchRequest,
    AuthRequest,
    CheckRequest,
    MultiReadRequest,
    MultiRequest,
    PathRequest,
    ReadRequest,
    SetWatchesRequest,
    WatcherRequest,
    WriteRequest,
    encode_acl_response,
    encode_event,
    encode_multi_error,
    encode_multi_response,
    encode_multi_result,
    encode_stat,
)

NO_ZXID = -1


class Call:
    """One request on its way through a handler."""

    __slots__ = ("client", "opcode", "state", "wall_clock_ms")

    def __init__(self, state: ServerState, client: Client, opcode: int, wall_clock_ms: int) -> None:
        self.state = state
        self.client = client
        self.opcode = opcode
        self.wall_clock_ms = wall_clock_ms

    def readable(self, path: str, permission: int = Permission.READ) -> Znode:
        node = existing(self.state.tree, path)
        check_permission(node.acl, permission, self.client.identities)
        return node


def _encode_outcome(opcode: int, txn: NodeTxn, view: NodeView) -> bytes:
    """The body that answers a write, from the nodes as the write has left them."""
    match txn:
        case CreateTxn(path):
            stat = b"" if opcode == OpCode.CREATE else encode_stat(existing(view, path))
            return encode_string(path) + stat
        case SetDataTxn(path) | SetAclTxn(path):
            return encode_stat(existing(view, path))
    return b""


def handle_write(call: Call, request: WriteRequest) -> bytes:
    txn = decide_write(call.state.tree, request, call.client.caller)
    call.state.commit(txn, call.wall_clock_ms)
    return _encode_outcome(call.opcode, txn, call.state.tree)


def handle_check(call: Call, request: CheckRequest) -> bytes:
    decide_check(call.state.tree, request, call.client.caller)
    return b""


def _failed_multi(position: int, count: int, code: KeeperCode) -> bytes:
    """What came before the failed operation is rolled back, what comes after it is not tried."""
    before = [encode_multi_error(KeeperCode.OK)] * position
    after = [encode_multi_error(KeeperCode.RUNTIME_INCONSISTENCY)] * (count - position - 1)
    return encode_multi_response([*before, encode_multi_error(code), *after])


def handle_multi(call: Call, request: MultiRequest) -> bytes:
    staging, zxid = Staging(call.state.tree), call.state.tree.last_zxid + 1
    txns: list[NodeTxn] = []
    results = []
    for opcode, operation in request.operations:
        try:
            txn = decide_write(staging, operation, call.client.caller)
        except KeeperError as error:
            return _failed_multi(len(txns), len(request.operations), error.code)
        apply(staging, txn, zxid, call.wall_clock_ms)
        txns.append(txn)
        results.append(encode_multi_result(opcode, _encode_outcome(opcode, txn, staging)))
    if txns:
        call.state.commit(MultiTxn(txns), call.wall_clock_ms)
    return encode_multi_response(results)


def handle_exists(call: Call, request: ReadRequest) -> bytes:
    if "\0" in request.path:
        raise KeeperError(KeeperCode.BAD_ARGUMENTS)
    node = call.state.tree.get(request.path)
    if node is not None:
        check_permission(node.acl, Permission.READ, call.client.identities)
    if request.watch:
        call.state.watches.data.add(request.path, call.client, WatchMode.STANDARD)
    return encode_stat(existing(call.state.tree, request.path))


def handle_get_data(call: Call, request: ReadRequest) -> bytes:
    node = call.readable(request.path)
    if request.watch:
        call.state.watches.data.add(request.path, call.client, WatchMode.STANDARD)
    return encode_buffer(node.data) + encode_stat(node)


def handle_get_children(call: Call, request: ReadRequest) -> bytes:
    node = call.readable(request.path)
    if request.watch:
        call.state.watches.child.add(request.path, call.client, WatchMode.STANDARD)
    names = encode_strings(call.state.tree.children(request.path))
    return names + encode_stat(node) if call.opcode == OpCode.GET_CHILDREN2 else names


_MULTI_READERS = {OpCode.GET_DATA: handle_get_data, OpCode.GET_CHILDREN: handle_get_children}


def handle_multi_read(call: Call, request: MultiReadRequest) -> bytes:
    results = []
    for opcode, operation in request.operations:
        try:
            body = _MULTI_READERS[OpCode(opcode)](call, operation)
            results.append(encode_multi_result(opcode, body))
        except KeeperError as error:
            results.append(encode_multi_error(error.code))
    return encode_multi_response(results)


def handle_get_acl(call: Call, request: PathRequest) -> bytes:
    node = call.readable(request.path, Permission.READ | Permission.ADMIN)
    is_admin = is_permitted(node.acl, Permission.ADMIN, call.client.identities)
    return encode_acl_response(node.acl if is_admin else without_secrets(node.acl), node)


def handle_sync(_: Call, request: PathRequest) -> bytes:
    return encode_string(request.path)


def handle_get_all_children_number(call: Call, request: PathRequest) -> bytes:
    call.readable(request.path)
    return encode_int32(call.state.tree.descendant_count(request.path))


def handle_get_ephemerals(call: Call, request: PathRequest) -> bytes:
    prefix = request.path.strip()
    owned = call.state.tree.ephemerals(call.client.session_id)
    return encode_strings([path for path in owned if prefix in ("", "/") or path.startswith(prefix)])


def handle_who_am_i(call: Call, _: Any) -> bytes:
    identities = sorted(call.client.identities)
    shown = [(i.scheme, i.id.partition(":")[0] if i.scheme == "digest" else i.id) for i in identities]
    items = [encode_string(scheme) + encode_string(user) for scheme, user in shown]
    return encode_int32(len(items)) + b"".join(items)


def handle_set_watches(call: Call, request: SetWatchesRequest) -> bytes:
    """Watches brought over from an earlier connection; what they have missed is told at once."""
    for path in request.data:
        node = call.state.tree.get(path)
        missed = node is not None and node.mzxid > request.relative_zxid
        _renew_watch(call, path, node, EventType.NODE_DATA_CHANGED if missed else None)
    for path in request.exist:
        if call.state.tree.get(path) is not None:
            _tell(call, EventType.NODE_CREATED, path)
        else:
            call.state.watches.data.add(path, call.client, WatchMode.STANDARD)
    for path in request.child:
        node = call.state.tree.get(path)
        missed = node is not None and node.pzxid > request.relative_zxid
        _renew_watch(call, path, node, EventType.NODE_CHILDREN_CHANGED if missed else None, child=True)
    for path in request.persistent:
        call.state.watches.add_persistent(path, call.client, WatchMode.PERSISTENT)
    for path in request.persistent_recursive:
        call.state.watches.add_persistent(path, call.client, WatchMode.PERSISTENT_RECURSIVE)
    return b""


def _tell(call: Call, kind: EventType, path: str) -> None:
    call.state.send(call.client, encode_event(kind, path, NO_ZXID))


def _renew_watch(
    call: Call, path: str, node: Znode | None, missed: EventType | None, *, child: bool = False
) -> None:
    if node is None:
        _tell(call, EventType.NODE_DELETED, path)
    elif missed is not None:
        _tell(call, missed, path)
    else:
        table = call.state.watches.child if child else call.state.watches.data
        table.add(path, call.client, WatchMode.STANDARD)


def handle_add_watch(call: Call, request: AddWatchRequest) -> bytes:
    mode = ADD_WATCH_MODES.get(request.mode)
    if mode is None:
        raise KeeperError(KeeperCode.BAD_ARGUMENTS)
    call.state.watches.add_persistent(request.path, call.client, mode)
    return encode_int32(KeeperCode.OK)


def _watcher_type(request: WatcherRequest) -> WatcherType:
    try:
        return WatcherType(request.watcher_type)
    except ValueError:
        raise KeeperError(KeeperCode.BAD_ARGUMENTS) from None


def handle_check_watches(call: Call, request: WatcherRequest) -> bytes:
    if not call.state.watches.contains(request.path, call.client, _watcher_type(request)):
        raise KeeperError(KeeperCode.NO_WATCHER)
    return b""


def handle_remove_watches(call: Call, request: WatcherRequest) -> bytes:
    if not call.state.watches.remove(request.path, call.client, _watcher_type(request)):
        raise KeeperError(KeeperCode.NO_WATCHER)
    return b""


def handle_auth(call: Call, request: AuthRequest) -> bytes:
    """Adds an identity. A failure closes the connection, which the caller of the handler does."""
    if request.scheme == "ip":
        return b""
    if request.scheme != "digest":
        raise KeeperError(KeeperCode.AUTH_FAILED)
    identity = digest_identity(request.credentials.decode(errors="replace"))
    call.client.identities |= {identity}
    return b""


def handle_close_session(call: Call, _: Any) -> bytes:
    call.state.close_session(call.client.session_id, call.wall_clock_ms)
    return b""


def handle_ping(_: Call, __: Any) -> bytes:
    return b""


def handle_reconfig(_: Call, __: Any) -> bytes:
    raise KeeperError(KeeperCode.RECONFIG_DISABLED)


HANDLERS: dict[int, Callable[[Call, Any], bytes]] = {
    OpCode.CREATE: handle_write,
    OpCode.CREATE2: handle_write,
    OpCode.CREATE_CONTAINER: handle_write,
    OpCode.CREATE_TTL: handle_write,
    OpCode.DELETE: handle_write,
    OpCode.SET_DATA: handle_write,
    OpCode.SET_ACL: handle_write,
    OpCode.CHECK: handle_check,
    OpCode.MULTI: handle_multi,
    OpCode.EXISTS: handle_exists,
    OpCode.GET_DATA: handle_get_data,
    OpCode.GET_CHILDREN: handle_get_children,
    OpCode.GET_CHILDREN2: handle_get_children,
    OpCode.MULTI_READ: handle_multi_read,
    OpCode.GET_ACL: handle_get_acl,
    OpCode.SYNC: handle_sync,
    OpCode.GET_ALL_CHILDREN_NUMBER: handle_get_all_children_number,
    OpCode.GET_EPHEMERALS: handle_get_ephemerals,
    OpCode.WHO_AM_I: handle_who_am_i,
    OpCode.SET_WATCHES: handle_set_watches,
    OpCode.SET_WATCHES2: handle_set_watches,
    OpCode.ADD_WATCH: handle_add_watch,
    OpCode.CHECK_WATCHES: handle_check_watches,
    OpCode.REMOVE_WATCHES: handle_remove_watches,
    OpCode.AUTH: handle_auth,
    OpCode.CLOSE_SESSION: handle_close_session,
    OpCode.PING: handle_ping,
    OpCode.RECONFIG: handle_reconfig,
}
