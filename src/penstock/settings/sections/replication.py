"""Replication, leader election and quotas."""

from dataclasses import dataclass

from penstock.settings.declare import (
    CLUSTER_WIDE,
    HIGH,
    LATER,
    LOW,
    NO_EFFECT,
    boolean,
    class_name,
    integer,
    long,
    string,
)
from penstock.settings.kinds import LONG_MAX
from penstock.settings.takes import at_least, one_of


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ReplicationSettings:
    replica_lag_time_max_ms: int = long(
        30_000,
        "How long a follower may lag before it leaves the in-sync replicas.",
        importance=HIGH,
    )
    replica_fetch_max_bytes: int = integer(
        1_048_576, "The bytes that a follower asks for per partition.", at_least(0)
    )
    replica_fetch_min_bytes: int = integer(1, "The bytes that a follower's fetch waits for.", importance=HIGH)
    replica_fetch_wait_max_ms: int = integer(500, "How long a follower's fetch waits.", importance=HIGH)
    replica_fetch_backoff_ms: int = integer(
        1000, "How long a follower waits after a failed fetch.", at_least(0)
    )
    replica_fetch_response_max_bytes: int = integer(
        10_485_760, "The bytes that a follower asks for in one fetch.", at_least(0)
    )
    replica_socket_timeout_ms: int = integer(
        30_000, "How long a follower waits for its leader's answer.", importance=HIGH
    )
    replica_socket_receive_buffer_bytes: int = integer(
        65_536, "The size of the receive buffer of a follower's socket.", importance=HIGH, effect=LATER
    )
    replica_high_watermark_checkpoint_interval_ms: int = long(
        5000, "How often the high watermark of each partition is written down.", importance=HIGH
    )
    replica_selector_class: str | None = string(
        None,
        "What chooses the replica that a consumer reads from: that of its rack, or the leader if not set.",
        one_of(
            "org.apache.kafka.common.replica.RackAwareReplicaSelector",
            "org.apache.kafka.common.replica.LeaderSelector",
        ),
    )
    num_replica_fetchers: int = integer(
        1,
        "How many fetchers a follower runs per leader.",
        at_least(1),
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    num_replica_alter_log_dirs_threads: int | None = integer(
        None,
        "How many replicas move between log directories at a time; as many as there are directories if not set.",
        importance=HIGH,
    )
    replica_alter_log_dirs_io_max_bytes_per_second: int = long(
        LONG_MAX,
        "The most bytes that move between log directories in a second.",
        at_least(0),
        scope=CLUSTER_WIDE,
        internal=True,
    )
    leader_replication_throttled_rate: int = long(
        LONG_MAX,
        "The most bytes that throttled leaders send to followers in a second.",
        at_least(0),
        scope=CLUSTER_WIDE,
        internal=True,
    )
    follower_replication_throttled_rate: int = long(
        LONG_MAX,
        "The most bytes that throttled followers fetch in a second.",
        at_least(0),
        scope=CLUSTER_WIDE,
        internal=True,
    )
    unclean_leader_election_enable: bool = boolean(
        False,
        "Whether a replica that is not in sync may lead as a last resort, which can lose data.",
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    unclean_leader_election_interval_ms: int = long(
        300_000,
        "How often partitions without a leader are looked for when unclean election is on.",
        at_least(1),
        effect=LATER,
        internal=True,
    )
    auto_leader_rebalance_enable: bool = boolean(
        True,
        "Whether leadership goes back to the preferred replica by itself.",
        importance=HIGH,
    )
    leader_imbalance_check_interval_seconds: int = long(
        300, "How often the balance of leaders is checked.", at_least(1), importance=HIGH
    )
    leader_imbalance_per_broker_percentage: int = integer(
        10,
        "How far a broker's share of leaderships may be off before they are moved.",
        importance=HIGH,
    )
    controller_socket_timeout_ms: int = integer(
        30_000, "How long the controller waits for a broker's answer.", effect=NO_EFFECT
    )
    socket_connection_setup_timeout_ms: int = long(
        10_000, "How long a connection to another broker may take."
    )
    socket_connection_setup_timeout_max_ms: int = long(
        30_000, "How long it may take after repeated failures.", effect=NO_EFFECT
    )
    quota_window_num: int = integer(
        11, "How many samples a client's quota looks back over.", at_least(1), importance=LOW, effect=LATER
    )
    quota_window_size_seconds: int = integer(
        1, "How long one such sample is.", at_least(1), importance=LOW, effect=LATER
    )
    replication_quota_window_num: int = integer(
        11, "How many samples a replication quota looks back over.", at_least(1), importance=LOW
    )
    replication_quota_window_size_seconds: int = integer(
        1, "How long one such sample is.", at_least(1), importance=LOW
    )
    alter_log_dirs_replication_quota_window_num: int = integer(
        11,
        "How many samples the quota for moves between log directories looks back over.",
        at_least(1),
        importance=LOW,
    )
    alter_log_dirs_replication_quota_window_size_seconds: int = integer(
        1, "How long one such sample is.", at_least(1), importance=LOW
    )
    controller_quota_window_num: int = integer(
        11,
        "How many samples the quota on topic changes looks back over.",
        at_least(1),
        importance=LOW,
        effect=LATER,
    )
    controller_quota_window_size_seconds: int = integer(
        1, "How long one such sample is.", at_least(1), importance=LOW, effect=LATER
    )
    client_quota_callback_class: str | None = class_name(
        None, "A class that computes client quotas.", importance=LOW, effect=LATER
    )
