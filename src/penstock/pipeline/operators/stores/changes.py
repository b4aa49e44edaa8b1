"""What a store tells of its changes, in the layout of Kafka Streams' changelog topics, and takes back from there."""

from collections.abc import Callable
from typing import TypeAlias

Log: TypeAlias = Callable[[bytes, bytes | None, int], None]
"""Of key, value and timestamp; without a value the key is gone."""


class Logged:
    """A store with a changelog."""

    log: Log | None = None
    """Called with each change, in the order of changes."""
    record_time: Callable[[], int] | None = None
    """When the record is that makes the change, for changes of a processor's own, which do not say so."""

    @property
    def current_time(self) -> int:
        return -1 if self.record_time is None else self.record_time()

    def restore(self, key: bytes, value: bytes | None, timestamp: int) -> None:
        """Takes a record of its changelog; nothing is logged of it."""
        raise NotImplementedError
