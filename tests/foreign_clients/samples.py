"""Records that exercise every corner of the record format."""

from __future__ import annotations

import random

from tests.foreign_clients.drivers.model import Record

# Old enough to be nobody's clock, young enough that no retention of the default seven days could take it away
# were it deleted by time: the suite's topics that use it keep records for ever.
BASE_TIMESTAMP = 1_600_000_000_000
KEEP_FOR_EVER = {"retention.ms": "-1"}


def varied_records(null_headers: bool = True, salt: str = "") -> list[Record]:
    """Keys, values and headers present, absent, empty, binary and long; timestamps out of order."""
    noise = random.Random(20_240_229).randbytes(70_000)
    absent = None if null_headers else b"present"
    headers = (
        ("content-type", b"application/octet-stream"),
        ("empty", b""),
        ("absent", absent),
        ("binary", bytes(range(256))),
        ("ünïcode-名前", "wörth".encode()),
    )
    return [
        Record(f"plain {salt}".encode(), b"key", (), BASE_TIMESTAMP),
        Record(b"no key", None, (), BASE_TIMESTAMP + 5),
        Record(None, b"tombstone", (), BASE_TIMESTAMP + 3),
        Record(b"", b"", (), BASE_TIMESTAMP + 4),
        Record(b"with headers", b"headers", headers, BASE_TIMESTAMP + 6),
        Record(bytes(range(256)), bytes(reversed(range(256))), (), BASE_TIMESTAMP + 7),
        Record(b"compressible " * 5_000, b"long", (), BASE_TIMESTAMP + 8),
        Record(noise, b"incompressible", (("trace", b"1"), ("trace", b"2")), BASE_TIMESTAMP + 9),
    ]


def numbered_records(count: int, size: int = 20, step_ms: int = 1000) -> list[Record]:
    """Record i has timestamp BASE_TIMESTAMP + i * step_ms."""
    return [
        Record(str(i).encode().ljust(size, b"."), str(i).encode(), (), BASE_TIMESTAMP + i * step_ms)
        for i in range(count)
    ]
