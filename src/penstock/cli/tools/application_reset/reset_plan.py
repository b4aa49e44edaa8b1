"""`--from-file`: an offset for each partition, as lines of `topic,partition,offset`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from penstock.cli.options.kinds import java_int, java_long
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.group_offsets.scenarios import Offsets
from penstock.types import TopicPartition

COLUMNS = 3


Row = list[str]


def read_rows(path: str) -> list[Row]:
    try:
        text = Path(path).read_text("utf-8", errors="replace")
    except OSError as error:
        raise CommandFailure(f"{path}: {error.strerror}") from error
    if not text:
        raise CommandFailure("java.text.ParseException: Error parsing reset plan CSV file. It is empty,")
    lines = text.rstrip("\n")
    return [_row(line) for line in lines.split("\n")] if lines else []


def _row(line: str) -> Row:
    values = line.rstrip(",").split(",")
    if len(values) != COLUMNS:
        raise CommandFailure(
            "java.text.ParseException: Reset plan CSV file is not following the format `TOPIC,PARTITION,OFFSET`."
        )
    return values


def plan_of(rows: Iterable[Row]) -> Offsets:
    try:
        return {
            TopicPartition(topic, java_int(partition)): java_long(offset) for topic, partition, offset in rows
        }
    except ValueError as error:
        raise CommandFailure(f"java.lang.NumberFormatException: {error}") from None


def check_reset_plan(path: str, plan: Offsets, partitions: Iterable[TopicPartition]) -> None:
    """It must be about these partitions, about all of them and no others."""
    wanted = set(partitions)
    for partition in plan:
        if partition not in wanted:
            raise CommandFailure(f"{path}: {partition} is no partition of the input topics")
    for partition in sorted(wanted):
        if partition not in plan:
            raise CommandFailure(f"{path}: has no offset for {partition}")
