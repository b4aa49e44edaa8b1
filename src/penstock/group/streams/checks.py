"""What is refused of a heartbeat, whatever the group: what makes no sense, and what Kafka 4.3 does not support yet."""

from collections.abc import Iterable

from penstock.controller.image import INTERNAL_TOPICS
from penstock.controller.topics import check_topic_name
from penstock.errors import ApiError, ErrorCode
from penstock.group.streams.member import JOIN_EPOCH, LEAVE_STATIC_EPOCH
from penstock.group.streams.topology import invalid_topology
from penstock.wire.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, Topology


def check_heartbeat(request: StreamsGroupHeartbeatRequest) -> None:
    if request.topology is not None:
        _check_topic_names(request.topology)
    _check_supported(request)
    _check_not_blank(request.member_id, "MemberId")
    _check_not_blank(request.group_id, "GroupId")
    _check_not_blank(request.rack_id, "RackId")
    if request.member_epoch == JOIN_EPOCH:
        _check_join(request)
    elif request.member_epoch == LEAVE_STATIC_EPOCH:
        raise _invalid("InstanceId can't be null.")
    elif request.member_epoch < LEAVE_STATIC_EPOCH:
        raise _invalid(f"MemberEpoch is {request.member_epoch}, but must be greater than or equal to -2.")
    tasks = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    if any(each is None for each in tasks) and any(each is not None for each in tasks):
        raise _invalid("If one task-type is non-null, all must be non-null.")
    if request.member_epoch != JOIN_EPOCH and request.topology is not None:
        raise _invalid("Topology can only be provided when (re-)joining.")


def _check_topic_names(topology: Topology) -> None:
    names = list(dict.fromkeys(_topic_names(topology)))
    internal = [name for name in names if name in INTERNAL_TOPICS]
    if internal:
        raise invalid_topology(
            f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is prohibited."
        )
    wrong = [name for name in names if not _is_topic_name(name)]
    if wrong:
        raise invalid_topology(f"Topic names {','.join(wrong)} are not valid topic names.")


def _topic_names(topology: Topology) -> Iterable[str]:
    for each in topology.subtopologies:
        yield from each.source_topics
        yield from each.repartition_sink_topics
        yield from (topic.name for topic in each.repartition_source_topics)
        yield from (topic.name for topic in each.state_changelog_topics)


def _is_topic_name(name: str) -> bool:
    try:
        check_topic_name(name)
    except ApiError:
        return False
    return True


def _check_supported(request: StreamsGroupHeartbeatRequest) -> None:
    if request.instance_id is not None:
        raise _invalid("Static membership is not yet supported.")
    if request.task_offsets is not None:
        raise _invalid("TaskOffsets are not supported yet.")
    if request.task_end_offsets is not None:
        raise _invalid("TaskEndOffsets are not supported yet.")
    if request.warmup_tasks:
        raise _invalid("WarmupTasks are not supported yet.")
    if request.topology is not None and any(
        each.source_topic_regex for each in request.topology.subtopologies
    ):
        raise _invalid("Regular expressions for source topics are not supported yet.")


def _check_join(request: StreamsGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    lists = {
        "ActiveTasks": request.active_tasks,
        "StandbyTasks": request.standby_tasks,
        "WarmupTasks": request.warmup_tasks,
    }
    for name, tasks in lists.items():
        if tasks is None or len(tasks):
            raise _invalid(f"{name} must be empty when (re-)joining.")
    if request.topology is None:
        raise _invalid("Topology must be non-null when (re-)joining.")


def _check_not_blank(value: str | None, name: str) -> None:
    if value is not None and not value.strip():
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
