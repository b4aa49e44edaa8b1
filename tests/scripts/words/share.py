"""The words of scripts about share groups.

Members go by a name, which is their member id and their client id too; the script remembers the epoch that each was
last told, and uses it unless a command says otherwise. The group is `g` unless a command says otherwise.

    join alice topics=a,b [rack= epoch= group=]
    heartbeat alice [epoch= topics= rack= group=]
    leave alice
    initialized / not-initialized                 what the share coordinator says to the last request for states
    describe [group=]
    alter topic=a offsets=0:5,1:7 / delete-offsets topics=a / deleted topics=a / delete
    partitions                                    what the group knows of the states of its share partitions
    set group.share.max.size=2
    config share.session.timeout.ms=50000         of the group
    refuse NOT_COORDINATOR                        the next write fails
"""

from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.group.shard import GroupShard
from penstock.group.share_effects import InitializeShareStates, PartitionOffsets
from penstock.group.share_group import ShareGroup
from penstock.group.share_offsets import AlteredOffsets, OffsetsToDelete
from penstock.group.share_partitions import SharedTopic, SharedTopics
from penstock.machine import Caller
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages import alter_share_group_offsets as alter
from penstock.wire.messages import delete_share_group_offsets as delete
from penstock.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from tests.scripts import transcript
from tests.scripts.world import Asked, World

HOST = "/10.0.0.1"


class Words(transcript.Words):
    def __init__(self) -> None:
        super().__init__()
        self.configs: dict[str, str] = {}
        self.settings = BrokerSettings()
        self.epochs: dict[str, int] = {}
        self.asked_for: InitializeShareStates | None = None
        self.world: World[GroupShard] = World(
            lambda world: GroupShard(world.image, lambda: self.settings, world.new_id), self
        )

    def do_set(self, **configs: str) -> None:
        self.configs |= configs
        self.settings = BrokerSettings.from_configs(self.configs)

    def do_config(self, **configs: str) -> None:
        self.world.image.group_configs["g"] = configs

    def do_refuse(self, code: str) -> None:
        self.world.refuse_writes = ApiError(ErrorCode[code])

    # members

    def do_join(
        self, name: str, topics: str = "", rack: str | None = None, epoch: str = "0", group: str = "g"
    ) -> None:
        self.do_heartbeat(name, epoch, topics, rack, group)

    def do_heartbeat(
        self,
        name: str,
        epoch: str | None = None,
        topics: str | None = None,
        rack: str | None = None,
        group: str = "g",
    ) -> None:
        request = ShareGroupHeartbeatRequest(
            group_id=group,
            member_id=name,
            member_epoch=self.epochs.get(name, 0) if epoch is None else int(epoch),
            rack_id=rack,
            subscribed_topic_names=None if topics is None else [one for one in topics.split(",") if one],
        )
        caller = Caller(1, name, HOST)
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.share.handle_heartbeat(request, caller, ticket, now_ms),
        )

    def do_leave(self, name: str, group: str = "g") -> None:
        self.do_heartbeat(name, "-1", group=group)

    # the share coordinator

    def do_initialized(self) -> None:
        self._tell("on_initialized")

    def do_not_initialized(self) -> None:
        self._tell("on_not_initialized")

    def _tell(self, what: str) -> None:
        assert self.asked_for is not None
        tell = getattr(self.world.machine.share, what)
        self.world.carry_out(tell(self.asked_for.group_id, self.asked_for.topics))

    def _ask_for(self, group_id: str, states: PartitionOffsets) -> None:
        names = self.world.image.topic_names
        topics = {key: SharedTopic(names[key], frozenset(of)) for key, of in states.offsets.items()}
        self.asked_for = InitializeShareStates(group_id, states.group_epoch, topics)

    # administrators

    def do_describe(self, group: str = "g") -> None:
        self.world.ask(
            "admin", lambda shard, ticket, now_ms: shard.share.handle_describe(group, ticket, now_ms)
        )

    def do_partitions(self, group: str = "g") -> None:
        found = self.world.machine.context.groups[group]
        assert isinstance(found, ShareGroup)
        self.say("initializing " + self._show_topics(found.partitions.initializing))
        self.say("initialized " + self._show_topics(found.partitions.initialized))
        self.say("deleting " + (", ".join(found.partitions.deleting.values()) or "none"))

    def _show_topics(self, topics: SharedTopics) -> str:
        return ", ".join(f"{one.name}:{sorted(one.partitions)}" for one in topics.values()) or "none"

    def do_alter(self, topic: str, offsets: str, group: str = "g") -> None:
        partitions = [
            alter.AlterShareGroupOffsetsRequestPartition(*map(int, one.split(":")))
            for one in offsets.split(",")
        ]
        asked = [alter.AlterShareGroupOffsetsRequestTopic(topic, partitions)]
        request = alter.AlterShareGroupOffsetsRequest(group, asked)
        self.world.ask(
            "admin", lambda shard, ticket, now_ms: shard.share.handle_alter_offsets(request, ticket, now_ms)
        )

    def do_delete_offsets(self, topics: str, group: str = "g") -> None:
        asked = [delete.DeleteShareGroupOffsetsRequestTopic(name) for name in topics.split(",")]
        request = delete.DeleteShareGroupOffsetsRequest(group, asked)
        self.world.ask(
            "admin",
            lambda shard, ticket, now_ms: shard.share.handle_begin_delete_offsets(request, ticket, now_ms),
        )

    def do_deleted(self, topics: str, group: str = "g") -> None:
        ids = [self.world.image.topics[name].topic_id for name in topics.split(",")]
        self.world.ask(
            "admin",
            lambda shard, ticket, now_ms: shard.share.handle_finish_delete_offsets(
                group, ids, ticket, now_ms
            ),
        )

    def do_delete(self, group: str = "g") -> None:
        self.world.ask(
            "admin",
            lambda shard, ticket, now_ms: shard.share.handle_begin_delete_group(group, ticket, now_ms),
        )
        self.world.ask(
            "admin", lambda shard, ticket, now_ms: shard.handle_delete_group(group, ticket, now_ms)
        )

    # what happened

    def on_answer(self, asked: Asked) -> None:
        answer = asked.answer
        if isinstance(answer, ShareGroupHeartbeatResponse):
            self.epochs[asked.label] = answer.member_epoch
        if isinstance(answer, AlteredOffsets):
            self.say(f"admin <- {self.show_fields(answer.response)}")
            self.say(
                f"states of epoch {answer.states.group_epoch}: {self._show_states(answer.states.offsets)}"
            )
            self._ask_for("g", answer.states)
        elif isinstance(answer, OffsetsToDelete):
            refused = [self.show_fields(one) for one in answer.refused]
            self.say(f"admin <- states to delete: {self._show_states(answer.partitions)}; refused: {refused}")
        elif isinstance(answer, dict):
            self.say(f"admin <- states to delete: {self._show_states(answer)}")
        else:
            super().on_answer(asked)

    def _show_states(self, states: Any) -> str:
        names = self.world.image.topic_names
        shown = (
            f"{names[topic_id]}:{of if isinstance(of, dict) else sorted(of)}"
            for topic_id, of in states.items()
        )
        return ", ".join(shown) or "none"

    def on_effect(self, effect: Any) -> None:
        assert isinstance(effect, InitializeShareStates)
        self.asked_for = effect
        topics = self._show_topics(effect.topics)
        self.say(f"effect: make the states of {topics} with epoch {effect.group_epoch}")
