"""The cluster that a tool administers, in the words of Kafka's tools when there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from penstock.cli.options.command_line import load_properties
from penstock.cli.options.joptsimple import OptionSet
from penstock.client.cluster import Cluster, ClusterConfig, blocking_cluster
from penstock.errors import ConfigError


class AdminNotCreated(ConfigError):
    """The settings make no client."""


def command_config(options: OptionSet) -> dict[str, str]:
    """The file of `--command-config`, if one is named."""
    path = options.value("command-config")
    return load_properties(path) if path is not None else {}


@contextmanager
def admin_client(configs: Mapping[str, str]) -> Iterator[Cluster]:
    try:
        config = ClusterConfig.from_configs(configs)
    except ConfigError as error:
        raise AdminNotCreated(f"Failed to create new KafkaAdminClient: {error}") from error
    with blocking_cluster(config) as cluster:
        yield cluster
