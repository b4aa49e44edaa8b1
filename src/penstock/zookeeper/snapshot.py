"""Snapshots: the whole tree in one file, so that a restart need not replay the history from the beginning.

A snapshot is written aside and renamed when it is safe on disk. A checksum covers all of it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from crc32c import crc32c

from penstock.errors import ProtocolError, StorageError
from penstock.zookeeper.acl import AclList
from penstock.zookeeper.journal import sync_directory
from penstock.zookeeper.jute import (
    JuteReader,
    encode_buffer,
    encode_int32,
    encode_int64,
    encode_string,
)
from penstock.zookeeper.tree import SessionRecord, Tree, Znode
from penstock.zookeeper.txn import decode_acl, encode_acl

SNAPSHOT_HEADER = b"PSTKZKS1"
_PREFIX = "snapshot."
_CHUNK_NODES = 500
_NODE_NUMBERS = Struct(">qqqqqiiiqi")
_SMALLEST_SESSION = 16
_SMALLEST_NODE = 12 + _NODE_NUMBERS.size
_SMALLEST_ACL_LIST = 4


class Snapshot(NamedTuple):
    """A tree at one moment. The nodes are immutable, so shallow copies of the tables are enough."""

    last_zxid: int
    last_session_id: int
    sessions: dict[int, SessionRecord]
    nodes: dict[str, Znode]

    @staticmethod
    def of(tree: Tree) -> "Snapshot":
        return Snapshot(tree.last_zxid, tree.last_session_id, dict(tree.sessions), dict(tree.nodes))

    def tree(self) -> Tree:
        tree = Tree.of(self.nodes.items())
        tree.last_zxid = self.last_zxid
        tree.last_session_id = self.last_session_id
        tree.sessions.update(self.sessions)
        return tree


def _encode_node(path: str, node: Znode, acl_number: int) -> bytes:
    numbers = _NODE_NUMBERS.pack(
        node.czxid,
        node.mzxid,
        node.pzxid,
        node.ctime,
        node.mtime,
        node.version,
        node.creates,
        node.aversion,
        node.ephemeral_owner,
        node.num_children,
    )
    return encode_string(path) + encode_buffer(node.data) + encode_int32(acl_number) + numbers


def _decode_node(reader: JuteReader, acls: list[AclList]) -> tuple[str, Znode]:
    path, data, acl_number = reader.string(), reader.buffer(), reader.int32()
    stamps = (reader.int64(), reader.int64(), reader.int64(), reader.int64(), reader.int64())
    counts = (reader.int32(), reader.int32(), reader.int32())
    if not 0 <= acl_number < len(acls):
        raise ProtocolError(f"{path} has the unknown ACL {acl_number}")
    return path, Znode(data, acls[acl_number], *stamps, *counts, reader.int64(), reader.int32())


def _encode_chunks(snapshot: Snapshot) -> Iterator[bytes]:
    yield SNAPSHOT_HEADER + encode_int64(snapshot.last_zxid) + encode_int64(snapshot.last_session_id)
    yield encode_int32(len(snapshot.sessions)) + b"".join(
        encode_int64(session_id) + encode_int32(record.timeout_ms) + encode_buffer(record.password)
        for session_id, record in snapshot.sessions.items()
    )
    acls = list(dict.fromkeys(node.acl for node in snapshot.nodes.values()))
    numbers = {acl: number for number, acl in enumerate(acls)}
    yield encode_int32(len(acls)) + b"".join(map(encode_acl, acls))
    yield encode_int32(len(snapshot.nodes))
    nodes = list(snapshot.nodes.items())
    for start in range(0, len(nodes), _CHUNK_NODES):
        chunk = nodes[start : start + _CHUNK_NODES]
        yield b"".join(_encode_node(path, node, numbers[node.acl]) for path, node in chunk)


def _decode_snapshot(content: bytes) -> Snapshot:
    reader = JuteReader(content, len(SNAPSHOT_HEADER))
    last_zxid, last_session_id = reader.int64(), reader.int64()
    sessions = reader.vector(
        lambda r: (r.int64(), SessionRecord(r.int32(), r.buffer() or b"")), _SMALLEST_SESSION
    )
    acls = reader.vector(decode_acl, _SMALLEST_ACL_LIST)
    nodes = reader.vector(lambda r: _decode_node(r, acls), _SMALLEST_NODE)
    return Snapshot(last_zxid, last_session_id, dict(sessions), dict(nodes))


def snapshot_files(directory: Path) -> list[Path]:
    """The finished snapshots of a directory, oldest first."""
    return sorted(directory.glob(f"{_PREFIX}{'[0-9a-f]' * 16}"))


def write_snapshot(directory: Path, snapshot: Snapshot) -> Path:
    path = directory / f"{_PREFIX}{snapshot.last_zxid:016x}"
    aside = path.with_name(path.name + ".tmp")
    try:
        _write_aside(aside, snapshot)
        aside.rename(path)
    except OSError:
        aside.unlink(missing_ok=True)  # the disk may be full; the next snapshot has another name
        raise
    sync_directory(directory)
    return path


def _write_aside(aside: Path, snapshot: Snapshot) -> None:
    checksum = 0
    with aside.open("wb") as file:
        for chunk in _encode_chunks(snapshot):
            checksum = crc32c(chunk, checksum)
            file.write(chunk)
        file.write(checksum.to_bytes(4, "big"))
        file.flush()
        os.fsync(file.fileno())


def read_snapshot(path: Path) -> Snapshot:
    content = path.read_bytes()
    body, checksum = content[:-4], content[-4:]
    if not body.startswith(SNAPSHOT_HEADER) or crc32c(body).to_bytes(4, "big") != checksum:
        raise StorageError(f"{path} is damaged: its checksum does not match")
    try:
        return _decode_snapshot(body)
    except ProtocolError as error:
        raise StorageError(f"{path} makes no sense: {error}") from None
