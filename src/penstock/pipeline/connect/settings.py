"""The settings of a Connect worker: Kafka Connect's worker.properties, distributed and standalone.

What begins with `producer.`, `consumer.` or `admin.` goes to the clients of the connectors' tasks without the
prefix; what begins with `spark.` to Spark. `security.protocol`, `sasl.` and `ssl.` are those of the worker's own
clients, and of the tasks' too where they say nothing else. An unknown name warns, a bad value stops the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from penstock.errors import ConfigError
from penstock.settings.declare import HIGH, LOW, boolean, class_name, integer, items, long, string
from penstock.settings.endpoints import name_of_this_machine
from penstock.settings.table import UnknownName, table_of
from penstock.settings.takes import at_least, between, one_of
from penstock.web.listeners import Listener, parse_listeners
from penstock.web.protocol import HeadLimits

SIMPLE_HEADER_CONVERTER = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
INT_MAX = 2**31 - 1
BROKER_DEFAULT = -1
CLIENT_PREFIXES = ("security.", "sasl.", "ssl.")


@dataclass(frozen=True)
class ConnectSettings:
    bootstrap_servers: tuple[str, ...] = items(
        ("localhost:9092",),
        "The Kafka that connectors copy from and to: host:port, several with commas.",
        importance=HIGH,
    )
    group_id: str = string("", "The Connect cluster that this worker belongs to.", importance=HIGH)
    key_converter: str | None = class_name(
        None, "Turns keys into bytes and back, unless a connector says otherwise.", importance=HIGH
    )
    value_converter: str | None = class_name(
        None, "Turns values into bytes and back, unless a connector says otherwise.", importance=HIGH
    )
    header_converter: str = class_name(
        SIMPLE_HEADER_CONVERTER, "Turns headers into bytes and back, unless a connector says otherwise."
    )
    listeners: tuple[str, ...] = items(
        ("http://:8083",), "Where the REST API listens: http://host:port, several with commas."
    )
    rest_advertised_host_name: str | None = string(
        None, "The name by which other workers reach this one; this machine's name unless set."
    )
    rest_advertised_port: int | None = integer(
        None,
        "The port by which other workers reach this one; the first listener's unless set.",
        between(1, 65535),
    )
    admin_listeners: tuple[str, ...] | None = items(
        None, "Where /admin is served; with the rest unless set, nowhere if empty."
    )
    max_request_header_size: int = integer(
        64 * 1024,
        "Bytes of a request's line and headers; more are refused with 431.",
        at_least(1),
        importance=LOW,
    )
    request_header_timeout_ms: int = integer(
        30_000,
        "How long a request's line and headers may take to come; 408 after that.",
        at_least(1),
        importance=LOW,
    )
    request_body_timeout_ms: int = integer(
        30_000,
        "How long a request's body may take to come, and a second more for each 10 KB of it; 408 after that.",
        at_least(1),
        importance=LOW,
    )
    config_storage_topic: str = string("", "The topic of the connectors' configurations.", importance=HIGH)
    config_storage_replication_factor: int = integer(
        3, "Replicas of that topic, if it has to be made; -1 for the brokers' default.", at_least(-1)
    )
    offset_storage_topic: str = string("", "The topic of the source connectors' offsets.", importance=HIGH)
    offset_storage_partitions: int = integer(
        25, "Partitions of that topic, if it has to be made; -1 for the brokers' default.", at_least(-1)
    )
    offset_storage_replication_factor: int = integer(
        3, "Replicas of that topic, if it has to be made; -1 for the brokers' default.", at_least(-1)
    )
    status_storage_topic: str = string("", "The topic of the connectors' and tasks' states.", importance=HIGH)
    status_storage_partitions: int = integer(
        5, "Partitions of that topic, if it has to be made; -1 for the brokers' default.", at_least(-1)
    )
    status_storage_replication_factor: int = integer(
        3, "Replicas of that topic, if it has to be made; -1 for the brokers' default.", at_least(-1)
    )
    program_deploy_enable: bool = boolean(
        False, "Whether /programs takes programs of streams, which are code that runs here.", importance=LOW
    )
    program_storage_topic: str = string(
        "",
        "The topic of deployed programs of streams; the group's id with -programs unless set.",
        importance=LOW,
    )
    program_storage_replication_factor: int = integer(
        -1,
        "Replicas of that topic, if it has to be made; -1 for the brokers' default.",
        at_least(-1),
        importance=LOW,
    )
    offset_storage_file_filename: str | None = string(
        None,
        "Standalone: names the topic of source offsets; see the introduction. No file is written.",
        importance=HIGH,
    )
    offset_flush_interval_ms: int = long(60_000, "How often a sink's offsets are committed.", at_least(1))
    offset_flush_timeout_ms: int = long(5_000, "How long that may take.", at_least(1))
    plugin_path: tuple[str, ...] = items(
        (),
        "Folders, files and importable modules of plugins, beside what installed packages register.",
        importance=LOW,
    )
    config_providers: tuple[str, ...] = items(
        (), "Names of config providers, each with config.providers.<name>.class.", importance=LOW
    )
    connector_client_config_override_policy: str = string(
        "All",
        "Which producer.override., consumer.override. and admin.override. a connector may have.",
        importance=LOW,
    )
    topic_tracking_enable: bool = boolean(
        True, "Whether it is noted which topics a connector uses.", importance=LOW
    )
    topic_tracking_allow_reset: bool = boolean(
        True, "Whether PUT /connectors/{c}/topics/reset is allowed.", importance=LOW
    )
    topic_creation_enable: bool = boolean(
        True, "Whether source connectors with topic.creation. settings make topics.", importance=LOW
    )
    exactly_once_source_support: str = string(
        "enabled",
        "Records and offsets of sources are always written in one transaction; the name is kept for Kafka's files.",
        one_of("disabled", "preparing", "enabled"),
    )
    session_timeout_ms: int = integer(
        10_000,
        "A worker that has not been heard of for so long loses its connectors.",
        at_least(1),
        importance=HIGH,
    )
    heartbeat_interval_ms: int = integer(
        3_000,
        "How often a worker says that it is there; below the session's timeout.",
        at_least(1),
        importance=HIGH,
    )
    rebalance_timeout_ms: int = integer(
        60_000,
        "How long workers may take to let go of connectors that others take over.",
        at_least(1),
        importance=HIGH,
    )
    worker_sync_timeout_ms: int = integer(
        3_000, "How long a request waits until the config topic is read to its end.", at_least(0)
    )
    task_shutdown_graceful_timeout_ms: int = long(
        5_000,
        "How long a connector's tasks get to stop, beyond the tick that they are in.",
        at_least(0),
        importance=LOW,
    )
    data_dir: str = string(
        "/tmp/connect-data",
        "Where Spark keeps checkpoints, scratch files and its log.",
    )
    spark_master: str = string(
        "local[32]",
        "Where tasks run: local[slots] in this process, spark://host:port for a cluster, or any other of Spark's.",
    )
    tick_ms: int = integer(
        3_000,
        "How long tasks copy at a stretch before the worker hears of them; a stop waits for it.",
        between(1, INT_MAX),
    )
    topics_refresh_interval_ms: int = integer(
        5_000,
        "How often it is looked whether a sink's topics have new partitions.",
        at_least(1),
        importance=LOW,
    )
    task_restart_max_retries: int = integer(
        5, "How often a failed task is restarted by itself; 0 for never, -1 without end.", at_least(-1)
    )
    task_restart_backoff_ms: int = long(
        5_000, "The wait before the first restart of a failed task; it doubles each time.", at_least(0)
    )
    task_restart_backoff_max_ms: int = long(300_000, "The longest such wait.", at_least(0))
    configs: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_configs(cls, configs: Mapping[str, str], where: str = "") -> ConnectSettings:
        """Of a distributed worker."""
        settings = cls._parsed(configs, where)
        settings._require("group.id", "config.storage.topic", "offset.storage.topic", "status.storage.topic")
        settings._check()
        return settings

    @classmethod
    def standalone_from_configs(cls, configs: Mapping[str, str], where: str = "") -> ConnectSettings:
        """Of a standalone worker, whose topics are named after its offsets' file."""
        cls._parsed(configs, where)._require("offset.storage.file.filename")
        named = {**standalone_names(configs["offset.storage.file.filename"]), **configs}
        settings = cls._parsed(named, where)
        settings._check()
        return settings

    @classmethod
    def _parsed(cls, configs: Mapping[str, str], where: str) -> ConnectSettings:
        values: dict[str, Any] = {
            one.attribute: one.parse(configs[name], where)
            for name, one in CONNECT_TABLE.items()
            if name in configs
        }
        return cls(**values, configs=dict(configs))

    def _require(self, *names: str) -> None:
        for name in names:
            if not self.configs.get(name, "").strip():
                raise ConfigError(
                    f'{name}: Missing required configuration "{name}" which has no default value.'
                )

    def _check(self) -> None:
        self._require("key.converter", "value.converter")
        for name in ("config", "offset", "status"):
            key = f"{name}.storage.replication.factor"
            if getattr(self, CONNECT_TABLE[key].attribute) == 0:
                raise ConfigError(f"{key}: got '0'; takes a number from 1 on, or -1 for the brokers' default")
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            raise ConfigError(
                f"heartbeat.interval.ms: got {self.heartbeat_interval_ms}, "
                f"takes less than session.timeout.ms ({self.session_timeout_ms})"
            )
        assert self.endpoints

    @cached_property
    def endpoints(self) -> list[Listener]:
        return parse_listeners("listeners", self.listeners)

    @property
    def head_limits(self) -> HeadLimits:
        return HeadLimits(self.max_request_header_size, self.request_header_timeout_ms)

    def advertised_host(self) -> str:
        return self.rest_advertised_host_name or name_of_this_machine()

    @cached_property
    def client_configs(self) -> dict[str, str]:
        """For the worker's own Kafka clients, in Kafka's names."""
        own = {name: text for name, text in self.configs.items() if name.startswith(CLIENT_PREFIXES)}
        return {**own, "bootstrap.servers": ",".join(self.bootstrap_servers)}

    def topic_configs(self, storage: str) -> dict[str, str]:
        """Of `config`, `offset` or `status`: what else begins with `<storage>.storage.`, for the topic."""
        prefix = f"{storage}.storage."
        given = {
            name.removeprefix(prefix): text
            for name, text in self.configs.items()
            if name.startswith(prefix) and name not in CONNECT_TABLE
        }
        return {**given, "cleanup.policy": "compact"}


