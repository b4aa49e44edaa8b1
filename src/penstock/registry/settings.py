"""The settings of a registry: Confluent's schema-registry.properties.

Settings that begin with `kafkastore.` and are none of the registry's own go to its Kafka clients without the prefix:
`kafkastore.security.protocol` is their `security.protocol`. Those that begin with `kafkastore.topic.config.` are
configs of the topic, if it has to be made. An unknown name warns, a bad value stops the start.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from penstock.errors import ConfigError
from penstock.settings.declare import HIGH, LOW, boolean, integer, items, string
from penstock.settings.endpoints import name_of_this_machine
from penstock.settings.table import Table, UnknownName, table_of
from penstock.settings.takes import at_least, between, one_of, one_of_any_case
from penstock.web.listeners import HTTP, HTTPS, Listener, parse_listeners
from penstock.web.settings import WEB_TABLE, WebSettings

COMPATIBILITY_LEVELS = (
    *("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"),
)
CLIENT_PREFIX = "kafkastore."
TOPIC_CONFIG_PREFIX = "kafkastore.topic.config."
INT_MAX = 2**31 - 1


@dataclass(frozen=True)
class RegistrySettings:
    listeners: tuple[str, ...] = items(
        ("http://0.0.0.0:8081",),
        "Where the registry listens: http://host:port or https://host:port, several with commas.",
        importance=HIGH,
    )
    host_name: str | None = string(
        None,
        "The name by which other registries reach this one; this machine's name unless set.",
        importance=HIGH,
    )
    host_port: int | None = integer(
        None,
        "The port by which other registries reach this one; the first listener's unless set.",
        between(1, 65535),
    )
    kafkastore_bootstrap_servers: tuple[str, ...] = items(
        (), "The Kafka that keeps the schemas: host:port, several with commas.", importance=HIGH
    )
    kafkastore_topic: str = string("_schemas", "The topic that keeps the schemas.", importance=HIGH)
    kafkastore_topic_replication_factor: int = integer(
        3,
        "Replicas of the topic, if it has to be made; fewer if there are fewer brokers.",
        at_least(1),
        importance=HIGH,
    )
    kafkastore_topic_skip_validation: bool = boolean(
        False, "Neither make the topic nor check its partitions and cleanup.policy.", importance=LOW
    )
    kafkastore_timeout_ms: int = integer(
        5_000, "How long a write may take; after that its outcome is unknown (error 50002).", at_least(1)
    )
    kafkastore_init_timeout_ms: int = integer(
        60_000,
        "How long a write waits at the start for the first leader and for its transactions; attempts go on.",
        at_least(1),
    )
    schema_registry_group_id: str = string(
        "schema-registry", "The group in which registries elect their leader.", importance=HIGH
    )
    kafkagroup_session_timeout_ms: int = integer(
        10_000, "A registry that has not been heard of for so long loses the lead.", at_least(1)
    )
    kafkagroup_heartbeat_interval_ms: int = integer(
        3_000,
        "How often a registry says that it is there; below a third of the session's timeout.",
        at_least(1),
    )
    kafkagroup_rebalance_timeout_ms: int = integer(
        300_000, "How long an election waits for those who were in the group before.", at_least(1)
    )
    leader_eligibility: bool = boolean(True, "Whether this registry may lead.")
    leader_election_sticky: bool = boolean(
        False, "Whether the leader stays, even if a registry with a smaller address joins."
    )
    leader_connect_timeout_ms: int = integer(60_000, "For connecting to the leader.", at_least(1))
    leader_read_timeout_ms: int = integer(60_000, "For the leader's answer to a write.", at_least(1))
    schema_compatibility_level: str = string(
        "backward",
        "The level where nothing else is set.",
        one_of_any_case(*COMPATIBILITY_LEVELS),
        importance=HIGH,
    )
    mode_mutability: bool = boolean(True, "Whether PUT and DELETE /mode are allowed.")
    schema_validate_fields: bool = boolean(False, "Whether names of fields must not begin with $$.")
    schema_validate_new_schemas: bool = boolean(True, "Whether new schemas are read strictly.")
    schema_reject_empty_subject: bool = boolean(False, "Whether an empty subject is refused.")
    schema_search_default_limit: int = integer(1_000, "Schemas of GET /schemas without `limit`.", at_least(0))
    schema_search_max_limit: int = integer(1_000, "Schemas of GET /schemas at most.", at_least(0))
    subject_search_default_limit: int = integer(
        INT_MAX, "Subjects of GET /subjects without `limit`.", at_least(0)
    )
    subject_search_max_limit: int = integer(INT_MAX, "Subjects of GET /subjects at most.", at_least(0))
    subject_version_search_default_limit: int = integer(
        INT_MAX, "Versions of GET /subjects/{subject}/versions without `limit`.", at_least(0)
    )
    subject_version_search_max_limit: int = integer(
        INT_MAX, "Versions of GET /subjects/{subject}/versions at most.", at_least(0)
    )
    context_search_default_limit: int = integer(
        INT_MAX, "Contexts of GET /contexts without `limit`.", at_least(0)
    )
    context_search_max_limit: int = integer(INT_MAX, "Contexts of GET /contexts at most.", at_least(0))
    size_limit_filter_max_request_body_size: int = integer(
        10 * 1024 * 1024, "Bytes of a request's body; a larger one is refused unread.", at_least(1)
    )
    schema_registry_inter_instance_protocol: str | None = string(
        None,
        "How other registries reach this one: through its first listener of http or https. Any unless set.",
        one_of(HTTP, HTTPS),
    )
    web: WebSettings = field(default_factory=WebSettings)
    configs: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_configs(cls, configs: Mapping[str, str], where: str = "") -> "RegistrySettings":
        given = {_RENAMED.get(name, name): text for name, text in configs.items()}
        values: dict[str, Any] = {
            one.attribute: one.parse(given[name], where)
            for name, one in table_of(cls).items()
            if name in given
        }
        listeners = parse_listeners("listeners", values.get("listeners", cls.listeners))
        web = WebSettings.from_configs(given, listeners, where)
        settings = cls(**values, web=web, configs=given)
        settings._check()
        return settings

    def _check(self) -> None:
        if not self.kafkastore_bootstrap_servers:
            raise ConfigError("kafkastore.bootstrap.servers: missing; give it as host:port[,host:port...]")
        if self.kafkagroup_heartbeat_interval_ms >= self.kafkagroup_session_timeout_ms:
            raise ConfigError(
                f"kafkagroup.heartbeat.interval.ms: got {self.kafkagroup_heartbeat_interval_ms}, "
                f"takes less than kafkagroup.session.timeout.ms ({self.kafkagroup_session_timeout_ms})"
            )
        assert self.reached_through(self.endpoints)

    def reached_through(self, listeners: Sequence[Listener]) -> Listener:
        """Which of its listeners other registries are told."""
        wanted = self.schema_registry_inter_instance_protocol
        found = next((each for each in listeners if wanted in (None, each.scheme)), None)
        if found is None:
            raise ConfigError(
                f"schema.registry.inter.instance.protocol: got {wanted}; takes that of one of the listeners"
            )
        return found

    @cached_property
    def endpoints(self) -> list[Listener]:
        return parse_listeners("listeners", self.listeners)

    def advertised_host(self) -> str:
        return self.host_name or name_of_this_machine()

    @cached_property
    def client_configs(self) -> dict[str, str]:
        """For the Kafka clients, in Kafka's names."""
        own = {
            name.removeprefix(CLIENT_PREFIX): text
            for name, text in self.configs.items()
            if name.startswith(CLIENT_PREFIX)
            and name not in REGISTRY_TABLE
            and not name.startswith(TOPIC_CONFIG_PREFIX)
        }
        return {**own, "bootstrap.servers": ",".join(self.kafkastore_bootstrap_servers)}

    @cached_property
    def topic_configs(self) -> dict[str, str]:
        given = {
            name.removeprefix(TOPIC_CONFIG_PREFIX): text
            for name, text in self.configs.items()
            if name.startswith(TOPIC_CONFIG_PREFIX)
        }
        return {**given, "cleanup.policy": "compact"}


