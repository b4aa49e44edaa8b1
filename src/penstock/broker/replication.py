"""Followers: each partition that another broker leads is fetched from there, as consumers fetch, to the end of the
log.

There are `num.replica.fetchers` fetchers for each broker that leads something of which a replica is here; a partition
belongs to one of them. A fetcher has one connection and one fetch under way, with a fetch session: a request names
only the partitions whose position is new, an answer those that have news.

What makes it safe stands in the partition and in what it asks: each fetch names the leader epoch that this broker
knows, which a leader of another epoch refuses, and the epoch of the last record, by which a leader tells where logs
diverge (`replica.follower`). An answer counts only if the partition still has the role that it had as the fetch was
sent.

A partition that is refused is left alone for `replica.fetch.backoff.ms`, or until its leader is news; a broker that
can't be reached is tried again after as long.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from penstock.broker.partition import Partition
from penstock.broker.peers import Peers
from penstock.broker.registration import Registration
from penstock.broker.throttling import SideThrottle
from penstock.clock import Clock
from penstock.controller.image import ClusterImage
from penstock.errors import ApiError, ErrorCode, PenstockError
from penstock.replica.follower import FollowerState
from penstock.settings.broker import BrokerSettings
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from penstock.wire_client import Disconnected
from penstock.wire_client.connection import Connection

log = logging.getLogger("penstock.broker.replication")

NO_SESSION, FIRST_EPOCH, LAST_EPOCH = 0, 0, 2**31 - 1
LATEST, EARLIEST = -1, -2
TURN_BYTES = 256 * 1024
"""Of fetched records, after which others are served."""

SESSION_ERRORS = frozenset(
    {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    }
)
EXPECTED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
"""While the news of a leader is on its way to both brokers."""


class Followed:
    """A partition of a fetcher."""

    __slots__ = ("has_all", "partition", "replica", "resumes_at", "sent")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.replica = partition.replica
        self.resumes_at = 0.0
        self.has_all = False
        """What was committed as of the last fetch; then it is not held back."""
        self.sent: tuple[int, int, int, int] | None = None

    @property
    def is_current(self) -> bool:
        """Whether the partition has the role still that it was given to the fetcher with."""
        partition = self.partition
        return partition.replica is self.replica and not (partition.is_deleted or partition.directory.offline)

    @property
    def is_as_sent(self) -> bool:
        """Whether an answer to the last fetch may be taken."""
        return self.is_current and self.sent is not None and self.sent[0] == self.partition.log.log_end_offset

    def position(self) -> tuple[int, int, int, int]:
        stored = self.partition.log
        epoch = self.replica.replica_set.leader_epoch
        return stored.log_end_offset, stored.log_start_offset, epoch, stored.epochs.latest_epoch


class Following(NamedTuple):
    """What fetchers work with."""

    peers: Peers
    registration: Registration
    image: ClusterImage
    clock: Clock
    settings: Callable[[], BrokerSettings]
    throttle: SideThrottle

    @property
    def broker_id(self) -> int:
        return self.registration.broker_id

    @property
    def broker_epoch(self) -> int:
        own = self.image.brokers.get(self.broker_id)
        return -1 if own is None else own.epoch


class Fetcher:
    """What is fetched from one broker over one connection."""

    def __init__(self, context: "Following", leader_id: int, number: int) -> None:
        self.context = context
        self.leader_id = leader_id
        self.number = number
        self.followed: dict[TopicPartition, Followed] = {}
        self._by_id: dict[tuple[bytes, int], Followed] = {}
        self._changed: dict[TopicPartition, Followed] = {}
        self._forgotten: list[Partition] = []
        self._has_news = asyncio.Event()
        self._session_id, self._session_epoch = NO_SESSION, FIRST_EPOCH
        self._connection: Connection | None = None
        self._task = asyncio.get_running_loop().create_task(self._run())

    def add(self, partition: Partition) -> None:
        followed = Followed(partition)
        where = partition.topic_partition
        self.followed[where] = self._changed[where] = followed
        self._by_id[partition.topic_id, where.partition] = followed
        self._has_news.set()

    def remove(self, partition: Partition) -> None:
        where = partition.topic_partition
        followed = self.followed.pop(where, None)
        if followed is not None:
            self._changed.pop(where, None)
            self._by_id.pop((partition.topic_id, where.partition), None)
            if followed.sent is not None:
                self._forgotten.append(followed.partition)

    def close(self) -> None:
        self._task.cancel()
        self._disconnect()

    # the loop

    async def _run(self) -> None:
        backoff = self.context.settings().replica_fetch_backoff_ms / 1000
        while True:
            try:
                if not self.followed:
                    self._disconnect()
                    await self._wait_for_news(None)
                    continue
                if not await self._fetch():
                    await self._wait_for_news(backoff)
            except (Disconnected, PenstockError) as error:
                log.info("fetching from broker %d is tried again: %s", self.leader_id, error)
                self._disconnect()
                await self._wait_for_news(backoff)
            except Exception:
                log.exception("fetching from broker %d failed, and is tried again", self.leader_id)
                self._disconnect()
                await self._wait_for_news(backoff)

    async def _wait_for_news(self, seconds: float | None) -> None:
        self._has_news.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._has_news.wait()
        except TimeoutError:
            pass

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._forget_session()

    def _forget_session(self) -> None:
        self._session_id, self._session_epoch = NO_SESSION, FIRST_EPOCH
        self._forgotten.clear()
        for where, followed in self.followed.items():
            followed.sent = None
            self._changed[where] = followed

    async def _fetch(self) -> bool:
        """One request and its answer; False if there is nothing to ask for just now."""
        request = self._request()
        if request is None:
            return False
        if self._connection is None:
            self._connection = await self.context.peers.connect(self.leader_id, f"fetcher-{self.number}")
        settings = self.context.settings()
        answer = await self._connection.ask(
            request,
            FetchResponse,
            timeout_ms=settings.replica_socket_timeout_ms + settings.replica_fetch_wait_max_ms,
        )
        if answer.error_code:
            self._forget_session()
            if answer.error_code in SESSION_ERRORS:
                return True
            log.warning("broker %d answers a fetch with error %d", self.leader_id, answer.error_code)
            return False
        self._session_id = answer.session_id
        following = 1 if self._session_epoch == LAST_EPOCH else self._session_epoch + 1
        self._session_epoch = following if answer.session_id != NO_SESSION else FIRST_EPOCH
        await self._take(answer)
        return True

    # asking

    def _request(self) -> FetchRequest | None:
        now = asyncio.get_running_loop().time()
        self._hold_back()
        is_full = self._session_epoch == FIRST_EPOCH
        topics: dict[tuple[str, bytes], list[FetchPartition]] = {}
        candidates = self.followed if is_full else self._changed
        for where, followed in list(candidates.items()):
            if followed.resumes_at > now or self._is_held_back(followed):
                continue
            self._changed.pop(where, None)
            if not followed.is_current:
                continue
            followed.sent = position = followed.position()
            key = (where.topic, followed.partition.topic_id)
            topics.setdefault(key, []).append(self._ask_for(where.partition, position))
        if not topics and not self._is_any_sent():
            return None
        settings = self.context.settings()
        forgotten = self._take_forgotten()
        return FetchRequest(
            replica_id=self.context.broker_id,
            replica_state=ReplicaState(self.context.broker_id, self.context.broker_epoch),
            max_wait_ms=settings.replica_fetch_wait_max_ms,
            min_bytes=settings.replica_fetch_min_bytes,
            max_bytes=settings.replica_fetch_response_max_bytes,
            session_id=self._session_id,
            session_epoch=self._session_epoch,
            topics=[FetchTopic(name, topic_id, asked) for (name, topic_id), asked in topics.items()],
            forgotten_topics_data=forgotten,
        )

    def _is_held_back(self, followed: Followed) -> bool:
        throttle = self.context.throttle
        return not followed.has_all and throttle.applies_to(followed.partition) and throttle.is_exceeded()

    def _hold_back(self) -> None:
        """Takes out of the session what is fetched too fast."""
        if self.context.throttle.is_exceeded():
            for followed in self.followed.values():
                if followed.sent is not None and self._is_held_back(followed):
                    self._leave_out(followed)

    def _leave_out(self, followed: Followed) -> None:
        """Of the session, until it is asked for again."""
        if followed.sent is not None:
            followed.sent = None
            self._forgotten.append(followed.partition)
        self._changed[followed.partition.topic_partition] = followed

    def _is_any_sent(self) -> bool:
        return any(followed.sent is not None for followed in self.followed.values())

    def _ask_for(self, index: int, position: tuple[int, int, int, int]) -> FetchPartition:
        offset, start_offset, leader_epoch, last_epoch = position
        return FetchPartition(
            partition=index,
            current_leader_epoch=leader_epoch,
            fetch_offset=offset,
            last_fetched_epoch=last_epoch,
            log_start_offset=start_offset,
            partition_max_bytes=self.context.settings().replica_fetch_max_bytes,
        )

    def _take_forgotten(self) -> list[ForgottenTopic]:
        forgotten, self._forgotten = self._forgotten, []
        topics: dict[tuple[str, bytes], list[int]] = {}
        for partition in forgotten:
            topic, index = partition.topic_partition
            followed = self.followed.get(partition.topic_partition)
            if followed is None or followed.sent is None:
                topics.setdefault((topic, partition.topic_id), []).append(index)
        return [ForgottenTopic(name, topic_id, indexes) for (name, topic_id), indexes in topics.items()]

    # taking

    async def _take(self, answer: FetchResponse) -> None:
        taken = 0
        for topic in answer.responses:
            for data in topic.partitions:
                followed = self._by_id.get((topic.topic_id, data.partition_index))
                if followed is None or not followed.is_as_sent:
                    continue  # its role, or its log, is another one than the fetch was sent for
                try:
                    if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                        await self._find_place(followed)
                    else:
                        self._take_one(followed, data)
                except ApiError as error:
                    self._rest(followed, error)
                taken += _size_of(data)
                if taken >= TURN_BYTES:
                    taken = 0
                    await asyncio.sleep(0)

    def _take_one(self, followed: Followed, data: PartitionData) -> None:
        if data.error_code:
            raise ApiError(ErrorCode(data.error_code))
        partition = followed.partition
        now_ms = self.context.clock.now_ms()
        if data.diverging_epoch is not None:
            diverging = data.diverging_epoch
            before = partition.log.log_end_offset
            end = partition.truncate_to_leader(diverging.epoch, diverging.end_offset, now_ms)
            log.info(
                "%s: cut from %d to %d, since the leader's log goes on differently",
                partition.topic_partition,
                before,
                end,
            )
            _checkpoint(partition)
        else:
            records = data.records
            assert records is None or isinstance(records, (bytes, memoryview))
            begins_anew = partition.append_fetched(
                memoryview(records or b""), data.high_watermark, data.log_start_offset, now_ms
            )
            if begins_anew:
                _checkpoint(partition)
            self.context.throttle.record(partition, _size_of(data))
        followed.has_all = data.high_watermark <= partition.log.log_end_offset
        if followed.sent != followed.position():
            self._changed[partition.topic_partition] = followed

    def _rest(self, followed: Followed, error: ApiError) -> None:
        level = logging.INFO if error.code in EXPECTED else logging.WARNING
        log.log(level, "%s can't be fetched just now: %s", followed.partition.topic_partition, error)
        followed.resumes_at = (
            asyncio.get_running_loop().time() + self.context.settings().replica_fetch_backoff_ms / 1000
        )
        self._leave_out(followed)

    async def _find_place(self, followed: Followed) -> None:
        """The leader has no records, or none any more, where this log ends."""
        start = await self._offset_at_leader(followed, EARLIEST)
        end = await self._offset_at_leader(followed, LATEST)
        if not followed.is_current:
            return
        partition, now_ms = followed.partition, self.context.clock.now_ms()
        own_end = partition.log.log_end_offset
        if end < own_end:
            log.warning(
                "%s: cut from %d to %d, where the leader ends", partition.topic_partition, own_end, end
            )
            partition.truncate_to(end, now_ms)
        elif own_end < start:
            log.info("%s: starts anew at %d, as its leader does", partition.topic_partition, start)
            partition.start_anew_at(start, now_ms)
        _checkpoint(partition)
        self._changed[partition.topic_partition] = followed

    async def _offset_at_leader(self, followed: Followed, timestamp: int) -> int:
        topic, index = followed.partition.topic_partition
        asked = ListOffsetsPartition(index, followed.replica.replica_set.leader_epoch, timestamp)
        assert self._connection is not None
        answer = await self._connection.ask(
            ListOffsetsRequest(self.context.broker_id, topics=[ListOffsetsTopic(topic, [asked])]),
            ListOffsetsResponse,
        )
        found = answer.topics[0].partitions[0]
        if found.error_code:
            raise ApiError(ErrorCode(found.error_code))
        return found.offset


def _checkpoint(partition: Partition) -> None:
    """What is cut off must not be looked for at the next start."""
    task = asyncio.get_running_loop().create_task(partition.directory.checkpoint_recovery_points())
    _checkpoints.add(task)
    task.add_done_callback(_checkpoints.discard)


_checkpoints: set[asyncio.Task[None]] = set()


def _size_of(data: PartitionData) -> int:
    return len(data.records) if isinstance(data.records, bytes | memoryview) else 0


class Replication:
    """The fetchers of a broker."""

    def __init__(self, context: Following) -> None:
        self.context = context
        self._fetchers: dict[tuple[int, int], Fetcher] = {}
        self._fetcher_of: dict[TopicPartition, Fetcher] = {}

    def follow(self, partition: Partition) -> None:
        """The partition has come to follow, or follows another leader or epoch than before."""
        self.forget(partition)
        assert isinstance(partition.replica, FollowerState)
        leader = partition.replica.replica_set.leader
        if leader not in self.context.image.brokers or leader == self.context.broker_id:
            return  # until there is one
        number = self._number_of(partition)
        fetcher = self._fetchers.get((leader, number))
        if fetcher is None:
            fetcher = self._fetchers[leader, number] = Fetcher(self.context, leader, number)
        fetcher.add(partition)
        self._fetcher_of[partition.topic_partition] = fetcher

    def _number_of(self, partition: Partition) -> int:
        return hash(partition.topic_partition) % self.context.settings().num_replica_fetchers

    def on_settings(self) -> None:
        """There may have to be more fetchers for each leader than there are, or fewer."""
        for fetcher in list(self._fetchers.values()):
            for followed in list(fetcher.followed.values()):
                if self._number_of(followed.partition) != fetcher.number:
                    self.follow(followed.partition)

    def forget(self, partition: Partition) -> None:
        fetcher = self._fetcher_of.pop(partition.topic_partition, None)
        if fetcher is not None:
            fetcher.remove(partition)

    def is_followed(self, partition: Partition) -> bool:
        return partition.topic_partition in self._fetcher_of

    def close(self) -> None:
        for fetcher in self._fetchers.values():
            fetcher.close()
        self._fetchers.clear()
        self._fetcher_of.clear()
