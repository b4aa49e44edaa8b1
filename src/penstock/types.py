"""Names that every tier shares."""

from typing import NamedTuple

FIRST_LIFE = -1
"""Before every epoch that a broker has: each time it registers, it gets a greater one."""


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
