"""What the offset topic says: how far each source connector has read each partition of its source.

A key is `["connector", {partition}]`, a value the offset as an object; both are JSON. Objects with the same members in
another order are the same partition, but other bytes, and so other keys for compaction: all of them are remembered, the
last one wins, and a reset removes them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class KnownOffset:
    partition: dict[str, Any]
    key: bytes
    value: bytes
    keys: set[bytes] = field(default_factory=set)

    @property
    def offset(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self.value)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


class OffsetState:
    def __init__(self) -> None:
        self.connectors: dict[str, dict[str, KnownOffset]] = {}

    def replay(self, key: bytes | None, value: bytes | None) -> str | None:
        """Why a record says nothing to us, if so."""
        place = _decode_key(key)
        if place is None:
            return f"the key {key!r} is no connector with a partition"
        assert key is not None
        name, partition = place
        same = canonical(partition)
        known = self.connectors.setdefault(name, {})
        if value is None:
            self._remove(known, same, key)
        elif same in known:
            known[same].key, known[same].value = key, value
            known[same].keys.add(key)
        else:
            known[same] = KnownOffset(partition, key, value, {key})
        return None

    @staticmethod
    def _remove(known: dict[str, KnownOffset], same: str, key: bytes) -> None:
        """A tombstone of an older spelling does not remove what a newer one says."""
        if same not in known:
            return
        known[same].keys.discard(key)
        if known[same].key == key:
            del known[same]

    def changes_to(
        self, name: str, partition: Mapping[str, Any], offset: Mapping[str, Any] | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        """The records that set an offset, or remove it in all its spellings."""
        known = self.connectors.get(name, {}).get(canonical(partition))
        if offset is not None:
            yield (known.key if known else encode_key(name, partition)), _encode(offset)
        elif known is not None:
            for key in sorted(known.keys):
                yield key, None


def encode_key(name: str, partition: Mapping[str, Any]) -> bytes:
    return _encode([name, dict(partition)])


def canonical(partition: Mapping[str, Any]) -> str:
    return json.dumps(partition, sort_keys=True, separators=(",", ":"))


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _decode_key(key: bytes | None) -> tuple[str, dict[str, Any]] | None:
    try:
        found = json.loads(key or b"")
    except ValueError:
        return None
    if not isinstance(found, list) or len(found) != 2:
        return None
    name, partition = found
    return (name, partition) if isinstance(name, str) and isinstance(partition, dict) else None
