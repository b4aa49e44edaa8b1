"""What a `Cluster` takes of Kafka's client settings. Other clients' settings in the same file are not its business."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.errors import ConfigError
from penstock.wire_client.network import Address
from penstock.wire_client.security import Security

DEFAULT_CLIENT_ID = "penstock-admin"


class ClusterConfig(NamedTuple):
    bootstrap: tuple[Address, ...]
    client_id: str = DEFAULT_CLIENT_ID
    request_timeout_ms: int = 30_000
    default_api_timeout_ms: int = 60_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    connection_setup_timeout_ms: int = 10_000
    first_contact_timeout_ms: int | None = None
    """How long to look for a cluster that has never answered, where that is less than the time for any call."""
    security: Security = Security()

    @classmethod
    def from_configs(cls, configs: Mapping[str, object]) -> ClusterConfig:
        """From Kafka's dotted names, as in a file for `--command-config`."""
        bootstrap = configs.get("bootstrap.servers")
        if not bootstrap:
            raise ConfigError("bootstrap.servers: missing; give it as host:port[,host:port...]")
        config = cls(
            parse_bootstrap(bootstrap),
            str(configs.get("client.id") or DEFAULT_CLIENT_ID),
            security=Security.from_configs(configs),
        )
        times = {
            name: _milliseconds(configs[key], key) for key, name in _MILLISECONDS.items() if key in configs
        }
        return cls(**{**config._asdict(), **times})


_MILLISECONDS = {
    "request.timeout.ms": "request_timeout_ms",
    "default.api.timeout.ms": "default_api_timeout_ms",
    "retry.backoff.ms": "retry_backoff_ms",
    "retry.backoff.max.ms": "retry_backoff_max_ms",
    "socket.connection.setup.timeout.ms": "connection_setup_timeout_ms",
}


def _milliseconds(given: object, key: str) -> int:
    try:
        value = int(str(given))
    except ValueError:
        value = -1
    if value < 0:
        raise ConfigError(f"{key}: got {given!r}, takes a number of milliseconds from 0 on")
    return value


def parse_bootstrap(servers: object) -> tuple[Address, ...]:
    names = servers.split(",") if isinstance(servers, str) else servers
    if not isinstance(names, (list, tuple)):
        raise ConfigError(f"bootstrap.servers: got {servers!r}, takes host:port[,host:port...]")
    return tuple(_address(str(name).strip()) for name in names if str(name).strip())


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    host = host.rpartition("://")[2].removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(f"bootstrap.servers: got {text!r}, takes host:port[,host:port...]")
    return Address(host, int(port))
