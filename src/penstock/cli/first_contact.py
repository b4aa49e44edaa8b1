"""A broker that is not there: how long a tool looks for one at its start, and what it says then.

Kafka's tools look for a minute and warn all the while, or for good; a person at a terminal has mistyped an address by
then, or not started the platform. Once a broker has answered, one that goes away is waited for as Kafka's tools do, and
whoever sets a time of his own (`default.api.timeout.ms`, `--max-block-ms`, `--timeout-ms`) gets what he asked for.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping

from penstock.errors import ConfigError, PenstockError
from penstock.wire_client.config import ClusterConfig, parse_bootstrap
from penstock.wire_client.errors import IS_IT_RUNNING
from penstock.wire_client.network import Address

PATIENCE_MS = 5_000
PAUSE_SECONDS = 0.1
API_TIMEOUT = "default.api.timeout.ms"


class NobodyThere(PenstockError):
    """None of the servers takes a connection."""


def tool_cluster_config(configs: Mapping[str, str], api_timeout_ms: int | None = None) -> ClusterConfig:
    """For the tools that speak with the cluster by the wire client; `api_timeout_ms` is the tool's own default."""
    config = ClusterConfig.from_configs(configs)
    patience_ms = config.default_api_timeout_ms
    if API_TIMEOUT not in configs:
        api_timeout_ms = patience_ms if api_timeout_ms is None else api_timeout_ms
        patience_ms = min(PATIENCE_MS, api_timeout_ms)
        config = config._replace(default_api_timeout_ms=api_timeout_ms)
    return config._replace(
        first_contact_timeout_ms=patience_ms,
        connection_setup_timeout_ms=min(config.connection_setup_timeout_ms, PATIENCE_MS),
    )


def check_first_contact(configs: Mapping[str, str], own_limit_ms: int | None = None) -> None:
    """For the tools on librdkafka, which would try for good: raises `NobodyThere` when nobody listens."""
    if own_limit_ms is not None and own_limit_ms <= PATIENCE_MS:
        return
    try:
        servers = parse_bootstrap(configs.get("bootstrap.servers"))
    except ConfigError:
        return  # the client refuses it in the words of Kafka's
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while reasons := _reasons(servers, deadline):
        if time.monotonic() + PAUSE_SECONDS >= deadline:
            raise NobodyThere(f"{'; '.join(reasons)}; {IS_IT_RUNNING}")
        time.sleep(PAUSE_SECONDS)


def _reasons(servers: tuple[Address, ...], deadline: float) -> list[str]:
    """Why none of the servers takes a connection; none if one does."""
    reasons = []
    for place, server in enumerate(servers):
        left = max(PAUSE_SECONDS, (deadline - time.monotonic()) / (len(servers) - place))
        try:
            socket.create_connection(server, left).close()
        except OSError as error:
            why = "no answer in time" if isinstance(error, TimeoutError) else error.strerror or str(error)
            reasons.append(f"{server} (bootstrap.servers) cannot be reached: {why}")
        else:
            return []
    return reasons
