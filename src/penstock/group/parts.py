"""A part of a shard: one subject, its records and its timers."""

from collections.abc import Callable, Mapping
from typing import Any

from penstock.group.groups import GroupContext
from penstock.machine import Outcome, RecordContext, TimerKey
from penstock.wire.schema import StoredMessage

Replay = Callable[[Any, Any, RecordContext], None]
"""Of a key and a value of the types that it is registered for; the value is None for a tombstone."""
OnTimer = Callable[[TimerKey, int], Outcome]
"""Of the whole key and the time."""


class Part:
    def __init__(self, context: GroupContext) -> None:
        self.context = context

    def replays(self) -> Mapping[type[StoredMessage], Replay]:
        """The replay function of each record that belongs to this part, by the type of its key."""
        return {}

    def timers(self) -> Mapping[str, OnTimer]:
        """What to do when a timer fires, by the first element of its key."""
        return {}

    def on_loaded(self, now_ms: int, outcome: Outcome) -> None:
        """The log has been replayed: start the timers of what was found."""

    def on_topics_changed(self, names: frozenset[str], now_ms: int, outcome: Outcome) -> None:
        """Topics were created, grown or deleted; the image has the news already."""
