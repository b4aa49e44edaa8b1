"""Share sessions: what each member of a share group reads at this broker.

A session belongs to a connection. Its first fetch names the partitions, later ones only what changes; each fetch and
each acknowledgement carries the session's next epoch. When the session ends, by a request with epoch -1 or with its
connection, what its member has is taken back.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 2**31 - 1


class SessionKey(NamedTuple):
    group_id: str
    member_id: str


class PartitionKey(NamedTuple):
    topic_id: bytes
    partition: int


class ShareSession:
    def __init__(self, key: SessionKey, partitions: Iterable[PartitionKey], owner: Hashable) -> None:
        self.key = key
        self.owner = owner
        """The connection that it ends with."""
        self.epoch = 1
        self.partitions: dict[PartitionKey, bool] = dict.fromkeys(partitions, False)
        """Whether the next answer must hold the partition, news or not."""

    def update(self, added: Iterable[PartitionKey], forgotten: Iterable[PartitionKey]) -> None:
        for key in added:
            self.partitions.setdefault(key, True)
        for key in forgotten:
            self.partitions.pop(key, None)

    def step(self) -> None:
        self.epoch = 1 if self.epoch == MAX_EPOCH else self.epoch + 1

    def must_answer(self, key: PartitionKey, *, has_records: bool, has_error: bool) -> bool:
        """Whether an answer must hold a partition; remembers what it will tell."""
        must_be_told = self.partitions.get(key, True)
        if key in self.partitions:
            self.partitions[key] = has_error
            if has_records:
                self.partitions[key] = self.partitions.pop(key)  # to the end
        return has_records or has_error or must_be_told


class ShareSessions:
    def __init__(self) -> None:
        self._sessions: dict[SessionKey, ShareSession] = {}

    def __iter__(self) -> Iterator[ShareSession]:
        return iter(list(self._sessions.values()))

    def __len__(self) -> int:
        return len(self._sessions)

    def open(
        self, key: SessionKey, partitions: Iterable[PartitionKey], owner: Hashable, limit: int
    ) -> ShareSession:
        """A new session, in place of one that the member has already."""
        self._sessions.pop(key, None)
        if len(self._sessions) >= limit:
            raise ApiError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[key] = ShareSession(key, partitions, owner)
        return session

    def find(self, key: SessionKey) -> ShareSession:
        session = self._sessions.get(key)
        if session is None:
            raise ApiError(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def continue_(self, key: SessionKey, epoch: int) -> ShareSession:
        """The session that a request goes on with; it has the next epoch then."""
        session = self.find(key)
        if session.epoch != epoch:
            raise ApiError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session.step()
        return session

    def close(self, key: SessionKey) -> ShareSession:
        session = self.find(key)
        del self._sessions[key]
        return session

    def of_owner(self, owner: Hashable) -> list[ShareSession]:
        return [session for session in self if session.owner is owner]

    def has_group(self, group_id: str) -> bool:
        return any(key.group_id == group_id for key in self._sessions)
