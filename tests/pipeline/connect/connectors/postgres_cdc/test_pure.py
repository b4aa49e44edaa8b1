"""What needs no database: messages that are wrong, and which transactions a snapshot has seen."""

from __future__ import annotations

import struct

import pytest

from penstock.pipeline.connect.connectors.postgres_cdc.pgoutput import (
    UNCHANGED,
    Begin,
    Delete,
    Truncate,
    Update,
    decode_message,
)
from penstock.pipeline.connect.connectors.postgres_cdc.segments import Seen, Segments
from penstock.pipeline.connect.errors import DataError


def row(*values: bytes | None) -> bytes:
    texts = [b"n" if each is None else b"t" + struct.pack(">I", len(each)) + each for each in values]
    return struct.pack(">H", len(values)) + b"".join(texts)


def test_messages_are_read() -> None:
    assert decode_message(b"B" + struct.pack(">QqI", 77, 0, 5)) == Begin(77, 946_684_800_000_000, 5)
    update = b"U" + struct.pack(">I", 9) + b"O" + row(b"1", None) + b"N\x00\x02t\x00\x00\x00\x011u"
    assert decode_message(update) == Update(9, (b"1", None), (b"1", UNCHANGED))
    assert decode_message(b"D" + struct.pack(">I", 9) + b"K" + row(b"1")) == Delete(9, (b"1",), True)
    assert decode_message(b"T" + struct.pack(">IBII", 2, 0, 3, 4)) == Truncate((3, 4))
    assert decode_message(b"Y anything") is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Z",
        b"B\x00",
        b"R" + struct.pack(">I", 9) + b"public",
        b"I" + struct.pack(">I", 9) + b"K" + row(b"1"),
        b"I" + struct.pack(">I", 9) + b"N\x00\x01t\x00\x00\x00\x09abc",
        b"I" + struct.pack(">I", 9) + b"N\x00\x01b\x00\x00\x00\x01a",
        b"I" + struct.pack(">I", 9) + b"N\x00\x03n",
    ],
)
def test_messages_that_are_none(data: bytes) -> None:
    with pytest.raises(DataError, match="pgoutput"):
        decode_message(data)


def test_what_a_snapshot_sees() -> None:
    seen = Seen.parse("100:105:100,103@900")
    assert [xid for xid in range(98, 107) if seen.sees(xid, 899)] == [98, 99, 101, 102, 104]
    assert not any(seen.sees(xid, 900) for xid in range(90, 107))


def test_ids_that_have_gone_round() -> None:
    """The stream has 32 of the 64 bits."""
    edge = 3 << 32
    seen = Seen.parse(f"{edge - 2}:{edge + 3}:{edge + 1}@900")
    assert [seen.sees(xid, 1) for xid in (0xFFFFFFFF, 0, 1, 3)] == [True, True, False, False]


def test_a_key_belongs_to_the_segment_that_reaches_it() -> None:
    segments = Segments([]).reaching((10,), "5:5:@50").reaching((20,), "5:5:@50").reaching((30,), "9:9:@90")
    assert segments.to_text() == '[[[20],"5:5:@50"],[[30],"9:9:@90"]]'
    again = Segments.from_text(segments.to_text())
    assert [again.has_seen((key,), 7, 40) for key in (5, 20, 21, 30, 31)] == [False, False, True, True, False]
    assert again.has_seen((31,), 1, 40) is False
    assert again.last_key == (30,)
    assert [again.has_seen_everywhere(xid, 40) for xid in (4, 7)] == [True, False]
