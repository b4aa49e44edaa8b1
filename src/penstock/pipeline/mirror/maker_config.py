"""mm2.properties: clusters, and the flows between them.

What a file says for a cluster (`A.bootstrap.servers`), for a flow (`A->B.topics`) or for all (`topics`) becomes the
settings of a Connect worker per flow, which lives in the flow's target, and those of the connectors that it runs. Names
of groups and internal topics are MirrorMaker 2's, so that one can take over from the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from penstock.errors import ConfigError
from penstock.pipeline.connect.connector_config.common import SOURCE_KEYS, common_keys
from penstock.pipeline.connect.settings import CONNECT_TABLE, ConnectSettings
from penstock.pipeline.mirror.configs import CHECKPOINT_CONFIG, HEARTBEAT_CONFIG, SOURCE_CONFIG

BYTES: Final = "org.apache.kafka.connect.converters.ByteArrayConverter"
_JAVA: Final = "org.apache.kafka.connect.mirror"
CONNECTORS: Final = ("MirrorSourceConnector", "MirrorCheckpointConnector", "MirrorHeartbeatConnector")
_SOURCE, _CHECKPOINT, _HEARTBEAT = CONNECTORS
_CLIENTS: Final = ("producer.", "consumer.", "admin.")
_SHARED: Final = ("security.", "ssl.", "sasl.")
_OF_ALL_WORKERS: Final = (
    *("offset.storage", "config.storage", "status.storage", "key.converter", "value.converter"),
    *("header.converter", "task", "worker", "replication.policy", "config.providers", "spark."),
    *("data.dir", "tick.ms", "plugin.path"),
)
_CONNECTOR_KEYS: Final = frozenset(
    key.name
    for keys in (common_keys("4.3.1"), SOURCE_KEYS, SOURCE_CONFIG, CHECKPOINT_CONFIG, HEARTBEAT_CONFIG)
    for key in keys
) - {"name", "connector.class", "enabled", "source.cluster.alias", "target.cluster.alias"}
_HEARTBEATS: Final = "emit.heartbeats.enabled"
DATA_DIR: Final = "/tmp/mirror-maker-data"


class FlowName(NamedTuple):
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"


class MirrorMakerConfig:
    def __init__(self, properties: Mapping[str, str], where: str) -> None:
        """ConfigError says which key of the file `where` is wrong."""
        self._properties, self._where = dict(properties), where
        self.clusters = [each.strip() for each in properties.get("clusters", "").split(",") if each.strip()]
        if not self.clusters:
            raise self._wrong('Missing required configuration "clusters" which has no default value.')
        if twice := {each for each in self.clusters if self.clusters.count(each) > 1}:
            raise self._wrong(f"clusters: names {', '.join(sorted(twice))} more than once")
        for cluster in self.clusters:
            if not properties.get(f"{cluster}.bootstrap.servers", "").strip():
                raise self._wrong(
                    f'Missing required configuration "{cluster}.bootstrap.servers" which has no default value.'
                )
        self._check_flow_names()

    def _wrong(self, message: str) -> ConfigError:
        return ConfigError(f"{self._where}: {message}")

    def _check_flow_names(self) -> None:
        """A flow between clusters that nobody named would silently not be."""
        for name in self._properties:
            source, arrow, rest = name.partition("->")
            target = rest.partition(".")[0]
            for cluster in (source, target) if arrow else ():
                if cluster not in self.clusters:
                    raise self._wrong(
                        f"{name}: {cluster!r} is no cluster; clusters has {', '.join(self.clusters)}"
                    )

    def flows(self, targets: Sequence[str] = ()) -> list[FlowName]:
        """Those that this process has to do with, all unless it is told which targets are near to it. A flow that is
        not enabled is there for its heartbeats, unless these are turned off."""
        for target in targets:
            if target not in self.clusters:
                raise self._wrong(f"--clusters: {target!r} is none of {', '.join(self.clusters)}")
        pairs = [
            FlowName(source, target)
            for source in self.clusters
            for target in self.clusters
            if source != target and (not targets or target in targets)
        ]
        found = [flow for flow in pairs if self.is_enabled(flow) or self._has_heartbeats(flow)]
        if not any(self.is_enabled(flow) for flow in pairs) and (not targets or not found):
            raise self._wrong("No source->target replication flows: none has ->....enabled=true")
        return found

    def is_enabled(self, flow: FlowName) -> bool:
        return self._truth(f"{flow}.enabled", False)

    def _has_heartbeats(self, flow: FlowName) -> bool:
        return self._truth(f"{flow}.{_HEARTBEATS}", self._truth(_HEARTBEATS, True))

    def _truth(self, key: str, default: bool) -> bool:
        text = self._properties.get(key, str(default)).strip().lower()
        if text not in ("true", "false"):
            raise self._wrong(f"{key}: got {text!r}; takes true or false")
        return text == "true"

    # --- workers

    def worker_settings(self, flow: FlowName) -> ConnectSettings:
        common = {name: text for name, text in self._properties.items() if name.startswith(_OF_ALL_WORKERS)}
        topics = {
            f"{each}.storage.topic": f"mm2-{word}.{flow.source}.internal"
            for each, word in (("offset", "offsets"), ("status", "status"), ("config", "configs"))
        }
        own = self._within(f"{flow}.")
        return ConnectSettings.from_configs(
            {
                "group.id": f"{flow.source}-mm2",
                **topics,
                **{f"{each}.converter": BYTES for each in ("key", "value", "header")},
                "listeners": "http://127.0.0.1:0",
                "data.dir": DATA_DIR,
                **self._cluster(flow.target),
                **common,
                **{name: text for name, text in own.items() if name in CONNECT_TABLE},
            },
            f"{self._where}, {flow}",
        )

    def _within(self, prefix: str) -> dict[str, str]:
        return {
            name.removeprefix(prefix): text
            for name, text in self._properties.items()
            if name.startswith(prefix)
        }

    def _cluster(self, alias: str) -> dict[str, str]:
        """What the file says of a cluster, with what it says of security for all."""
        shared = {name: text for name, text in self._properties.items() if name.startswith(_SHARED)}
        return {**shared, **self._within(f"{alias}.")}

    # --- connectors

    def connectors(self, flow: FlowName) -> Iterator[tuple[str, dict[str, str]]]:
        """Name and configuration of each that the flow needs."""
        configs = self._connector_configs(flow)
        if self.is_enabled(flow):
            yield _SOURCE, _of_class(configs, _SOURCE)
            needed = ("emit.checkpoints.enabled", "emit.offset-syncs.enabled")
            if all(configs.get(key, "true").strip().lower() != "false" for key in needed):
                yield _CHECKPOINT, _of_class(configs, _CHECKPOINT)
        if self._has_heartbeats(flow):
            yield _HEARTBEAT, _of_class(configs, _HEARTBEAT)

    def _connector_configs(self, flow: FlowName) -> dict[str, str]:
        common = {
            name: text
            for name, text in self._properties.items()
            if name in _CONNECTOR_KEYS or name.startswith(("replication.policy.", *_CLIENTS))
        }
        return {
            **common,
            **_prefixed("source", self._cluster(flow.source)),
            **_prefixed("target", self._cluster(flow.target)),
            "source.cluster.alias": flow.source,
            "target.cluster.alias": flow.target,
            **self._within(f"{flow}."),
        }


def _of_class(configs: Mapping[str, str], name: str) -> dict[str, str]:
    return {**configs, "name": name, "connector.class": f"{_JAVA}.{name}", "enabled": "true"}


def _prefixed(side: str, cluster: Mapping[str, str]) -> dict[str, str]:
    """`A.producer.acks` is `source.producer.acks` of a connector, and `A.x` is `source.cluster.x`."""
    return {
        f"{side}.{name}" if name.startswith(_CLIENTS) else f"{side}.cluster.{name}": text
        for name, text in cluster.items()
    }
