"""A member of a consumer group, in the event loop: it joins, is given partitions, and is heard of until it leaves.

It does all that by itself, whether or not anybody reads: an instance that nobody uses for a while holds nobody else up.
Only a rebalance that comes while a client has records in its hands waits a moment: mostly the client comes back soon,
by which its records are known to be processed, or commits them, and then nobody gets them twice.

Members agree on `range`, which consumers of Java and librdkafka offer by default too, so that all may share a group.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from penstock.client.config import ConsumerConfig
from penstock.client.group_member import GroupMember, GroupTerms, cluster_config_of, is_thrown_out, pause
from penstock.errors import ErrorCode, PenstockError
from penstock.rest.v2.consumers.group_protocol import (
    ASSIGNOR,
    PROTOCOL_TYPE,
    assign,
    assigned_partitions,
    subscribed_topics,
    subscription_bytes,
)
from penstock.types import TopicPartition
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import (
    BrokerUnreachableError,
    KafkaError,
    KafkaTimeoutError,
    error_for,
    is_retriable,
)

log = logging.getLogger("penstock.rest.consumers")

RETRY_SECONDS = 0.2
HOLD_SECONDS = 5.0
"""How long a rebalance waits for a client that has records in its hands."""
MISSING_TOPIC_SECONDS = 1.0
"""How often a topic is looked for that is not there yet."""
LOOKUP_TIMEOUT_MS = 500
"""How long Kafka is tried to be reached before that counts as a failure, after which it is tried again."""
NEVER = -2


class Wanted(NamedTuple):
    """Topics by name, or by a pattern that matches the whole of their names."""

    topics: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None


class Owner(Protocol):
    """Whose member it is."""

    @property
    def is_unanswered(self) -> bool:
        """Whether a client has records in its hands."""

    async def before_rebalance(self) -> None: ...

    async def on_assigned(self, partitions: Iterable[TopicPartition], *, goes_on: bool) -> None: ...


class Membership:
    def __init__(
        self, config: ConsumerConfig, cluster_config: ClusterConfig, wanted: Wanted, owner: Owner
    ) -> None:
        self._config = config
        self._group = str(config.group_id)
        terms = GroupTerms(self._group, PROTOCOL_TYPE, config.session_timeout_ms, config.max_poll_interval_ms)
        self._member = GroupMember(terms)
        self._cluster_config = cluster_config_of(terms, cluster_config, cluster_config.client_id)._replace(
            default_api_timeout_ms=LOOKUP_TIMEOUT_MS
        )
        self.wanted = wanted
        self._owner = owner
        self._assigned_in = NEVER
        self._own: dict[str, int] = {}
        self._others: dict[str, int] = {}
        self.is_stable = False
        self._is_reached = False
        self._trouble: KafkaError | None = None
        self._changed = asyncio.Event()
        self._nudged = asyncio.Event()
        self._is_to_rejoin = self._holds = self._leads = False
        self._task = asyncio.create_task(self._run())

    # for the owner

    @property
    def member_id(self) -> str:
        return self._member.member_id

    @property
    def generation(self) -> int:
        return self._member.generation

    @property
    def topics(self) -> list[str]:
        """Those that are subscribed; of a pattern, those that it has matched."""
        return sorted(self._own) if self.wanted.pattern else list(self.wanted.topics)

    def trouble(self) -> KafkaError | None:
        """Why this member has no partitions, if something is wrong."""
        if self._trouble is None and not self._is_reached:
            return BrokerUnreachableError("Kafka has not answered yet")
        return self._trouble

    def want(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self._own = {}
        self.rejoin()

    def rejoin(self) -> None:
        self._is_to_rejoin = True
        self._nudged.set()

    def client_is_back(self) -> None:
        if self._holds:
            self._nudged.set()

    def look_again(self) -> None:
        """The coordinator has said something that a heartbeat will tell more of."""
        self._nudged.set()

    async def changed(self) -> None:
        """Returns when it is stable, or no longer so, or in trouble."""
        await self._changed.wait()

    async def leave(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        self._become(stable=False)

    # the member's life

    async def _run(self) -> None:
        async with asyncio_cluster(self._cluster_config) as cluster:
            try:
                while True:
                    await self._take_part(cluster)
            finally:
                await self._member.leave(cluster)

    async def _take_part(self, cluster: Cluster) -> None:
        """One generation, from its beginning to the next rebalance."""
        try:
            partitions = await self._join_generation(cluster)
            goes_on = self.generation == self._assigned_in + 1
            self._assigned_in = self.generation
            await self._owner.on_assigned(partitions, goes_on=goes_on)
            self._become(stable=True)
            await self._stay(cluster)
            await self._owner.before_rebalance()
            self._become(stable=False)
        except PenstockError as error:
            self._on_failure(error)
            await asyncio.sleep(RETRY_SECONDS)

    def _on_failure(self, error: PenstockError) -> None:
        if is_thrown_out(error):
            self._member.start_anew(error)
            self._assigned_in = NEVER
        elif getattr(error, "code", None) != ErrorCode.REBALANCE_IN_PROGRESS:
            log.warning("group %s: %s", self._group, error)
            self._trouble = error if isinstance(error, KafkaError) else KafkaError(str(error))
        self._become(stable=False)

    def _become(self, *, stable: bool) -> None:
        self.is_stable = stable
        if stable:
            self._trouble = None
        self._changed.set()
        self._changed = asyncio.Event()

    # joining

    async def _join_generation(self, cluster: Cluster) -> list[TopicPartition]:
        self._is_reached = False
        self._is_to_rejoin = False
        self._own = await self._look_up(cluster, self.wanted.topics, self.wanted.pattern)
        self._is_reached = True
        joined = await self._member.join(cluster, ASSIGNOR, subscription_bytes(self.topics))
        self._leads = joined.leader == joined.member_id
        self._others = {}
        assignments = await self._assign(cluster, joined) if self._leads and joined.members else {}
        return assigned_partitions(await self._member.sync(cluster, joined.protocol_name, assignments))

    async def _assign(self, cluster: Cluster, joined: JoinGroupResponse) -> dict[str, bytes]:
        members = {
            each.member_id: (each.group_instance_id, subscribed_topics(bytes(each.metadata)))
            for each in joined.members
        }
        others = {topic for _, topics in members.values() for topic in topics} - self._own.keys()
        self._others = await self._look_up(cluster, tuple(sorted(others)), None) if others else {}
        counts = self._own | self._others
        return assign(members, counts)

    # staying

    async def _stay(self, cluster: Cluster) -> None:
        """Returns when there is to be another rebalance."""
        loop = asyncio.get_running_loop()
        look_at, hold_until = self._next_look(), 0.0
        while True:
            await self._pause(self._until_next_beat(look_at))
            if self._is_to_rejoin:
                return
            self._holds = await self._is_rebalance_due(cluster)
            if self._holds:
                hold_until = hold_until or loop.time() + HOLD_SECONDS
                if not self._owner.is_unanswered or loop.time() >= hold_until:
                    self._holds = False
                    return
            elif loop.time() >= look_at:
                if await self._are_topics_others(cluster):
                    return
                look_at = self._next_look()

    def _until_next_beat(self, look_at: float) -> float:
        interval = self._config.heartbeat_interval_ms / 1000
        if self._holds:
            return interval  # topics are looked at when the rebalance is over
        return min(interval, max(0, look_at - asyncio.get_running_loop().time()))

    async def _pause(self, seconds: float) -> None:
        await pause(seconds, self._nudged)
        self._nudged.clear()

    async def _is_rebalance_due(self, cluster: Cluster) -> bool:
        try:
            is_stable = await self._member.heartbeat(cluster)
        except KafkaTimeoutError as error:
            self._trouble = error
            return False
        self._trouble = None
        return not is_stable

    # topics

    def _next_look(self) -> float:
        age_ms = self._config.metadata_max_age_ms
        is_missing = not self._own or 0 in self._own.values() or 0 in self._others.values()
        seconds = min(MISSING_TOPIC_SECONDS, age_ms / 1000) if is_missing else age_ms / 1000
        return asyncio.get_running_loop().time() + seconds

    async def _are_topics_others(self, cluster: Cluster) -> bool:
        """Whether a pattern matches others now, or the one who assigns partitions sees more of them."""
        own = await self._look_up(cluster, tuple(self._own), self.wanted.pattern)
        if own.keys() != self._own.keys():
            return True
        others = tuple(self._others) if self._leads else ()
        seen = await self._look_up(cluster, others, None) if others else self._others
        return self._leads and (own, seen) != (self._own, self._others)

    async def _look_up(
        self, cluster: Cluster, topics: tuple[str, ...], pattern: re.Pattern[str] | None
    ) -> dict[str, int]:
        """How many partitions each topic has; 0 if it is not there."""
        creates = bool(self._config["allow.auto.create.topics"])
        answer = await cluster.metadata(None if pattern else topics, create_topics=creates and not pattern)
        counts: dict[str, int] = {}
        for topic in answer.topics:
            name = topic.name or ""
            if pattern is not None and not self._matches(pattern, name, topic.is_internal):
                continue
            if topic.error_code and not is_retriable(topic.error_code):
                raise error_for(topic.error_code, f"topic {name}: {error_for(topic.error_code).message}")
            counts[name] = len(topic.partitions)
        return counts

    def _matches(self, pattern: re.Pattern[str], name: str, is_internal: bool) -> bool:
        is_hidden = is_internal and bool(self._config["exclude.internal.topics"])
        return not is_hidden and pattern.fullmatch(name) is not None
