"""Threads of Kafka Streams programs as clients of a group: what each believes to have, and what it does about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.group.shard import GroupShard
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.heartbeat import HeartbeatResult
from penstock.group.streams.tasks import Task
from penstock.machine import Caller
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    TaskIds,
    Topology,
)
from tests.scripts.world import World

Send = Callable[[StreamsGroupHeartbeatRequest], "StreamsGroupHeartbeatResponse | ApiError"]
GROUP = "g"
REJOINING = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}


def streams_world(configs: dict[str, str], group_configs: dict[str, str]) -> World[GroupShard]:
    settings = BrokerSettings.from_configs(configs)
    world: World[GroupShard] = World(lambda world: GroupShard(world.image, lambda: settings, world.new_id))
    world.image.group_configs[GROUP] = group_configs
    return world


def sender(world: World[GroupShard]) -> Send:
    def send(request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse | ApiError:
        caller = Caller(0, request.member_id, "/10.0.0.1")
        asked = world.ask(
            request.member_id,
            lambda shard, ticket, now_ms: shard.streams.handle_heartbeat(request, caller, ticket, now_ms),
        )
        answer = asked.answer
        return answer.response if isinstance(answer, HeartbeatResult) else answer  # type: ignore[no-any-return]

    return send


def streams_group(machine: GroupShard) -> StreamsGroup | None:
    group = machine.context.groups.get(GROUP)
    return group if isinstance(group, StreamsGroup) else None


def durable_state(group: StreamsGroup | None) -> Any:
    if group is None:
        return None
    owners = (group._active_processes, group._standby_processes, group._warmup_processes)
    epochs = (group.group_epoch, group.metadata_hash, group.assignment_epoch, group.assignment_timestamp_ms)
    topology = (group.topology, group.validated_topology_epoch, group.assignment_configs)
    return group.state_name, epochs, topology, group.members, group.target, owners


class Thread:
    def __init__(self, send: Send, member_id: str, process_id: str, topology: Topology) -> None:
        self.send = send
        self.member_id = member_id
        self.process_id = process_id
        self.topology = topology
        self.epoch = 0
        self.active: set[Task] = set()
        self.standby: set[Task] = set()
        self.told: tuple[set[Task], set[Task]] | None = None
        """What it shall have, if it has not taken that up yet."""

    def heartbeat(self, *, is_lost: bool = False) -> None:
        """Tells what it has; the answer may be lost."""
        answer = self.send(self._request())
        if is_lost:
            return
        if isinstance(answer, ApiError):
            assert answer.code in REJOINING, answer
            self.forget()
            return
        self.epoch = answer.member_epoch
        if answer.active_tasks is not None:
            self.told = _tasks(answer.active_tasks), _tasks(answer.standby_tasks or ())

    def _request(self) -> StreamsGroupHeartbeatRequest:
        is_joining = self.epoch == 0
        return StreamsGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=self.epoch,
            rebalance_timeout_ms=300_000 if is_joining else -1,
            topology=self.topology if is_joining else None,
            process_id=self.process_id if is_joining else None,
            active_tasks=_entries(self.active),
            standby_tasks=_entries(self.standby),
            warmup_tasks=[],
            client_tags=None,
            task_offsets=None,
            task_end_offsets=None,
        )

    def give_up(self) -> None:
        """The first half of what it was told: it closes what it shall not have."""
        if self.told is not None:
            self.active &= self.told[0]
            self.standby &= self.told[1]

    def act(self) -> None:
        self.give_up()
        if self.told is not None:
            self.active, self.standby = self.told
            self.told = None

    def beat(self) -> None:
        self.heartbeat()
        self.act()

    def forget(self) -> None:
        self.epoch, self.active, self.standby, self.told = 0, set(), set(), None

    def leave(self) -> None:
        self.forget()
        self.epoch = -1
        self.send(self._request())


def _tasks(entries: Any) -> set[Task]:
    return {(entry.subtopology_id, partition) for entry in entries for partition in entry.partitions}


def _entries(tasks: set[Task]) -> list[TaskIds]:
    names = sorted({name for name, _ in tasks})
    return [TaskIds(name, sorted(index for each, index in tasks if each == name)) for name in names]
