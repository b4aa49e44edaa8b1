"""The same malformed batches for Apache Kafka 4.3.1 and for us: the same answers, or a difference that has a reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.errors import ErrorCode
from penstock.records.batch import split_batches
from penstock.records.builder import with_payload
from penstock.records.compression import Codec, compress
from tests.broker.asking import batch_of, produce, produced, unique_topic
from tests.broker.conftest import only_penstock
from tests.broker.handlers.test_produce import GOOD, REFUSED
from tests.support.cluster_fixture import KafkaServer
from tests.support.wire_client import WireClient

pytestmark = [pytest.mark.processes, only_penstock]

TIMESTAMP = 1_700_000_000_000


def varint(value: int) -> bytes:
    zigzag, out = value << 1 ^ value >> 63, bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def record(
    offset: int,
    *,
    key: bytes | None = None,
    key_length: int | None = None,
    value_length: int | None = None,
    headers: bytes = varint(0),
    length: int | None = None,
    attributes: int = 0,
    timestamp: int = 0,
) -> bytes:
    """A record with the value `bread`, and with some of its numbers wrong."""
    keyed = varint(-1) if key is None else varint(len(key)) + key
    if key_length is not None:
        keyed = varint(key_length) + (key or b"")
    value = varint(5 if value_length is None else value_length) + b"bread"
    body = bytes([attributes]) + varint(timestamp) + varint(offset) + keyed + value + headers
    return varint(len(body) if length is None else length) + body


FIRST, LAST = record(0), record(2)
NULL_HEADER_KEY = varint(1) + varint(-1) + varint(-1)

# The bytes of three records, of which the middle one, or the whole, is wrong.
RECORDS = {
    "one fewer than promised": FIRST + record(1),
    "one more than promised": FIRST + record(1) + LAST + record(3),
    "a byte behind the last": FIRST + record(1) + LAST + b"\0",
    "a byte less": (FIRST + record(1) + LAST)[:-1],
    "nothing": b"",
    "garbage": b"\xff" * 60,
    "zeros": bytes(60),
    "the first has a negative length": record(0, length=-1) + record(1) + LAST,
    "the second has a negative length": FIRST + record(1, length=-1) + LAST,
    "the second is longer than all": FIRST + record(1, length=10_000) + LAST,
    "the second has no length": FIRST + record(1, length=0) + LAST,
    "the key of the first is longer than it": record(0, key_length=100) + record(1) + LAST,
    "the key of the second is longer than it": FIRST + record(1, key_length=100) + LAST,
    "the value of the second is longer than it": FIRST + record(1, value_length=100) + LAST,
    "the value of the second is shorter": FIRST + record(1, value_length=2) + LAST,
    "the second has -1 headers": FIRST + record(1, headers=varint(-1)) + LAST,
    "the second has 100 headers too many": FIRST + record(1, headers=varint(100)) + LAST,
    "a header of the second has no key": FIRST + record(1, headers=NULL_HEADER_KEY) + LAST,
    "the second repeats an offset": FIRST + record(0) + LAST,
    "offsets go backwards": record(2) + record(1) + record(0),
    "an offset is negative": FIRST + record(-5) + LAST,
    "an attribute is set": FIRST + record(1, attributes=1) + LAST,
    "good": FIRST + record(1) + LAST,
}


def three(data: bytes, codec: Codec) -> bytes:
    """A batch that promises three records, with a right CRC."""
    (plain,) = split_batches(memoryview(bytearray(batch_of(b"1", b"2", b"3", timestamp=TIMESTAMP))))
    return bytes(with_payload(plain, bytes(compress(codec, data)), codec=codec).view)


def compressed_wrongly() -> Iterator[tuple[str, bytes]]:
    """Payloads that are not what the codec makes."""
    good = RECORDS["good"]
    (plain,) = split_batches(memoryview(bytearray(batch_of(b"1", b"2", b"3", timestamp=TIMESTAMP))))
    for codec in Codec:
        if codec == Codec.NONE:
            continue
        whole = bytes(compress(codec, good))
        for what, payload in (
            ("cut by a byte", whole[:-1]),
            ("cut in the middle", whole[: len(whole) // 2]),
            ("with bytes behind it", whole + b"behind"),
            ("twice", whole + whole),
            ("with a damaged byte", whole[: len(whole) // 2] + b"\xaa" + whole[len(whole) // 2 + 1 :]),
            ("missing", b""),
        ):
            yield f"{codec.name}: {what}", bytes(with_payload(plain, payload, codec=codec).view)


BATCHES = {
    **{f"header: {name}": data for name, (data, _) in REFUSED.items()},
    **{f"{codec.name}: {name}": three(data, codec) for codec in Codec for name, data in RECORDS.items()},
    **dict(compressed_wrongly()),
}

# What Apache Kafka answers, what we answer, and why that is right.

Row = tuple[ErrorCode, ErrorCode]
UNTRANSLATED: Row = (ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.INVALID_RECORD)
"""Kafka's reader throws what nobody translates; both refuse, and no client tries again. We say what is wrong."""
NOT_WALKED: Row = (ErrorCode.NONE, ErrorCode.INVALID_RECORD)
"""Kafka stops parsing quietly, or at the last record that it expects, and takes what its own consumer stumbles over, or
bytes that belong to nothing. We refuse both."""
NOT_PARSED: Row = (ErrorCode.INVALID_RECORD, ErrorCode.NONE)
"""The lengths of the records are right, what lies inside a later one is not. Kafka parses every record; that takes
twenty times all else that we do to a batch. See docs/adr/0011."""
OFFSETS_NOT_PARSED: Row = (ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NONE)
"""The same for offsets inside compressed records; of plain ones Kafka does not look at them either."""