def standalone_names(filename: str) -> dict[str, str]:
    """The cluster of one that a standalone worker is: Kafka takes letters, digits, dots, dashes and underscores."""
    word = "".join(each if (each.isascii() and each.isalnum()) or each in "._-" else "-" for each in filename)
    name = f"connect-standalone-{word.strip('-.')}"[:200]
    topics = {f"{each}.storage.topic": f"{name}-{each}s" for each in ("config", "offset")}
    replicas = {f"{each}.storage.replication.factor": "-1" for each in ("config", "offset", "status")}
    return {
        "group.id": name,
        **topics,
        "status.storage.topic": f"{name}-status",
        "offset.storage.partitions": "1",
        "status.storage.partitions": "1",
        **replicas,
    }


CONNECT_TABLE = table_of(ConnectSettings)
_WITHOUT_EFFECT = {
    *(
        "client.dns.lookup",
        "client.id",
        "plugin.discovery",
        "connect.protocol",
        "scheduled.rebalance.max.delay.ms",
    ),
    *("worker.unsync.backoff.ms", "rest.advertised.listener", "rest.extension.classes"),
    *("header.converter.plugin.version", "key.converter.plugin.version", "value.converter.plugin.version"),
    *("metadata.max.age.ms", "metadata.recovery.strategy", "metadata.recovery.rebootstrap.trigger.ms"),
    *("retry.backoff.ms", "retry.backoff.max.ms", "request.timeout.ms", "reconnect.backoff.ms"),
    *("reconnect.backoff.max.ms", "connections.max.idle.ms", "send.buffer.bytes", "receive.buffer.bytes"),
    *("socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.max.ms"),
}
_PREFIXES_WITHOUT_EFFECT = (
    "metric",
    "inter.worker.",
    "access.control.",
    "response.http.",
    "listeners.https.",
)
_PASSED_ON = (
    *CLIENT_PREFIXES,
    *("producer.", "consumer.", "admin.", "spark.", "config.providers."),
    *("key.converter.", "value.converter.", "header.converter."),
    *("config.storage.", "offset.storage.", "status.storage."),
)


def warnings_about(configs: Mapping[str, str]) -> Iterator[str]:
    """One line for each name that a worker does not act on."""
    for name in configs:
        if name in CONNECT_TABLE:
            continue
        if name in _WITHOUT_EFFECT or name.startswith(_PREFIXES_WITHOUT_EFFECT):
            yield f"{name}: has no effect on this worker"
        for each in find_unknown([name]):
            yield f"{each.name}: unknown setting, ignored{each.hint}"


def find_unknown(configs: Iterable[str]) -> Iterator[UnknownName]:
    for name in configs:
        is_known = name in CONNECT_TABLE or name in _WITHOUT_EFFECT
        if not is_known and not name.startswith((*_PREFIXES_WITHOUT_EFFECT, *_PASSED_ON)):
            yield UnknownName(name, CONNECT_TABLE.nearest(name))
