"""What a member says of records that it got."""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.share.runs import RecordState


class AcknowledgeType(IntEnum):
    GAP = 0
    """There is no record at this offset."""
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4
    """It is still at work; let its lock begin anew."""


NEW_STATES = {
    AcknowledgeType.GAP: RecordState.ARCHIVED,
    AcknowledgeType.ACCEPT: RecordState.ACKNOWLEDGED,
    AcknowledgeType.RELEASE: RecordState.AVAILABLE,
    AcknowledgeType.REJECT: RecordState.ARCHIVED,
}


class Acknowledgement(NamedTuple):
    first_offset: int
    last_offset: int
    types: Sequence[int]
    """One for all, or one for each offset."""


def check_acknowledgements(
    batches: Sequence[Acknowledgement], *, knows_renewal: bool, is_renewal: bool
) -> None:
    """Refuses what can't be meant, whatever the state of the records."""
    end = -1
    for batch in batches:
        size = batch.last_offset - batch.first_offset + 1
        highest = AcknowledgeType.RENEW if knows_renewal else AcknowledgeType.REJECT
        is_sound = (
            size > 0
            and batch.first_offset >= end
            and len(batch.types) in (1, size)
            and all(AcknowledgeType.GAP <= kind <= highest for kind in batch.types)
            and (is_renewal or AcknowledgeType.RENEW not in batch.types)
        )
        if not is_sound:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        end = batch.last_offset


def pieces_of(batch: Acknowledgement) -> Iterator[tuple[int, int, AcknowledgeType]]:
    """First and last offset of what is said alike, and what is said."""
    if len(batch.types) == 1:
        yield batch.first_offset, batch.last_offset, AcknowledgeType(batch.types[0])
        return
    begin = 0
    for index, kind in enumerate(batch.types):
        if index + 1 == len(batch.types) or batch.types[index + 1] != kind:
            yield batch.first_offset + begin, batch.first_offset + index, AcknowledgeType(kind)
            begin = index + 1
