"""Classic groups under requests that no sane client sends, and writes that fail: the group stays sound inside.

Whatever is asked, in whichever order and with whichever ids, every request is answered in the end, and nothing of it is
left when nobody speaks any more.
"""

from collections import Counter
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_group import JOIN, SESSION, SYNC, ClassicGroup, State
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
SETTINGS = BrokerSettings.from_configs({"group.max.size": "3", "group.initial.rebalance.delay.ms": "0"})
LONGER_THAN_ANY_TIMEOUT_MS = 3_600_000

CHOICES = st.fixed_dictionaries(
    {
        "what": st.sampled_from(
            ["join", "join", "join", "rally", "rally", "follow", "sync", "heartbeat", "leave", "wait", "load"]
        ),
        "is_sane": st.sampled_from([True, True, True, False]),
        "member": st.integers(0, 5),
        "instance": st.sampled_from([None, "A", "B"]),
        "protocols": st.sampled_from([["x"], ["x"], ["x", "y"], ["y", "x"], ["y"], []]),
        "type": st.sampled_from(["consumer"] * 9 + ["connect"]),
        "version": st.sampled_from([0, 3, 8, 9]),
        "generation": st.integers(-1, 1),
        "is_refused": st.booleans(),
        "duration_ms": st.sampled_from([0, 3_000, 10_000, 60_000]),
    }
)


class Chaos:
    def __init__(self) -> None:
        self.world: World[GroupShard] = World(
            lambda world: GroupShard(world.image, lambda: SETTINGS, world.new_id)
        )
        self.open: list[Asked] = []

    def group(self) -> ClassicGroup | None:
        group = self.world.machine.context.groups.get(GROUP)
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def member_id(self, which: int) -> str:
        """An id that the group knows, as a member or as one to come; none; or one that nobody has."""
        group = self.group()
        known = [*group.members, *sorted(group.pending_member_ids)] if group else []
        return [*known, "", "", "ghost"][which % (len(known) + 3)]

    def do(self, choice: dict[str, Any]) -> None:
        group = self.group()
        member_id = self.member_id(choice["member"])
        generation = group.generation if group else 0
        member = group.members.get(member_id) if group else None
        if not choice["is_sane"]:
            generation += choice["generation"]
            if choice["is_refused"]:
                self.world.refuse_writes = ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        elif member is not None:
            choice = {**choice, "instance": member.group_instance_id}
        getattr(self, choice["what"])(choice, member_id, generation)
        self.world.refuse_writes = None
        self.world.advance(0)

    def ask(self, method: str, request: Any, version: int) -> None:
        caller = Caller(version, "client", "/10.0.0.1")
        asked = self.world.ask(
            method,
            lambda shard, ticket, now_ms: getattr(shard.classic, method)(request, caller, ticket, now_ms),
        )
        self.open.append(asked)

    def join(self, choice: dict[str, Any], member_id: str, generation: int) -> None:
        protocols = [JoinGroupRequestProtocol(name, b"m") for name in choice["protocols"]]
        request = JoinGroupRequest(
            GROUP, 10_000, 20_000, member_id, choice["instance"], choice["type"], protocols
        )
        self.ask("handle_classic_join", request, choice["version"])

    def rally(self, choice: dict[str, Any], member_id: str, generation: int) -> None:
        """Everybody joins again, as they do when they are told to."""
        group = self.group()
        for member in list(group.members.values()) if group else []:
            names = list(member.terms.protocols)
            again = {**choice, "version": 9, "protocols": names, "instance": member.group_instance_id}
            self.join(again | {"type": group.protocol_type if group else ""}, member.member_id, generation)

    def follow(self, choice: dict[str, Any], member_id: str, generation: int) -> None:
        """Everybody but the leader asks for its assignment."""
        group = self.group()
        for member in list(group.members.values()) if group else []:
            if group is not None and member.member_id != group.leader:
                own = {**choice, "instance": member.group_instance_id}
                self.sync(own, member.member_id, generation)

    def sync(self, choice: dict[str, Any], member_id: str, generation: int) -> None:
        assignments = [
            SyncGroupRequestAssignment(member_id, b"mine"),
            SyncGroupRequestAssignment("ghost", b""),
        ]
        request = SyncGroupRequest(GROUP, generation, member_id, choice["instance"], assignments=assignments)
        self.ask("handle_classic_sync", request, 4)

    def heartbeat(self, choice: dict[str, Any], member_id: str, generation: int) -> None:
        request = HeartbeatRequest(GROUP, generation, member_id, choice["instance"])
        self.ask("handle_classic_heartbeat", request, 4)

    def leave(self, choice: dict[str, Any], member_id: str, generation: int) -> None:
        leaving = [MemberIdentity(member_id, choice["instance"]), MemberIdentity("", "B")]
        self.ask("handle_classic_leave", LeaveGroupRequest(GROUP, members=leaving), 5)

    def wait(self, choice: dict[str, Any], member_id: str, generation: int) -> None:
        self.world.advance(choice["duration_ms"])

    def load(self, choice: dict[str, Any], member_id: str, generation: int) -> None:
        self.world.reload()
        self.open.clear()  # the shell has told them


def check(group: ClassicGroup | None, chaos: Chaos) -> None:
    if group is None:
        return
    members = group.members
    assert group.joined_count == sum(member.join_ticket is not None for member in members.values())
    static = {one.group_instance_id: one.member_id for one in members.values() if one.group_instance_id}
    assert group.static_member_ids == static
    assert group.to_sync <= members.keys()
    assert not group.pending_member_ids & members.keys()
    names = Counter(name for member in members.values() for name in member.terms.protocols)
    assert group._supporters == names
    if group.state is State.EMPTY:
        assert not members
    else:
        assert group.leader in (members.keys() or {None})
    if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
        assert members
        assert all(group.protocol_name in member.terms.protocols for member in members.values())
        assert group.joined_count == 0
    waiting = [ticket for one in members.values() for ticket in (one.join_ticket, one.sync_ticket) if ticket]
    assert {id(ticket) for ticket in waiting} == {id(asked) for asked in chaos.open if asked.answer is None}
    running = {key[2] for key in chaos.world.timers if key[0] == SESSION}
    assert group.pending_member_ids <= running
    assert {one for one, member in members.items() if not member.is_waiting} <= running


@settings(max_examples=examples(100))
@given(st.lists(CHOICES, min_size=20, max_size=50))
def test_nothing_upsets_a_group(choices: list[dict[str, Any]]) -> None:
    chaos = Chaos()
    for choice in choices:
        chaos.do(choice)
        check(chaos.group(), chaos)
    chaos.world.advance(LONGER_THAN_ANY_TIMEOUT_MS)
    assert not [asked for asked in chaos.open if asked.answer is None]
    group = chaos.group()
    assert group is None or (group.state is State.EMPTY and not group.pending_member_ids)
    assert not [key for key in chaos.world.timers if key[0] in (SESSION, JOIN, SYNC)]
