"""What clients saw of a partitioned log, judged after the fact, in Jepsen's terms.

A history is what happened at the edges: which writes were acknowledged and where, what each reader read, in its order,
which transactions were committed or aborted, which offsets a group had committed. Beside it stands the log as it is in
the end, read from its first record to its last. What does not fit together is an anomaly:

    lost write          acknowledged, and not in the log
    moved write         acknowledged at another offset than where the log has it
    doubled write       in the log more than once, though its producer is idempotent
    reordered write     in the log, or acknowledged, before one that was sent before it
    unknown write       in the log, and nobody has sent it
    poll that skips     a reader goes on behind records that the log shows between two that it read
    poll that goes back a reader reads again what it had read, though nothing gave it another position
    changed read        a reader read at an offset what the log does not show there: it was taken back
    unread record       no reader of a group has read it
    aborted read        shown to who reads committed records only, though its transaction was aborted
    torn transaction    one part of it is shown and another is not
    offset that went back   a group's committed offset as its coordinator tells it

The numbers in records are unique within a partition and grow in the order of sending.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

SHOWN = 5
"""Of each kind."""


class Anomaly(NamedTuple):
    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


class Stored(NamedTuple):
    """A record as the log has it in the end."""

    offset: int
    number: int


class Acknowledged(NamedTuple):
    number: int
    offset: int | None
    """Where the answer told it: it need not, of a record that is there already."""


class Owns(NamedTuple):
    """From now on a reader has these partitions; those that it had before go on where they were."""

    partitions: frozenset[int]


class Read(NamedTuple):
    partition: int
    offset: int
    number: int


class Outcome(Enum):
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    """Nobody heard of it."""


class Transaction(NamedTuple):
    outcome: Outcome
    numbers: tuple[tuple[int, int], ...]
    """Partition and number of each record."""


Log = Sequence[Stored]
Step = Owns | Read


# writes


def find_in_writes(
    log: Log, acknowledged: Sequence[Acknowledged], sent: int, *, once: bool, in_order: bool = True
) -> list[Anomaly]:
    """Of one producer, and one partition to which nobody else wrote; `sent` numbers from 0 on were sent."""
    numbers = [stored.number for stored in log]
    offsets: dict[int, list[int]] = {}
    for stored in log:
        offsets.setdefault(stored.number, []).append(stored.offset)
    found = [Anomaly("lost write", str(number)) for number, _ in acknowledged if number not in offsets]
    found += [
        Anomaly("moved write", f"{number} was acknowledged at {offset} and is at {offsets[number]}")
        for number, offset in acknowledged
        if offset is not None and number in offsets and offset not in offsets[number]
    ]
    found += [Anomaly("unknown write", str(number)) for number in offsets if not 0 <= number < sent]
    if in_order:
        found += _disorder("in the log", list(dict.fromkeys(numbers)))
    if once:
        found += [
            Anomaly("doubled write", f"{number} is at {offsets[number]}")
            for number, count in Counter(numbers).items()
            if count > 1
        ]
        found += _disorder("acknowledged", [number for number, _ in acknowledged])
    return found


def _disorder(where: str, numbers: Sequence[int]) -> list[Anomaly]:
    return [
        Anomaly("reordered write", f"{now} after {before}, {where}")
        for before, now in itertools.pairwise(numbers)
        if now < before
    ]


# reads


class _Reader:
    """Goes through one reader's steps."""

    def __init__(self, name: str, logs: Mapping[int, Log]) -> None:
        self.name = name
        self.places = {
            partition: {stored.offset: place for place, stored in enumerate(log)}
            for partition, log in logs.items()
        }
        self.logs = logs
        self.last: dict[int, int] = {}
        """Place in the log of the last record read from each partition, while its position is the reader's own."""
        self.found: list[Anomaly] = []

    def note(self, kind: str, read: Read, detail: str) -> None:
        self.found.append(
            Anomaly(kind, f"{self.name} read {read.number} at {read.partition}:{read.offset}, {detail}")
        )

    def take(self, step: Step) -> None:
        if isinstance(step, Owns):
            self.last = {
                partition: last for partition, last in self.last.items() if partition in step.partitions
            }
            return
        place = self.places[step.partition].get(step.offset)
        if place is None:
            self.note("changed read", step, "where the log has nothing")
            return
        log = self.logs[step.partition]
        if log[place].number != step.number:
            self.note("changed read", step, f"where the log has {log[place].number}")
        last = self.last.get(step.partition)
        if last is not None and place <= last:
            self.note("poll that goes back", step, f"after offset {log[last].offset}")
        elif last is not None and place > last + 1:
            self.note(
                "poll that skips", step, f"after offset {log[last].offset}, over {place - last - 1} records"
            )
        self.last[step.partition] = place


def find_in_reader(name: str, logs: Mapping[int, Log], steps: Iterable[Step]) -> list[Anomaly]:
    """`logs` by partition, as that kind of reader sees them: committed records only, or all."""
    reader = _Reader(name, logs)
    for step in steps:
        reader.take(step)
    return reader.found


def find_unread(
    logs: Mapping[int, Log], readers: Iterable[Iterable[Step]], upto: Callable[[int], int]
) -> list[Anomaly]:
    """Of a group together, below the offset `upto` of each partition."""
    seen = {(step.partition, step.offset) for steps in readers for step in steps if isinstance(step, Read)}
    return [
        Anomaly("unread record", f"{stored.number} at {partition}:{stored.offset}")
        for partition, log in logs.items()
        for stored in log
        if stored.offset < upto(partition) and (partition, stored.offset) not in seen
    ]


# transactions


def find_in_transactions(committed: Mapping[int, Log], transactions: Iterable[Transaction]) -> list[Anomaly]:
    """`committed` is what a reader of committed records sees, by partition."""
    shown = {(partition, stored.number) for partition, log in committed.items() for stored in log}
    found: list[Anomaly] = []
    for transaction in transactions:
        visible = [one for one in transaction.numbers if one in shown]
        if transaction.outcome is Outcome.ABORTED:
            found += [Anomaly("aborted read", f"{number} in partition {where}") for where, number in visible]
        elif transaction.outcome is Outcome.COMMITTED:
            missing = [one for one in transaction.numbers if one not in shown]
            found += [Anomaly("lost write", f"{number} in partition {where}") for where, number in missing]
        elif visible and len(visible) < len(transaction.numbers):
            found.append(Anomaly("torn transaction", f"{visible} of {transaction.numbers}"))
    return found


# committed offsets


def find_in_offsets(name: str, looks: Iterable[Sequence[int]]) -> list[Anomaly]:
    """What one coordinator told at one look after the other: the committed offset of each partition."""
    found: list[Anomaly] = []
    latest: dict[int, int] = {}
    for look in looks:
        for partition, offset in enumerate(look):
            if offset < (before := latest.get(partition, -1)):
                found.append(
                    Anomaly("offset that went back", f"{name}, {partition}: from {before} to {offset}")
                )
            latest[partition] = offset
    return found


# the verdict


def require_none(anomalies: Iterable[Anomaly]) -> None:
    by_kind: dict[str, list[Anomaly]] = {}
    for anomaly in anomalies:
        by_kind.setdefault(anomaly.kind, []).append(anomaly)
    told = [
        f"{len(found)} x {kind}: {'; '.join(one.detail for one in found[:SHOWN])}"
        for kind, found in by_kind.items()
    ]
    assert not by_kind, "\n".join(told)
