"""The tables of Kafka's tools: every value as wide as its column, a tab after each."""

from __future__ import annotations

from collections.abc import Sequence


def pretty_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    texts = [list(headings), *([str(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "".join(f"{text:<{width}}\t" for text, width in zip(row, widths, strict=True)) for row in texts
    )
