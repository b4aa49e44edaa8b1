"""The words of scripts about consumer groups (KIP-848), besides those about classic groups.

Consumers go by a name, which is their member id and client id. The script remembers the epoch and the assignment that
each was last told. A consumer acts upon a new assignment at once, so that its next heartbeat says what it owns then;
with `busy` it is still at work with what it had, and says nothing about it. The group is `g`.

    beat alice [topics=t,u regex=... assignor= instance= rack= rebalance= epoch= owned=t:0,t:1 version= busy]
    lose alice [...]            the same, but the answer is lost, and the next heartbeat says everything
    quit alice [instance= away] leaves; `away` is the leave of a static member that will be back
    described                   what ConsumerGroupDescribe shows
    meet alice topics=t [owned=t:0,t:1 protocols=range version= instance=]     joins with the classic protocol
    follow alice                syncs with the classic protocol
    accept                      after `refuse`: writes succeed again
    lead alice bob:t:0 ...      syncs as the leader of a classic group, with assignments
"""

from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.group.consumer_protocol import AssignedPartitions, NamedPartitions, Subscription, encode
from penstock.machine import Caller
from penstock.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.scripts.words import classic
from tests.scripts.words.classic import HOST
from tests.scripts.world import Asked

GROUP = "g"
Places = list[tuple[str, int]]


