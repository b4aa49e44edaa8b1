"""The words of scripts about streams groups.

Members go by a name, which is their member id and their client id too; the script remembers the epoch that each was
last told, and the tasks that it was given, and tells both unless a command says otherwise. A member runs in a process
of its own unless it is given one. The group is `g`, and its topology one of these:

    plain        0 reads `lines`
    count        0 reads `lines` and writes `words`, which 1 reads; 1 has the state `counts`
    join         0 reads `a`, `b` and what 1 writes to `moved`, all copartitioned; 1 reads `c`
    fixed        0 reads `lines` and writes `words`, which has 3 partitions and which 1 reads together with `a`

    join alice [topology=count epoch=0 process= endpoint=host:port timeout= tag=key:value]
    heartbeat alice [epoch= owned=0:1,2;1:0 standby=1:1 endpoint_epoch= shutdown=yes]
    leave alice [shutdown=yes]
    describe / delete
    commit alice topic=lines partition=0 [epoch=]
    set group.streams.max.size=2
    config streams.num.standby.replicas=1         of the group
    refuse NOT_COORDINATOR                        the next write fails
"""

from collections.abc import Sequence

from penstock.errors import ApiError, ErrorCode
from penstock.group.shard import GroupShard
from penstock.group.streams.heartbeat import HeartbeatResult
from penstock.machine import Caller
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    ResponseTaskIds,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from tests.scripts import transcript
from tests.scripts.world import Asked, World

HOST = "/10.0.0.1"
COMPACTED = [KeyValue("cleanup.policy", "compact")]

TOPOLOGIES = {
    "plain": [Subtopology("0", ["lines"])],
    "count": [
        Subtopology("0", ["lines"], repartition_sink_topics=["words"]),
        Subtopology(
            "1",
            repartition_source_topics=[TopicInfo("words")],
            state_changelog_topics=[TopicInfo("counts", topic_configs=COMPACTED)],
        ),
    ],
    "join": [
        Subtopology(
            "0",
            ["a", "b"],
            repartition_source_topics=[TopicInfo("moved")],
            copartition_groups=[CopartitionGroup([0, 1], [], [0])],
        ),
        Subtopology("1", ["c"], repartition_sink_topics=["moved"]),
    ],
    "fixed": [
        Subtopology("0", ["lines"], repartition_sink_topics=["words"]),
        Subtopology(
            "1",
            ["a"],
            repartition_source_topics=[TopicInfo("words", 3)],
            copartition_groups=[CopartitionGroup([0], [], [0])],
        ),
    ],
}


def tasks_of(text: str) -> list[TaskIds]:
    """`0:1,2;1:0`: partitions 1 and 2 of subtopology 0, partition 0 of subtopology 1."""
    pairs = (each.split(":") for each in text.split(";") if each)
    return [TaskIds(name, [int(each) for each in partitions.split(",")]) for name, partitions in pairs]


class Words(transcript.Words):
    def __init__(self) -> None:
        super().__init__()
        self.configs: dict[str, str] = {}
        self.settings = BrokerSettings()
        self.epochs: dict[str, int] = {}
        self.active: dict[str, list[TaskIds]] = {}
        self.standby: dict[str, list[TaskIds]] = {}
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
        self,
        name: str,
        topology: str = "count",
        epoch: str = "0",
        process: str | None = None,
        endpoint: str | None = None,
        timeout: str = "60000",
        tag: str | None = None,
    ) -> None:
        host, _, port = (endpoint or "").partition(":")
        request = StreamsGroupHeartbeatRequest(
            group_id="g",
            member_id=name,
            endpoint_information_epoch=-1,
            rebalance_timeout_ms=int(timeout),
            topology=Topology(int(epoch), TOPOLOGIES[topology]),
            process_id=process or f"process-of-{name}",
            user_endpoint=Endpoint(host, int(port)) if endpoint else None,
            client_tags=None if tag is None else [KeyValue(*tag.split(":"))],
            task_offsets=None,
            task_end_offsets=None,
        )
        self._send(name, request)

    def do_heartbeat(
        self,
        name: str,
        epoch: str | None = None,
        owned: str | None = None,
        standby: str | None = None,
        endpoint_epoch: str | None = None,
        shutdown: str = "",
    ) -> None:
        request = StreamsGroupHeartbeatRequest(
            group_id="g",
            member_id=name,
            member_epoch=self.epochs.get(name, 0) if epoch is None else int(epoch),
            endpoint_information_epoch=0 if endpoint_epoch is None else int(endpoint_epoch),
            active_tasks=self.active.get(name, []) if owned is None else tasks_of(owned),
            standby_tasks=self.standby.get(name, []) if standby is None else tasks_of(standby),
            warmup_tasks=[],
            client_tags=None,
            task_offsets=None,
            task_end_offsets=None,
            shutdown_application=bool(shutdown),
        )
        self._send(name, request)

    def do_leave(self, name: str, shutdown: str = "") -> None:
        self.do_heartbeat(name, "-1", shutdown=shutdown)

    def _send(self, name: str, request: StreamsGroupHeartbeatRequest) -> None:
        caller = Caller(0, name, HOST)
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.streams.handle_heartbeat(request, caller, ticket, now_ms),
        )

    def do_commit(self, name: str, topic: str, partition: str, epoch: str | None = None) -> None:
        partitions = [OffsetCommitRequestPartition(int(partition), 1)]
        request = OffsetCommitRequest(
            group_id="g",
            generation_id_or_member_epoch=self.epochs[name] if epoch is None else int(epoch),
            member_id=name,
            topics=[OffsetCommitRequestTopic(topic, partitions=partitions)],
        )
        caller = Caller(9, name, HOST)
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.offsets.handle_offset_commit(request, caller, ticket, now_ms),
        )

    # administrators

    def do_describe(self) -> None:
        described = self.world.machine.streams.describe("g")
        self.say(self.show_fields(described))

    def do_state(self) -> None:
        self.say(self.world.machine.context.groups["g"].state_name)

    def do_delete(self) -> None:
        self.world.ask("admin", lambda shard, ticket, now_ms: shard.handle_delete_group("g", ticket, now_ms))

    # what happened

    def on_answer(self, asked: Asked) -> None:
        if not isinstance(asked.answer, HeartbeatResult):
            super().on_answer(asked)
            return
        name, (response, missing_topics) = asked.label, asked.answer
        self.epochs[name] = response.member_epoch
        if response.active_tasks is not None:
            self.active[name] = _told(response.active_tasks)
            self.standby[name] = _told(response.standby_tasks or ())
        shown = self.show_fields(response)
        self.say(f"{name} <- {shown}")
        for topic in missing_topics.values():
            configs = "".join(f" {key}={value}" for key, value in topic.configs.items())
            self.say(f"to create: {topic.name} partitions={topic.partitions}{configs}")


def _told(tasks: Sequence[ResponseTaskIds]) -> list[TaskIds]:
    return [TaskIds(task.subtopology_id, list(task.partitions)) for task in tasks]
