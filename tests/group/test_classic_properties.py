"""Classic groups under members that join, heartbeat, leave, vanish and come back in any order, and restarts.

The members here do what clients do: they rejoin when they are told to, the leader assigns, who is unknown starts anew.
What each believes to own comes from the answers that it got.
"""

from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_group import ClassicGroup, State
from penstock.group.shard import GroupShard
from penstock.machine import Caller
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.scripts.world import Asked, World
from tests.support.examples import examples

GROUP = "g"
PARTITIONS = range(6)
SESSION_TIMEOUT_MS = 10_000
REBALANCE_TIMEOUT_MS = 20_000
MEMBERS = st.integers(0, 4)
SETTINGS = BrokerSettings()


class SimulatedMember:
    """A client, as far as the group is concerned."""

    def __init__(self, world: World[GroupShard], name: str, instance_id: str | None) -> None:
        self.world = world
        self.name = name
        self.instance_id = instance_id
        self.forget()

    def forget(self) -> None:
        self.member_id = ""
        self.lose_place()

    def lose_place(self) -> None:
        """Whatever the member owned it must not count on any more; it has to join again."""
        self.generation = -1
        self.owned: frozenset[int] = frozenset()
        self.asked: Asked | None = None
        self.after_answer: Any = None

    @property
    def is_in(self) -> bool:
        return self.generation >= 0 and self.asked is None

    @property
    def is_idle(self) -> bool:
        return self.generation < 0 and self.asked is None

    def take_answer(self) -> None:
        """Goes on with what was answered since the last look."""
        if self.asked is not None and self.asked.answer is not None:
            answer, self.asked = self.asked.answer, None
            self.after_answer(answer)

    def join(self) -> None:
        protocols = [JoinGroupRequestProtocol("range", self.name.encode())]
        request = JoinGroupRequest(
            GROUP,
            SESSION_TIMEOUT_MS,
            REBALANCE_TIMEOUT_MS,
            self.member_id,
            self.instance_id,
            "consumer",
            protocols,
        )
        self.after_answer = self._on_joined
        self.asked = self.world.ask(
            self.name,
            lambda shard, ticket, now_ms: shard.classic.handle_classic_join(
                request, Caller(9, self.name, "/10.0.0.1"), ticket, now_ms
            ),
        )
        self.take_answer()

    def _on_joined(self, answer: Any) -> None:
        code = error_of(answer)
        if code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            self.join()
        elif code:
            self._on_error(code)
        else:
            self.member_id = answer.member_id
            self._sync(answer)

    def _sync(self, joined: Any) -> None:
        request = SyncGroupRequest(
            GROUP, joined.generation_id, self.member_id, self.instance_id, "consumer", joined.protocol_name
        )
        if joined.leader == self.member_id and not joined.skip_assignment:
            request.assignments = assign([member.member_id for member in joined.members])
        self.after_answer = lambda answer: self._on_synced(answer, joined.generation_id)
        self.asked = self.world.ask(
            self.name,
            lambda shard, ticket, now_ms: shard.classic.handle_classic_sync(
                request, Caller(5), ticket, now_ms
            ),
        )
        self.take_answer()

    def _on_synced(self, answer: Any, generation: int) -> None:
        code = error_of(answer)
        if code:
            self._on_error(code)
        else:
            self.generation, self.owned = generation, frozenset(answer.assignment)

    def heartbeat(self) -> None:
        request = HeartbeatRequest(GROUP, self.generation, self.member_id, self.instance_id)
        asked = self.world.ask(
            self.name,
            lambda shard, ticket, now_ms: shard.classic.handle_classic_heartbeat(
                request, Caller(4), ticket, now_ms
            ),
        )
        assert asked.answer is not None, "a heartbeat is answered at once"
        if code := error_of(asked.answer):
            self._on_error(code)

    def _on_error(self, code: ErrorCode) -> None:
        assert code in (
            ErrorCode.REBALANCE_IN_PROGRESS,
            ErrorCode.UNKNOWN_MEMBER_ID,
            ErrorCode.ILLEGAL_GENERATION,
            ErrorCode.FENCED_INSTANCE_ID,
        ), code
        if code == ErrorCode.REBALANCE_IN_PROGRESS:
            self.lose_place()
        else:
            self.forget()

    def leave(self) -> None:
        request = LeaveGroupRequest(GROUP, members=[MemberIdentity(self.member_id, self.instance_id)])
        self.world.ask(
            self.name,
            lambda shard, ticket, now_ms: shard.classic.handle_classic_leave(
                request, Caller(5), ticket, now_ms
            ),
        )
        self.forget()


