"""Sessions of clients: which connection each is attached to, and when it expires.

A session lives as long as something is heard from its client within its timeout, on whichever connection. Its
existence, timeout and password are durable and kept by the tree; the time of the next expiry is not: after a restart
every session gets its full timeout anew.
"""

from typing import Generic, TypeVar

from penstock.zookeeper.tree import SessionRecord

Client = TypeVar("Client")


class Session(Generic[Client]):
    __slots__ = ("client", "deadline_ms", "password", "session_id", "timeout_ms")

    def __init__(self, session_id: int, record: SessionRecord, now_ms: int) -> None:
        self.session_id = session_id
        self.timeout_ms = record.timeout_ms
        self.password = record.password
        self.deadline_ms = now_ms + record.timeout_ms
        self.client: Client | None = None


class Sessions(Generic[Client]):
    """The live sessions. All times are monotonic milliseconds."""

    def __init__(self) -> None:
        self._sessions: dict[int, Session[Client]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def all(self) -> list[Session[Client]]:
        return list(self._sessions.values())

    def open(self, session_id: int, record: SessionRecord, now_ms: int) -> Session[Client]:
        session: Session[Client] = Session(session_id, record, now_ms)
        self._sessions[session_id] = session
        return session

    def close(self, session_id: int) -> Session[Client] | None:
        return self._sessions.pop(session_id, None)

    def find(self, session_id: int, password: bytes) -> Session[Client] | None:
        """The session that a client asks back, if it is alive and the password is the right one."""
        session = self._sessions.get(session_id)
        return session if session is not None and session.password == password else None

    def get(self, session_id: int) -> Session[Client] | None:
        return self._sessions.get(session_id)

    def touch(self, session_id: int, now_ms: int) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            session.deadline_ms = now_ms + session.timeout_ms

    def postpone(self, late_ms: int) -> None:
        """Time in which the server itself did not run counts against nobody."""
        for session in self._sessions.values():
            session.deadline_ms += late_ms

    def expired(self, now_ms: int) -> list[int]:
        return [s.session_id for s in self._sessions.values() if s.deadline_ms <= now_ms]


def negotiate_timeout(asked_ms: int, smallest_ms: int, largest_ms: int) -> int:
    return min(max(asked_ms, smallest_ms), largest_ms)


def first_session_id(wall_clock_ms: int, last_session_id: int) -> int:
    """Ids start from the time, as ZooKeeper's do, and never go back below one that was given out."""
    return max((wall_clock_ms << 24) % (1 << 64) >> 8, last_session_id + 1)
