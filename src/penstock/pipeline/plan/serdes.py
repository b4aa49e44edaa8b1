"""How a plan holds what makes bytes of keys and values, and keys and values of bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Encode: TypeAlias = Callable[[str, Any], bytes | None]
Decode: TypeAlias = Callable[[str, bytes | None], Any]
PartitionOf: TypeAlias = Callable[[str, Any, int], int]
"""Of a topic, a key and the number of partitions."""


@dataclass(frozen=True)
class Serde:
    """Both functions take the topic, or the changelog of a store, that the bytes are for; None stays None."""

    name: str
    encode: Encode
    decode: Decode
    window_size_ms: int | None = None
    """Of windowed keys whose end is not among their bytes."""
    partition_of: PartitionOf | None = None
    """Where it is not the key's bytes that say it: windows of a key belong where the key does."""
