"""The keys of the three connectors, as in MirrorMaker 2, and the settings of the clients that they make of them.

A client's settings are those of its cluster (`source.cluster.`, `target.cluster.`), then what all clients of its kind
get (`consumer.`), then what those of its cluster get (`source.consumer.`), each over the ones before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from typing import Any, Final, Literal, cast

from penstock.client.config import AdminConfig, ConsumerConfig, ProducerConfig
from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import (
    REQUIRED,
    ConfigDef,
    ConfigType,
    Importance,
    Validator,
    at_least,
    invalid,
    not_empty,
    one_of,
)
from penstock.pipeline.connect.plugins import ENTRY_POINTS
from penstock.pipeline.mirror.filters import GROUP_KEYS, PROPERTY_KEYS, TOPIC_KEYS
from penstock.pipeline.mirror.policies import DefaultReplicationPolicy, IdentityReplicationPolicy

Side = Literal["source", "target"]
Client = Literal["producer", "consumer", "admin"]
SOURCE: Final = "source"
TARGET: Final = "target"
READ_COMMITTED: Final = "read_committed"
TASK_PARTITIONS, TASK_STARTS = "task.assigned.partitions", "task.start.offsets"
TASK_GROUPS, TASK_INDEX = "task.assigned.groups", "task.index"

_JAVA: Final = "org.apache.kafka.connect.mirror"
_POLICIES: Final[dict[str, type[DefaultReplicationPolicy]]] = {
    f"{_JAVA}.DefaultReplicationPolicy": DefaultReplicationPolicy,
    f"{_JAVA}.IdentityReplicationPolicy": IdentityReplicationPolicy,
    "DefaultReplicationPolicy": DefaultReplicationPolicy,
    "IdentityReplicationPolicy": IdentityReplicationPolicy,
}
"""Others are entry points; nothing is imported because a configuration names it."""

_BOOLEAN, _INT, _SHORT = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.SHORT
_LONG, _STRING, _CLASS = ConfigType.LONG, ConfigType.STRING, ConfigType.CLASS
_Key = tuple[str, ConfigType, Any, Validator | None, str]


def _check_policy(name: str, value: str) -> None:
    _policy_class(value)


def _only(java_name: str) -> Validator:
    def check(name: str, value: str) -> None:
        if value != f"{_JAVA}.{java_name}" and value != java_name:
            raise invalid(name, value, f"only {_JAVA}.{java_name} is there")

    return check


def _keys(rows: Iterable[_Key], importance: Importance = Importance.LOW) -> ConfigDef:
    keys = ConfigDef()
    for name, kind, default, validator, doc in rows:
        keys.define(name, kind, default, validator=validator, doc=doc, importance=importance)
    return keys


_INTERVAL: Final = "in seconds"
_REPLICAS: Final = at_least(-1)
_ALIASES: Final = _keys(
    (
        ("source.cluster.alias", _STRING, REQUIRED, not_empty, "The short name of the cluster to copy from."),
        ("target.cluster.alias", _STRING, TARGET, not_empty, "The short name of the cluster to copy to."),
    ),
    Importance.HIGH,
)
_COMMON: Final = _ALIASES.including(
    _keys(
        (
            ("enabled", _BOOLEAN, True, None, "Whether anything is to be done."),
            (
                "admin.timeout.ms",
                _LONG,
                60_000,
                at_least(0),
                "How long a request to either cluster may take.",
            ),
            (
                "replication.policy.class",
                _CLASS,
                f"{_JAVA}.DefaultReplicationPolicy",
                _check_policy,
                "How copies are named: DefaultReplicationPolicy, IdentityReplicationPolicy, or a class in Python.",
            ),
            (
                "replication.policy.separator",
                _STRING,
                ".",
                not_empty,
                "Between the alias and a topic's name.",
            ),
            (
                "replication.policy.internal.topic.separator.enabled",
                _BOOLEAN,
                True,
                None,
                "Whether it is used in the names of MirrorMaker's own topics, too.",
            ),
        )
    )
)
_FILTERED_BY_TOPIC: Final = _keys(
    (
        (
            "topic.filter.class",
            _CLASS,
            f"{_JAVA}.DefaultTopicFilter",
            _only("DefaultTopicFilter"),
            "Chooses topics; there is the one that `topics` and `topics.exclude` speak to.",
        ),
        (
            "offset-syncs.topic.location",
            _STRING,
            SOURCE,
            one_of(SOURCE, TARGET),
            "The cluster that has the topic of offset syncs: source or target.",
        ),
        (
            "consumer.poll.timeout.ms",
            _LONG,
            1_000,
            at_least(0),
            "How long to wait for records; a second at most.",
        ),
    )
).including(TOPIC_KEYS)

SOURCE_CONFIG: Final = (
    _COMMON.including(_FILTERED_BY_TOPIC)
    .including(PROPERTY_KEYS)
    .including(
        _keys(
            (
                (
                    "config.property.filter.class",
                    _CLASS,
                    f"{_JAVA}.DefaultConfigPropertyFilter",
                    _only("DefaultConfigPropertyFilter"),
                    "Chooses settings of topics; there is the one that `config.properties.exclude` speaks to.",
                ),
                ("refresh.topics.enabled", _BOOLEAN, True, None, "Whether new topics are looked for."),
                ("refresh.topics.interval.seconds", _LONG, 600, at_least(1), f"How often, {_INTERVAL}."),
                ("sync.topic.configs.enabled", _BOOLEAN, True, None, "Whether copies get topics' settings."),
                ("sync.topic.configs.interval.seconds", _LONG, 600, at_least(1), f"How often, {_INTERVAL}."),
                ("sync.topic.acls.enabled", _BOOLEAN, True, None, "Whether copies get topics' ACLs."),
                ("sync.topic.acls.interval.seconds", _LONG, 600, at_least(1), f"How often, {_INTERVAL}."),
                (
                    "replication.factor",
                    _INT,
                    2,
                    _REPLICAS,
                    "Replicas of copies; -1 for the brokers' default.",
                ),
                (
                    "offset-syncs.topic.replication.factor",
                    _SHORT,
                    3,
                    _REPLICAS,
                    "Of the topic of offset syncs.",
                ),
                (
                    "offset.lag.max",
                    _LONG,
                    100,
                    at_least(0),
                    "By how many records a translated offset may lag behind.",
                ),
                ("emit.offset-syncs.enabled", _BOOLEAN, True, None, "Whether offset syncs are written."),
                ("heartbeats.replication.enabled", _BOOLEAN, True, None, "Whether heartbeats are mirrored."),
            )
        )
    )
)
CHECKPOINT_CONFIG: Final = (
    _COMMON.including(_FILTERED_BY_TOPIC)
    .including(GROUP_KEYS)
    .including(
        _keys(
            (
                (
                    "group.filter.class",
                    _CLASS,
                    f"{_JAVA}.DefaultGroupFilter",
                    _only("DefaultGroupFilter"),
                    "Chooses groups; there is the one that `groups` and `groups.exclude` speak to.",
                ),
                ("refresh.groups.enabled", _BOOLEAN, True, None, "Whether new groups are looked for."),
                ("refresh.groups.interval.seconds", _LONG, 600, at_least(1), f"How often, {_INTERVAL}."),
                ("emit.checkpoints.enabled", _BOOLEAN, True, None, "Whether checkpoints are written."),
                ("emit.checkpoints.interval.seconds", _LONG, 60, at_least(1), f"How often, {_INTERVAL}."),
                (
                    "sync.group.offsets.enabled",
                    _BOOLEAN,
                    False,
                    None,
                    "Whether translated offsets are committed in the target, for groups that nobody is in there.",
                ),
                ("sync.group.offsets.interval.seconds", _LONG, 60, at_least(1), f"How often, {_INTERVAL}."),
                (
                    "checkpoints.topic.replication.factor",
                    _SHORT,
                    3,
                    _REPLICAS,
                    "Of the topic of checkpoints.",
                ),
                (
                    "emit.offset-syncs.enabled",
                    _BOOLEAN,
                    True,
                    None,
                    "Whether the source connector writes offset syncs.",
                ),
            )
        )
    )
)
HEARTBEAT_CONFIG: Final = _COMMON.including(
    _keys(
        (
            ("emit.heartbeats.enabled", _BOOLEAN, True, None, "Whether heartbeats are written."),
            ("emit.heartbeats.interval.seconds", _LONG, 1, at_least(1), f"How often, {_INTERVAL}."),
            ("heartbeats.topic.replication.factor", _SHORT, 3, _REPLICAS, "Of the topic of heartbeats."),
        )
    )
)


def _policy_class(name: str) -> type[DefaultReplicationPolicy]:
    if name in _POLICIES:
        return _POLICIES[name]
    for point in entry_points(group=ENTRY_POINTS):
        if name in (point.name, point.value, point.value.replace(":", ".")):
            return cast(type[DefaultReplicationPolicy], point.load())
    raise invalid(
        "replication.policy.class",
        name,
        f"Class {name} could not be found; there are {', '.join(_POLICIES)}, and entry points of {ENTRY_POINTS}",
    )


def replication_policy(configs: Mapping[str, str]) -> DefaultReplicationPolicy:
    return _policy_class(_COMMON.parse(configs)["replication.policy.class"])(configs)


def offset_syncs_topic(configs: Mapping[str, str]) -> tuple[Side, str]:
    """The cluster that has it, and what it is called there: it has the other cluster's alias."""
    parsed = _COMMON.including(_FILTERED_BY_TOPIC).parse(configs)
    side: Side = parsed["offset-syncs.topic.location"]
    other = TARGET if side == SOURCE else SOURCE
    return side, replication_policy(configs).offset_syncs_topic(parsed[f"{other}.cluster.alias"])


