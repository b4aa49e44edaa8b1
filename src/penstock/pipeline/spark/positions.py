"""The input positions of a query, committed as those of a consumer group, so that tools show its lag.

Spark goes on from its checkpoint, whatever is committed here. Commits are made by a thread of their own, newest
positions only: a broker that is away holds up neither Spark nor the next positions.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from threading import Condition, Thread
from typing import Protocol

from penstock.client import KafkaAdmin, TopicPartition
from penstock.errors import PenstockError

logger = logging.getLogger(__name__)

Positions = dict[TopicPartition, int]
RETRY_S = 5.0


class SourceProgress(Protocol):
    @property
    def endOffset(self) -> str: ...  # noqa: N802 (Spark's name)


def positions_of(sources: Iterable[SourceProgress]) -> Positions:
    """Where the sources that read Kafka stand: the offsets of others look different."""
    found: Positions = {}
    for source in sources:
        found |= _positions_in(source.endOffset)
    return found


def _positions_in(text: str) -> Positions:
    """Of `{"topic": {"0": 17}}`."""
    try:
        offsets = json.loads(text or "{}")
        return {
            TopicPartition(topic, int(partition)): int(offset)
            for topic, partitions in offsets.items()
            for partition, offset in partitions.items()
        }
    except (ValueError, AttributeError, TypeError):
        return {}


class PositionCommitter:
    def __init__(self, group_id: str, client_configs: Mapping[str, str]) -> None:
        self.group_id = group_id
        self._admin = KafkaAdmin(dict(client_configs))
        self._changed = Condition()
        self._wanted: Positions = {}
        self._committed: Positions = {}
        self._is_closed = False
        self._said = ""
        self._thread = Thread(target=self._work, name=f"positions of {group_id}", daemon=True)
        self._thread.start()

    def commit(self, positions: Positions) -> None:
        """Returns at once."""
        with self._changed:
            self._wanted |= positions
            self._changed.notify()

    def close(self) -> None:
        """After a last attempt to commit what is left."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()
        self._admin.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed or self._wanted != self._committed)
                wanted, is_last = dict(self._wanted), self._is_closed
            if wanted != self._committed:
                if self._was_committed(wanted):
                    self._committed = wanted
                elif not is_last:
                    self._pause()
            if is_last:
                return

    def _was_committed(self, positions: Positions) -> bool:
        try:
            self._admin.alter_group_offsets(self.group_id, positions)
        except (PenstockError, OSError) as error:
            if str(error) != self._said:
                logger.warning("positions of group %s can't be committed: %s", self.group_id, error)
            self._said = str(error)
            return False
        self._said = ""
        return True

    def _pause(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed, RETRY_S)
