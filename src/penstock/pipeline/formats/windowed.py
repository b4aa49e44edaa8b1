"""Windowed keys as bytes: the key, then the start of a time window, or the end and the start of a session."""

import struct
from functools import lru_cache, partial
from typing import Any

from penstock.client.producer.partitioners import partition_of_key
from penstock.client.serializers.base import Field
from penstock.pipeline.formats.serdes import SerdeSpec, serde_of
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.windows import Window, Windowed

_LONG, _TWO_LONGS = struct.Struct(">q"), struct.Struct(">qq")


_known_partition_of = lru_cache(maxsize=100_000)(partition_of_key)


def time_windowed(inner: Serde, size_ms: int) -> Serde:
    encode, decode = partial(_encode_start, inner), partial(_decode_start, inner, size_ms)
    return Serde(f"time windowed {inner.name}", encode, decode, size_ms, partial(_partition_of, inner))


def _partition_of(inner: Serde, topic: str, windowed: Any, partitions: int) -> int:
    """As in Kafka Streams: that of the key without its window."""
    return _known_partition_of(inner.encode(topic, windowed.key) or b"", partitions)


def _encode_start(inner: Serde, topic: str, windowed: Any) -> bytes | None:
    if windowed is None:
        return None
    return (inner.encode(topic, windowed.key) or b"") + _LONG.pack(windowed.window.start_ms)


def _decode_start(inner: Serde, size_ms: int, topic: str, data: bytes | None) -> Any:
    if not data:
        return None
    (start,) = _LONG.unpack_from(data, len(data) - _LONG.size)
    return Windowed(inner.decode(topic, data[: -_LONG.size]), Window(start, start + size_ms))


def session_windowed(inner: Serde) -> Serde:
    return Serde(
        f"session windowed {inner.name}",
        partial(_encode_session, inner),
        partial(_decode_session, inner),
        partition_of=partial(_partition_of, inner),
    )


def _encode_session(inner: Serde, topic: str, windowed: Any) -> bytes | None:
    if windowed is None:
        return None
    start, end = windowed.window
    return (inner.encode(topic, windowed.key) or b"") + _TWO_LONGS.pack(end, start)


def _decode_session(inner: Serde, topic: str, data: bytes | None) -> Any:
    if not data:
        return None
    end, start = _TWO_LONGS.unpack_from(data, len(data) - _TWO_LONGS.size)
    return Windowed(inner.decode(topic, data[: -_TWO_LONGS.size]), Window(start, end))


def time_windowed_serde(inner: SerdeSpec, size_ms: int, field: Field = "key") -> Serde:
    """For what reads or writes the keys of a table of time or sliding windows.

    >>> from penstock.streams import Window, Windowed, time_windowed_serde
    >>> time_windowed_serde("string", 60_000).encode("counts", Windowed("ann", Window(0, 60_000)))
    b'ann\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00'
    """
    found = serde_of(inner, field)
    assert found is not None, "a windowed serde needs that of its keys"
    return time_windowed(found, size_ms)


def session_windowed_serde(inner: SerdeSpec, field: Field = "key") -> Serde:
    """For what reads or writes the keys of a table of sessions.

    >>> from penstock.streams import session_windowed_serde
    >>> session_windowed_serde("string").name
    'session windowed string'
    """
    found = serde_of(inner, field)
    assert found is not None, "a windowed serde needs that of its keys"
    return session_windowed(found)