class Words(classic.Words):
    def __init__(self) -> None:
        super().__init__()
        self.epochs: dict[str, int] = {}
        self.owned: dict[str, list[TopicPartitions]] = {}
        self.has_news: set[str] = set()
        self.says_all: set[str] = set()
        self.last_full: dict[str, dict[str, Any]] = {}
        self.is_losing = False
        self.do_set(**{"group.consumer.assignment.interval.ms": "0"})

    def do_accept(self) -> None:
        """Writes succeed again."""
        self.world.refuse_writes = None

    # the consumer protocol

    def do_beat(self, name: str, *flags: str, **options: str) -> None:
        version = int(options.pop("version", "1"))
        request = self._request(name, options)
        if "busy" not in flags and request.topic_partitions is None and name in self.has_news:
            request.topic_partitions = self.owned[name]
        self._send(name, request, version)

    def do_lose(self, name: str, *flags: str, **options: str) -> None:
        self.is_losing = True
        self.do_beat(name, *flags, **options)
        self.is_losing = False
        self.says_all.add(name)

    def _request(self, name: str, options: dict[str, str]) -> ConsumerGroupHeartbeatRequest:
        epoch = int(options.pop("epoch", str(self.epochs.get(name, 0))))
        fields = _fields(options)
        if "owned" in options:
            fields["topic_partitions"] = self._identified(_places(options["owned"]))
        if epoch == 0 or name in self.says_all:
            fields = {"rebalance_timeout_ms": 30_000} | self.last_full.get(name, {}) | fields
            fields.setdefault("topic_partitions", self.owned.get(name, []) if epoch else [])
        self.last_full[name] = {
            key: value
            for key, value in (self.last_full.get(name, {}) | fields).items()
            if key not in ("topic_partitions", "server_assignor")
        }
        fields.setdefault("topic_partitions", None)
        if "instance_id" in self.last_full[name]:
            fields["instance_id"] = self.last_full[name]["instance_id"]
        return ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id=name, member_epoch=epoch, **fields)

    def _send(self, name: str, request: ConsumerGroupHeartbeatRequest, version: int = 1) -> None:
        caller = Caller(version, name, HOST)
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.consumer.handle_heartbeat(request, caller, ticket, now_ms),
        )

    def do_quit(self, name: str, *flags: str, instance: str | None = None) -> None:
        instance_id = instance or self.last_full.get(name, {}).get("instance_id")
        epoch = -2 if "away" in flags else -1
        self._send(name, ConsumerGroupHeartbeatRequest(GROUP, name, epoch, instance_id=instance_id))

    def do_described(self) -> None:
        self.say(self.show_fields(self.world.machine.consumer.describe(GROUP)))

    def _identified(self, places: Places) -> list[TopicPartitions]:
        topics: dict[str, list[int]] = {}
        for topic, partition in places:
            topics.setdefault(topic, []).append(partition)
        image = self.world.image
        return [TopicPartitions(image.topics[topic].topic_id, found) for topic, found in topics.items()]

    def on_answer(self, asked: Asked) -> None:
        super().on_answer(asked)
        name, answer = asked.label, asked.answer
        if isinstance(answer, ApiError):
            if answer.message:
                self.say(f"  {answer.message}")
            if answer.code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
                self.epochs.pop(name, None)
        elif isinstance(answer, ConsumerGroupHeartbeatResponse) and not self.is_losing:
            self._remember(name, answer)

    def _remember(self, name: str, answer: ConsumerGroupHeartbeatResponse) -> None:
        self.epochs[name] = max(answer.member_epoch, 0)
        self.says_all.discard(name)
        self.has_news.discard(name)
        if answer.assignment is not None:
            told = [
                TopicPartitions(topic.topic_id, topic.partitions)
                for topic in answer.assignment.topic_partitions
            ]
            if told != self.owned.get(name, []):
                self.has_news.add(name)
            self.owned[name] = told

    # the classic protocol, with the metadata of real consumers

    def do_meet(
        self,
        name: str,
        topics: str = "t",
        owned: str = "",
        protocols: str = "range",
        version: str = "9",
        instance: str | None = None,
        session: str = "10000",
        rebalance: str = "60000",
    ) -> None:
        subscription = Subscription(topics.split(","), owned_partitions=_named(_places(owned)))
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=int(session),
            rebalance_timeout_ms=int(rebalance),
            member_id=self._member_id(name),
            group_instance_id=instance,
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(one, encode(subscription, 1)) for one in protocols.split(",")
            ],
        )
        caller = Caller(int(version), name, HOST)
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.serving_classic_protocol(GROUP).handle_classic_join(
                request, caller, ticket, now_ms
            ),
        )

    def do_follow(self, name: str, instance: str | None = None) -> None:
        self._sync(name, {}, instance)

    def do_lead(self, name: str, *assignments: str, instance: str | None = None) -> None:
        parted: dict[str, Places] = {}
        for one in assignments:
            other, _, place = one.partition(":")
            parted.setdefault(other, []).extend(_places(place))
        found = {
            self._member_id(other): encode(AssignedPartitions(_named(places)), 1)
            for other, places in parted.items()
        }
        self._sync(name, found, instance)

    def _sync(self, name: str, assignments: dict[str, bytes], instance: str | None) -> None:
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self._generation(name, None),
            member_id=self._member_id(name),
            group_instance_id=instance,
            assignments=[SyncGroupRequestAssignment(member, value) for member, value in assignments.items()],
        )
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.serving_classic_protocol(GROUP).handle_classic_sync(
                request, Caller(4, name, HOST), ticket, now_ms
            ),
        )


FIELDS = {
    "regex": "subscribed_topic_regex",
    "assignor": "server_assignor",
    "instance": "instance_id",
    "rack": "rack_id",
}


def _fields(options: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {FIELDS[key]: value for key, value in options.items() if key in FIELDS}
    if "topics" in options:
        fields["subscribed_topic_names"] = [topic for topic in options["topics"].split(",") if topic]
    if "rebalance" in options:
        fields["rebalance_timeout_ms"] = int(options["rebalance"])
    return fields


def _places(text: str) -> Places:
    """`t:0,t:1` as places."""
    return [
        (topic, int(partition))
        for topic, _, partition in (one.partition(":") for one in text.split(",") if one)
    ]


def _named(places: Places) -> list[NamedPartitions]:
    topics: dict[str, list[int]] = {}
    for topic, partition in places:
        topics.setdefault(topic, []).append(partition)
    return [NamedPartitions(topic, partitions) for topic, partitions in topics.items()]
