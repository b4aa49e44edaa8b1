"""One consumer instance: what it is subscribed to or assigned, how far it is, and what is asked of it.

All of it happens in the event loop, over connections of its own: one that keeps it in its group, and those that it
reads by. An instance that nobody uses is a few sockets and a timer, no thread.

Requests to one instance may come at the same time. Reads take turns. The others go on beside a read: what they change
is changed between two awaits, and a read finds out by the `Place` of what it holds (see `progress`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from penstock.client.admin.group_offsets import CommittedOffset, list_group_offsets
from penstock.client.admin.list_offsets import OffsetSpec
from penstock.errors import ErrorCode
from penstock.rest.v2.consumers.errors import illegal_state, instance_not_found
from penstock.rest.v2.consumers.fetching import Fetcher
from penstock.rest.v2.consumers.membership import LOOKUP_TIMEOUT_MS, Membership, Wanted
from penstock.rest.v2.consumers.offsets import OffsetToCommit, commit, offsets_at, starting_offsets
from penstock.rest.v2.consumers.progress import Progress
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import KafkaError

if TYPE_CHECKING:
    from penstock.rest.v2.consumers.instance_config import InstanceConfig

log = logging.getLogger("penstock.rest.consumers")

LAST_COMMIT_SECONDS = 2.0
COMMIT_PAUSE_SECONDS = 0.1
_MOVED_ON = {
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
}
"""Why a commit of a member fails that is about to be one of another generation."""
_EXCLUSIVE = "Subscription to topics, partitions and pattern are mutually exclusive"


class ConsumerInstance:
    """`asking` is a connection to Kafka that instances share, for what is answered at once."""

    def __init__(
        self, group: str, name: str, config: InstanceConfig, asking: Cluster, cluster_config: ClusterConfig
    ) -> None:
        self.group = group
        self.name = name
        self.config = config
        self.progress = Progress()
        self.closed = asyncio.Event()
        self.reading = asyncio.Lock()
        self._asking = asking
        self._cluster_config = cluster_config._replace(client_id=name)
        self._stack = AsyncExitStack()
        self._fetcher: Fetcher | None = None
        self._membership: Membership | None = None
        self._is_assigned_by_hand = False
        self._changing = asyncio.Lock()
        self._placing = asyncio.Lock()
        self._commit_at = 0.0
        self._committing: asyncio.Task[None] | None = None
        self._users = 0
        self._used_at = asyncio.get_running_loop().time()

    # use

    @contextmanager
    def in_use(self) -> Iterator[None]:
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            self._used_at = asyncio.get_running_loop().time()

    def idle_seconds(self) -> float:
        return 0.0 if self._users else asyncio.get_running_loop().time() - self._used_at

    def _require_open(self) -> None:
        if self.closed.is_set():
            raise instance_not_found()

    # what to read

    async def subscribe(self, wanted: Wanted) -> None:
        async with self._changing:
            self._require_open()
            if self._is_assigned_by_hand:
                raise illegal_state(_EXCLUSIVE)
            if self._membership is None:
                self._membership = Membership(self.config.kafka, self._cluster_config, wanted, self)
            elif (self._membership.wanted.pattern is None) != (wanted.pattern is None):
                raise illegal_state(_EXCLUSIVE)
            else:
                self._membership.want(wanted)

    async def unsubscribe(self) -> None:
        async with self._changing:
            self._require_open()
            self.progress.begin_read()
            await self._let_go()

    async def assign(self, partitions: Iterable[TopicPartition]) -> None:
        chosen = list(partitions)
        async with self._changing:
            self._require_open()
            if self._membership is not None:
                raise illegal_state(_EXCLUSIVE)
            if not chosen:
                await self._let_go()
            self._is_assigned_by_hand = bool(chosen)
            self.progress.assign(chosen, goes_on=True)

    @property
    def subscription(self) -> list[str]:
        return [] if self._membership is None else self._membership.topics

    # a member's duties

    @property
    def is_unanswered(self) -> bool:
        return self.progress.is_unanswered

    async def before_rebalance(self) -> None:
        await self._last_commit()

    async def on_assigned(self, partitions: Iterable[TopicPartition], *, goes_on: bool) -> None:
        self.progress.assign(partitions, goes_on=goes_on)
        with suppress(KafkaError):  # a read tries again, and tells
            await self.place()

    # records

    @property
    def is_ready(self) -> bool:
        """Whether there are partitions to read; raises if there will be none."""
        if self._membership is None:
            if not self._is_assigned_by_hand:
                raise illegal_state("Consumer is not subscribed to any topics or assigned any partitions")
            return True
        return self._membership.is_stable and bool(self.progress.assigned)

    async def until_changed(self) -> None:
        """Until it may be ready."""
        assert self._membership is not None
        await self._membership.changed()

    def trouble(self) -> KafkaError | None:
        return None if self._membership is None else self._membership.trouble()

    def begin_read(self) -> None:
        """Whoever asks for more has processed what was returned."""
        self._require_open()
        self.progress.begin_read()
        self._maybe_commit()
        if self._membership is not None:
            self._membership.client_is_back()

    async def place(self) -> None:
        """Finds out where to begin in partitions that are new."""
        async with self._placing:
            wanted = dict(self.progress.unplaced)
            if not wanted:
                return
            found = await starting_offsets(self._asking, self.config.kafka, wanted)
            for partition, offset in found.items():
                if partition in self.progress.unplaced:
                    self.progress.put(partition, offset)

    async def fetch(self, max_wait_ms: int, max_bytes: int) -> None:
        if self._fetcher is None:
            config = self._cluster_config._replace(default_api_timeout_ms=LOOKUP_TIMEOUT_MS)
            cluster = await self._stack.enter_async_context(asyncio_cluster(config))
            self._fetcher = Fetcher(cluster, self.config.kafka)
        await self._fetcher.fetch(self.progress, max_wait_ms, max_bytes)

    # positions

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.require_assigned(offsets)
        for partition, offset in offsets.items():
            self.progress.put(partition, offset)

    def require_assigned(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            if not self.progress.is_assigned(partition):
                raise illegal_state(f"No current assignment for partition {partition}")

    async def seek_to(self, wanted: Mapping[TopicPartition, int]) -> None:
        """To an `OffsetSpec` or a time in each partition."""
        self.require_assigned(wanted)
        self.seek(await offsets_at(self._asking, self.config.kafka, wanted))

    async def seek_to_beginning(self, partitions: Iterable[TopicPartition]) -> None:
        await self.seek_to(dict.fromkeys(partitions, int(OffsetSpec.EARLIEST)))

    async def seek_to_end(self, partitions: Iterable[TopicPartition]) -> None:
        await self.seek_to(dict.fromkeys(partitions, int(OffsetSpec.LATEST)))

    # commits

    async def commit(self, offsets: Mapping[TopicPartition, OffsetToCommit] | None = None) -> None:
        """These, or all that was returned; as a member that has its place in the group."""
        while True:
            while self._membership is not None and not self._membership.is_stable:
                await self._membership.changed()
            chosen = self._returned() if offsets is None else offsets
            if not chosen:
                return
            try:
                await self._commit(chosen)
            except KafkaError as error:
                if self._membership is None or error.code not in _MOVED_ON:
                    raise
                self._membership.look_again()
                await asyncio.sleep(COMMIT_PAUSE_SECONDS)
            else:
                self.progress.note_answered({key: each.offset for key, each in chosen.items()})
                return

    def _returned(self) -> dict[TopicPartition, OffsetToCommit]:
        return {key: OffsetToCommit(offset) for key, offset in self.progress.returned().items()}

    async def _commit(self, offsets: Mapping[TopicPartition, OffsetToCommit]) -> None:
        member = self._membership
        place = ("", -1) if member is None else (member.member_id, member.generation)
        await commit(self._asking, self.group, offsets, *place)

    async def committed(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, CommittedOffset | None]:
        return await list_group_offsets(self._asking, self.group, partitions)

    def _maybe_commit(self) -> None:
        now = asyncio.get_running_loop().time()
        is_busy = self._committing is not None and not self._committing.done()
        if not self.config.kafka.enable_auto_commit or is_busy or now < self._commit_at:
            return
        self._commit_at = now + self.config.kafka.auto_commit_interval_ms / 1000
        self._committing = asyncio.create_task(self._commit_processed())

    async def _commit_processed(self) -> None:
        offsets = self.progress.uncommitted()
        if not offsets:
            return
        try:
            await self._commit({key: OffsetToCommit(offset) for key, offset in offsets.items()})
            self.progress.note_committed(offsets)
        except KafkaError as error:
            log.warning("group %s, instance %s: %s; it is tried again", self.group, self.name, error.message)

    async def _last_commit(self) -> None:
        """What was processed, while it may still be committed."""
        if not self.config.kafka.enable_auto_commit:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_COMMIT_SECONDS):
                if self._committing is not None:
                    await asyncio.wait([self._committing])
                await self._commit_processed()

    # the end

    async def close(self, *, all_processed: bool) -> None:
        """`all_processed`: the client itself says that it is done."""
        if self.closed.is_set():
            return
        self.closed.set()
        async with self._changing:
            if all_processed:
                self.progress.begin_read()
            await self._let_go()
            if self._committing is not None:
                self._committing.cancel()
            async with self.reading:
                await self._stack.aclose()

    async def _let_go(self) -> None:
        """Of all partitions, and of the group."""
        if self.progress.places:
            await self._last_commit()
        membership, self._membership = self._membership, None
        if membership is not None:
            await membership.leave()
        self._is_assigned_by_hand = False
        self.progress.assign([], goes_on=False)
