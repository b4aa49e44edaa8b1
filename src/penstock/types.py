"""Names that every tier shares."""

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """One partition of a topic.

    >>> from penstock import TopicPartition
    >>> str(TopicPartition("orders", 0))
    'orders-0'
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
