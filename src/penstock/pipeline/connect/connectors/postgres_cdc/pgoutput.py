"""The messages of PostgreSQL's output plugin pgoutput, protocol version 1: bytes in, values out.

Values of columns are left as the text that PostgreSQL sends; None is null, `UNCHANGED` a large value that lies apart
from its row and did not change, which is not sent.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from penstock.pipeline.connect.errors import DataError

_POSTGRES_EPOCH_US: Final = 946_684_800_000_000


class _Unchanged:
    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED: Final = _Unchanged()
_TEXT: Final = ord("t")
_WITHOUT_TEXT: Final[dict[int, Any]] = {ord("n"): None, ord("u"): UNCHANGED}
Row = tuple[Any, ...]
"""Of bytes, None or UNCHANGED."""


@dataclass(frozen=True, slots=True)
class Begin:
    commit_lsn: int
    commit_us: int
    xid: int


@dataclass(frozen=True, slots=True)
class Commit:
    commit_lsn: int
    end_lsn: int


@dataclass(frozen=True, slots=True)
class RelationColumn:
    name: str
    type_oid: int
    modifier: int
    is_identity: bool


@dataclass(frozen=True, slots=True)
class Relation:
    """A table as it was at that time. `identity`: d the primary key, i an index, f all columns, n nothing."""

    oid: int
    schema: str
    name: str
    identity: str
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True, slots=True)
class Insert:
    relation: int
    new: Row


@dataclass(frozen=True, slots=True)
class Update:
    """`old` is None unless the identity changed or all columns are sent; `is_key_only` says which."""

    relation: int
    old: Row | None
    new: Row
    is_key_only: bool = False


@dataclass(frozen=True, slots=True)
class Delete:
    relation: int
    old: Row
    is_key_only: bool


@dataclass(frozen=True, slots=True)
class Truncate:
    relations: tuple[int, ...]


Change = Insert | Update | Delete | Truncate
Message = Begin | Commit | Relation | Change | None


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 1

    def numbers(self, layout: str) -> Any:
        found = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return found

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        start, self.at = self.at, end + 1
        return self.data[start:end].decode()

    def letter(self) -> str:
        self.at += 1
        return chr(self.data[self.at - 1])

    def row(self) -> Row:
        (count,) = self.numbers(">H")
        data, at, values = self.data, self.at, []
        for _ in range(count):
            kind = data[at]
            at += 1
            if kind == _TEXT:
                start = at + 4
                at = start + int.from_bytes(data[at:start], "big")
                values.append(data[start:at])
            elif kind in _WITHOUT_TEXT:
                values.append(_WITHOUT_TEXT[kind])
            else:
                raise DataError(f"pgoutput: got a value of kind {chr(kind)!r}; takes text")
        if at > len(data):
            raise DataError("pgoutput: a row is cut short")
        self.at = at
        return tuple(values)


def decode_message(data: bytes) -> Message:
    """None for what does not change rows: origins, types, logical messages."""
    kind = data[:1]
    if kind in _IGNORED:
        return None
    reader = _READERS.get(kind)
    if reader is None:
        raise DataError(f"pgoutput: got a message of kind {kind!r}; takes {b''.join(_READERS)!r}")
    try:
        return reader(_Bytes(data))
    except (struct.error, IndexError, ValueError) as error:
        raise DataError(f"pgoutput: a message of kind {kind!r} is cut short: {error}") from error


def _begin(data: _Bytes) -> Begin:
    lsn, since_2000_us, xid = data.numbers(">QqI")
    return Begin(lsn, since_2000_us + _POSTGRES_EPOCH_US, xid)


def _commit(data: _Bytes) -> Commit:
    _, lsn, end_lsn, _ = data.numbers(">BQQq")
    return Commit(lsn, end_lsn)


def _relation(data: _Bytes) -> Relation:
    (oid,) = data.numbers(">I")
    schema, name, identity = data.text(), data.text(), data.letter()
    (count,) = data.numbers(">H")
    return Relation(oid, schema or "pg_catalog", name, identity, tuple(_column(data) for _ in range(count)))


def _column(data: _Bytes) -> RelationColumn:
    (flags,) = data.numbers(">B")
    name = data.text()
    type_oid, modifier = data.numbers(">Ii")
    return RelationColumn(name, type_oid, modifier, bool(flags & 1))


def _insert(data: _Bytes) -> Insert:
    (relation,) = data.numbers(">I")
    _expect(data, "N")
    return Insert(relation, data.row())


def _update(data: _Bytes) -> Update:
    (relation,) = data.numbers(">I")
    kind = _expect(data, "KON")
    if kind == "N":
        return Update(relation, None, data.row())
    old = data.row()
    _expect(data, "N")
    return Update(relation, old, data.row(), kind == "K")


def _delete(data: _Bytes) -> Delete:
    (relation,) = data.numbers(">I")
    kind = _expect(data, "KO")
    return Delete(relation, data.row(), kind == "K")


def _truncate(data: _Bytes) -> Truncate:
    count, _ = data.numbers(">IB")
    return Truncate(data.numbers(f">{count}I"))


def _expect(data: _Bytes, kinds: str) -> str:
    found = data.letter()
    if found not in kinds:
        raise DataError(f"pgoutput: got a row of kind {found!r}; takes one of {kinds}")
    return found


_IGNORED: Final = (b"O", b"Y", b"M")
_READERS: Final[dict[bytes, Callable[[_Bytes], Message]]] = {
    b"B": _begin,
    b"C": _commit,
    b"R": _relation,
    b"I": _insert,
    b"U": _update,
    b"D": _delete,
    b"T": _truncate,
}
