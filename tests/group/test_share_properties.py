"""Share groups under random members, topics, failures and restarts.

The log tells all: what is replayed is the live state. When the dust has settled, every partition of every topic that
somebody wants is read by somebody who wants it, and everybody has the epoch of the group.
"""

import contextlib
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from penstock.errors import ApiError, ErrorCode
from penstock.group.shard import GroupShard
from penstock.group.share_effects import InitializeShareStates
from penstock.group.share_group import ShareGroup
from penstock.machine import Caller
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.scripts.world import Observer, World
from tests.support.examples import examples

MEMBERS = st.sampled_from(["alice", "bob", "carol", "dave"])
TOPICS = ("a", "b", "c")
SETTINGS = BrokerSettings()
CALLER = Caller(1, "client", "/10.0.0.1")


class Groups(RuleBasedStateMachine, Observer):
    def __init__(self) -> None:
        super().__init__()
        self.asked_for: list[InitializeShareStates] = []
        self.world: World[GroupShard] = World(
            lambda world: GroupShard(world.image, lambda: SETTINGS, world.new_id), self
        )
        self.epochs: dict[str, int] = {}
        self.world.put_topic("a", 2)

    def on_effect(self, effect: Any) -> None:
        if isinstance(effect, InitializeShareStates):
            self.asked_for.append(effect)

    def group(self) -> ShareGroup | None:
        found = self.world.machine.context.groups.get("g")
        assert found is None or isinstance(found, ShareGroup)
        return found

    # members

    @rule(member=MEMBERS, topics=st.sets(st.sampled_from(TOPICS), min_size=1))
    def join(self, member: str, topics: set[str]) -> None:
        self.ask(member, 0, sorted(topics))

    @rule(member=MEMBERS)
    def beat(self, member: str) -> None:
        if member in self.epochs:
            self.ask(member, self.epochs[member])

    @rule(member=MEMBERS, topics=st.sets(st.sampled_from(TOPICS), min_size=1))
    def want_other_topics(self, member: str, topics: set[str]) -> None:
        if member in self.epochs:
            self.ask(member, self.epochs[member], sorted(topics))

    @rule(member=MEMBERS)
    def leave(self, member: str) -> None:
        self.ask(member, -1)
        self.epochs.pop(member, None)

    def ask(self, member: str, epoch: int, topics: list[str] | None = None) -> None:
        request = ShareGroupHeartbeatRequest("g", member, epoch, None, topics)
        answer = self.world.ask(
            member, lambda shard, ticket, now: shard.share.handle_heartbeat(request, CALLER, ticket, now)
        ).answer
        if isinstance(answer, ApiError):
            assert answer.code in (
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.GROUP_ID_NOT_FOUND,
                ErrorCode.COORDINATOR_NOT_AVAILABLE,
            )
            if answer.code != ErrorCode.COORDINATOR_NOT_AVAILABLE:
                self.epochs.pop(member, None)
        else:
            self.epochs[member] = answer.member_epoch

    # the share coordinator

    @precondition(lambda self: self.asked_for)
    @rule(fails=st.booleans())
    def make_states(self, fails: bool) -> None:
        effect = self.asked_for.pop(0)
        share = self.world.machine.share
        tell = share.on_not_initialized if fails else share.on_initialized
        self.world.carry_out(tell(effect.group_id, effect.topics))

    # the world

    @rule(name=st.sampled_from(TOPICS), partitions=st.integers(1, 4))
    def put_topic(self, name: str, partitions: int) -> None:
        known = self.world.image.topics.get(name)
        self.world.put_topic(name, max(partitions, len(known.partitions) if known else 0))

    @rule(name=st.sampled_from(TOPICS))
    def remove_topic(self, name: str) -> None:
        if name in self.world.image.topics:
            self.world.remove_topic(name)

    @rule(duration_ms=st.sampled_from([500, 2000, 50_000]))
    def let_time_pass(self, duration_ms: int) -> None:
        self.world.advance(duration_ms)

    @rule()
    def restart(self) -> None:
        self.asked_for.clear()
        self.world.reload()

    @rule(member=MEMBERS)
    def fail_to_write(self, member: str) -> None:
        self.world.refuse_writes = ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        with contextlib.suppress(ApiError):
            self.beat(member)
        self.world.refuse_writes = None

    # what always holds

    @invariant()
    def the_log_tells_all(self) -> None:
        assert facts(self.world.replayed()) == facts(self.world.machine)

    @invariant()
    def nobody_reads_what_it_does_not_want(self) -> None:
        group = self.group()
        names = self.world.image.topic_names
        for member in group.members.values() if group else ():
            for topic_id in member.assigned:
                assert topic_id not in names or names[topic_id] in member.subscribed_topic_names

    def teardown(self) -> None:
        group = self.group()
        for _ in range(6):
            while self.asked_for:
                self.make_states(False)
            self.world.advance(SETTINGS.group_share_assignment_interval_ms)
            for member in list(group.members) if group else ():
                found = group.members.get(member) if group else None
                if found is not None:
                    self.ask(member, found.member_epoch)
            self.world.advance(SETTINGS.group_share_initialize_retry_interval_ms)
        if group is None:
            return
        assert {member.member_epoch for member in group.members.values()} <= {group.group_epoch}
        for name in group.subscribed:
            topic = self.world.image.topics.get(name)
            for index in topic.partitions if topic else ():
                assert topic is not None
                assert any(
                    index in member.assigned.get(topic.topic_id, ()) for member in group.members.values()
                )


def facts(shard: GroupShard) -> dict[str, Any]:
    return {
        group.group_id: (
            group.group_epoch,
            group.metadata_hash,
            group.assignment_epoch,
            group.assignment_timestamp_ms,
            group.members,
            group.target,
            group.partitions,
            +group.subscribed,
        )
        for group in shard.share.share_groups()
    }


TestGroups = Groups.TestCase
TestGroups.settings = settings(max_examples=examples(60), stateful_step_count=30)
