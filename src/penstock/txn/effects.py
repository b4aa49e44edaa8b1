"""What the transaction coordinator has others do."""

from typing import NamedTuple

from penstock.machine import Producer
from penstock.types import TopicPartition


class WriteMarkers(NamedTuple):
    """Ends a transaction in its partitions; `TransactionShard.on_markers_written` is told when all have theirs."""

    transactional_id: str
    producer: Producer
    is_commit: bool
    partitions: frozenset[TopicPartition]
    transaction_version: int