REGISTRY_TABLE = Table((*table_of(RegistrySettings).values(), *WEB_TABLE.values()))
_RENAMED = {
    "master.eligibility": "leader.eligibility",
    "avro.compatibility.level": "schema.compatibility.level",
    "inter.instance.protocol": "schema.registry.inter.instance.protocol",
}
_WITHOUT_EFFECT = {
    *("schema.cache.size", "schema.cache.expiry.secs", "schema.canonicalize.on.consume", "debug"),
    *(
        "size.limit.filter.enabled",
        "kafkastore.write.max.retries",
        "kafkastore.group.id",
        "leader.election.delay",
    ),
    *("kafkastore.checkpoint.dir", "kafkastore.checkpoint.version", "kafkastore.init.wait.for.reader"),
    *("inter.instance.headers.whitelist", "enable.store.health.check", "associations.enable"),
    *("response.mediatype.default", "response.mediatype.preferred", "resource.static.locations"),
}
_PREFIXES_WITHOUT_EFFECT = (
    *(
        "ssl.",
        "authentication.",
        "access.control.",
        "metric",
        "metadata.encoder.",
        "request.logger.",
        "confluent.",
    ),
    *("listener.", "response.http.", "shutdown.", "thread.pool.", "websocket.", "schema.registry.resource."),
    *(
        "resource.extension.",
        "enable.fips",
        "schema.providers",
        "idle.timeout",
        "compression.enable",
        "csrf.",
    ),
)


def warnings_about(configs: Mapping[str, str]) -> Iterator[str]:
    """One line for each name that this registry does not act on."""
    for name in configs:
        if name in REGISTRY_TABLE or name in _RENAMED or name in _WITHOUT_EFFECT:
            continue
        if name.startswith(_PREFIXES_WITHOUT_EFFECT):
            yield f"{name}: has no effect on this registry"
        for each in find_unknown([name]):
            yield f"{each.name}: unknown setting, ignored{each.hint}"


def find_unknown(configs: Iterable[str]) -> Iterator[UnknownName]:
    for name in configs:
        is_known = name in REGISTRY_TABLE or name in _RENAMED or name in _WITHOUT_EFFECT
        if not is_known and not name.startswith((*_PREFIXES_WITHOUT_EFFECT, CLIENT_PREFIX)):
            yield UnknownName(name, REGISTRY_TABLE.nearest(name))
