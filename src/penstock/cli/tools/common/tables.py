"""Rows under headings: padded as Java's `printf` pads them, or as wide as what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MISSING = "-"


def padded(values: Sequence[object], widths: Sequence[int]) -> str:
    """Each value to its width and a blank after it; those beyond the last width as they are."""
    parts = [str(value).ljust(width) for value, width in zip(values, widths, strict=False)]
    return " ".join([*parts, *(str(value) for value in values[len(widths) :])])


def or_missing(value: object | None) -> str:
    return MISSING if value is None or value == "" else str(value)


def widest(values: Sequence[str], at_least: int) -> int:
    return max(at_least, *map(len, values)) if values else at_least


def print_rows(headings: Sequence[object], rows: Iterable[Sequence[object]], widths: Sequence[int]) -> None:
    """A table with an empty line before it."""
    for row in (headings, *rows):
        print("\n" + padded(row, widths), end="")
    print()


def pretty_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Every value as wide as its column, a tab after each."""
    texts = [list(headings), *([str(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "".join(f"{text:<{width}}\t" for text, width in zip(row, widths, strict=True)) for row in texts
    )
