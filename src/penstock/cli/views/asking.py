"""The cluster that a tool's flags name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.cli.options.command_line import load_properties
from penstock.cli.options.joptsimple import OptionSet
from penstock.client.cluster import Cluster, ClusterConfig, blocking_cluster

Namespace = dict[str, Any]
"""What argparse4j makes of a command line."""


@contextmanager
def cluster_of(options: OptionSet | Namespace) -> Iterator[Cluster]:
    if isinstance(options, OptionSet):
        servers, file = options.value("bootstrap-server"), options.value("command-config")
    else:
        servers, file = options["bootstrap_server"], options["command_config"]
    configs = {**(load_properties(file) if file else {}), "bootstrap.servers": servers}
    with blocking_cluster(ClusterConfig.from_configs(configs)) as cluster:
        yield cluster


def has_only(options: OptionSet, *names: str) -> bool:
    """Whether nothing is on the command line but these, and what says which cluster is meant."""
    known = {*names, "bootstrap-server", "command-config"}
    return all(set(option.names) & known for option in options.in_order)
