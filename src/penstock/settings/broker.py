"""The settings of a broker: Kafka's server.properties.

`BrokerSettings` is flat, as server.properties is: `settings.num_partitions` is `num.partitions`. It inherits
the sections, so that a part of the broker that needs only the log's settings can say so in its signature and
still be given the whole.

Every name that Kafka 3.9 (the last with ZooKeeper) or 4.3 knows is accepted. What the broker does not act on
stands in `recognised`. An unknown name warns, a bad value stops the start.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from penstock.settings import broker_checks
from penstock.settings.endpoints import Endpoint, advertise, parse_endpoints, parse_protocol_map
from penstock.settings.recognised import RECOGNISED_PREFIXES, RECOGNISED_TABLE
from penstock.settings.sections.group import GroupSettings
from penstock.settings.sections.log import LogSettings
from penstock.settings.sections.replication import ReplicationSettings
from penstock.settings.sections.server import ServerSettings
from penstock.settings.sections.share import ShareGroupSettings
from penstock.settings.sections.streams import StreamsGroupSettings
from penstock.settings.sections.transaction import TransactionSettings
from penstock.settings.table import Table, UnknownName, table_of


@dataclass(frozen=True)
class BrokerSettings(
    TransactionSettings,
    StreamsGroupSettings,
    ShareGroupSettings,
    GroupSettings,
    ReplicationSettings,
    LogSettings,
    ServerSettings,
):
    """`overrides` is the text that was configured, by name: DescribeConfigs shows it as such."""

    overrides: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_configs(cls, configs: Mapping[str, str], where: str = "") -> "BrokerSettings":
        """`where` ("server.properties") ends the line of an error. Unknown names are left out: see
        `unknown_names`."""
        values: dict[str, Any] = {
            one.attribute: one.parse(configs[name], where)
            for name, one in BROKER_TABLE.items()
            if name in configs
        }
        for name, one in RECOGNISED_TABLE.items():
            if name in configs:
                one.parse(configs[name], where)
        overrides = {**configs}
        if "node.id" in configs:
            values["broker_id"] = broker_checks.broker_id_from_node_id(values)
            overrides["broker.id"] = str(values["broker_id"])
        settings = cls(**values, overrides=overrides)
        broker_checks.check(settings)
        return settings

    @cached_property
    def data_dirs(self) -> tuple[str, ...]:
        """The log's directories: log.dirs, or log.dir where it is not set."""
        return self.log_dir if self.log_dirs is None else self.log_dirs

    @cached_property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Where to listen; the listeners of a KRaft controller are left out."""
        return self._without_controllers(
            parse_endpoints("listeners", self.listeners, self.security_protocols)
        )

    @cached_property
    def advertised_endpoints(self) -> tuple[Endpoint, ...]:
        """What clients are told to connect to; a port of 0 stands for the port that was bound."""
        if self.advertised_listeners is None:
            return tuple(advertise(endpoint) for endpoint in self.endpoints)
        return self._without_controllers(
            parse_endpoints("advertised.listeners", self.advertised_listeners, self.security_protocols)
        )

    def _without_controllers(self, endpoints: tuple[Endpoint, ...]) -> tuple[Endpoint, ...]:
        left_out = {name.upper() for name in self.controller_listener_names or ()}
        return tuple(endpoint for endpoint in endpoints if endpoint.listener_name not in left_out)

    @cached_property
    def security_protocols(self) -> dict[str, str]:
        """The security protocol of each listener name."""
        return parse_protocol_map(self.listener_security_protocol_map)

    @property
    def inter_broker_listener(self) -> str:
        """The name of the listener that brokers use among themselves."""
        return (self.inter_broker_listener_name or self.security_inter_broker_protocol).upper()

    @property
    def zookeeper_connection_wait_ms(self) -> int:
        """How long the start waits for ZooKeeper."""
        return self.zookeeper_connection_timeout_ms or self.zookeeper_session_timeout_ms

    @cached_property
    def max_connections_by_ip(self) -> dict[str, int]:
        """`max.connections.per.ip.overrides`, parsed."""
        return broker_checks.parse_connection_overrides(self.max_connections_per_ip_overrides)


BROKER_TABLE: Table = table_of(BrokerSettings)
ALL_BROKER_SETTINGS = Table([*BROKER_TABLE.values(), *RECOGNISED_TABLE.values()])


def unknown_names(configs: Mapping[str, str]) -> list[str]:
    """One line for each name that Kafka does not know either, with the name that was probably meant."""
    return [f"unknown setting {each.name} is ignored{each.hint}" for each in find_unknown(configs)]


def find_unknown(configs: Iterable[str]) -> list[UnknownName]:
    return [
        UnknownName(name, ALL_BROKER_SETTINGS.nearest(name))
        for name in configs
        if name not in ALL_BROKER_SETTINGS and not name.startswith(RECOGNISED_PREFIXES)
    ]
