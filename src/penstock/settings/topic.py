"""The settings of a topic: Kafka's names, types, defaults and bounds.

A topic's own configs override; what it does not set comes from the broker's synonym (`log.retention.hours`
gives `retention.ms`, in its unit), and what has no synonym from the default here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.errors import ConfigError
from penstock.settings.declare import boolean, double, integer, items, long, string
from penstock.settings.kinds import LONG_MAX, Value
from penstock.settings.table import Setting, Synonym, Table, table_of
from penstock.settings.takes import Takes, at_least, between, exactly, one_of, only_items

if TYPE_CHECKING:
    from penstock.settings.broker import BrokerSettings

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

COMPRESSION_TYPE = one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
GZIP_LEVEL = between(1, 9) | exactly(-1)
LZ4_LEVEL = between(1, 17)
ZSTD_LEVEL = between(-131072, 22)
CLEANUP_POLICY = only_items("compact", "delete")
TIMESTAMP_TYPE = one_of("CreateTime", "LogAppendTime")
LEAST_SEGMENT_BYTES = 1024 * 1024

_REPLICA = re.compile(r"[0-9]+:[0-9]+")


def _are_replicas(value: Value) -> bool:
    assert isinstance(value, tuple)
    return value == ("*",) or all(_REPLICA.fullmatch(item) for item in value)


THROTTLED_REPLICAS = Takes("of partition:broker pairs as in 0:1,1:2, or *", _are_replicas)


def _from(*names: str) -> tuple[Synonym, ...]:
    """Synonyms by name; the last word of the name is its unit where milliseconds are meant."""
    factors = {"minutes": MINUTE_MS, "hours": HOUR_MS}
    return tuple(Synonym(name, factors.get(name.rpartition(".")[2], 1)) for name in names)


@dataclass(frozen=True, slots=True)
class TopicSettings:
    cleanup_policy: tuple[str, ...] = items(
        ("delete",),
        "What happens to old segments: delete discards them by time and size, compact keeps the latest value "
        "of each key, both do both, an empty list keeps everything forever.",
        CLEANUP_POLICY,
        broker_synonyms=_from("log.cleanup.policy"),
    )
    compression_type: str = string(
        "producer",
        "The codec that batches are stored with; producer keeps what the producer chose, uncompressed stores "
        "plain records.",
        COMPRESSION_TYPE,
        broker_synonyms=_from("compression.type"),
    )
    compression_gzip_level: int = integer(
        -1,
        "The level used when compression.type is gzip; -1 is the codec's own default.",
        GZIP_LEVEL,
        broker_synonyms=_from("compression.gzip.level"),
    )
    compression_lz4_level: int = integer(
        9,
        "The level used when compression.type is lz4.",
        LZ4_LEVEL,
        broker_synonyms=_from("compression.lz4.level"),
    )
    compression_zstd_level: int = integer(
        3,
        "The level used when compression.type is zstd.",
        ZSTD_LEVEL,
        broker_synonyms=_from("compression.zstd.level"),
    )
    delete_retention_ms: int = long(
        DAY_MS,
        "How long compaction keeps tombstones, and so how long a reader from offset 0 may take to see all.",
        at_least(0),
        broker_synonyms=_from("log.cleaner.delete.retention.ms"),
    )
    file_delete_delay_ms: int = long(
        MINUTE_MS,
        "How long a deleted segment stays on disk under its .deleted name.",
        at_least(0),
        broker_synonyms=_from("log.segment.delete.delay.ms"),
    )
    flush_messages: int = long(
        LONG_MAX,
        "How many records may be written before an fsync is forced; by default the operating system decides.",
        at_least(1),
        broker_synonyms=_from("log.flush.interval.messages"),
    )
    flush_ms: int = long(
        LONG_MAX,
        "How long written records may wait for an fsync; by default the operating system decides. Checked "
        "every log.flush.scheduler.interval.ms.",
        at_least(0),
        broker_synonyms=_from("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    )
    follower_replication_throttled_replicas: tuple[str, ...] = items(
        (),
        "Replicas whose replication is throttled on the follower's side, or * for all of the topic.",
        THROTTLED_REPLICAS,
    )
    leader_replication_throttled_replicas: tuple[str, ...] = items(
        (),
        "Replicas whose replication is throttled on the leader's side, or * for all of the topic.",
        THROTTLED_REPLICAS,
    )
    index_interval_bytes: int = integer(
        4096,
        "How many bytes of log lie between two entries of the offset and time indexes.",
        at_least(0),
        broker_synonyms=_from("log.index.interval.bytes"),
    )
    local_retention_bytes: int = long(
        -2,
        "The size of a partition kept on local disk when its older part is on remote storage; -2 means "
        "retention.bytes.",
        at_least(-2, "-2 for retention.bytes, -1 for no limit"),
        broker_synonyms=_from("log.local.retention.bytes"),
    )
    local_retention_ms: int = long(
        -2,
        "How long segments stay on local disk once they are on remote storage; -2 means retention.ms.",
        at_least(-2, "-2 for retention.ms, -1 for no limit"),
        broker_synonyms=_from("log.local.retention.ms"),
    )
    max_compaction_lag_ms: int = long(
        LONG_MAX,
        "The longest time a record may stay out of reach of compaction.",
        at_least(1),
        broker_synonyms=_from("log.cleaner.max.compaction.lag.ms"),
    )
    max_message_bytes: int = integer(
        1024 * 1024 + 12,
        "The largest record batch accepted, after compression.",
        at_least(0),
        broker_synonyms=_from("message.max.bytes"),
    )
    message_timestamp_after_max_ms: int = long(
        HOUR_MS,
        "How far a record's timestamp may lie after the broker's time; not checked with LogAppendTime.",
        at_least(0),
        broker_synonyms=_from("log.message.timestamp.after.max.ms"),
    )
    message_timestamp_before_max_ms: int = long(
        LONG_MAX,
        "How far a record's timestamp may lie before the broker's time; not checked with LogAppendTime.",
        at_least(0),
        broker_synonyms=_from("log.message.timestamp.before.max.ms"),
    )
    message_timestamp_type: str = string(
        "CreateTime",
        "Whether a record's timestamp is the producer's (CreateTime) or the broker's at append "
        "(LogAppendTime).",
        TIMESTAMP_TYPE,
        broker_synonyms=_from("log.message.timestamp.type"),
    )
    min_cleanable_dirty_ratio: float = double(
        0.5,
        "The share of the log that must be dirty before compaction is worth its work.",
        between(0, 1),
        broker_synonyms=_from("log.cleaner.min.cleanable.ratio"),
    )
    min_compaction_lag_ms: int = long(
        0,
        "The shortest time a record stays uncompacted.",
        at_least(0),
        broker_synonyms=_from("log.cleaner.min.compaction.lag.ms"),
    )
    min_insync_replicas: int = integer(
        1,
        "How many replicas must be in sync for a write with acks=all to succeed.",
        at_least(1),
        broker_synonyms=_from("min.insync.replicas"),
    )
    preallocate: bool = boolean(
        False,
        "Whether a new segment's file gets its full size at once.",
        broker_synonyms=_from("log.preallocate"),
    )
    remote_log_copy_disable: bool = boolean(
        False, "Whether a tiered topic stops copying to remote storage. Without effect: no tiered storage."
    )
    remote_log_delete_on_disable: bool = boolean(
        False,
        "Whether remote data goes when remote storage is switched off. Without effect: no tiered storage.",
    )
    remote_storage_enable: bool = boolean(
        False, "Whether old segments move to remote storage. true is refused: there is no tiered storage."
    )
    retention_bytes: int = long(
        -1,
        "The size a partition may grow to before the delete policy discards its oldest segments.",
        Takes("-1 for no limit", lambda value: True),
        broker_synonyms=_from("log.retention.bytes"),
    )
    retention_ms: int = long(
        7 * DAY_MS,
        "How long the delete policy keeps records.",
        at_least(-1, "-1 for no limit"),
        broker_synonyms=_from("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    )
    segment_bytes: int = integer(
        1024 * 1024 * 1024,
        "The size of a segment's file. Retention and compaction work on whole segments.",
        at_least(LEAST_SEGMENT_BYTES),
        broker_synonyms=_from("log.segment.bytes"),
    )
    segment_index_bytes: int = integer(
        10 * 1024 * 1024,
        "The largest size of an index file; a full index rolls the segment.",
        at_least(4),
        broker_synonyms=_from("log.index.size.max.bytes"),
    )
    segment_jitter_ms: int = long(
        0,
        "The largest random time subtracted from segment.ms, so that segments do not roll all at once.",
        at_least(0),
        broker_synonyms=_from("log.roll.jitter.ms", "log.roll.jitter.hours"),
    )
    segment_ms: int = long(
        7 * DAY_MS,
        "The time after which a segment rolls even when it is not full.",
        at_least(1),
        broker_synonyms=_from("log.roll.ms", "log.roll.hours"),
    )
    unclean_leader_election_enable: bool = boolean(
        False,
        "Whether a replica that is not in sync may lead as a last resort, which can lose data.",
        broker_synonyms=_from("unclean.leader.election.enable"),
    )
    internal_segment_bytes: int | None = integer(
        None,
        "A segment size below the least that segment.bytes takes; for tests.",
        at_least(1),
        internal=True,
    )

    @classmethod
    def from_configs(
        cls, overrides: Mapping[str, str], broker: "BrokerSettings | None" = None, topic: str | None = None
    ) -> "TopicSettings":
        """A topic's settings from its own configs, the broker's synonyms and the defaults."""
        refuse_unknown_names(overrides)
        where = f"topic {topic!r}" if topic is not None else ""
        values: dict[str, Any] = defaults_from(broker) if broker is not None else {}
        values.update(TOPIC_TABLE.parse(overrides, where))
        settings = cls(**values)
        settings._cross_check(where)
        return settings

    @property
    def compact(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def delete(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def segment_size(self) -> int:
        """The size at which a segment rolls."""
        return self.segment_bytes if self.internal_segment_bytes is None else self.internal_segment_bytes

    @property
    def max_segment_ms(self) -> int:
        """The age at which a segment rolls: compaction must reach a record within its largest lag."""
        return min(self.max_compaction_lag_ms, self.segment_ms) if self.compact else self.segment_ms

    def _cross_check(self, where: str) -> None:
        place = f" ({where})" if where else ""
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms:
            raise ConfigError(
                f"min.compaction.lag.ms: got {self.min_compaction_lag_ms}; takes at most "
                f"max.compaction.lag.ms, which is {self.max_compaction_lag_ms}{place}"
            )
        if self.remote_storage_enable:
            raise ConfigError(
                "remote.storage.enable: got 'true'; takes false only: tiered storage is not supported, "
                f"the topic's segments stay in log.dirs{place}"
            )


TOPIC_TABLE: Table = table_of(TopicSettings)


def refuse_unknown_names(configs: Mapping[str, str]) -> None:
    for name in configs:
        if name not in TOPIC_TABLE:
            nearest = TOPIC_TABLE.nearest(name)
            hint = f"; did you mean {nearest}?" if nearest else ""
            raise ConfigError(f"Unknown topic config name: {name}{hint}")


def defaults_from(broker: "BrokerSettings") -> dict[str, Value]:
    """What the broker's settings give a topic that sets nothing itself, by attribute."""
    defaults = ((one.attribute, _default_from(one, broker)) for one in TOPIC_TABLE.values())
    return {attribute: value for attribute, value in defaults if value is not None}


def _default_from(setting: Setting, broker: "BrokerSettings") -> Value:
    for synonym in setting.broker_synonyms:
        value: Value = getattr(broker, synonym.name.replace(".", "_"))
        if value is not None:
            return synonym.convert(value)
    return None
