"""The order in which Java's hash sets give their strings, which Kafka Streams' descriptions are printed in."""

from collections.abc import Iterable

from penstock.java_hash import java_hash

SMALLEST_TABLE = 16
LOAD_FACTOR = 0.75


def hash_set_order(texts: Iterable[str]) -> list[str]:
    """By bucket; within one as they were added. Buckets of so many that they become trees are not thought of."""
    unique = list(dict.fromkeys(texts))
    buckets = SMALLEST_TABLE
    while len(unique) > buckets * LOAD_FACTOR:
        buckets *= 2
    return sorted(unique, key=lambda text: _spread(java_hash(text)) & (buckets - 1))


def _spread(value: int) -> int:
    unsigned = value & 0xFFFFFFFF
    return unsigned ^ unsigned >> 16
