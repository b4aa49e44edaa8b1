"""The JSON of Connect's own topics: its internal JsonConverter without schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def encode(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def decode_object(data: bytes) -> dict[str, Any] | None:
    """None if it is no JSON object."""
    try:
        value = json.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def split_task_key(text: str) -> tuple[str, int] | None:
    """`<connector>-<number>`; names of connectors may contain dashes."""
    connector, _, number = text.rpartition("-")
    return (connector, int(number)) if connector and number.isascii() and number.isdecimal() else None
