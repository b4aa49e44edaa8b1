"""The settings of a consumer."""

from penstock.client.config.common import (
    CALLBACKS,
    CLIENT_RACK,
    CONNECTION,
    DEFAULT_API_TIMEOUT,
    INT_MAX,
    MINUTE_MS,
    SECURITY,
)
from penstock.client.config.native import ALIASES, native_settings
from penstock.client.config.registry import CONSUMER_REGISTRY
from penstock.client.config.setting import ClientSetting, ClientTable, Native
from penstock.client.config.without_effect import settings_without_effect
from penstock.settings.kinds import Kind
from penstock.settings.takes import NOT_EMPTY, between, one_of, one_of_any_case

_DESERIALIZER_WORDS = (
    "a deserializer, its name (string, bytes, integer, long, double, uuid, json, avro, jsonschema, protobuf), "
    "or a function"
)

_OWN = (
    ClientSetting(
        "key.deserializer",
        None,
        None,
        "What keys become. Default: bytes.",
        librdkafka=Native.NONE,
        static_type="DeserializerSpec",
        words=_DESERIALIZER_WORDS,
    ),
    ClientSetting(
        "value.deserializer",
        None,
        None,
        "What values become. Default: bytes.",
        librdkafka=Native.NONE,
        static_type="DeserializerSpec",
        words=_DESERIALIZER_WORDS,
    ),
    ClientSetting(
        "group.id",
        Kind.STRING,
        None,
        "The group that shares the partitions of its topics; needed to subscribe and to commit.",
        NOT_EMPTY,
    ),
    ClientSetting(
        "group.instance.id",
        Kind.STRING,
        None,
        "A name that this member keeps over restarts, so that these do not move partitions around.",
        NOT_EMPTY,
    ),
    ClientSetting(
        "group.protocol",
        Kind.STRING,
        "classic",
        "How the group agrees: among its members (classic), or by the broker (consumer, KIP-848).",
        one_of_any_case("classic", "consumer"),
        static_type='Literal["classic", "consumer"]',
    ),
    ClientSetting(
        "group.remote.assignor",
        Kind.STRING,
        None,
        "The broker's assignor, with group.protocol=consumer: uniform or range. Default: the broker's choice.",
    ),
    ClientSetting(
        "partition.assignment.strategy",
        Kind.LIST,
        ("range",),
        "The assignors that this member offers, with group.protocol=classic: range, roundrobin, or cooperative-sticky "
        "(which goes with no other), or the names of Kafka's classes.",
        NOT_EMPTY,
    ),
    ClientSetting(
        "session.timeout.ms",
        Kind.INT,
        45_000,
        "A member that was not heard of for so long is out, with group.protocol=classic.",
        between(1, 3_600_000),
    ),
    ClientSetting(
        "heartbeat.interval.ms",
        Kind.INT,
        3_000,
        "How often a member makes itself heard, with group.protocol=classic.",
        between(1, 3_600_000),
    ),
    ClientSetting(
        "max.poll.interval.ms",
        Kind.INT,
        5 * MINUTE_MS,
        "A member that does not poll for so long is taken to be stuck, and its partitions go to others.",
        between(1, 86_400_000),
    ),
    ClientSetting(
        "max.poll.records",
        Kind.INT,
        500,
        "How many records one `poll` returns at most.",
        between(1, INT_MAX),
        Native.NONE,
    ),
    ClientSetting(
        "auto.offset.reset",
        Kind.STRING,
        "latest",
        "Where to start where the group has committed nothing, or what it committed is gone; none raises an error.",
        one_of("earliest", "latest", "none"),
    ),
    ClientSetting(
        "enable.auto.commit",
        Kind.BOOLEAN,
        True,
        "Whether offsets are committed by themselves. A record's is when the next poll shows that it was processed.",
    ),
    ClientSetting(
        "auto.commit.interval.ms",
        Kind.INT,
        5_000,
        "How often that is done.",
        between(0, 86_400_000),
    ),
    ClientSetting(
        "isolation.level",
        Kind.STRING,
        "read_uncommitted",
        "Whether records of transactions that are open or were aborted are seen.",
        one_of("read_committed", "read_uncommitted"),
    ),
    ClientSetting(
        "fetch.min.bytes",
        Kind.INT,
        1,
        "How many bytes make it worth answering a fetch before fetch.max.wait.ms.",
        between(0, INT_MAX),
    ),
    ClientSetting(
        "fetch.max.bytes",
        Kind.INT,
        50 * 1024 * 1024,
        "How many bytes one fetch brings at most.",
        between(0, 2_147_483_135),
    ),
    ClientSetting(
        "fetch.max.wait.ms",
        Kind.INT,
        500,
        "How long the broker keeps a fetch that has too little to bring.",
        between(0, 300_000),
        "fetch.wait.max.ms",
    ),
    ClientSetting(
        "max.partition.fetch.bytes",
        Kind.INT,
        1024 * 1024,
        "How many of these bytes may be of one partition.",
        between(1, 1_000_000_000),
    ),
    ClientSetting(
        "check.crcs",
        Kind.BOOLEAN,
        True,
        "Whether the checksums of batches are checked.",
    ),
    ClientSetting(
        "exclude.internal.topics",
        Kind.BOOLEAN,
        True,
        "Whether a subscribed pattern leaves topics alone whose names begin with two underscores.",
        librdkafka=Native.NONE,
    ),
    ClientSetting(
        "allow.auto.create.topics",
        Kind.BOOLEAN,
        True,
        "Whether subscribing may create a topic, if the broker does so.",
    ),
    CLIENT_RACK,
    DEFAULT_API_TIMEOUT,
)

CONSUMER_TABLE = ClientTable(
    (
        *CONNECTION,
        *_OWN,
        *SECURITY,
        *CALLBACKS,
        *native_settings("C"),
        *CONSUMER_REGISTRY,
        *settings_without_effect("C"),
    ),
    ALIASES,
)
