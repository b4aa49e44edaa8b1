"""What travels through internal topics besides the user's own keys and values, in Kafka Streams' own layouts.

A change of a regrouped table: the new row, the old row and which of them are there; if both are, the length of the
first comes before it. A subscription of a row to a foreign key: version, instruction, the hash of the row, its key and
its partition. The answer: version, the hash it was asked with, the foreign row.
"""

from typing import Any

from penstock.pipeline.plan.foreign_keys import HASH_SIZE, Answer, Instruction, Subscription
from penstock.pipeline.plan.serdes import Serde
from penstock.records.varint import read_varint, write_varlong

ONLY_OLD, ONLY_NEW, BOTH = 0, 1, 2
NO_HASH = 0x80
SUBSCRIPTION_VERSION, ANSWER_VERSION = 1, 0


def change_serde(inner: Serde) -> Serde:
    def encode(topic: str, change: Any) -> bytes:
        new_row, old_row = change
        new, old = inner.encode(topic, new_row), inner.encode(topic, old_row)
        if new is not None and old is not None:
            return _varint(len(new)) + new + old + bytes([BOTH])
        if new is None and old is None:
            raise ValueError("a change from nothing to nothing")
        return bytes(new) + bytes([ONLY_NEW]) if new is not None else (old or b"") + bytes([ONLY_OLD])

    def decode(topic: str, data: bytes | None) -> Any:
        if data is None:
            return None
        kind, body = data[-1], data[:-1]
        if kind == BOTH:
            size, start = read_varint(body, 0)
            return inner.decode(topic, body[start : start + size]), inner.decode(topic, body[start + size :])
        row = inner.decode(topic, body)
        return (row, None) if kind == ONLY_NEW else (None, row)

    return Serde(f"changes of {inner.name}", encode, decode)


def _varint(value: int) -> bytes:
    out = bytearray()
    write_varlong(out, value)
    return bytes(out)


def subscription_serde(key: Serde) -> Serde:
    def encode(topic: str, subscription: Subscription) -> bytes:
        version = SUBSCRIPTION_VERSION | (NO_HASH if subscription.row_hash is None else 0)
        head = bytes([version, subscription.instruction]) + (subscription.row_hash or b"")
        return head + (key.encode(topic, subscription.key) or b"") + subscription.partition.to_bytes(4, "big")

    def decode(topic: str, data: bytes | None) -> Any:
        if data is None:
            return None
        row_hash, start = _hash_in(data, 2)
        partition = int.from_bytes(data[-4:], "big")
        return Subscription(row_hash, Instruction(data[1]), key.decode(topic, data[start:-4]), partition)

    return Serde(f"subscriptions of {key.name}", encode, decode)


def answer_serde(row: Serde) -> Serde:
    def encode(topic: str, answer: Answer) -> bytes:
        version = ANSWER_VERSION | (NO_HASH if answer.row_hash is None else 0)
        return bytes([version]) + (answer.row_hash or b"") + (row.encode(topic, answer.foreign_row) or b"")

    def decode(topic: str, data: bytes | None) -> Any:
        if data is None:
            return None
        row_hash, start = _hash_in(data, 1)
        return Answer(row_hash, row.decode(topic, data[start:]) if len(data) > start else None)

    return Serde(f"answers of {row.name}", encode, decode)


def _hash_in(data: bytes, start: int) -> tuple[bytes | None, int]:
    if data[0] & NO_HASH:
        return None, start
    return data[start : start + HASH_SIZE], start + HASH_SIZE
