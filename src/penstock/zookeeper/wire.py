"""The messages of ZooKeeper's client protocol: requests decoded from frames, responses encoded to bytes.

A request is decoded in full, with every length checked, before anything is done about it.
"""

from collections.abc import Callable
from struct import Struct
from typing import Any, NamedTuple

from penstock.errors import ProtocolError
from penstock.zookeeper.acl import AclList
from penstock.zookeeper.jute import (
    JuteReader,
    encode_boolean,
    encode_buffer,
    encode_int32,
    encode_int64,
    encode_string,
)
from penstock.zookeeper.protocol import NOTIFICATION_XID, SYNC_CONNECTED, EventType, OpCode
from penstock.zookeeper.tree import Znode
from penstock.zookeeper.txn import decode_acl, encode_acl

_REPLY_HEADER = Struct(">iqi")
_MULTI_HEADER = Struct(">i?i")
_STAT = Struct(">qqqqiiiqiiq")
_MULTI_END = _MULTI_HEADER.pack(-1, True, -1)
PASSWORD_BYTES = 16


class ConnectRequest(NamedTuple):
    last_zxid_seen: int
    timeout_ms: int
    session_id: int
    password: bytes
    has_read_only_flag: bool


class CreateRequest(NamedTuple):
    opcode: int
    path: str
    data: bytes | None
    acl: AclList
    flags: int
    ttl_ms: int


class DeleteRequest(NamedTuple):
    path: str
    version: int


class SetDataRequest(NamedTuple):
    path: str
    data: bytes | None
    version: int


class SetAclRequest(NamedTuple):
    path: str
    acl: AclList
    version: int


class CheckRequest(NamedTuple):
    path: str
    version: int


class PathRequest(NamedTuple):
    path: str


class ReadRequest(NamedTuple):
    path: str
    watch: bool


class SetWatchesRequest(NamedTuple):
    relative_zxid: int
    data: list[str]
    exist: list[str]
    child: list[str]
    persistent: list[str]
    persistent_recursive: list[str]


class AddWatchRequest(NamedTuple):
    path: str
    mode: int


class WatcherRequest(NamedTuple):
    path: str
    watcher_type: int


class AuthRequest(NamedTuple):
    scheme: str
    credentials: bytes


class EmptyRequest(NamedTuple):
    pass


WriteRequest = CreateRequest | DeleteRequest | SetDataRequest | SetAclRequest | CheckRequest


class MultiOperation(NamedTuple):
    opcode: int
    request: WriteRequest


class MultiRequest(NamedTuple):
    operations: list[MultiOperation]


class MultiReadOperation(NamedTuple):
    opcode: int
    request: ReadRequest


class MultiReadRequest(NamedTuple):
    operations: list[MultiReadOperation]


def _decode_create(reader: JuteReader, opcode: int) -> CreateRequest:
    path, data = reader.string(), reader.buffer()
    acl, flags = decode_acl(reader), reader.int32()
    ttl_ms = reader.int64() if opcode == OpCode.CREATE_TTL else -1
    return CreateRequest(opcode, path, data, acl, flags, ttl_ms)


def _decode_set_data(reader: JuteReader, _: int) -> SetDataRequest:
    return SetDataRequest(reader.string(), reader.buffer(), reader.int32())


def _decode_set_acl(reader: JuteReader, _: int) -> SetAclRequest:
    return SetAclRequest(reader.string(), decode_acl(reader), reader.int32())


def _decode_delete(reader: JuteReader, _: int) -> DeleteRequest:
    return DeleteRequest(reader.string(), reader.int32())


def _decode_check(reader: JuteReader, _: int) -> CheckRequest:
    return CheckRequest(reader.string(), reader.int32())


def _decode_read(reader: JuteReader, _: int) -> ReadRequest:
    return ReadRequest(reader.string(), reader.boolean())


def _decode_path(reader: JuteReader, _: int) -> PathRequest:
    return PathRequest(reader.string())


def _decode_set_watches(reader: JuteReader, opcode: int) -> SetWatchesRequest:
    zxid = reader.int64()
    data, exist, child = reader.strings(), reader.strings(), reader.strings()
    if opcode == OpCode.SET_WATCHES:
        return SetWatchesRequest(zxid, data, exist, child, [], [])
    return SetWatchesRequest(zxid, data, exist, child, reader.strings(), reader.strings())


def _decode_auth(reader: JuteReader, _: int) -> AuthRequest:
    reader.int32()  # a type that nobody uses
    return AuthRequest(reader.string(), reader.buffer() or b"")


def _decode_empty(_: JuteReader, __: int) -> EmptyRequest:
    return EmptyRequest()


_MULTI_WRITES: dict[int, Callable[[JuteReader, int], WriteRequest]] = {
    OpCode.CREATE: _decode_create,
    OpCode.CREATE2: _decode_create,
    OpCode.CREATE_CONTAINER: _decode_create,
    OpCode.CREATE_TTL: _decode_create,
    OpCode.DELETE: _decode_delete,
    OpCode.SET_DATA: _decode_set_data,
    OpCode.CHECK: _decode_check,
}
_MULTI_READS = frozenset([OpCode.GET_DATA, OpCode.GET_CHILDREN])


