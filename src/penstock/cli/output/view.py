"""Tables and JSON: what `penstock` shows of lists and descriptions.

A `View` holds records for programs, with native types and nested where the subject is, and rows for people. On a
terminal rows become a table in colour, unless NO_COLOR is set; `--output json` prints the records; in a pipe a tool
prints just what Kafka's tool prints.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from penstock.cli.output.formats import JSON

Record = Mapping[str, object]

_RESET = "\x1b[0m"
_STYLES = {"bold": "\x1b[1m", "dim": "\x1b[2m", "red": "\x1b[31m", "green": "\x1b[32m", "yellow": "\x1b[33m"}
_NOTHING = "-"
_AMOUNT = re.compile(r"\d+(\.\d+)?( [kMGT]?B?)?")


@dataclass(frozen=True)
class View:
    records: Sequence[Record]
    rows: Sequence[Record] | None = None
    """What the table shows, one record a row; the records themselves if not given."""
    notes: Sequence[str] = field(default=())
    """Lines for people, below the table."""

    @property
    def table(self) -> Sequence[Record]:
        return self.records if self.rows is None else self.rows


def show(view: View, output: str, stream: TextIO | None = None) -> None:
    stream = sys.stdout if stream is None else stream
    if output == JSON:
        stream.write(json.dumps(view.records, indent=2, ensure_ascii=False) + "\n")
        return
    for line in [*table_lines(view.table, colour=has_colour(stream)), *view.notes]:
        stream.write(line + "\n")


def has_colour(stream: TextIO) -> bool:
    """A terminal, and nobody who asked for none: see no-color.org."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# tables


def table_lines(rows: Sequence[Record], *, colour: bool) -> list[str]:
    """A heading and the rows; numbers stand to the right."""
    if not rows:
        return []
    names = list(rows[0])
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    headings = [name.replace("_", " ").upper() for name in names]
    widths = [max(len(line[index]) for line in (headings, *cells)) for index in range(len(names))]
    to_the_right = [all(_is_number(row.get(name)) for row in rows) for name in names]
    lines = [_line(headings, widths, to_the_right, ["bold"] * len(names) if colour else [])]
    for row, texts in zip(rows, cells, strict=True):
        styles = [_style(name, row.get(name)) for name in names] if colour else []
        lines.append(_line(texts, widths, to_the_right, styles))
    return lines


def _line(
    texts: Sequence[str], widths: Sequence[int], to_the_right: Sequence[bool], styles: Sequence[str | None]
) -> str:
    padded = [
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(texts, widths, to_the_right, strict=True)
    ]
    padded[-1] = padded[-1].rstrip()
    if styles:
        padded = [styled(text, style) for text, style in zip(padded, styles, strict=True)]
    return "  ".join(padded).rstrip()


def styled(text: str, style: str | None) -> str:
    return text if style is None else f"{_STYLES[style]}{text}{_RESET}"


def _cell(value: object) -> str:
    if value is None or value == "":
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value)) or _NOTHING
    return str(value).replace("\n", "\\n")


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return _AMOUNT.fullmatch(value) is not None
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


# colours: by what a column means

_STATES = {"Stable": "green", "Empty": "yellow", "Dead": "red", "Ongoing": "yellow", "Fenced": "red"}


def _by_state(value: object) -> str | None:
    return _STATES.get(str(value), "yellow")


def _if_positive(value: object) -> str | None:
    return "yellow" if isinstance(value, (int, float)) and value > 0 else None


def _if_missing(value: object) -> str | None:
    return "red" if value is None else None


_STYLE_OF: Mapping[str, Callable[[object], str | None]] = {
    "state": _by_state,
    "lag": _if_positive,
    "leader": _if_missing,
    "error": lambda value: "red" if value else None,
    "health": lambda value: "green" if value == "ok" else "red",
    "topic_id": lambda value: "dim",
    "source": lambda value: "dim",
}


def _style(name: str, value: object) -> str | None:
    choose = _STYLE_OF.get(name)
    if choose is not None:
        return choose(value)
    return "dim" if value is None or value == "" else None
