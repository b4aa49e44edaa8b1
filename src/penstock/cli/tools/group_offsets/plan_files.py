"""Plans for `--from-file`, as `--export` writes them: CSV, with the group in front if there are several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from penstock.cli.tools.common.failures import CommandFailure
from penstock.types import TopicPartition

Plan = dict[str, dict[TopicPartition, int]]

LONGEST_UNQUOTED = 24
LOWEST_UNQUOTED = "-"
COLUMNS_WITHOUT_GROUP = 3
COLUMNS_WITH_GROUP = 4


def format_plan(plan: Mapping[str, Mapping[TopicPartition, int]], *, with_group: bool) -> str:
    return "".join(
        ",".join([*([_quoted(group)] if with_group else []), _quoted(topic), str(partition), str(offset)])
        + "\n"
        for group, offsets in plan.items()
        for (topic, partition), offset in offsets.items()
    )


def _quoted(text: str) -> str:
    """Like Jackson, which does not look into long text, and is careful with all that sorts before letters."""
    if len(text) <= LONGEST_UNQUOTED and all(letter >= LOWEST_UNQUOTED for letter in text):
        return text
    return '"' + text.replace('"', '""') + '"'


def read_plan(path: str, groups: list[str]) -> Plan:
    """With one group asked for, lines may go without it."""
    try:
        text = Path(path).read_text("utf-8", errors="replace")
    except OSError as error:
        raise CommandFailure(f"java.io.IOException: Unable to read file {path}") from error
    rows = list(_rows(path, text.rstrip("\n").split("\n")))
    plan: Plan = {}
    if len(groups) == 1 and len(rows[0]) == COLUMNS_WITHOUT_GROUP:
        rows = [[groups[0], *row] for row in rows if _has(row, COLUMNS_WITHOUT_GROUP, path)]
    for row in rows:
        _has(row, COLUMNS_WITH_GROUP, path)
        group, topic, partition, offset = row
        place = TopicPartition(topic, _number(partition, row, path))
        plan.setdefault(group, {})[place] = _number(offset, row, path)
    return plan


def _rows(path: str, lines: Iterable[str]) -> Iterable[list[str]]:
    import csv

    for line in lines:
        try:
            row = next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            raise CommandFailure(f"{path}: {error} in {line!r}") from error
        yield [value.strip() for value in row]


def _has(row: list[str], columns: int, path: str) -> bool:
    if len(row) != columns:
        raise CommandFailure(
            f"{path}: got {','.join(row)!r}, expected topic,partition,offset for one group or "
            "group,topic,partition,offset"
        )
    return True


def _number(text: str, row: list[str], path: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CommandFailure(f"{path}: got {text!r} in {','.join(row)!r}, expected a number") from None
