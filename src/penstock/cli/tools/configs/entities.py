"""What has configs, in the words of kafka-configs: `--entity-type topics --entity-name orders`, or `--topic orders`."""

from __future__ import annotations

from typing import NamedTuple

from penstock.cli.options.joptsimple import OptionSet

TOPICS = "topics"
CLIENTS = "clients"
USERS = "users"
BROKERS = "brokers"
IPS = "ips"
CLIENT_METRICS = "client-metrics"
GROUPS = "groups"
BROKER_LOGGERS = "broker-loggers"

ENTITY_TYPES = (TOPICS, CLIENTS, USERS, BROKERS, IPS, CLIENT_METRICS, GROUPS, BROKER_LOGGERS)
RESOURCES = (TOPICS, BROKERS, BROKER_LOGGERS, CLIENT_METRICS, GROUPS)
WITH_DEFAULTS = (USERS, CLIENTS, BROKERS, IPS)
DEFAULT_NAME = ""

NAME_FLAGS = {
    "topic": TOPICS,
    "client": CLIENTS,
    "user": USERS,
    "broker": BROKERS,
    "broker-logger": BROKER_LOGGERS,
    "ip": IPS,
    "client-metrics": CLIENT_METRICS,
    "group": GROUPS,
}
DEFAULT_FLAGS = {
    "client-defaults": CLIENTS,
    "user-defaults": USERS,
    "broker-defaults": BROKERS,
    "ip-defaults": IPS,
}


class Entities(NamedTuple):
    """The types and the names that were given; a name is missing where all of a type are meant."""

    types: list[str]
    names: list[str]

    @property
    def type(self) -> str:
        return self.types[0]

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def has_name(self) -> bool:
        return any(self.names)

    @property
    def has_default(self) -> bool:
        return DEFAULT_NAME in self.names


def entities_of(options: OptionSet) -> Entities:
    return Entities(_types(options), _names(options))


def singular(entity_type: str) -> str:
    return entity_type[:-1]


def _types(options: OptionSet) -> list[str]:
    by_flag = {**NAME_FLAGS, **DEFAULT_FLAGS}
    return [
        *options.values("entity-type"),
        *(entity_type for flag, entity_type in by_flag.items() if options.has(flag)),
    ]


def _names(options: OptionSet) -> list[str]:
    given = iter(options.values("entity-name"))
    names = []
    for option in options.in_order:
        if "entity-name" in option.names:
            names.append(next(given))
        elif "entity-default" in option.names:
            names.append(DEFAULT_NAME)
    names += [options.value(flag) for flag in NAME_FLAGS if options.has(flag)]
    names += [DEFAULT_NAME for flag in DEFAULT_FLAGS if options.has(flag)]
    return names
