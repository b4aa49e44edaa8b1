"""Share groups at this broker: the sessions of their members, and the share partitions that it leads."""

import asyncio
import logging
from collections.abc import Awaitable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.broker.shards import Shard
from penstock.broker.share_partition import SharePartition
from penstock.broker.share_sessions import PartitionKey, SessionKey, ShareSession, ShareSessions
from penstock.broker.share_state_operations import DELETE, INITIALIZE, READ_SUMMARY
from penstock.broker.share_states import ShareStates, answers
from penstock.controller.image import TopicImage
from penstock.errors import ApiError, ErrorCode
from penstock.group.shard import GroupShard
from penstock.group.share_effects import InitializeShareStates
from penstock.group.share_state import UNINITIALIZED, SharePartitionKey
from penstock.settings.group_config import GroupConfig
from penstock.share.acknowledgements import Acknowledgement
from penstock.wire.messages import delete_share_group_state as delete
from penstock.wire.messages import initialize_share_group_state as initialize
from penstock.wire.messages import read_share_group_state_summary as summary

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

log = logging.getLogger("penstock.broker.sharing")


class Sharing:
    def __init__(self, broker: "Broker", states: ShareStates) -> None:
        self.broker = broker
        self.states = states
        self.sessions = ShareSessions()
        self._partitions: dict[SharePartitionKey, SharePartition] = {}

    def check_enabled(self) -> None:
        if not self.broker.features.level("share.version"):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)

    def config(self, group_id: str) -> GroupConfig:
        return self.broker.configs.groups.of(group_id)

    # share partitions

    def share_partition(self, group_id: str, key: PartitionKey) -> SharePartition:
        """The share partition, which may still be reading its state; an ApiError if this is not the place for it."""
        partition = self.broker.partitions.find_by_id(key.topic_id, key.partition)
        partition.check_leader()
        where = SharePartitionKey(group_id, key.topic_id, key.partition)
        found = self._partitions.get(where)
        if found is not None and found.leader_epoch != partition.replica_set.leader_epoch:
            found.fail(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
            found = None
        if found is None:
            found = SharePartition(
                self.broker.clock, self.states, where, partition, lambda: self.config(group_id), self._drop
            )
            self._partitions[where] = found
            found.begin_loading()
        return found

    def _drop(self, share_partition: SharePartition) -> None:
        if self._partitions.get(share_partition.key) is share_partition:
            del self._partitions[share_partition.key]

    def acknowledge(
        self, session: SessionKey, key: PartitionKey, batches: Sequence[Acknowledgement]
    ) -> "asyncio.Future[ApiError | None]":
        found = self._partitions.get(SharePartitionKey(session.group_id, key.topic_id, key.partition))
        if found is None:
            done: asyncio.Future[ApiError | None] = self.broker.loop.create_future()
            done.set_result(ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            return done
        return found.acknowledge(session.member_id, batches)

    # sessions

    def close_session(self, key: SessionKey) -> None:
        """Ends a session; what its member has comes back."""
        self._release(self.sessions.close(key))

    def _release(self, session: ShareSession) -> None:
        group_id, member_id = session.key
        for topic_id, index in session.partitions:
            found = self._partitions.get(SharePartitionKey(group_id, topic_id, index))
            if found is not None:
                found.release(member_id)
        if not self.sessions.has_group(group_id):
            for one in [one for one in self._partitions.values() if one.key.group_id == group_id]:
                one.fail(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    def on_disconnected(self, owner: Hashable) -> None:
        """A connection is gone, and with it the sessions that it carried."""
        for session in self.sessions.of_owner(owner):
            self.close_session(session.key)

    # the states of share partitions

    def begin_effect(self, shard: Shard[GroupShard], effect: Any) -> None:
        assert isinstance(effect, InitializeShareStates)
        self.states.begin(self._initialize(shard, effect))

    async def _initialize(self, shard: Shard[GroupShard], effect: InitializeShareStates) -> None:
        offsets = {
            topic_id: dict.fromkeys(topic.partitions, UNINITIALIZED)
            for topic_id, topic in effect.topics.items()
        }
        found = await self.initialize_states(effect.group_id, effect.group_epoch, offsets)
        errors = [answer for answer in found.values() if isinstance(answer, ApiError)]
        if errors:
            log.error("share partitions of %s can't be initialised: %s", effect.group_id, errors[0])
            shard.run_unasked(
                lambda machine, now_ms: machine.share.on_not_initialized(effect.group_id, effect.topics)
            )
        else:
            shard.run_unasked(
                lambda machine, now_ms: machine.share.on_initialized(effect.group_id, effect.topics)
            )

    async def initialize_states(
        self, group_id: str, state_epoch: int, offsets: Mapping[bytes, Mapping[int, int]]
    ) -> dict[SharePartitionKey, Any]:
        """Has states made that begin at these offsets; an ApiError where that fails."""
        begins = {
            SharePartitionKey(group_id, topic_id, index): offset
            for topic_id, by_partition in offsets.items()
            for index, offset in by_partition.items()
        }
        found = await answers(
            self._ask_to_initialize(key, initialize.PartitionData(key.partition, state_epoch, offset))
            for key, offset in begins.items()
        )
        self._begin_anew(begins)
        return dict(zip(begins, found, strict=True))

    def _begin_anew(self, keys: Iterable[SharePartitionKey]) -> None:
        """Lets share partitions go whose states were changed behind their backs."""
        for key in keys:
            if key in self._partitions:
                self._partitions[key].fail(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    def _ask_to_initialize(self, key: SharePartitionKey, data: initialize.PartitionData) -> Awaitable[Any]:
        return self.states.ask(INITIALIZE, key, data)

    def read_summary(self, key: SharePartitionKey) -> Awaitable[Any]:
        return self.states.ask(READ_SUMMARY, key, summary.PartitionData(key.partition))

    async def delete_states(
        self, group_id: str, partitions: Mapping[bytes, Iterable[int]]
    ) -> dict[SharePartitionKey, Any]:
        """Has states deleted; an ApiError where that fails."""
        keys = [
            SharePartitionKey(group_id, topic_id, index)
            for topic_id, indexes in partitions.items()
            for index in indexes
        ]
        found = await answers(self._ask_to_delete(key) for key in keys)
        self._begin_anew(keys)
        return dict(zip(keys, found, strict=True))

    def _ask_to_delete(self, key: SharePartitionKey) -> Awaitable[Any]:
        return self.states.ask(DELETE, key, delete.PartitionData(key.partition))

    async def delete_states_of_group(self, group_id: str) -> None:
        """Deletes what the share coordinator remembers of a group, if it is a share group that is to be deleted.

        Raises the ApiError that refuses the deletion of the group.
        """
        groups = self.broker.coordinators.groups
        try:
            partitions = await groups.call(
                group_id,
                lambda shard, ticket, now_ms: shard.share.handle_begin_delete_group(group_id, ticket, now_ms),
            )
        except ApiError as error:
            if error.code == ErrorCode.GROUP_ID_NOT_FOUND:
                return  # of another kind, or not there; who deletes it will see
            raise
        found = await self.delete_states(group_id, partitions)
        for answer in found.values():
            if isinstance(answer, ApiError):
                raise answer

    # the cluster's news

    def on_topic_removed(self, topic: TopicImage) -> None:
        for one in [one for one in self._partitions.values() if one.key.topic_id == topic.topic_id]:
            one.fail(ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))

    def close(self) -> None:
        for one in list(self._partitions.values()):
            one.fail(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        self.states.close()
