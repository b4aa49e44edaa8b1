"""The records that the coordinators keep in internal topics, as tables: what `wire/stored/` is generated from.

A record's key begins with its type as an int16 and is never flexible; its value begins with its version as an
int16. The layouts are those of Kafka 4.3, so that each side reads the other's topics.
"""

from dataclasses import dataclass

FOREVER = 99
NO_DEFAULT = object()


@dataclass(frozen=True)
class Column:
    name: str
    kind: str
    since: int = 0
    until: int = FOREVER
    nullable: bool = False
    tag: int | None = None
    default: object = NO_DEFAULT
    struct: "Struct | None" = None


@dataclass(frozen=True)
class Struct:
    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class StoredRecord:
    name: str
    type: int
    key: tuple[Column, ...]
    value: tuple[Column, ...]
    last_version: int = 0
    first_flexible: int = 0


GROUP_ID = Column("group_id", "string")
MEMBER_ID = Column("member_id", "string")
TOPIC_ID = Column("topic_id", "uuid")
PARTITIONS = Column("partitions", "[]int32")
ASSIGNMENT_EPOCH = (
    Column("assignment_epoch", "int32"),
    Column("assignment_timestamp", "int64", tag=0, default=0),
)


def _assignment(name: str, struct: Struct) -> Column:
    return Column(name, "[]struct", struct=struct)


CURRENT_TOPIC_PARTITIONS = Struct(
    "CurrentTopicPartitions",
    (TOPIC_ID, PARTITIONS, Column("assignment_epochs", "[]int32", nullable=True, tag=0, default=None)),
)
TARGET_TOPIC_PARTITIONS = Struct("TargetTopicPartitions", (TOPIC_ID, PARTITIONS))
CURRENT_STATE = (
    Column("member_epoch", "int32"),
    Column("previous_member_epoch", "int32"),
    Column("state", "int8"),
)

CLASSIC_MEMBER = Struct(
    "MemberMetadata",
    (
        MEMBER_ID,
        Column("group_instance_id", "string", since=3, nullable=True, default=None),
        Column("client_id", "string"),
        Column("client_host", "string"),
        Column("rebalance_timeout", "int32", since=1, default=-1),
        Column("session_timeout", "int32"),
        Column("subscription", "bytes"),
        Column("assignment", "bytes"),
    ),
)
CLASSIC_PROTOCOL = Struct("ClassicProtocol", (Column("name", "string"), Column("metadata", "bytes")))
CLASSIC_MEMBER_METADATA = Struct(
    "ClassicMemberMetadata",
    (
        Column("session_timeout_ms", "int32"),
        Column("supported_protocols", "[]struct", struct=CLASSIC_PROTOCOL),
    ),
)
PARTITION_METADATA = Struct("PartitionMetadata", (Column("partition", "int32"), Column("racks", "[]string")))
TOPIC_METADATA = Struct(
    "TopicMetadata",
    (
        TOPIC_ID,
        Column("topic_name", "string"),
        Column("num_partitions", "int32"),
        Column("partition_metadata", "[]struct", struct=PARTITION_METADATA),
    ),
)
OFFSET_KEY = (Column("group", "string"), Column("topic", "string"), Column("partition", "int32"))

GROUP = (
    StoredRecord(
        "LegacyOffsetCommit",
        0,
        OFFSET_KEY,
        (
            Column("offset", "int64"),
            Column("metadata", "string"),
            Column("commit_timestamp", "int64"),
        ),
        first_flexible=1,
    ),
    StoredRecord(
        "OffsetCommit",
        1,
        OFFSET_KEY,
        (
            Column("offset", "int64"),
            Column("leader_epoch", "int32", since=3, default=-1),
            Column("metadata", "string"),
            Column("commit_timestamp", "int64"),
            Column("expire_timestamp", "int64", since=1, until=1, default=-1),
            Column("topic_id", "uuid", since=4, tag=0),
        ),
        last_version=4,
        first_flexible=4,
    ),
    StoredRecord(
        "GroupMetadata",
        2,
        (Column("group", "string"),),
        (
            Column("protocol_type", "string"),
            Column("generation", "int32"),
            Column("protocol", "string", nullable=True),
            Column("leader", "string", nullable=True),
            Column("current_state_timestamp", "int64", since=2, default=-1),
            Column("members", "[]struct", struct=CLASSIC_MEMBER),
        ),
        last_version=4,
        first_flexible=4,
    ),
    StoredRecord(
        "ConsumerGroupMetadata",
        3,
        (GROUP_ID,),
        (Column("epoch", "int32"), Column("metadata_hash", "int64", tag=0, default=0)),
    ),
    StoredRecord(
        "ConsumerGroupPartitionMetadata",
        4,
        (GROUP_ID,),
        (Column("topics", "[]struct", struct=TOPIC_METADATA),),
    ),
    StoredRecord(
        "ConsumerGroupMemberMetadata",
        5,
        (GROUP_ID, MEMBER_ID),
        (
            Column("instance_id", "string", nullable=True),
            Column("rack_id", "string", nullable=True),
            Column("client_id", "string"),
            Column("client_host", "string"),
            Column("subscribed_topic_names", "[]string"),
            Column("subscribed_topic_regex", "string", nullable=True),
            Column("rebalance_timeout_ms", "int32", default=-1),
            Column("server_assignor", "string", nullable=True),
            Column(
                "classic_member_metadata",
                "struct",
                nullable=True,
                tag=0,
                default=None,
                struct=CLASSIC_MEMBER_METADATA,
            ),
        ),
    ),
    StoredRecord("ConsumerGroupTargetAssignmentMetadata", 6, (GROUP_ID,), ASSIGNMENT_EPOCH),
    StoredRecord(
        "ConsumerGroupTargetAssignmentMember",
        7,
        (GROUP_ID, MEMBER_ID),
        (_assignment("topic_partitions", TARGET_TOPIC_PARTITIONS),),
    ),
    StoredRecord(
        "ConsumerGroupCurrentMemberAssignment",
        8,
        (GROUP_ID, MEMBER_ID),
        (
            *CURRENT_STATE,
            _assignment("assigned_partitions", CURRENT_TOPIC_PARTITIONS),
            _assignment("partitions_pending_revocation", CURRENT_TOPIC_PARTITIONS),
        ),
    ),
    StoredRecord(
        "ConsumerGroupRegularExpression",
        16,
        (GROUP_ID, Column("regular_expression", "string")),
        (Column("topics", "[]string"), Column("version", "int64"), Column("timestamp", "int64")),
    ),
)