# --- clients

_TABLES: Final = {
    "producer": ProducerConfig.TABLE,
    "consumer": ConsumerConfig.TABLE,
    "admin": AdminConfig.TABLE,
}
_CLUSTER_WIDE: Final = ("bootstrap.servers", "security.protocol")
_CLUSTER_WIDE_PREFIXES: Final = ("ssl.", "sasl.")
_OURS: Final = frozenset(
    {"key.serializer", "value.serializer", "key.deserializer", "value.deserializer", "group.id"}
)
_FIXED: Final[dict[Client, dict[str, str]]] = {
    "producer": {},
    "consumer": {"enable.auto.commit": "false"},
    "admin": {},
}
_DEFAULTS: Final[dict[Client, dict[str, str]]] = {
    "producer": {"acks": "all", "enable.idempotence": "true"},
    "consumer": {
        "auto.offset.reset": "earliest",
        "isolation.level": READ_COMMITTED,
        "max.poll.records": "2000",
    },
    "admin": {},
}


def client_configs(configs: Mapping[str, str], side: Side, client: Client, role: str) -> dict[str, str]:
    """ConfigError if nothing says where the cluster is."""
    given = {
        **{name: text for name, text in _within(configs, f"{side}.cluster.").items() if _is_shared(name)},
        **_within(configs, f"{client}."),
        **_within(configs, f"{side}.{client}."),
    }
    if not given.get("bootstrap.servers", "").strip():
        key = f"{side}.cluster.bootstrap.servers"
        raise ConfigError(f'Missing required configuration "{key}" which has no default value.')
    known = {name: text for name, text in given.items() if name not in _OURS and _is_known(client, name)}
    label = f"{configs.get('source.cluster.alias')}->{configs.get('target.cluster.alias', TARGET)}|{role}"
    client_id = {"client.id": f"{known['client.id']}|{label}" if "client.id" in known else label}
    return {**_DEFAULTS[client], **known, **_FIXED[client], **client_id}


def _within(configs: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): text for name, text in configs.items() if name.startswith(prefix)}


def _is_shared(name: str) -> bool:
    return name in _CLUSTER_WIDE or name.startswith(_CLUSTER_WIDE_PREFIXES)


def _is_known(client: Client, name: str) -> bool:
    return _TABLES[client].of_attribute(name.replace(".", "_")) is not None


def missing_clusters(configs: Mapping[str, str], *sides: Side) -> dict[str, list[str]]:
    """For `validate`: the keys of clusters that are not said to be anywhere."""
    found: dict[str, list[str]] = {}
    for side in sides:
        try:
            client_configs(configs, side, "admin", "")
        except ConfigError as error:
            found[f"{side}.cluster.bootstrap.servers"] = [str(error)]
    return found
