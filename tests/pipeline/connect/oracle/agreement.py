"""Whether two answers say the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from penstock.pipeline.connect.data.java_text import to_float32


def same(ours: Any, theirs: Any) -> bool:
    """Java 17 writes some floats with more digits than they need."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[name], theirs[name]) for name in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, Decimal) or isinstance(theirs, Decimal):
        both_numbers = isinstance(ours, int | Decimal) and isinstance(theirs, int | Decimal)
        return both_numbers and (ours == theirs or to_float32(float(ours)) == to_float32(float(theirs)))
    return type(ours) is type(theirs) and ours == theirs
