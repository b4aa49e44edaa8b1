"""A part of a shard: one subject, its records and its timers."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from penstock.group.groups import GroupContext
from penstock.machine import Caller, Outcome, RecordContext, Ticket, TimerKey
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.messages.leave_group import LeaveGroupRequest
from penstock.wire.messages.sync_group import SyncGroupRequest
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


@runtime_checkable
class ClassicProtocol(Protocol):
    """A part whose groups take members that speak the classic protocol."""

    def handle_classic_join(
        self, request: JoinGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome: ...

    def handle_classic_sync(
        self, request: SyncGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome: ...

    def handle_classic_heartbeat(
        self, request: HeartbeatRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome: ...

    def handle_classic_leave(
        self, request: LeaveGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome: ...
