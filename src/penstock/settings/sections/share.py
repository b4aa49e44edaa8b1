"""Share groups and the share coordinator."""

from dataclasses import dataclass

from penstock.settings.declare import (
    CLUSTER_WIDE,
    HIGH,
    LATER,
    LOW,
    NO_EFFECT,
    integer,
    items,
    short,
)
from penstock.settings.takes import at_least, between, only_items


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ShareGroupSettings:
    group_share_session_timeout_ms: int = integer(
        45_000, "How long a member of a share group may be silent.", at_least(1)
    )
    group_share_min_session_timeout_ms: int = integer(
        45_000, "The shortest session timeout that a group's config may set.", at_least(1)
    )
    group_share_max_session_timeout_ms: int = integer(
        60_000, "The longest session timeout that a group's config may set.", at_least(1)
    )
    group_share_heartbeat_interval_ms: int = integer(
        5000, "How often members of a share group are told to heartbeat.", at_least(1)
    )
    group_share_min_heartbeat_interval_ms: int = integer(
        5000, "The shortest heartbeat interval that a group's config may set.", at_least(1)
    )
    group_share_max_heartbeat_interval_ms: int = integer(
        15_000, "The longest heartbeat interval that a group's config may set.", at_least(1)
    )
    group_share_assignment_interval_ms: int = integer(
        1000,
        "The least time between two assignments of a share group.",
        at_least(0),
        scope=CLUSTER_WIDE,
    )
    group_share_min_assignment_interval_ms: int = integer(
        0, "The shortest assignment interval that a group's config may set.", at_least(0)
    )
    group_share_max_assignment_interval_ms: int = integer(
        15_000, "The longest assignment interval that a group's config may set.", at_least(0)
    )
    group_share_assignors: tuple[str, ...] = items(
        ("simple",),
        "The broker's assignors for share groups, by their names or the names of Kafka's classes.",
        only_items("simple", "org.apache.kafka.coordinator.group.assignor.SimpleAssignor"),
    )
    group_share_max_size: int = integer(200, "The most members of a share group.", between(1, 1000))
    group_share_max_share_sessions: int = integer(2000, "The most share sessions of a broker.", at_least(1))
    group_share_delivery_count_limit: int = integer(
        5, "How often a record is delivered before it is given up.", between(2, 10)
    )
    group_share_min_delivery_count_limit: int = integer(
        2, "The lowest delivery limit that a group's config may set.", between(2, 5)
    )
    group_share_max_delivery_count_limit: int = integer(
        10, "The highest delivery limit that a group's config may set.", between(5, 25)
    )
    group_share_record_lock_duration_ms: int = integer(
        30_000,
        "How long a delivered record stays locked for its consumer.",
        between(1000, 3_600_000),
    )
    group_share_min_record_lock_duration_ms: int = integer(
        15_000, "The shortest lock that a group's config may set.", between(1000, 30_000)
    )
    group_share_max_record_lock_duration_ms: int = integer(
        60_000, "The longest lock that a group's config may set.", between(30_000, 3_600_000)
    )
    group_share_partition_max_record_locks: int = integer(
        2000, "The most locked records of a partition.", between(100, 10_000)
    )
    group_share_min_partition_max_record_locks: int = integer(
        100, "The lowest limit on locks that a group's config may set.", between(100, 2000)
    )
    group_share_max_partition_max_record_locks: int = integer(
        4000, "The highest limit on locks that a group's config may set.", between(2000, 10_000)
    )
    group_share_initialize_retry_interval_ms: int = integer(
        30_000,
        "How often the initialisation of a share partition is tried again.",
        at_least(1),
        importance=LOW,
        internal=True,
    )
    share_coordinator_state_topic_num_partitions: int = integer(
        50,
        "The partitions of __share_group_state; fixed once the topic exists.",
        at_least(1),
        importance=HIGH,
    )
    share_coordinator_state_topic_replication_factor: int = short(
        3,
        "The replicas of __share_group_state; it is not created before there are as many brokers.",
        at_least(1),
        importance=HIGH,
    )
    share_coordinator_state_topic_min_isr: int = short(
        2,
        "The in-sync replicas that __share_group_state needs; at most its number of replicas.",
        at_least(1),
        importance=HIGH,
    )
    share_coordinator_state_topic_segment_bytes: int = integer(
        104_857_600, "The segment size of __share_group_state.", at_least(1), importance=HIGH
    )
    share_coordinator_state_topic_compression_codec: int = integer(
        0,
        "The codec of __share_group_state: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
        importance=HIGH,
        effect=LATER,
    )
    share_coordinator_state_topic_prune_interval_ms: int = integer(
        300_000,
        "How often records of __share_group_state that are no longer needed are deleted.",
        at_least(1),
        importance=LOW,
        internal=True,
    )
    share_coordinator_cold_partition_snapshot_interval_ms: int = integer(
        300_000,
        "How often share partitions that rest are snapshot.",
        at_least(1),
        importance=LOW,
        internal=True,
    )
    share_coordinator_snapshot_update_records_per_snapshot: int = integer(
        500,
        "How many updates come between two snapshots of a share partition.",
        between(0, 500),
    )
    share_coordinator_load_buffer_size: int = integer(
        5_242_880,
        "The bytes read at once when share state is loaded.",
        at_least(1),
        importance=HIGH,
        effect=NO_EFFECT,
    )
    share_coordinator_write_timeout_ms: int = integer(
        5000,
        "How long a write of share state waits to be replicated.",
        at_least(1),
        importance=HIGH,
        effect=LATER,
    )
    share_coordinator_append_linger_ms: int = integer(
        -1,
        "How long the share coordinator gathers records for one write; -1 lets it decide.",
        at_least(-1),
        effect=NO_EFFECT,
    )
    share_coordinator_cached_buffer_max_bytes: int = integer(
        1_048_588,
        "The largest write buffer that the share coordinator keeps.",
        at_least(524_288),
        scope=CLUSTER_WIDE,
        effect=NO_EFFECT,
    )
    share_coordinator_threads: int = integer(
        1, "Threads of the share coordinator in Kafka.", at_least(1), effect=NO_EFFECT
    )
    share_fetch_purgatory_purge_interval_requests: int = integer(
        1000, "Every so many waiting share fetches, the ended ones are forgotten.", effect=NO_EFFECT
    )
