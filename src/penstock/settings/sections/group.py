"""Committed offsets, classic groups and consumer groups."""

from dataclasses import dataclass

from penstock.settings.declare import (
    CLUSTER_WIDE,
    HIGH,
    LATER,
    NO_EFFECT,
    integer,
    items,
    long,
    short,
    string,
)
from penstock.settings.kinds import INT_MAX
from penstock.settings.takes import at_least, one_of_any_case, only_items

KAFKA_ASSIGNORS = "org.apache.kafka.coordinator.group.assignor"


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GroupSettings:
    offset_metadata_max_bytes: int = integer(
        4096, "The longest note that may be committed with an offset.", importance=HIGH
    )
    offsets_load_buffer_size: int = integer(
        5_242_880,
        "The bytes read at once when committed offsets are loaded.",
        at_least(1),
        importance=HIGH,
        effect=NO_EFFECT,
    )
    offsets_retention_minutes: int = integer(
        10_080,
        "How long the offsets of a group without members are kept.",
        at_least(1),
        importance=HIGH,
    )
    offsets_retention_check_interval_ms: int = long(
        600_000, "How often expired offsets are looked for.", at_least(1), importance=HIGH
    )
    offsets_commit_timeout_ms: int = integer(
        5000, "How long an offset commit waits to be replicated.", at_least(1), importance=HIGH, effect=LATER
    )
    offsets_commit_required_acks: int = short(
        -1, "The acks of an offset commit; -1 waits for all replicas.", importance=HIGH, effect=LATER
    )
    offsets_topic_num_partitions: int = integer(
        50,
        "The partitions of __consumer_offsets; fixed once the topic exists.",
        at_least(1),
        importance=HIGH,
    )
    offsets_topic_replication_factor: int = short(
        3,
        "The replicas of __consumer_offsets; it is not created before there are as many brokers.",
        at_least(1),
        importance=HIGH,
    )
    offsets_topic_segment_bytes: int = integer(
        104_857_600, "The segment size of __consumer_offsets.", at_least(1), importance=HIGH
    )
    offsets_topic_compression_codec: int = integer(
        0,
        "The codec of __consumer_offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
        importance=HIGH,
    )
    group_min_session_timeout_ms: int = integer(
        6000, "The shortest session timeout that a member of a classic group may ask for."
    )
    group_max_session_timeout_ms: int = integer(
        1_800_000, "The longest session timeout that a member of a classic group may ask for."
    )
    group_initial_rebalance_delay_ms: int = integer(
        3000, "How long a new classic group waits for more members before its first rebalance."
    )
    group_max_size: int = integer(INT_MAX, "The most members of a classic group.", at_least(1))
    group_coordinator_rebalance_protocols: tuple[str, ...] = items(
        ("classic", "consumer", "streams"),
        "The kinds of groups served; classic and share groups always are.",
        only_items("consumer", "classic", "share", "streams"),
    )
    group_coordinator_threads: int = integer(
        4, "Threads of the group coordinator in Kafka.", at_least(1), importance=HIGH, effect=NO_EFFECT
    )
    group_coordinator_background_threads: int = integer(
        2,
        "Background threads of the group coordinator in Kafka.",
        at_least(1),
        importance=HIGH,
        effect=NO_EFFECT,
    )
    group_coordinator_append_linger_ms: int = integer(
        -1,
        "How long the group coordinator gathers records for one write; -1 lets it decide.",
        at_least(-1),
        effect=NO_EFFECT,
    )
    group_coordinator_cached_buffer_max_bytes: int = integer(
        1_048_588,
        "The largest write buffer that the group coordinator keeps.",
        at_least(524_288),
        scope=CLUSTER_WIDE,
        effect=NO_EFFECT,
    )
    group_consumer_session_timeout_ms: int = integer(
        45_000, "How long a member of a consumer group may be silent.", at_least(1)
    )
    group_consumer_min_session_timeout_ms: int = integer(
        45_000, "The shortest session timeout that a group's config may set.", at_least(1)
    )
    group_consumer_max_session_timeout_ms: int = integer(
        60_000, "The longest session timeout that a group's config may set.", at_least(1)
    )
    group_consumer_heartbeat_interval_ms: int = integer(
        5000, "How often members of a consumer group are told to heartbeat.", at_least(1)
    )
    group_consumer_min_heartbeat_interval_ms: int = integer(
        5000, "The shortest heartbeat interval that a group's config may set.", at_least(1)
    )
    group_consumer_max_heartbeat_interval_ms: int = integer(
        15_000, "The longest heartbeat interval that a group's config may set.", at_least(1)
    )
    group_consumer_assignment_interval_ms: int = integer(
        1000,
        "The least time between two assignments of a consumer group.",
        at_least(0),
        scope=CLUSTER_WIDE,
    )
    group_consumer_min_assignment_interval_ms: int = integer(
        0, "The shortest assignment interval that a group's config may set.", at_least(0)
    )
    group_consumer_max_assignment_interval_ms: int = integer(
        15_000, "The longest assignment interval that a group's config may set.", at_least(0)
    )
    group_consumer_max_size: int = integer(INT_MAX, "The most members of a consumer group.", at_least(1))
    group_consumer_assignors: tuple[str, ...] = items(
        ("uniform", "range"),
        "The broker's assignors, by their names or the names of Kafka's classes, the default first.",
        only_items(
            "uniform", "range", *(f"{KAFKA_ASSIGNORS}.{name}Assignor" for name in ("Uniform", "Range"))
        ),
    )
    group_consumer_migration_policy: str = string(
        "bidirectional",
        "Which way a group may change between the classic and the consumer protocol.",
        one_of_any_case("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"),
    )
    group_consumer_regex_refresh_interval_ms: int = integer(
        600_000,
        "How often subscriptions by regular expression are matched again.",
        at_least(10_000),
        internal=True,
    )