TOPIC_PARTITIONS_INFO = Struct("TopicPartitionsInfo", (TOPIC_ID, Column("topic_name", "string"), PARTITIONS))
TOPIC_INFO = Struct("TopicInfo", (TOPIC_ID, Column("topic_name", "string")))

SHARE_GROUP = (
    StoredRecord(
        "ShareGroupMemberMetadata",
        10,
        (GROUP_ID, MEMBER_ID),
        (
            Column("rack_id", "string", nullable=True),
            Column("client_id", "string"),
            Column("client_host", "string"),
            Column("subscribed_topic_names", "[]string"),
        ),
    ),
    StoredRecord(
        "ShareGroupMetadata", 11, (GROUP_ID,), (Column("epoch", "int32"), Column("metadata_hash", "int64"))
    ),
    StoredRecord("ShareGroupTargetAssignmentMetadata", 12, (GROUP_ID,), ASSIGNMENT_EPOCH),
    StoredRecord(
        "ShareGroupTargetAssignmentMember",
        13,
        (GROUP_ID, MEMBER_ID),
        (_assignment("topic_partitions", TARGET_TOPIC_PARTITIONS),),
    ),
    StoredRecord(
        "ShareGroupCurrentMemberAssignment",
        14,
        (GROUP_ID, MEMBER_ID),
        (*CURRENT_STATE, _assignment("assigned_partitions", TARGET_TOPIC_PARTITIONS)),
    ),
    StoredRecord(
        "ShareGroupStatePartitionMetadata",
        15,
        (GROUP_ID,),
        (
            Column("initializing_topics", "[]struct", struct=TOPIC_PARTITIONS_INFO),
            Column("initialized_topics", "[]struct", struct=TOPIC_PARTITIONS_INFO),
            Column("deleting_topics", "[]struct", struct=TOPIC_INFO),
        ),
    ),
)

KEY_VALUE = (Column("key", "string"), Column("value", "string"))
SUBTOPOLOGY_ID = Column("subtopology_id", "string")
TARGET_TASK_IDS = Struct("TargetTaskIds", (SUBTOPOLOGY_ID, PARTITIONS))
CURRENT_TASK_IDS = Struct(
    "CurrentTaskIds",
    (SUBTOPOLOGY_ID, PARTITIONS, Column("assignment_epochs", "[]int32", nullable=True, tag=0, default=None)),
)
TOPOLOGY_TOPIC = Struct(
    "TopicInfo",
    (
        Column("name", "string"),
        Column("partitions", "int32"),
        Column("replication_factor", "int16"),
        _assignment("topic_configs", Struct("TopicConfig", KEY_VALUE)),
    ),
)
COPARTITION_GROUP = Struct(
    "CopartitionGroup",
    (
        Column("source_topics", "[]int16"),
        Column("source_topic_regex", "[]int16"),
        Column("repartition_source_topics", "[]int16"),
    ),
)
SUBTOPOLOGY = Struct(
    "Subtopology",
    (
        SUBTOPOLOGY_ID,
        Column("source_topics", "[]string"),
        Column("source_topic_regex", "[]string"),
        _assignment("state_changelog_topics", TOPOLOGY_TOPIC),
        Column("repartition_sink_topics", "[]string"),
        _assignment("repartition_source_topics", TOPOLOGY_TOPIC),
        _assignment("copartition_groups", COPARTITION_GROUP),
    ),
)
TASK_KINDS = ("active_tasks", "standby_tasks", "warmup_tasks")

