"""Consumers as a consumer group sees them: they heartbeat, believe what they are told, and can lose an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.group.consumer_group import ConsumerGroup
from penstock.group.shard import GroupShard
from penstock.machine import Caller
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from tests.scripts.world import World

GROUP = "g"
Place = tuple[bytes, int]
Send = Callable[[ConsumerGroupHeartbeatRequest], Any]
"""Returns the response, or the ApiError that refused the request."""


def group_world(configs: Mapping[str, str] | None = None) -> World[GroupShard]:
    settings = BrokerSettings.from_configs({"group.consumer.assignment.interval.ms": "0", **(configs or {})})
    return World(lambda world: GroupShard(world.image, lambda: settings, world.new_id))


def consumer_group(machine: GroupShard, group_id: str = GROUP) -> ConsumerGroup | None:
    group = machine.context.groups.get(group_id)
    return group if isinstance(group, ConsumerGroup) else None


def durable_state(group: ConsumerGroup | None) -> Any:
    """All that the log must be able to tell, and what is derived from it."""
    if group is None:
        return None
    return {
        name: value for name, value in vars(group).items() if name not in ("checked_epoch", "subscriptions")
    } | {"subscriptions": vars(group.subscriptions)}


class Consumer:
    """A client of the consumer protocol, one step at a time."""

    def __init__(
        self,
        send: Send,
        member_id: str,
        topics: Iterable[str],
        instance_id: str | None = None,
        regex: str | None = None,
        group_id: str = GROUP,
    ) -> None:
        self.send = send
        self.group_id = group_id
        self.member_id = member_id
        self.instance_id = instance_id
        self.topics = list(topics)
        self.regex = regex
        self.epoch = 0
        self.owned: set[Place] = set()
        """What it consumes."""
        self.told: set[Place] | None = None
        """An assignment that it has yet to act upon."""
        self.says_all = True
        """With the next heartbeat, not only what is new."""
        self.says_owned = False
        self.is_settled = False
        self.error: ErrorCode | None = None

    def subscribe(self, topics: Iterable[str]) -> None:
        self.topics = list(topics)
        self.says_all = True

    def request(self) -> ConsumerGroupHeartbeatRequest:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance_id,
            topic_partitions=None,
        )
        if self.says_all or self.epoch == 0:
            request.rebalance_timeout_ms = 30_000
            request.subscribed_topic_names = self.topics
            request.subscribed_topic_regex = self.regex
        if self.says_all or self.epoch == 0 or self.says_owned:
            request.topic_partitions = listed(self.owned)
        return request

    def heartbeat(self, *, is_lost: bool = False) -> None:
        """Sends a heartbeat; a lost answer changes nothing here, but the next heartbeat says all."""
        before = (self.epoch, frozenset(self.owned))
        answer = self.send(self.request())
        if is_lost:
            self.says_all = True
            return
        self.error = answer.code if isinstance(answer, ApiError) else None
        if isinstance(answer, ApiError):
            self.on_refused(answer.code)
            return
        self.epoch = answer.member_epoch
        self.says_all = self.says_owned = False
        if answer.assignment is not None:
            self.told = {
                (topic.topic_id, partition)
                for topic in answer.assignment.topic_partitions
                for partition in topic.partitions
            }
        self.is_settled = not self.has_news and before == (self.epoch, frozenset(self.owned))

    @property
    def has_news(self) -> bool:
        return self.told is not None and self.told != self.owned

    def on_refused(self, code: ErrorCode) -> None:
        """Fenced, it lets go of everything and joins again."""
        self.is_settled = False
        if code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self.epoch, self.told = 0, None
            self.owned.clear()
            self.says_all = True

    def act(self) -> None:
        """Gives up what it shall not own, begins with what it may own now, and says so with the next heartbeat."""
        if self.told is not None:
            self.says_owned |= self.told != self.owned
            self.owned, self.told = set(self.told), None

    def beat(self) -> None:
        self.heartbeat()
        self.act()

    def leave(self, epoch: int = -1) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            member_epoch=epoch,
            instance_id=self.instance_id,
        )
        answer = self.send(request)
        self.error = answer.code if isinstance(answer, ApiError) else None
        self.owned.clear()


def listed(owned: Iterable[Place]) -> list[TopicPartitions]:
    topics: dict[bytes, list[int]] = {}
    for topic_id, partition in sorted(owned):
        topics.setdefault(topic_id, []).append(partition)
    return [TopicPartitions(topic_id, partitions) for topic_id, partitions in topics.items()]


def sender(world: World[GroupShard], version: int = 1) -> Send:
    """Puts requests to the machine."""
    caller = Caller(version, "client", "/127.0.0.1")
    return lambda request: (
        world.ask(
            request.member_id,
            lambda machine, ticket, now_ms: machine.consumer.handle_heartbeat(
                request, caller, ticket, now_ms
            ),
        ).answer
    )


def settle(consumers: Sequence[Consumer], rounds: int = 50) -> int:
    """Heartbeats until nobody learns anything new; the number of rounds that it took."""
    for number in range(rounds):
        for consumer in consumers:
            consumer.beat()
        if all(consumer.is_settled for consumer in consumers):
            return number
    raise AssertionError(f"not settled after {rounds} rounds: {[vars(one) for one in consumers]}")
