"""Transactions: what the journal holds and what `Tree.replay` applies.

A transaction is a decision already taken: names are complete, versions are checked, ACLs are resolved. Replaying
it needs no rights and cannot fail.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from penstock.errors import ProtocolError
from penstock.zookeeper.acl import OPEN_ACL, Acl, AclList, Identity
from penstock.zookeeper.jute import (
    JuteReader,
    encode_buffer,
    encode_int32,
    encode_int64,
    encode_string,
    encode_strings,
)


@dataclass(frozen=True, slots=True)
class CreateTxn:
    path: str
    data: bytes | None
    acl: AclList
    ephemeral_owner: int


@dataclass(frozen=True, slots=True)
class DeleteTxn:
    path: str


@dataclass(frozen=True, slots=True)
class SetDataTxn:
    path: str
    data: bytes | None
    version: int


@dataclass(frozen=True, slots=True)
class SetAclTxn:
    path: str
    acl: AclList
    version: int


@dataclass(frozen=True, slots=True)
class CheckTxn:
    path: str


@dataclass(frozen=True, slots=True)
class CreateSessionTxn:
    session_id: int
    timeout_ms: int
    password: bytes


@dataclass(frozen=True, slots=True)
class CloseSessionTxn:
    session_id: int
    ephemerals: list[str]


NodeTxn = CreateTxn | DeleteTxn | SetDataTxn | SetAclTxn | CheckTxn


@dataclass(frozen=True, slots=True)
class MultiTxn:
    txns: list[NodeTxn]


Txn = NodeTxn | CreateSessionTxn | CloseSessionTxn | MultiTxn


@dataclass(frozen=True, slots=True)
class TxnRecord:
    """A transaction with its place in the history."""

    zxid: int
    time_ms: int
    txn: Txn


class _Kind(IntEnum):
    CREATE = 1
    DELETE = 2
    SET_DATA = 3
    SET_ACL = 4
    CHECK = 5
    CREATE_SESSION = 6
    CLOSE_SESSION = 7
    MULTI = 8


def encode_acl(acls: AclList) -> bytes:
    return _ENCODED_OPEN_ACL if acls is OPEN_ACL else _encode_acl_items(acls)


def _encode_acl_items(acls: AclList) -> bytes:
    items = [
        encode_int32(acl.permissions) + encode_string(acl.identity.scheme) + encode_string(acl.identity.id)
        for acl in acls
    ]
    return encode_int32(len(items)) + b"".join(items)


_ENCODED_OPEN_ACL = _encode_acl_items(OPEN_ACL)
_SMALLEST_ACL = 12


def _decode_acl_item(reader: JuteReader) -> Acl:
    return Acl(reader.int32(), Identity(reader.string(), reader.string()))


def decode_acl(reader: JuteReader) -> AclList:
    """A list of ACLs; nearly all are the open one, which is recognised by its bytes."""
    if reader.skip(_ENCODED_OPEN_ACL):
        return OPEN_ACL
    return tuple(reader.vector(_decode_acl_item, _SMALLEST_ACL))


def encode_txn(txn: Txn) -> bytes:
    match txn:
        case CreateTxn(path, data, acl, owner):
            body = encode_string(path) + encode_buffer(data) + encode_acl(acl) + encode_int64(owner)
            return encode_int32(_Kind.CREATE) + body
        case DeleteTxn(path):
            return encode_int32(_Kind.DELETE) + encode_string(path)
        case SetDataTxn(path, data, version):
            body = encode_string(path) + encode_buffer(data) + encode_int32(version)
            return encode_int32(_Kind.SET_DATA) + body
        case SetAclTxn(path, acl, version):
            return encode_int32(_Kind.SET_ACL) + encode_string(path) + encode_acl(acl) + encode_int32(version)
        case CheckTxn(path):
            return encode_int32(_Kind.CHECK) + encode_string(path)
        case CreateSessionTxn(session_id, timeout_ms, password):
            body = encode_int64(session_id) + encode_int32(timeout_ms) + encode_buffer(password)
            return encode_int32(_Kind.CREATE_SESSION) + body
        case CloseSessionTxn(session_id, ephemerals):
            return encode_int32(_Kind.CLOSE_SESSION) + encode_int64(session_id) + encode_strings(ephemerals)
        case MultiTxn(txns):
            return encode_int32(_Kind.MULTI) + encode_int32(len(txns)) + b"".join(encode_txn(t) for t in txns)


def _decode_node_txn(reader: JuteReader) -> NodeTxn:
    txn = decode_txn(reader)
    if isinstance(txn, CreateSessionTxn | CloseSessionTxn | MultiTxn):
        raise ProtocolError(f"{type(txn).__name__} inside a multi transaction")
    return txn


_DECODERS: dict[int, Callable[[JuteReader], Txn]] = {
    _Kind.CREATE: lambda r: CreateTxn(r.string(), r.buffer(), decode_acl(r), r.int64()),
    _Kind.DELETE: lambda r: DeleteTxn(r.string()),
    _Kind.SET_DATA: lambda r: SetDataTxn(r.string(), r.buffer(), r.int32()),
    _Kind.SET_ACL: lambda r: SetAclTxn(r.string(), decode_acl(r), r.int32()),
    _Kind.CHECK: lambda r: CheckTxn(r.string()),
    _Kind.CREATE_SESSION: lambda r: CreateSessionTxn(r.int64(), r.int32(), r.buffer() or b""),
    _Kind.CLOSE_SESSION: lambda r: CloseSessionTxn(r.int64(), r.strings()),
    _Kind.MULTI: lambda r: MultiTxn(r.vector(_decode_node_txn, 8)),
}


def decode_txn(reader: JuteReader) -> Txn:
    kind = reader.int32()
    decoder = _DECODERS.get(kind)
    if decoder is None:
        raise ProtocolError(f"a transaction of unknown kind {kind}")
    return decoder(reader)


def encode_record(record: TxnRecord) -> bytes:
    return encode_int64(record.zxid) + encode_int64(record.time_ms) + encode_txn(record.txn)


def decode_record(reader: JuteReader) -> TxnRecord:
    return TxnRecord(reader.int64(), reader.int64(), decode_txn(reader))
