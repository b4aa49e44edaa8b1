"""One member's turn: what its heartbeat changes in the group, step by step.

1. `update_metadata`: what the member says of itself now.
2. `update_topology`: the first member brings the group's topology.
3. `configure`: what that topology is in this cluster, looked at anew when its topics have changed.
4. `update_group_epoch`: each of these calls for another assignment, and so do the group's settings.
5. `maybe_delay_assignment`: the first assignment of a group waits for more members.
6. `update_target`: when the group epoch is ahead of the target assignment, that is computed anew, for all members, but
   not more often than the assignment interval allows.
7. `reconcile`: the member takes a step towards its target.

Durable state does not change here: each step writes records and hands on what the group will be once they are replayed.
"""

from collections.abc import Iterable

from penstock.errors import ApiError, ErrorCode
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.member import Member, MemberMetadata, MemberState
from penstock.group.streams.reconciliation import Aim, reconcile
from penstock.group.streams.records import write_current, write_group_epoch, write_metadata, write_topology
from penstock.group.streams.target import compute_target, write_changes
from penstock.group.streams.tasks import NO_TASKS, Tasks
from penstock.group.streams.topics import (
    ASSIGNMENT_DELAYED,
    STALE_TOPOLOGY,
    ConfiguredTopology,
    Problem,
    configure_topology,
)
from penstock.group.streams.topology import Topology, topology_of_request
from penstock.group.streams.world import StreamsWorld, delay_timer, rebalance_timer
from penstock.machine import Outcome
from penstock.wire.messages import streams_group_heartbeat as heartbeat

NOT_VALIDATED = -1


class Turn:
    topology: Topology
    configured: ConfiguredTopology

    def __init__(self, world: StreamsWorld, group: StreamsGroup, outcome: Outcome, now_ms: int) -> None:
        self.world = world
        self.group = group
        self.outcome = outcome
        self.now_ms = now_ms
        self.problems: list[Problem] = []
        self.calls_for_epoch = False
        self.metadata_hash = group.metadata_hash
        self.group_epoch = group.group_epoch
        self.assignment_configs = world.assignment_configs(group.group_id)
        self.target_epoch = group.assignment_epoch
        self.target = NO_TASKS

    # 1: what the member says

    def update_metadata(self, member: Member, metadata: MemberMetadata) -> Member:
        if metadata == member.metadata and member.member_id in self.group.members:
            return member
        write_metadata(self.outcome, self.group.group_id, member.member_id, metadata)
        self.calls_for_epoch = True
        return member._replace(metadata=metadata)

    # 2: the topology

    def update_topology(self, topology: heartbeat.Topology | None, member: Member) -> None:
        known = self.group.topology
        if known is None:
            if topology is None:
                raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "The group has lost its topology.")
            self.topology = topology_of_request(topology)
            write_topology(self.outcome, self.group.group_id, self.topology)
            return
        if topology is not None and topology_of_request(topology) != known and topology.epoch >= known.epoch:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Topology updates are not supported yet.")
        self.topology = known
        member_epoch = member.metadata.topology_epoch
        if member_epoch < known.epoch:
            self.problems.append(
                Problem(
                    STALE_TOPOLOGY,
                    f"The member's topology epoch {member_epoch} is behind the group's topology epoch {known.epoch}.",
                )
            )

    # 3: what it is here

    def configure(self) -> None:
        group, soft = self.group, self.group.soft
        is_checked = soft.checked_epoch is not None and group.group_epoch >= soft.checked_epoch
        if soft.configured is None or not is_checked:
            self.metadata_hash = self.world.context.topic_hashes.of_group(self.topology.required_topics)
            has_changed = self.metadata_hash != group.metadata_hash
            self.calls_for_epoch |= has_changed
            if soft.configured is None or has_changed:
                soft.configured = configure_topology(self.topology, self.world.image)
        self.configured = soft.configured

    def check_tasks(self, request: heartbeat.StreamsGroupHeartbeatRequest) -> None:
        """Refuses tasks that can't be."""
        if self.configured.is_ready:
            for tasks in (request.active_tasks, request.standby_tasks, request.warmup_tasks):
                for entry in tasks or ():
                    self._check_partitions(entry.subtopology_id, entry.partitions)

    def _check_partitions(self, subtopology: str, partitions: Iterable[int]) -> None:
        found = self.configured.subtopologies.get(subtopology)
        if found is None:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, f"Subtopology {subtopology} does not exist in the topology."
            )
        for partition in partitions:
            if not 0 <= partition < found.task_count:
                raise ApiError(
                    ErrorCode.INVALID_REQUEST,
                    f"Task {partition} for subtopology {subtopology} is invalid. "
                    f"Number of tasks for this subtopology: {found.task_count}",
                )

    # 4: the group epoch

    def update_group_epoch(self) -> None:
        group = self.group
        validated = self.topology.epoch if self.configured.is_ready else NOT_VALIDATED
        if (
            self.calls_for_epoch
            or validated != group.validated_topology_epoch
            or self.assignment_configs != group.assignment_configs
        ):
            self.group_epoch += 1
            write_group_epoch(
                self.outcome,
                group.group_id,
                self.group_epoch,
                self.metadata_hash,
                validated,
                self.assignment_configs,
            )
        group.soft.checked_epoch = self.group_epoch

    # 5: the first assignment

    def maybe_delay_assignment(self) -> None:
        group_id, delayed = self.group.group_id, self.world.delayed
        delay_ms = self.world.config(group_id).streams_initial_rebalance_delay_ms
        if self.group.members or not delay_ms or group_id in delayed:
            return
        delayed.add(group_id)
        self.outcome.start_timer(delay_timer(group_id), delay_ms)
        self.outcome.on_refused = self._on_delay_refused

    def _on_delay_refused(self, code: ErrorCode) -> Outcome:
        self.world.delayed.discard(self.group.group_id)
        return Outcome()

    # 6: the target assignment

    def update_target(self, member: Member) -> None:
        group = self.group
        if group.group_id in self.world.delayed:
            self._delay("the configured initial rebalance delay")
            return
        self.target = group.target.get(member.member_id, NO_TASKS)
        if group.assignment_epoch >= self.group_epoch:
            return
        interval_ms = self.world.config(group.group_id).streams_assignment_interval_ms
        if not group.may_assign(interval_ms, self.now_ms):
            self._delay("the configured assignment interval")
            return
        members = {**group.members, member.member_id: member}.values()
        target = compute_target(group, members, self.configured, self.assignment_configs)
        write_changes(self.outcome, group, target, self.group_epoch, self.now_ms)
        self.target, self.target_epoch = target[member.member_id], self.group_epoch

    def _delay(self, reason: str) -> None:
        self.problems.append(Problem(ASSIGNMENT_DELAYED, f"Assignment delayed due to {reason}."))

    # 7: the member's own

    def reconcile(self, member: Member, owned: Tasks | None) -> Member:
        group_id = self.group.group_id
        current = reconcile(self.group, member, Aim(self.target_epoch, self.target, owned))
        if current == member.current:
            return member
        updated = member._replace(current=current)
        write_current(self.outcome, group_id, member.member_id, current)
        if current.state == MemberState.UNREVOKED_TASKS:
            self.world.start_rebalance(group_id, updated, self.outcome)
        else:
            self.outcome.stop_timer(rebalance_timer(group_id, member.member_id))
        return updated
