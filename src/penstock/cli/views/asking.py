"""The cluster that a tool's flags name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.cli.first_contact import tool_cluster_config
from penstock.cli.options.argparse4j import Namespace
from penstock.cli.options.command_line import load_properties
from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.admin_client import admin_configs
from penstock.wire_client import Cluster, blocking_cluster


@contextmanager
def cluster_of(options: OptionSet | Namespace) -> Iterator[Cluster]:
    configs = admin_configs(options) if isinstance(options, OptionSet) else _configs(options)
    with blocking_cluster(tool_cluster_config(configs)) as cluster:
        yield cluster


def _configs(given: Namespace) -> dict[str, str]:
    file = given["command_config"]
    return {**(load_properties(file) if file else {}), "bootstrap.servers": given["bootstrap_server"]}


def has_only(options: OptionSet, *names: str) -> bool:
    """Whether nothing is on the command line but these, and what says which cluster is meant."""
    known = {*names, "bootstrap-server", "command-config"}
    return all(set(option.names) & known for option in options.in_order)
