"""The order in which Java's hash maps give what is in them.

Kafka's tools print straight out of `HashMap` and `HashSet`, so their rows come in an order that looks random and is
not: by the bucket that a key's hash falls into, and within a bucket as they were put in. Output that is to be the
same has to come in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from penstock.java_hash import java_hash
from penstock.types import TopicPartition

K = TypeVar("K", bound=Hashable)

USUAL_CAPACITY = 16
LOAD_FACTOR = 0.75


def hash_code(key: object) -> int:
    """What `hashCode` gives, as 32 bits without a sign."""
    if isinstance(key, TopicPartition):
        return (31 * (31 + key.partition) + java_hash(key.topic)) & 0xFFFFFFFF
    if isinstance(key, int):
        return key & 0xFFFFFFFF
    assert isinstance(key, str), f"no Java hash for {key!r}"
    return java_hash(key) & 0xFFFFFFFF


def in_hash_order(
    keys: Iterable[K], capacity: int = USUAL_CAPACITY, *, hash_of: Callable[[K], int] = hash_code
) -> list[K]:
    """The distinct keys as a map gives them, made with a capacity and filled one by one."""
    distinct = list(dict.fromkeys(keys))
    table = 1
    while table < capacity or len(distinct) > table * LOAD_FACTOR:
        table *= 2
    return sorted(distinct, key=lambda key: _bucket(hash_of(key), table))


def capacity_of_copy(size: int) -> int:
    """What a map is made with that copies another of this size."""
    return int(size / LOAD_FACTOR + 1) if size else USUAL_CAPACITY


def _bucket(value: int, table: int) -> int:
    return (value ^ value >> 16) & (table - 1)
