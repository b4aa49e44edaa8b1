"""Acknowledgements of shared records on their way to the broker, as runs of offsets with the same answer."""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple


class AcknowledgeType(IntEnum):
    GAP = 0
    """There is no record at this offset: it was compacted away, or is a marker of a transaction."""
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3


class SharePartition(NamedTuple):
    topic_id: bytes
    partition: int


class Run(NamedTuple):
    first_offset: int
    last_offset: int
    how: AcknowledgeType


class Acknowledgements:
    """What has been answered and not been sent yet."""

    def __init__(self) -> None:
        self._answers: dict[SharePartition, dict[int, AcknowledgeType]] = {}

    def add(self, partition: SharePartition, offset: int, how: AcknowledgeType) -> None:
        self._answers.setdefault(partition, {})[offset] = how

    def partitions(self) -> set[SharePartition]:
        return set(self._answers)

    def take(self, partition: SharePartition) -> list[Run]:
        """The runs of a partition, which are to be sent now."""
        return list(runs(self._answers.pop(partition, {})))


def runs(answers: dict[int, AcknowledgeType]) -> Iterator[Run]:
    current: Run | None = None
    for offset, how in sorted(answers.items()):
        if current is not None and current.last_offset + 1 == offset and current.how == how:
            current = current._replace(last_offset=offset)
            continue
        if current is not None:
            yield current
        current = Run(offset, offset, how)
    if current is not None:
        yield current
