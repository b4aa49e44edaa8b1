"""The words of scripts about classic groups.

Members go by a name, which is their client id too; the script remembers the member id and the generation that each was
last told, and uses them unless a command says otherwise. The group is `g` unless a command says otherwise.

    join alice [version= member= instance= type= protocols=range:hers,sticky:hers session= rebalance=]
    sync alice [assignments=alice:mine,bob:yours generation= member= instance= protocol= version=]
    heartbeat alice [generation= member= instance=]
    leave alice bob [version= instance=]          instance: by the instance id alone, without member ids
    commit alice [generation= member= instance=]  whether a commit of offsets is allowed
    describe / list / delete [group= states= types=]
    set group.max.size=2
    refuse MESSAGE_TOO_LARGE                      the next write fails
"""

from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import Group
from penstock.group.shard import GroupShard
from penstock.machine import Caller, Outcome, Ticket
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.scripts import transcript
from tests.scripts.world import Asked, World

HOST = "/10.0.0.1"
NEWEST_JOIN, NEWEST_SYNC, NEWEST_LEAVE = 9, 5, 5


class Words(transcript.Words):
    def __init__(self) -> None:
        super().__init__()
        self.configs: dict[str, str] = {}
        self.settings = BrokerSettings()
        self.member_ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.world: World[GroupShard] = World(
            lambda world: GroupShard(world.image, lambda: self.settings, world.new_id), self
        )

    def do_set(self, **configs: str) -> None:
        self.configs |= configs
        self.settings = BrokerSettings.from_configs(self.configs)

    def do_refuse(self, code: str) -> None:
        self.world.refuse_writes = ApiError(ErrorCode[code])

    # members

    def do_join(
        self,
        name: str,
        version: str = str(NEWEST_JOIN),
        member: str | None = None,
        instance: str | None = None,
        type: str = "consumer",
        protocols: str | None = None,
        session: str = "10000",
        rebalance: str = "60000",
        group: str = "g",
    ) -> None:
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=int(session),
            rebalance_timeout_ms=int(rebalance),
            member_id=self._member_id(name, member),
            group_instance_id=instance,
            protocol_type=type,
            protocols=[
                JoinGroupRequestProtocol(protocol, metadata.encode())
                for protocol, metadata in pairs(f"range:{name}" if protocols is None else protocols)
            ],
        )
        caller = Caller(int(version), name, HOST)
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.serving_classic_protocol(group).handle_classic_join(
                request, caller, ticket, now_ms
            ),
        )

    def do_sync(
        self,
        name: str,
        assignments: str = "",
        generation: str | None = None,
        member: str | None = None,
        instance: str | None = None,
        type: str = "consumer",
        protocol: str = "range",
        version: str = str(NEWEST_SYNC),
        group: str = "g",
    ) -> None:
        request = SyncGroupRequest(
            group_id=group,
            generation_id=self._generation(name, generation),
            member_id=self._member_id(name, member),
            group_instance_id=instance,
            protocol_type=type or None,
            protocol_name=protocol or None,
            assignments=[
                SyncGroupRequestAssignment(self._member_id(other), assignment.encode())
                for other, assignment in pairs(assignments)
            ],
        )
        caller = Caller(int(version), name, HOST)
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.serving_classic_protocol(group).handle_classic_sync(
                request, caller, ticket, now_ms
            ),
        )

    def do_heartbeat(
        self,
        name: str,
        generation: str | None = None,
        member: str | None = None,
        instance: str | None = None,
        group: str = "g",
    ) -> None:
        request = HeartbeatRequest(
            group, self._generation(name, generation), self._member_id(name, member), instance
        )
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.serving_classic_protocol(group).handle_classic_heartbeat(
                request, Caller(4, name, HOST), ticket, now_ms
            ),
        )

    def do_leave(
        self, *names: str, version: str = str(NEWEST_LEAVE), instance: str | None = None, group: str = "g"
    ) -> None:
        members = [MemberIdentity(self._member_id(name), None, "done") for name in names]
        if instance is not None:
            members = [MemberIdentity("", instance, "put out")]
        request = LeaveGroupRequest(group, members[0].member_id, members)
        self.world.ask(
            names[0] if names else "admin",
            lambda shard, ticket, now_ms: shard.serving_classic_protocol(group).handle_classic_leave(
                request, Caller(int(version), "", HOST), ticket, now_ms
            ),
        )

    def do_commit(
        self,
        name: str,
        generation: str | None = None,
        member: str | None = None,
        instance: str | None = None,
        transactional: str = "no",
        group: str = "g",
    ) -> None:
        def handle(shard: GroupShard, ticket: Ticket, now_ms: int) -> Outcome:
            outcome = Outcome()
            member_id = self._member_id(name, member)
            found: Group = shard.context.groups[group]
            found.check_offset_commit(
                member_id,
                instance,
                self._generation(name, generation),
                is_transactional=transactional == "yes",
                version=9,
            )
            found.on_offset_commit(member_id, outcome)
            outcome.reply(ticket, "allowed")
            return outcome

        self.world.ask(name, handle)

    # administrators

    def do_describe(self, group: str = "g", version: str = "6") -> None:
        described = self.world.machine.classic.describe(group, int(version))
        self.say(self.show_fields(described))

    def do_list(self) -> None:
        for group in self.world.machine.context.groups.values():
            self.say(f"{group.group_id} {group.KIND} {group.protocol_type or '-'} {group.state_name}")

    def do_delete(self, group: str = "g") -> None:
        self.world.ask(
            "admin", lambda shard, ticket, now_ms: shard.handle_delete_group(group, ticket, now_ms)
        )

    # memory

    def on_answer(self, asked: Asked) -> None:
        super().on_answer(asked)
        answer: Any = asked.answer
        if isinstance(answer, JoinGroupResponse):
            code = ErrorCode(answer.error_code)
            if code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
                self.member_ids[asked.label] = answer.member_id
            if code is ErrorCode.NONE:
                self.generations[asked.label] = answer.generation_id

    def _member_id(self, name: str, said: str | None = None) -> str:
        return self.member_ids.get(name, "") if said is None else said

    def _generation(self, name: str, said: str | None) -> int:
        return self.generations.get(name, -1) if said is None else int(said)


def pairs(text: str) -> list[tuple[str, str]]:
    """`range:a,sticky:b` as pairs."""
    return [(first, second) for first, _, second in (one.partition(":") for one in text.split(",") if one)]
