"""Rows under headings, padded as Java's `printf` pads them."""

from __future__ import annotations

from collections.abc import Sequence

MISSING = "-"


def padded(values: Sequence[object], widths: Sequence[int]) -> str:
    """Each value to its width and a blank after it; those beyond the last width as they are."""
    parts = [str(value).ljust(width) for value, width in zip(values, widths, strict=False)]
    return " ".join([*parts, *(str(value) for value in values[len(widths) :])])


def or_missing(value: object | None) -> str:
    return MISSING if value is None or value == "" else str(value)


def widest(values: Sequence[str], at_least: int) -> int:
    return max(at_least, *map(len, values)) if values else at_least
