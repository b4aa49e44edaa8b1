"""The cluster that a tool administers, in the words of Kafka's tools when there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from penstock.cli.first_contact import tool_cluster_config
from penstock.cli.options.command_line import load_properties
from penstock.cli.options.joptsimple import OptionSet
from penstock.errors import ConfigError
from penstock.wire_client import Cluster, ClusterConfig, ClusterView, blocking_cluster, now
from penstock.wire_client.errors import KafkaError


class AdminNotCreated(ConfigError):
    """The settings make no client."""


def raise_first(results: Iterable[object]) -> None:
    """Of what came of several things, the first that failed."""
    for result in results:
        if isinstance(result, KafkaError):
            raise result


def command_config(options: OptionSet) -> dict[str, str]:
    """The file of `--command-config`, if one is named."""
    path = options.value("command-config")
    return load_properties(path) if path is not None else {}


def admin_configs(options: OptionSet, defaults: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a tool would have if nobody said otherwise, what the file says, and `--bootstrap-server`."""
    servers = {"bootstrap.servers": options.value("bootstrap-server")}
    return {**(defaults or {}), **command_config(options), **servers}


@contextmanager
def admin_client(configs: Mapping[str, str], api_timeout_ms: int | None = None) -> Iterator[Cluster]:
    """`api_timeout_ms` is what the tool has for `default.api.timeout.ms` where the user says nothing."""
    with blocking_cluster(_cluster_config(configs, api_timeout_ms)) as cluster:
        yield cluster


@contextmanager
def admin_client_of(options: OptionSet) -> Iterator[Cluster]:
    """By way of `--bootstrap-server`, or of `--bootstrap-controller`: then the active controller is the one to ask."""
    if options.has("bootstrap-server"):
        with admin_client(admin_configs(options)) as cluster:
            yield cluster
        return
    servers = {"bootstrap.servers": options.value("bootstrap-controller")}
    config = _cluster_config(command_config(options) | servers)
    view = _controllers(config)
    active = view.node(view.controller_id)
    bootstrap = config.bootstrap if active is None else (active.address,)
    with blocking_cluster(config._replace(bootstrap=bootstrap)) as cluster:
        cluster.view = view
        yield cluster


def _cluster_config(configs: Mapping[str, str], api_timeout_ms: int | None = None) -> ClusterConfig:
    try:
        return tool_cluster_config(configs, api_timeout_ms)
    except ConfigError as error:
        raise AdminNotCreated(f"Failed to create new KafkaAdminClient: {error}") from error


def _controllers(config: ClusterConfig) -> ClusterView:
    from penstock.client.admin.cluster_nodes import learn_controllers

    with blocking_cluster(config) as cluster:
        now(learn_controllers(cluster))
        assert cluster.view is not None
        return cluster.view
