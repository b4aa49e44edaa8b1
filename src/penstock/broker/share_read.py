"""What a share partition can be given from its log: where the batches are, and which of them nobody shall get."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.broker.partition import Partition
from penstock.log.batch_scan import scan_headers
from penstock.log.file_slice import FileSlice
from penstock.log.transaction_index import AbortedTransaction
from penstock.records.batch import Batch
from penstock.share.in_flight import Acquired, Fetched, Span


@dataclass(slots=True)
class ShareRead:
    """A piece of the log from an offset on."""

    offset: int
    piece: FileSlice
    positions: list[int] = field(default_factory=list)
    """Of each batch in the file, and at last the end of the last one."""
    spans: list[Span] = field(default_factory=list)
    aborted: list[Span] = field(default_factory=list)

    def fetched(self) -> Fetched:
        return Fetched(self.offset, self.spans, self.aborted)

    def cut(self, acquired: Sequence[Acquired]) -> FileSlice:
        """The batches that hold what was acquired."""
        first, last = acquired[0].first_offset, acquired[-1].last_offset
        wanted = [index for index, span in enumerate(self.spans) if span.last >= first and span.first <= last]
        begin, end = self.positions[wanted[0]], self.positions[wanted[-1] + 1]
        return FileSlice(self.piece.file, begin, end - begin, self.spans[wanted[0]].first)


def scan(
    partition: Partition, offset: int, piece: FileSlice, last_offset: int, *, committed: bool
) -> ShareRead:
    """Looks at the batches of a piece up to the one that holds an offset."""
    found = ShareRead(offset, piece)
    batches: list[Batch] = []
    for position, batch in scan_headers(piece.file, piece.position, piece.position + piece.size):
        if batch.base_offset > last_offset:
            break
        batches.append(batch)
        found.spans.append(Span(batch.base_offset, batch.last_offset))
        found.positions.append(position)
        end = position + batch.size
    if batches:
        found.positions.append(end)
        if committed:
            aborted = partition.log.aborted_transactions(batches[0].base_offset, batches[-1].next_offset)
            found.aborted = list(aborted_spans(batches, aborted))
    return found


def aborted_spans(batches: Iterable[Batch], aborted: Sequence[AbortedTransaction]) -> Iterable[Span]:
    """The batches of aborted transactions. A producer's batches are aborted up to its next marker."""
    ahead = sorted(aborted, key=lambda one: one.first_offset, reverse=True)
    ends: dict[int, int] = {}
    for batch in batches:
        while ahead and ahead[-1].first_offset <= batch.last_offset:
            one = ahead.pop()
            ends[one.producer_id] = one.last_offset
        if (
            batch.is_transactional
            and not batch.is_control
            and batch.base_offset < ends.get(batch.producer_id, -1)
        ):
            yield Span(batch.base_offset, batch.last_offset)
