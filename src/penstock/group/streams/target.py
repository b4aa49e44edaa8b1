"""The target assignment of a streams group: computing it, and writing what is new in it."""

from collections.abc import Iterable

from penstock.group.streams.assignor import assign_tasks
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.member import Member
from penstock.group.streams.records import write_target, write_target_epoch
from penstock.group.streams.tasks import NO_TASKS, Tasks
from penstock.group.streams.topics import ConfiguredTopology
from penstock.machine import Outcome

STANDBY_REPLICAS = "num.standby.replicas"


def compute_target(
    group: StreamsGroup, members: Iterable[Member], configured: ConfiguredTopology, configs: dict[str, str]
) -> dict[str, Tasks]:
    """Nothing for anybody as long as the topics do not fit."""
    processes = {member.member_id: member.metadata.process_id for member in members}
    if not configured.is_ready:
        return dict.fromkeys(processes, NO_TASKS)
    replicas = int(configs.get(STANDBY_REPLICAS, 0))
    return assign_tasks(processes, configured.subtopologies, group.target, replicas)


def write_changes(
    outcome: Outcome, group: StreamsGroup, target: dict[str, Tasks], epoch: int, now_ms: int
) -> None:
    for member_id in sorted(target):
        if target[member_id] != group.target.get(member_id):
            write_target(outcome, group.group_id, member_id, target[member_id])
    write_target_epoch(outcome, group.group_id, epoch, now_ms)
