"""Streams groups."""

from dataclasses import dataclass

from penstock.settings.declare import CLUSTER_WIDE, integer
from penstock.settings.kinds import INT_MAX
from penstock.settings.takes import at_least


@dataclass(frozen=True, init=False, repr=False, eq=False)
class StreamsGroupSettings:
    group_streams_session_timeout_ms: int = integer(
        45_000, "How long a member of a streams group may be silent.", at_least(1)
    )
    group_streams_min_session_timeout_ms: int = integer(
        45_000, "The shortest session timeout that a group's config may set.", at_least(1)
    )
    group_streams_max_session_timeout_ms: int = integer(
        60_000, "The longest session timeout that a group's config may set.", at_least(1)
    )
    group_streams_heartbeat_interval_ms: int = integer(
        5000, "How often members of a streams group are told to heartbeat.", at_least(1)
    )
    group_streams_min_heartbeat_interval_ms: int = integer(
        5000, "The shortest heartbeat interval that a group's config may set.", at_least(1)
    )
    group_streams_max_heartbeat_interval_ms: int = integer(
        15_000, "The longest heartbeat interval that a group's config may set.", at_least(1)
    )
    group_streams_max_size: int = integer(INT_MAX, "The most members of a streams group.", at_least(1))
    group_streams_num_standby_replicas: int = integer(
        0, "The standby replicas of each stateful task.", at_least(0)
    )
    group_streams_max_standby_replicas: int = integer(
        2, "The most standby replicas that a group's config may set.", at_least(0)
    )
    group_streams_initial_rebalance_delay_ms: int = integer(
        3000, "How long a new streams group waits for more members before its first assignment.", at_least(0)
    )
    group_streams_assignment_interval_ms: int = integer(
        1000,
        "The least time between two assignments of a streams group.",
        at_least(0),
        scope=CLUSTER_WIDE,
    )
    group_streams_min_assignment_interval_ms: int = integer(
        0, "The shortest assignment interval that a group's config may set.", at_least(0)
    )
    group_streams_max_assignment_interval_ms: int = integer(
        15_000, "The longest assignment interval that a group's config may set.", at_least(0)
    )
