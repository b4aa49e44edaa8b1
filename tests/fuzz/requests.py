"""Requests made of the message tables, for every API that the broker serves and every version: valid ones, and mutants.

A value fits the name of its field where the broker would otherwise refuse the request at the door: topics and groups
that exist, ids that some member had. The rest is drawn from what a careless or hostile client sends. What is drawn
depends on nothing but the `random.Random` that is given, so that a seed makes the same requests again (but for the ids
that the broker gives to topics).
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crc32c import crc32c

from penstock.broker.router import APIS, load_handlers
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.reader import Record
from penstock.wire.schema import ApiMessage, Field, Message
from tests.support.wire_client import request_bytes

TOPICS = ("fuzz-0", "fuzz-1", "fuzz-2")
GROUPS = ("group-0", "group-1", "group-2")
TRANSACTIONAL_IDS = ("tx-0", "tx-1")
PARTITIONS = 2
CRC_AT, CRC_START = 17, 21

load_handlers()
REQUESTS = [
    (api.request, version)
    for _, api in sorted(APIS.items())
    for version in range(api.versions[0], api.versions[1] + 1)
]

_INTEGERS = {
    "acks": (-1, 1, 1, 0, 7),
    "config_operation": (0, 1, 2, 3),
    "key_type": (0, 1, 2, 9),
    "max_wait_ms": (0, 1, 20),
    "num_partitions": (1, 2, -1, 0),
    "count": (3, 4, 0, -1),
    "replication_factor": (1, -1, 3),
    "resource_type": (2, 4, 8, 16, 32, 0),
    "session_timeout_ms": (6_000, 10_000, 0),
    "rebalance_timeout_ms": (1, 100, 1_000),
    "timeout_ms": (0, 100, 1_000),
    "transaction_timeout_ms": (1_000, 60_000, 0),
    "retention_time_ms": (-1, 1_000),
}
_WIDTHS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63, "uint16": 16, "uint32": 32}
_NAMES = {
    "topic": (*TOPICS, "none", ""),
    "group": (*GROUPS, ""),
    "transactional": (*TRANSACTIONAL_IDS, ""),
    "member": ("", "m-0", "m-1"),
    "key": (*GROUPS, *TRANSACTIONAL_IDS, "group-0:AAAAAAAAAAAAAAAAAAAAAA:0"),
    "regex": ("fuzz-.*", "(a+)+$", "[", "(x{0,1000}){40}"),
    "protocol": ("consumer", "range", "connect"),
    "assignor": ("uniform", "range", "none"),
    "config": ("retention.ms", "cleanup.policy", "max.message.bytes", "none"),
    "instance": ("i-0", "i-1"),
}
_STRANGE = ("", "foods", "\0", "é☃\U0001f600", "../..", "%n%s", "a" * 249, "a" * 250, "x" * 3_000)
LARGE = 300


@dataclass
class Requests:
    """Draws requests; `topic_ids` are those of `TOPICS` for the moment."""

    chance: random.Random
    topic_ids: Sequence[bytes]

    def valid(self, correlation_id: int) -> bytes:
        cls, version = self.chance.choice(REQUESTS)
        message = self._message(cls, version, depth=0)
        assert isinstance(message, ApiMessage)
        return request_bytes(message, version, correlation_id)

    def mutant(self, correlation_id: int) -> bytes:
        """The API, the version, the correlation id and the announced length stay right."""
        changed = bytearray(self.valid(correlation_id)[4:])
        for _ in range(self.chance.randint(1, 4)):
            self._mutate(changed, at=self.chance.randrange(8, len(changed)))
        return struct.pack(">i", len(changed)) + changed

    def garbled(self, data: bytes) -> bytes:
        """Nothing needs to stay right."""
        changed = bytearray(data)
        for _ in range(self.chance.randint(1, 4)):
            self._mutate(changed, at=self.chance.randrange(min(len(changed), 64)))
        return bytes(changed)

    def _mutate(self, changed: bytearray, at: int) -> None:
        chance = self.chance
        match chance.randrange(6):
            case 0:
                changed[at : at + 1] = chance.randbytes(1)
            case 1:
                changed[at : at + 1] = bytes([chance.choice([0, 1, 0x7F, 0x80, 0xFF])])
            case 2:
                del changed[at:]
                changed += bytes(4)
            case 3:
                changed[at:at] = chance.randbytes(chance.randint(1, 8))
            case 4:
                changed[at : at + 4] = chance.choice(
                    [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\xff\xff\xff\x7f"]
                )
            case _:
                changed[at:at] = changed[at : at + chance.randint(1, 64)] * chance.choice([1, 2, 50])

    # messages

    def _message(self, cls: type[Message], version: int, depth: int) -> Message:
        message = cls()
        for field in cls.SCHEMA:
            if field.exists_in(version) and not (field.tag is not None and self.chance.random() < 0.5):
                setattr(message, field.name, self._value(field, version, depth))
        return message

    def _value(self, field: Field, version: int, depth: int) -> Any:
        if field.nullable_in(version) and self.chance.random() < 0.15:
            return None
        if not field.is_array:
            return self._element(field, version, depth)
        lengths = (0, 1, 1, 1, 1, 1, 2, 2, 3, 3, LARGE) if depth == 0 else (0, 1, 1, 1, 2)
        return [self._element(field, version, depth + 1) for _ in range(self.chance.choice(lengths))]

    def _element(self, field: Field, version: int, depth: int) -> Any:
        if field.struct is not None:
            return self._message(field.struct, version, depth)
        chance, kind = self.chance, field.element_kind
        match kind:
            case "string":
                return self._string(field.name)
            case "bool":
                return field.name == "validate_only" or chance.random() < 0.5
            case "bytes":
                return chance.choice((b"", b"bread", bytes(100), chance.randbytes(30)))
            case "records":
                return self._records()
            case "uuid":
                return chance.choice((*self.topic_ids, *self.topic_ids, bytes(16), chance.randbytes(16)))
            case "float64":
                return chance.choice((0.0, 1.0, float("nan"), -float("inf")))
        return self._integer(field.name, kind)

    def _string(self, name: str) -> str:
        if self.chance.random() < 0.1:
            return self.chance.choice(_STRANGE)
        for part, names in _NAMES.items():
            if part in name:
                return self.chance.choice(names)
        return self.chance.choice((*TOPICS, *_NAMES["config"], "1", "-1", "delete", "0"))

    def _integer(self, name: str, kind: str) -> int:
        chance = self.chance
        usual: Sequence[int] = _INTEGERS.get(name, (0, 0, 0, 1, 1, 2, -1))
        if chance.random() < 0.9 or name in ("num_partitions", "count", "max_wait_ms"):
            number = chance.choice(usual)
            return max(number, 0) if kind.startswith("u") else number
        bits = _WIDTHS[kind]
        if kind.startswith("u"):
            return chance.choice((0, 1, 2**bits - 1))
        return chance.choice((2**bits - 1, -(2**bits), chance.getrandbits(bits), -2))

    def _records(self) -> bytes:
        chance = self.chance
        if chance.random() < 0.1:
            return chance.randbytes(chance.randint(0, 100))
        timestamp = chance.choice((-1, 0, 1_700_000_000_000, 2**62))
        keys = (None, b"", b"key")
        records = [
            Record(number, timestamp, chance.choice(keys), b"v" * 20)
            for number in range(chance.choice((1, 1, 2, 50)))
        ]
        codec = chance.choice((Codec.NONE, Codec.NONE, Codec.GZIP, Codec.LZ4, Codec.ZSTD, Codec.SNAPPY))
        batch = bytearray(build_batch(records, codec=codec).view)
        if chance.random() < 0.3:
            self._mutate(batch, at=chance.randrange(len(batch)))
            if (
                len(batch) > CRC_START and chance.random() < 0.7
            ):  # so that more than the checksum is looked at
                struct.pack_into(">I", batch, CRC_AT, crc32c(memoryview(batch)[CRC_START:]))
        return bytes(batch)
