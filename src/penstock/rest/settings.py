"""The settings of the REST proxy: Confluent's kafka-rest.properties.

What begins with `client.`, `producer.`, `consumer.` or `admin.` and is none of the proxy's own settings goes to the
Kafka clients without the prefix: `client.` to all of them, the others to those of their kind.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from penstock.errors import ConfigError
from penstock.settings.declare import HIGH, LOW, integer, items, string
from penstock.settings.table import Table, UnknownName, table_of
from penstock.settings.takes import at_least, between
from penstock.web.listeners import Listener, parse_listeners
from penstock.web.settings import WEB_TABLE, WebSettings

ALL_CLIENTS = "client."
INT_MAX = 2**31 - 1
MAX_FETCH_MIN_BYTES = 10_000_000


@dataclass(frozen=True)
class RestSettings:
    listeners: tuple[str, ...] = items(
        ("http://0.0.0.0:8082",),
        "Where the proxy listens: http://host:port or https://host:port, several with commas.",
        importance=HIGH,
    )
    bootstrap_servers: tuple[str, ...] = items(
        (), "The Kafka behind the proxy: host:port, several with commas.", importance=HIGH
    )
    schema_registry_url: str | None = string(
        None, "The Schema Registry for records with schemas.", importance=HIGH
    )
    id: str = string("", "This proxy's name among several; part of the names of v2's consumers.")
    host_name: str | None = string(
        None, "The name in the addresses that answers contain; what the client asked for unless set."
    )
    client_timeout_ms: int = integer(
        10_000, "How long a request waits for Kafka; after that it is answered with 503.", between(1, INT_MAX)
    )
    api_v3_produce_batch_maximum_entries: int = integer(
        1_000, "Records of one request to records:batch at most.", at_least(1)
    )
    api_v3_produce_request_size_limit_max_bytes: int = integer(
        10 * 1024 * 1024, "Bytes of a request, and of one record in a stream of records.", at_least(1)
    )
    api_v3_produce_stream_max_in_flight: int = integer(
        1_000,
        "Records of one stream without an outcome at most; the stream is not read further.",
        at_least(1),
    )
    streaming_connection_max_duration_ms: int = integer(
        86_400_000, "How long one stream of records may last.", at_least(1)
    )
    consumer_request_timeout_ms: int = integer(
        1_000, "How long a request for records waits for them, unless it says.", at_least(0)
    )
    consumer_request_max_timeout_ms: int = integer(
        60_000, "How long a request for records may ask to wait at most.", at_least(0)
    )
    consumer_request_max_bytes: int = integer(
        64 * 1024 * 1024, "Bytes of keys and values in one answer at most.", at_least(1)
    )
    fetch_min_bytes: int = integer(
        -1,
        "How many bytes of records a request to an instance waits for, unless the instance says; -1: for any.",
        between(-1, MAX_FETCH_MIN_BYTES),
        importance=LOW,
    )
    consumer_instance_timeout_ms: int = integer(
        300_000, "A consumer instance that nobody uses for so long is closed.", at_least(1)
    )
    consumer_instances_max: int = integer(
        1_000, "Consumer instances at the same time; more are refused with 429.", at_least(0), importance=LOW
    )
    consumer_event_streams_max: int = integer(
        1_000, "Streams of events at the same time; more are refused with 429.", at_least(0), importance=LOW
    )
    web: WebSettings = field(default_factory=WebSettings)
    configs: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_configs(cls, configs: Mapping[str, str], where: str = "") -> "RestSettings":
        values: dict[str, Any] = {
            one.attribute: one.parse(configs[name], where)
            for name, one in table_of(cls).items()
            if name in configs
        }
        listeners = parse_listeners("listeners", values.get("listeners", cls.listeners))
        settings = cls(**values, web=WebSettings.from_configs(configs, listeners, where), configs=configs)
        if not settings.bootstrap_servers:
            raise ConfigError("bootstrap.servers: missing; give it as host:port[,host:port...]")
        assert settings.endpoints
        return settings

    @cached_property
    def endpoints(self) -> list[Listener]:
        return parse_listeners("listeners", self.listeners)

    @cached_property
    def producer_configs(self) -> dict[str, str]:
        timeout_ms = str(self.client_timeout_ms)
        return {
            "linger.ms": "1",
            "delivery.timeout.ms": timeout_ms,
            "request.timeout.ms": timeout_ms,
            "max.block.ms": timeout_ms,
            # shorter, or a topic that is not there would look like a Kafka that is not
            "topic.metadata.propagation.max.ms": str(max(1, self.client_timeout_ms // 2)),
            **self.client_configs("producer."),
        }

    @cached_property
    def admin_configs(self) -> dict[str, str]:
        timeout_ms = str(self.client_timeout_ms)
        return {
            "client.id": "kafka-rest",
            "default.api.timeout.ms": timeout_ms,
            "request.timeout.ms": timeout_ms,
            **self.client_configs("admin."),
        }

    @cached_property
    def consumer_configs(self) -> dict[str, str]:
        timeout_ms = str(self.client_timeout_ms)
        return {
            "default.api.timeout.ms": timeout_ms,
            "request.timeout.ms": timeout_ms,
            "socket.connection.setup.timeout.ms": timeout_ms,
            **self.client_configs("consumer."),
        }

    def client_configs(self, kind: str) -> dict[str, str]:
        """For Kafka clients of a kind (`producer.`), in Kafka's names."""
        found = {
            name.removeprefix(prefix): text
            for prefix in (ALL_CLIENTS, kind)
            for name, text in self.configs.items()
            if name.startswith(prefix) and name not in REST_TABLE and name not in WITHOUT_EFFECT
        }
        return {**found, "bootstrap.servers": ",".join(self.bootstrap_servers)}


REST_TABLE = Table((*table_of(RestSettings).values(), *WEB_TABLE.values()))
WITHOUT_EFFECT = {
    *(
        "zookeeper.connect",
        "port",
        "debug",
        "max.poll.records",
        "use.custom.request.logging",
    ),
    *("consumer.threads", "consumer.iterator.timeout.ms", "consumer.iterator.backoff.ms", "producer.threads"),
    *("simpleconsumer.pool.size.max", "simpleconsumer.pool.timeout.ms", "client.init.timeout.ms"),
    "streaming.connection.max.duration.grace.period.ms",
}
_PREFIXES_WITHOUT_EFFECT = (
    "ssl.",
    "authentication.",
    "api.",
    "rate.limit.",
    "confluent.",
    "metric",
    "shutdown.",
)
_CLIENT_PREFIXES = (ALL_CLIENTS, "producer.", "consumer.", "admin.", "schema.registry.")


def unknown_names(configs: Mapping[str, str]) -> Iterator[str]:
    """One line for each name that nobody knows, with the name that was probably meant."""
    for each in find_unknown(configs):
        yield f"unknown setting {each.name} is ignored{each.hint}"


def find_unknown(configs: Iterable[str]) -> Iterator[UnknownName]:
    for name in configs:
        if name in REST_TABLE or name in WITHOUT_EFFECT:
            continue
        if not name.startswith(_CLIENT_PREFIXES + _PREFIXES_WITHOUT_EFFECT):
            yield UnknownName(name, REST_TABLE.nearest(name))