STREAMS_GROUP = (
    StoredRecord(
        "StreamsGroupMetadata",
        17,
        (GROUP_ID,),
        (
            Column("epoch", "int32"),
            Column("metadata_hash", "int64"),
            Column("validated_topology_epoch", "int32", tag=0, default=-1),
            Column(
                "last_assignment_configs",
                "[]struct",
                nullable=True,
                tag=1,
                default=None,
                struct=Struct("LastAssignmentConfig", KEY_VALUE),
            ),
        ),
    ),
    StoredRecord(
        "StreamsGroupMemberMetadata",
        19,
        (GROUP_ID, MEMBER_ID),
        (
            Column("instance_id", "string", nullable=True),
            Column("rack_id", "string", nullable=True),
            Column("client_id", "string"),
            Column("client_host", "string"),
            Column("rebalance_timeout_ms", "int32", default=-1),
            Column("topology_epoch", "int32"),
            Column("process_id", "string"),
            Column(
                "user_endpoint",
                "struct",
                nullable=True,
                default=None,
                struct=Struct("Endpoint", (Column("host", "string"), Column("port", "uint16"))),
            ),
            _assignment("client_tags", Struct("KeyValue", KEY_VALUE)),
        ),
    ),
    StoredRecord("StreamsGroupTargetAssignmentMetadata", 20, (GROUP_ID,), ASSIGNMENT_EPOCH),
    StoredRecord(
        "StreamsGroupTargetAssignmentMember",
        21,
        (GROUP_ID, MEMBER_ID),
        tuple(_assignment(kind, TARGET_TASK_IDS) for kind in TASK_KINDS),
    ),
    StoredRecord(
        "StreamsGroupCurrentMemberAssignment",
        22,
        (GROUP_ID, MEMBER_ID),
        (
            *CURRENT_STATE,
            *(_assignment(kind, CURRENT_TASK_IDS) for kind in TASK_KINDS),
            *(_assignment(f"{kind}_pending_revocation", CURRENT_TASK_IDS) for kind in TASK_KINDS),
        ),
    ),
    StoredRecord(
        "StreamsGroupTopology",
        23,
        (GROUP_ID,),
        (Column("epoch", "int32"), _assignment("subtopologies", SUBTOPOLOGY)),
    ),
)

TRANSACTION = (
    StoredRecord(
        "TransactionLog",
        0,
        (Column("transactional_id", "string"),),
        (
            Column("producer_id", "int64"),
            Column("previous_producer_id", "int64", since=1, tag=0, default=-1),
            Column("next_producer_id", "int64", since=1, tag=1, default=-1),
            Column("producer_epoch", "int16"),
            Column("next_producer_epoch", "int16", since=1, tag=3, default=-1),
            Column("transaction_timeout_ms", "int32"),
            Column("transaction_status", "int8"),
            Column(
                "transaction_partitions",
                "[]struct",
                nullable=True,
                struct=Struct(
                    "PartitionsSchema", (Column("topic", "string"), Column("partition_ids", "[]int32"))
                ),
            ),
            Column("transaction_last_update_timestamp_ms", "int64"),
            Column("transaction_start_timestamp_ms", "int64"),
            Column("client_transaction_version", "int16", since=1, tag=2, default=0),
        ),
        last_version=1,
        first_flexible=1,
    ),
)

SHARE_KEY = (GROUP_ID, TOPIC_ID, Column("partition", "int32"))
STATE_BATCH = Struct(
    "StateBatch",
    (
        Column("first_offset", "int64"),
        Column("last_offset", "int64"),
        Column("delivery_state", "int8"),
        Column("delivery_count", "int16"),
    ),
)
STATE_BATCHES = Column("state_batches", "[]struct", struct=STATE_BATCH)
DELIVERY_COMPLETE_COUNT = Column("delivery_complete_count", "int32", tag=0, default=-1)

SHARE_STATE = (
    StoredRecord(
        "ShareSnapshot",
        0,
        SHARE_KEY,
        (
            Column("snapshot_epoch", "int32"),
            Column("state_epoch", "int32"),
            Column("leader_epoch", "int32"),
            Column("start_offset", "int64"),
            DELIVERY_COMPLETE_COUNT,
            Column("create_timestamp", "int64"),
            Column("write_timestamp", "int64"),
            STATE_BATCHES,
        ),
    ),
    StoredRecord(
        "ShareUpdate",
        1,
        SHARE_KEY,
        (
            Column("snapshot_epoch", "int32"),
            Column("leader_epoch", "int32"),
            Column("start_offset", "int64"),
            DELIVERY_COMPLETE_COUNT,
            STATE_BATCHES,
        ),
    ),
)

MODULES = {
    "group": GROUP,
    "share_group": SHARE_GROUP,
    "streams_group": STREAMS_GROUP,
    "transaction": TRANSACTION,
    "share_state": SHARE_STATE,
}