def _next_operation(reader: JuteReader) -> int | None:
    opcode, done, _ = reader.int32(), reader.boolean(), reader.int32()
    return None if done else opcode


def _decode_multi(reader: JuteReader, _: int) -> MultiRequest:
    operations = []
    while (opcode := _next_operation(reader)) is not None:
        decode = _MULTI_WRITES.get(opcode)
        if decode is None:
            raise ProtocolError(f"operation {opcode} in a multi")
        operations.append(MultiOperation(opcode, decode(reader, opcode)))
    return MultiRequest(operations)


def _decode_multi_read(reader: JuteReader, _: int) -> MultiReadRequest:
    operations = []
    while (opcode := _next_operation(reader)) is not None:
        if opcode not in _MULTI_READS:
            raise ProtocolError(f"operation {opcode} in a multi of reads")
        operations.append(MultiReadOperation(opcode, _decode_read(reader, opcode)))
    return MultiReadRequest(operations)


_DECODERS: dict[int, Callable[[JuteReader, int], Any]] = {
    **_MULTI_WRITES,
    OpCode.SET_ACL: _decode_set_acl,
    OpCode.EXISTS: _decode_read,
    OpCode.GET_DATA: _decode_read,
    OpCode.GET_CHILDREN: _decode_read,
    OpCode.GET_CHILDREN2: _decode_read,
    OpCode.GET_ACL: _decode_path,
    OpCode.SYNC: _decode_path,
    OpCode.GET_ALL_CHILDREN_NUMBER: _decode_path,
    OpCode.GET_EPHEMERALS: _decode_path,
    OpCode.MULTI: _decode_multi,
    OpCode.MULTI_READ: _decode_multi_read,
    OpCode.SET_WATCHES: _decode_set_watches,
    OpCode.SET_WATCHES2: _decode_set_watches,
    OpCode.ADD_WATCH: lambda reader, _: AddWatchRequest(reader.string(), reader.int32()),
    OpCode.CHECK_WATCHES: lambda reader, _: WatcherRequest(reader.string(), reader.int32()),
    OpCode.REMOVE_WATCHES: lambda reader, _: WatcherRequest(reader.string(), reader.int32()),
    OpCode.AUTH: _decode_auth,
    OpCode.PING: _decode_empty,
    OpCode.CLOSE_SESSION: _decode_empty,
    OpCode.WHO_AM_I: _decode_empty,
    OpCode.RECONFIG: _decode_empty,
}


def decode_connect(frame: bytes) -> ConnectRequest:
    reader = JuteReader(frame)
    reader.int32()  # the protocol's version, always 0
    zxid, timeout_ms, session_id = reader.int64(), reader.int32(), reader.int64()
    password = reader.buffer() or b""
    return ConnectRequest(zxid, timeout_ms, session_id, password, reader.remaining > 0)


def decode_request(opcode: int, reader: JuteReader) -> Any:
    """The request of a frame whose header has been read; the class follows from the opcode."""
    decode = _DECODERS.get(opcode)
    if decode is None:
        raise ProtocolError(f"unknown operation {opcode}")
    return decode(reader, opcode)


def is_known(opcode: int) -> bool:
    return opcode in _DECODERS


def encode_frame(payload: bytes) -> bytes:
    return encode_int32(len(payload)) + payload


def encode_reply(xid: int, zxid: int, error: int, body: bytes) -> bytes:
    return encode_frame(_REPLY_HEADER.pack(xid, zxid, error) + body)


def encode_connect_response(
    timeout_ms: int, session_id: int, password: bytes, has_read_only_flag: bool
) -> bytes:
    fields = [encode_int32(0), encode_int32(timeout_ms), encode_int64(session_id), encode_buffer(password)]
    if has_read_only_flag:
        fields.append(encode_boolean(False))
    return encode_frame(b"".join(fields))


def encode_event(kind: EventType, path: str, zxid: int) -> bytes:
    body = encode_int32(kind) + encode_int32(SYNC_CONNECTED) + encode_string(path)
    return encode_reply(NOTIFICATION_XID, zxid, 0, body)


def encode_stat(node: Znode) -> bytes:
    return _STAT.pack(
        node.czxid,
        node.mzxid,
        node.ctime,
        node.mtime,
        node.version,
        node.cversion,
        node.aversion,
        node.ephemeral_owner,
        len(node.data or b""),
        node.num_children,
        node.pzxid,
    )


def encode_acl_response(acls: AclList, node: Znode) -> bytes:
    return encode_acl(acls) + encode_stat(node)


def encode_multi_result(opcode: int, body: bytes) -> bytes:
    return _MULTI_HEADER.pack(opcode, False, 0) + body


def encode_multi_error(code: int) -> bytes:
    return _MULTI_HEADER.pack(OpCode.ERROR, False, code) + encode_int32(code)


def encode_multi_response(results: list[bytes]) -> bytes:
    return b"".join(results) + _MULTI_END
