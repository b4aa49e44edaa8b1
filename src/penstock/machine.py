"""The contract of a state machine over a log: coordinators are built on it, and so is whatever folds a topic.

A machine is pure. It is asked (`handle_...(request, caller, ticket, now_ms)`), told that a timer is due, or told that
the cluster changed; each time it returns an `Outcome`: records to write, replies to send, timers to set, effects
that somebody else must carry out. The shell (`broker.shards`) then

1. appends the records to the machine's partition, as one batch where they fit in one;
2. calls `replay` for each of them;
3. sets the timers, and begins the effects;
4. sends the replies, once the records are committed.

**Durable state changes only in `replay`**, so that the state after a restart, which is a replay of the whole log, is
the state before it. What a machine keeps besides (who waits for a rebalance, which timers run) is soft: it may change
in a handler, and is gone after a restart.

If the records can't be written, nothing is replayed and every reply of that outcome turns into an error. A machine
that changed soft state in expectation of the write gives `on_refused`, which is asked for what to do about it.

A request that can't be answered yet keeps its `Ticket`; a later outcome replies to it. A ticket is replied to once.

Time: `now_ms` is the wall clock, for timestamps that are stored; timers are relative, and run on a clock that
never jumps. Randomness and ids come through the machine's constructor.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

from penstock.errors import ErrorCode
from penstock.wire.schema import RecordTypes, StoredMessage


class NewRecord(NamedTuple):
    """A record that a machine wants in its log; without a value it is a tombstone."""

    key: StoredMessage
    value: StoredMessage | None = None
    version: int = 0
    """That the value is written in."""


class Producer(NamedTuple):
    """On whose behalf records are written that count only when its transaction is committed."""

    producer_id: int
    producer_epoch: int


class RecordContext(NamedTuple):
    """What surrounds a record that is replayed."""

    offset: int
    timestamp_ms: int
    producer: Producer | None = None
    """If given, the record is part of an open transaction and takes effect when that is committed."""


class Caller(NamedTuple):
    """Who asks."""

    version: int
    """Of the request."""
    client_id: str = ""
    client_host: str = ""
    """As Kafka shows it: `/127.0.0.1`."""


class Ticket:
    """Stands for one request that waits for its answer."""

    __slots__ = ()


TimerKey = tuple[Hashable, ...]
"""Its first element names the kind of timer."""


class Timer(NamedTuple):
    key: TimerKey
    delay_ms: int | None
    """From now; None stops the timer. A timer that runs already is set anew."""


@dataclass(slots=True)
class Outcome:
    records: list[NewRecord] = field(default_factory=list)
    replies: list[tuple[Ticket, Any]] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)
    effects: list[Any] = field(default_factory=list)
    """Begun as soon as the records are committed, each by the function that the shell has for it."""
    producer: Producer | None = None
    """Makes the records part of this producer's transaction."""
    on_refused: Callable[[ErrorCode], "Outcome"] | None = None

    def write(self, key: StoredMessage, value: StoredMessage | None = None, version: int = 0) -> None:
        self.records.append(NewRecord(key, value, version))

    def reply(self, ticket: Ticket, response: Any) -> None:
        self.replies.append((ticket, response))

    def start_timer(self, key: TimerKey, delay_ms: int) -> None:
        self.timers.append(Timer(key, delay_ms))

    def stop_timer(self, key: TimerKey) -> None:
        self.timers.append(Timer(key, None))


class Machine(Protocol):
    RECORD_TYPES: ClassVar[RecordTypes]
    """The records of its topic."""

    def replay(self, key: StoredMessage, value: StoredMessage | None, context: RecordContext) -> None: ...

    def replay_end_transaction(self, producer: Producer, *, is_commit: bool) -> None: ...

    def on_loaded(self, now_ms: int) -> Outcome:
        """The log has been replayed; from now on it is asked."""
        ...

    def on_timer(self, key: TimerKey, now_ms: int) -> Outcome: ...

    def on_topics_changed(self, names: frozenset[str], now_ms: int) -> Outcome:
        """Topics were created, grown or deleted; the cluster's image has the news already."""
        ...
