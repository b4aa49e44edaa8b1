"""The settings of a producer."""

from penstock.client.config.common import CALLBACKS, CONNECTION, INT_MAX, MINUTE_MS, SECURITY
from penstock.client.config.native import ALIASES, native_settings
from penstock.client.config.registry import PRODUCER_REGISTRY
from penstock.client.config.setting import ClientSetting, ClientTable, Native
from penstock.client.config.without_effect import settings_without_effect
from penstock.settings.kinds import Kind
from penstock.settings.takes import NOT_EMPTY, Takes, at_least, between, exactly, one_of

_SERIALIZER_WORDS = (
    "a serializer, its name (string, bytes, integer, long, double, uuid, json, avro, jsonschema, protobuf), "
    "or a function"
)
_SERIALIZER_TYPE = "SerializerSpec"

_OWN = (
    ClientSetting(
        "key.serializer",
        None,
        None,
        "How keys become bytes. Default: bytes stay as they are, text becomes UTF-8.",
        librdkafka=Native.NONE,
        static_type=_SERIALIZER_TYPE,
        words=_SERIALIZER_WORDS,
    ),
    ClientSetting(
        "value.serializer",
        None,
        None,
        "How values become bytes. Default: bytes stay as they are, text becomes UTF-8.",
        librdkafka=Native.NONE,
        static_type=_SERIALIZER_TYPE,
        words=_SERIALIZER_WORDS,
    ),
    ClientSetting(
        "acks",
        Kind.STRING,
        "all",
        "Who must have a record before it counts as sent: nobody (0), the leader (1), all replicas in sync (all).",
        one_of("all", "-1", "0", "1"),
        static_type='Literal["all", "-1", "0", "1", -1, 0, 1]',
    ),
    ClientSetting(
        "enable.idempotence",
        Kind.BOOLEAN,
        True,
        "Whether a retry can never write a record twice, or out of order. Off by itself where acks, retries or "
        "max.in.flight.requests.per.connection do not allow it.",
    ),
    ClientSetting(
        "linger.ms",
        Kind.DOUBLE,
        5.0,
        "How long a record waits for others to share its batch.",
        between(0, 900_000),
    ),
    ClientSetting(
        "batch.size",
        Kind.INT,
        1_000_000,
        "The size at which a batch is sent without waiting. Kafka's Java client has 16384; here nothing is "
        "reserved for a batch beforehand, so that a larger one costs nothing.",
        between(1, INT_MAX),
    ),
    ClientSetting(
        "compression.type",
        Kind.STRING,
        "none",
        "The codec of batches.",
        one_of("none", "gzip", "snappy", "lz4", "zstd"),
    ),
    ClientSetting(
        "compression.gzip.level",
        Kind.INT,
        -1,
        "The level of gzip; -1 is the codec's own default.",
        between(1, 9) | exactly(-1),
        Native.NONE,
    ),
    ClientSetting(
        "compression.lz4.level",
        Kind.INT,
        9,
        "The level of lz4, at most 12 here.",
        between(1, 17),
        Native.NONE,
    ),
    ClientSetting(
        "compression.zstd.level",
        Kind.INT,
        3,
        "The level of zstd, at most 12 here.",
        between(-131072, 22),
        Native.NONE,
    ),
    ClientSetting(
        "buffer.memory",
        Kind.LONG,
        32 * 1024 * 1024,
        "Bytes of records that may wait to be sent; `queue.buffering.max.messages` bounds their number.",
        at_least(1024),
        Native.NONE,
    ),
    ClientSetting(
        "max.block.ms",
        Kind.LONG,
        MINUTE_MS,
        "How long `send` waits for room in the buffer, and for metadata where a partitioner needs it.",
        at_least(0),
        Native.NONE,
    ),
    ClientSetting(
        "delivery.timeout.ms",
        Kind.INT,
        2 * MINUTE_MS,
        "How long a record may take until it is acknowledged, retries included; 0 for no limit.",
        at_least(0),
    ),
    ClientSetting(
        "retries",
        Kind.INT,
        INT_MAX,
        "How often a record is sent again before it fails, within delivery.timeout.ms.",
        at_least(0),
    ),
    ClientSetting(
        "max.in.flight.requests.per.connection",
        Kind.INT,
        5,
        "How many requests a connection carries that are not answered yet; more than 5 without idempotence only.",
        between(1, 1_000_000),
    ),
    ClientSetting(
        "max.request.size",
        Kind.INT,
        1024 * 1024,
        "The largest request, and so the largest record.",
        between(1_000, 1_000_000_000),
        "message.max.bytes",
    ),
    ClientSetting(
        "partitioner.class",
        None,
        None,
        "Who picks the partition of a record that names none. Default: by murmur2 of the key as Java's client; "
        "records without a key stick to one partition at a time.",
        librdkafka=Native.NONE,
        static_type="PartitionerSpec",
        words="a Partitioner, a function of topic, key, value and the number of partitions, or a name: "
        "default, round_robin, or Kafka's RoundRobinPartitioner",
    ),
    ClientSetting(
        "partitioner.ignore.keys",
        Kind.BOOLEAN,
        False,
        "Whether records with a key are spread like those without.",
        librdkafka=Native.NONE,
    ),
    ClientSetting(
        "transactional.id",
        Kind.STRING,
        None,
        "The name under which this producer's transactions go on after a restart; it locks out an earlier one.",
        NOT_EMPTY,
    ),
    ClientSetting(
        "transaction.timeout.ms",
        Kind.INT,
        MINUTE_MS,
        "How long a transaction may stay open before the broker aborts it.",
        between(1_000, INT_MAX),
    ),
    ClientSetting(
        "on.delivery",
        None,
        None,
        "Called with metadata and error of every record sent by `send`: one of the two is None.",
        Takes("", callable),
        Native.NONE,
        static_type="DeliveryCallback | None",
        words="a function of metadata and error",
    ),
)

PRODUCER_TABLE = ClientTable(
    (
        *CONNECTION,
        *_OWN,
        *SECURITY,
        *CALLBACKS,
        *native_settings("P"),
        *PRODUCER_REGISTRY,
        *settings_without_effect("P"),
    ),
    ALIASES,
)
