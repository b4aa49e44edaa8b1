"""The cluster that a tool's flags name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.cli.options.command_line import load_properties
from penstock.cli.options.joptsimple import OptionSet
from penstock.client.cluster import Cluster, ClusterConfig, blocking_cluster


@contextmanager
def cluster_of(options: OptionSet) -> Iterator[Cluster]:
    file = options.value("command-config")
    configs = {
        **(load_properties(file) if file else {}),
        "bootstrap.servers": options.value("bootstrap-server"),
    }
    with blocking_cluster(ClusterConfig.from_configs(configs)) as cluster:
        yield cluster


def has_only(options: OptionSet, *names: str) -> bool:
    """Whether nothing is on the command line but these, and what says which cluster is meant."""
    known = {*names, "bootstrap-server", "command-config"}
    return all(set(option.names) & known for option in options.in_order)