INSIDE_THE_SECOND = [
    "the key of the second is longer than it",
    "the value of the second is longer than it",
    "the value of the second is shorter",
    "the second has -1 headers",
    "the second has 100 headers too many",
    "a header of the second has no key",
]
WRONG_LENGTHS = [
    "the first has a negative length",
    "the second has a negative length",
    "the second is longer than all",
    "the second has no length",
]
WRONG_OFFSETS = ["the second repeats an offset", "offsets go backwards", "an offset is negative"]
COMPRESSED = [codec.name for codec in Codec if codec != Codec.NONE]


def rows(row: Row, codecs: list[str], names: list[str]) -> dict[str, Row]:
    return {f"{codec}: {name}": row for codec in codecs for name in names}


DIFFERENT: dict[str, Row] = {
    **rows(
        UNTRANSLATED, ["header"], ["garbage for records", *(f"{c.lower()} that is none" for c in COMPRESSED)]
    ),
    **rows(UNTRANSLATED, ["NONE"], ["garbage"]),
    **rows(UNTRANSLATED, COMPRESSED, ["cut by a byte", "cut in the middle"]),
    **rows(UNTRANSLATED, ["GZIP", "SNAPPY", "LZ4"], ["missing"]),
    **rows(UNTRANSLATED, ["GZIP"], ["with a damaged byte"]),
    **rows(UNTRANSLATED, ["SNAPPY", "ZSTD"], ["with bytes behind it"]),
    **rows(NOT_WALKED, COMPRESSED, WRONG_LENGTHS),
    **rows(NOT_WALKED, ["GZIP", "LZ4"], ["with bytes behind it"]),
    **rows(NOT_WALKED, ["LZ4"], ["twice"]),
    **rows(NOT_PARSED, ["NONE", *COMPRESSED], INSIDE_THE_SECOND),
    **rows(OFFSETS_NOT_PARSED, COMPRESSED, WRONG_OFFSETS),
}


def answers(client: WireClient) -> dict[str, ErrorCode]:
    """To all of them on one connection, which must go on; a good batch follows each."""
    topic = unique_topic(client)
    found = {}
    for name, data in BATCHES.items():
        found[name] = ErrorCode(produce(client, topic, data).error_code)
        produced(client, topic, GOOD)
    return found


def test_the_answers_are_those_of_apache_kafka(client: WireClient, shared_apache: KafkaServer) -> None:
    with WireClient(shared_apache.bootstrap) as reference:
        theirs = answers(reference)
    ours = answers(client)
    different = {name: (theirs[name], ours[name]) for name in BATCHES if theirs[name] != ours[name]}
    assert different == DIFFERENT
