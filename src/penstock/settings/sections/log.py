"""The log: directories, segments, retention, flushes, compaction, timestamps and codecs.

Most of these give a topic setting its default: see `topic`.
"""

import sys
from dataclasses import dataclass

from penstock.settings.declare import (
    CLUSTER_WIDE,
    HIGH,
    LATER,
    LOW,
    NO_EFFECT,
    PER_BROKER,
    boolean,
    double,
    integer,
    items,
    long,
    string,
)
from penstock.settings.kinds import LONG_MAX
from penstock.settings.takes import at_least, between
from penstock.settings.topic import CLEANUP_POLICY, COMPRESSION_TYPE, GZIP_LEVEL, TIMESTAMP_TYPE


@dataclass(frozen=True, init=False, repr=False, eq=False)
class LogSettings:
    log_dir: tuple[str, ...] = items(
        ("/tmp/kafka-logs",), "The directory of the log, where log.dirs is not set.", importance=HIGH
    )
    log_dirs: tuple[str, ...] | None = items(
        None, "The directories of the log; partitions are spread over them.", importance=HIGH
    )
    log_dir_failure_timeout_ms: int = long(
        30_000,
        "How long a broker may fail to report a failed log directory before it stops.",
        at_least(1),
        importance=LOW,
        effect=LATER,
    )
    cordoned_log_dirs: tuple[str, ...] = items(
        (), "Log directories that get no new partitions.", scope=PER_BROKER, effect=LATER
    )
    log_segment_bytes: int = integer(
        1_073_741_824,
        "The size of a segment's file.",
        at_least(1_048_576),
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    log_roll_ms: int | None = long(
        None,
        "The time after which a segment rolls even when it is not full; log.roll.hours if not set.",
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    log_roll_hours: int = integer(
        168, "The time after which a segment rolls even when it is not full.", at_least(1), importance=HIGH
    )
    log_roll_jitter_ms: int | None = long(
        None,
        "The largest random time subtracted from log.roll.ms; log.roll.jitter.hours if not set.",
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    log_roll_jitter_hours: int = integer(
        0, "The largest random time subtracted from log.roll.hours.", at_least(0), importance=HIGH
    )
    log_retention_ms: int | None = long(
        None,
        "How long records are kept; log.retention.minutes if not set.",
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    log_retention_minutes: int | None = integer(
        None, "How long records are kept; log.retention.hours if not set.", importance=HIGH
    )
    log_retention_hours: int = integer(168, "How long records are kept.", importance=HIGH)
    log_retention_bytes: int = long(
        -1, "The size a partition may grow to.", importance=HIGH, scope=CLUSTER_WIDE
    )
    log_retention_check_interval_ms: int = long(
        300_000, "How often the log is checked for segments to delete.", at_least(1)
    )
    log_cleanup_policy: tuple[str, ...] = items(
        ("delete",),
        "What happens to old segments: delete, compact, or both.",
        CLEANUP_POLICY,
        scope=CLUSTER_WIDE,
    )
    log_index_size_max_bytes: int = integer(
        10_485_760, "The largest size of an index file.", at_least(4), scope=CLUSTER_WIDE
    )
    log_index_interval_bytes: int = integer(
        4096, "How many bytes of log lie between two entries of an index.", at_least(0), scope=CLUSTER_WIDE
    )
    log_flush_interval_messages: int = long(
        LONG_MAX,
        "How many records may be written before an fsync is forced.",
        at_least(1),
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    log_flush_interval_ms: int | None = long(
        None,
        "How long written records may wait for an fsync; log.flush.scheduler.interval.ms if not set.",
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    log_flush_scheduler_interval_ms: int = long(
        LONG_MAX, "How often the log is checked for records to fsync.", importance=HIGH
    )
    log_flush_offset_checkpoint_interval_ms: int = integer(
        60_000,
        "How often the recovery point of each partition is written down.",
        at_least(0),
        importance=HIGH,
    )
    log_flush_start_offset_checkpoint_interval_ms: int = integer(
        60_000, "How often the start offset of each partition is written down.", at_least(0), importance=HIGH
    )
    log_segment_delete_delay_ms: int = long(
        60_000,
        "How long a deleted segment stays on disk under its .deleted name.",
        at_least(0),
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    log_preallocate: bool = boolean(
        False, "Whether a new segment's file gets its full size at once.", scope=CLUSTER_WIDE
    )
    log_message_timestamp_type: str = string(
        "CreateTime",
        "Whether a record's timestamp is the producer's (CreateTime) or the broker's (LogAppendTime).",
        TIMESTAMP_TYPE,
        scope=CLUSTER_WIDE,
    )
    log_message_timestamp_before_max_ms: int = long(
        LONG_MAX,
        "How far a record's timestamp may lie before the broker's time.",
        at_least(0),
        scope=CLUSTER_WIDE,
    )
    log_message_timestamp_after_max_ms: int = long(
        3_600_000,
        "How far a record's timestamp may lie after the broker's time.",
        at_least(0),
        scope=CLUSTER_WIDE,
    )
    log_local_retention_ms: int = long(
        -2,
        "How long segments stay on local disk once they are on remote storage; -2 means log.retention.ms.",
        at_least(-2),
        scope=CLUSTER_WIDE,
        effect=NO_EFFECT,
    )
    log_local_retention_bytes: int = long(
        -2,
        "The size kept on local disk when the older part is remote; -2 means log.retention.bytes.",
        at_least(-2),
        scope=CLUSTER_WIDE,
        effect=NO_EFFECT,
    )
    log_initial_task_delay_ms: int = long(
        30_000,
        "How long after the start the first retention check comes.",
        at_least(0),
        importance=LOW,
        internal=True,
    )
    num_recovery_threads_per_data_dir: int = integer(
        2,
        "How many threads per log directory recover and close logs.",
        at_least(1),
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    message_max_bytes: int = integer(
        1_048_588,
        "The largest record batch accepted, after compression.",
        at_least(0),
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    min_insync_replicas: int = integer(
        1,
        "How many replicas must be in sync for a write with acks=all to succeed.",
        at_least(1),
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    compression_type: str = string(
        "producer",
        "The codec that batches are stored with; producer keeps what the producer chose.",
        COMPRESSION_TYPE,
        importance=HIGH,
        scope=CLUSTER_WIDE,
    )
    compression_gzip_level: int = integer(
        -1, "The level used when compression.type is gzip.", GZIP_LEVEL, scope=CLUSTER_WIDE
    )
    compression_lz4_level: int = integer(
        9, "The level used when compression.type is lz4.", between(1, 17), scope=CLUSTER_WIDE
    )
    compression_zstd_level: int = integer(
        3, "The level used when compression.type is zstd.", between(-131_072, 22), scope=CLUSTER_WIDE
    )
    log_cleaner_enable: bool = boolean(True, "Whether compacted topics are compacted.")
    log_cleaner_threads: int = integer(1, "How many threads compact.", at_least(0), scope=CLUSTER_WIDE)
    log_cleaner_backoff_ms: int = long(
        15_000, "How long the cleaner sleeps when nothing is to be cleaned.", at_least(0), scope=CLUSTER_WIDE
    )
    log_cleaner_dedupe_buffer_size: int = long(
        134_217_728, "The memory for the map of keys, over all cleaner threads.", scope=CLUSTER_WIDE
    )
    log_cleaner_io_buffer_size: int = integer(
        524_288,
        "The memory for the cleaner's read and write buffers, over all cleaner threads.",
        at_least(0),
        scope=CLUSTER_WIDE,
    )
    log_cleaner_io_buffer_load_factor: float = double(
        0.9, "How full the map of keys may get before a pass ends.", scope=CLUSTER_WIDE
    )
    log_cleaner_io_max_bytes_per_second: float = double(
        sys.float_info.max,
        "The most bytes that the cleaner reads and writes in a second.",
        scope=CLUSTER_WIDE,
    )
    log_cleaner_delete_retention_ms: int = long(
        86_400_000, "How long compaction keeps tombstones.", at_least(0), scope=CLUSTER_WIDE
    )
    log_cleaner_min_cleanable_ratio: float = double(
        0.5,
        "The share of the log that must be dirty before compaction is worth its work.",
        between(0, 1),
        scope=CLUSTER_WIDE,
    )
    log_cleaner_min_compaction_lag_ms: int = long(
        0, "The shortest time a record stays uncompacted.", at_least(0), scope=CLUSTER_WIDE
    )
    log_cleaner_max_compaction_lag_ms: int = long(
        LONG_MAX,
        "The longest time a record may stay out of reach of compaction.",
        at_least(1),
        scope=CLUSTER_WIDE,
    )
    producer_id_expiration_ms: int = integer(
        86_400_000,
        "How long an idle producer's sequence numbers are remembered.",
        at_least(1),
        importance=LOW,
        scope=CLUSTER_WIDE,
    )
    producer_id_expiration_check_interval_ms: int = integer(
        600_000, "How often idle producers are looked for.", at_least(1), importance=LOW, internal=True
    )
