"""What the tools print, taken apart."""

from __future__ import annotations


def rows(printed: str) -> list[list[str]]:
    """The words of every line that has any, the line of the headings included."""
    return [line.split() for line in printed.splitlines() if line.strip()]


def records(printed: str) -> list[dict[str, str]]:
    """The lines of a table whose headings are single words, as a dictionary each."""
    headings, *lines = rows(printed)
    return [dict(zip(headings, line, strict=True)) for line in lines]