def error_of(answer: Any) -> ErrorCode:
    return ErrorCode(answer.code if isinstance(answer, ApiError) else answer.error_code)


def assign(member_ids: list[str]) -> list[SyncGroupRequestAssignment]:
    shares = {
        member_id: bytes(PARTITIONS[index :: len(member_ids)]) for index, member_id in enumerate(member_ids)
    }
    return [SyncGroupRequestAssignment(member_id, share) for member_id, share in shares.items()]


def durable_state(machine: GroupShard) -> Any:
    """What the log has of the group; None while the live group runs ahead of it."""
    group = machine.context.groups.get(GROUP)
    if not isinstance(group, ClassicGroup):
        return "no group"
    if group.state not in (State.STABLE, State.EMPTY):
        return None
    members = {
        (member.member_id, member.group_instance_id, member.assignment) for member in group.members.values()
    }
    return group.state, group.generation, group.protocol_name, group.leader if members else None, members


class ClassicGroups(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.world: World[GroupShard] = World(
            lambda world: GroupShard(world.image, lambda: SETTINGS, world.new_id)
        )
        # two of them are static members
        self.members = [
            SimulatedMember(self.world, f"m{n}", f"static-{n}" if n >= 3 else None) for n in range(5)
        ]

    def look_around(self) -> None:
        for member in self.members:
            member.take_answer()

    @rule(which=MEMBERS)
    def join(self, which: int) -> None:
        if self.members[which].is_idle:
            self.members[which].join()
        self.look_around()

    @rule(which=MEMBERS)
    def heartbeat(self, which: int) -> None:
        if self.members[which].is_in:
            self.members[which].heartbeat()

    @rule(which=MEMBERS)
    def leave(self, which: int) -> None:
        if self.members[which].is_in:
            self.members[which].leave()
        self.look_around()

    @rule(which=MEMBERS)
    def vanish(self, which: int) -> None:
        """Without a word, whatever it waits for; a new process starts with nothing."""
        self.members[which].forget()

    @rule(duration_ms=st.sampled_from([100, 3_000, 6_000, 11_000, 25_000]))
    def wait(self, duration_ms: int) -> None:
        self.world.advance(duration_ms)
        self.look_around()

    @rule()
    def restart(self) -> None:
        """The coordinator's; whoever waits for an answer has lost its connection."""
        self.world.reload()
        for member in self.members:
            if member.asked is not None:
                member.lose_place()

    @invariant()
    def no_partition_has_two_owners_in_one_generation(self) -> None:
        for generation in {member.generation for member in self.members if member.is_in}:
            owned = [
                partition
                for member in self.members
                if member.is_in and member.generation == generation
                for partition in member.owned
            ]
            assert len(owned) == len(set(owned)), (generation, owned)

    @invariant()
    def the_log_tells_the_live_state(self) -> None:
        live = durable_state(self.world.machine)
        if live is not None:
            assert durable_state(self.world.replayed()) == live

    def teardown(self) -> None:
        """In the end, with everybody there and awake, every partition has its owner."""
        for _ in range(40):
            for member in self.members:
                if member.is_idle:
                    member.join()
                elif member.is_in:
                    member.heartbeat()
            self.world.advance(2_000)
            self.look_around()
        assert {member.generation for member in self.members} == {self.members[0].generation}
        assert sorted(p for member in self.members for p in member.owned) == list(PARTITIONS)


ClassicGroups.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)
TestClassicGroups = ClassicGroups.TestCase
