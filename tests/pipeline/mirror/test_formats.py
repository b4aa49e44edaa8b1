"""Records of MirrorMaker's own topics: known bytes, there and back, and such as are none."""

from __future__ import annotations

import pytest

from penstock import TopicPartition
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.mirror.formats import Checkpoint, Heartbeat, OffsetSync

KNOWN = [
    (
        OffsetSync(TopicPartition("orders", 3), 41, 57),
        "0006" + b"orders".hex() + "00000003",
        "0000000000000029" + "0000000000000039",
    ),
    (
        Checkpoint("billing", TopicPartition("west.orders", 3), 41, 57, "näh"),
        "0007" + b"billing".hex() + "000b" + b"west.orders".hex() + "00000003",
        "0000" + "0000000000000029" + "0000000000000039" + "0004" + "näh".encode().hex(),
    ),
    (
        Heartbeat("west", "east", 1_700_000_000_001),
        "0004" + b"west".hex() + "0004" + b"east".hex(),
        "0000" + "0000018bcfe56801",
    ),
]


@pytest.mark.parametrize(("record", "key", "value"), KNOWN)
def test_known_bytes(record: OffsetSync | Checkpoint | Heartbeat, key: str, value: str) -> None:
    assert [part.hex() for part in record.encode()] == [key, value]
    assert type(record).decode(bytes.fromhex(key), bytes.fromhex(value)) == record


@pytest.mark.parametrize(("record", "key", "value"), KNOWN)
def test_what_is_cut_off(record: OffsetSync | Checkpoint | Heartbeat, key: str, value: str) -> None:
    encoded_key, encoded_value = record.encode()
    for cut_key, cut_value in (
        (encoded_key[:-1], encoded_value),
        (encoded_key, encoded_value[:-1]),
        (None, None),
    ):
        with pytest.raises(DataError, match=r"fewer than|beyond the record's end"):
            type(record).decode(cut_key, cut_value)


def test_a_version_that_is_not_known() -> None:
    key, value = Heartbeat("west", "east", 1).encode()
    with pytest.raises(DataError, match="has version 1, only 0 is known"):
        Heartbeat.decode(key, b"\0\1" + value[2:])
