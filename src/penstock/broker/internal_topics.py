"""The topics that coordinators keep their state in: which key belongs to which partition, and how they are made.

One is made when it is first asked for, with as many replicas as its setting says: with fewer, what coordinators have
acknowledged could be lost with one broker for as long as the topic lives. As long as there are fewer brokers, which may
be about to start, clients are told COORDINATOR_NOT_AVAILABLE, and ask again; the log says why.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from penstock.broker.topic_creation import TopicCreation
from penstock.controller.image import BrokerImage
from penstock.controller.placement import racks_to_fill
from penstock.errors import ApiError, ErrorCode
from penstock.java_hash import java_hash
from penstock.settings.broker import BrokerSettings

INT_MIN = -(1 << 31)
"""Has no absolute value in Java; Kafka takes 0 for it."""
KEYS_REMEMBERED = 4096
"""For how many keys the partition is not worked out anew with every request."""
LONGEST_KEY_REMEMBERED = 500


def partition_for(key: str, count: int) -> int:
    return _remembered(key, count) if len(key) <= LONGEST_KEY_REMEMBERED else _partition_for(key, count)


def _partition_for(key: str, count: int) -> int:
    code = java_hash(key)
    return 0 if code == INT_MIN else abs(code) % count


_remembered = lru_cache(maxsize=KEYS_REMEMBERED)(_partition_for)


@dataclass(frozen=True)
class InternalTopic:
    name: str
    partitions: Callable[[BrokerSettings], int]
    replicas: Callable[[BrokerSettings], int]
    replicas_key: str
    """The setting that says how many."""
    configs: Callable[[BrokerSettings, int], dict[str, str]]
    """Of the settings and the number of replicas that it gets."""

    async def create(
        self, settings: BrokerSettings, brokers: Mapping[int, BrokerImage], topics: TopicCreation
    ) -> None:
        """COORDINATOR_NOT_AVAILABLE if it can't be made just now, with the reason."""
        replicas, alive = self.replicas(settings), len(racks_to_fill(brokers))
        try:
            if alive < replicas:
                raise ApiError(
                    ErrorCode.INVALID_REPLICATION_FACTOR,
                    f"{self.replicas_key} is {replicas}; brokers that can have replicas: {alive}",
                )
            configs = self.configs(settings, replicas)
            await topics.create(self.name, self.partitions(settings), replicas, configs)
        except ApiError as error:
            raise ApiError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE, f"the topic {self.name} can't be created: {error}"
            ) from error


def _codec_name(codec: int) -> str:
    return ("producer", "gzip", "snappy", "lz4", "zstd")[codec]


CONSUMER_OFFSETS = InternalTopic(
    "__consumer_offsets",
    lambda settings: settings.offsets_topic_num_partitions,
    lambda settings: settings.offsets_topic_replication_factor,
    "offsets.topic.replication.factor",
    lambda settings, replicas: {
        "cleanup.policy": "compact",
        "segment.bytes": str(settings.offsets_topic_segment_bytes),
        "compression.type": _codec_name(settings.offsets_topic_compression_codec),
    },
)
TRANSACTION_STATE = InternalTopic(
    "__transaction_state",
    lambda settings: settings.transaction_state_log_num_partitions,
    lambda settings: settings.transaction_state_log_replication_factor,
    "transaction.state.log.replication.factor",
    lambda settings, replicas: {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "unclean.leader.election.enable": "false",
        "min.insync.replicas": str(min(settings.transaction_state_log_min_isr, replicas)),
        "segment.bytes": str(settings.transaction_state_log_segment_bytes),
    },
)
SHARE_GROUP_STATE = InternalTopic(
    "__share_group_state",
    lambda settings: settings.share_coordinator_state_topic_num_partitions,
    lambda settings: settings.share_coordinator_state_topic_replication_factor,
    "share.coordinator.state.topic.replication.factor",
    lambda settings, replicas: {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "segment.bytes": str(settings.share_coordinator_state_topic_segment_bytes),
        "min.insync.replicas": str(min(settings.share_coordinator_state_topic_min_isr, replicas)),
        "retention.ms": "-1",
    },
)
