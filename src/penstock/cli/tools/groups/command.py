"""How the tools for groups of a kind run: one connection, and failures told as they tell them.

A command that fails says so on standard output. kafka-consumer-groups and kafka-share-groups end with 0 then, as
Kafka's do; only wrong arguments end with 1.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.cli.options.command_line import print_usage_and_exit
from penstock.cli.options.joptsimple import OptionError, OptionParser, OptionSet
from penstock.cli.tools.common.admin_client import admin_client, admin_configs
from penstock.cli.tools.common.failures import ArgumentFailure, CommandFailure
from penstock.errors import ConfigError
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError


def run_group_command(
    kind: str,
    parser: OptionParser,
    options: OptionSet,
    action: Callable[[Cluster], None],
    *,
    failed: int = 0,
) -> int:
    try:
        with admin_client(_configs(options), options.value("timeout")) as cluster:
            action(cluster)
    except ArgumentFailure as failure:
        print_usage_and_exit(parser, str(failure))
    except (CommandFailure, OptionError, KafkaError, ConfigError, OSError) as failure:
        print(f"\nError: Executing {kind} group command failed due to {failure}")
        return failed
    return 0


def _configs(options: OptionSet) -> dict[str, str]:
    """Without the time for a call, which `--timeout` says, whatever the file does."""
    configs = admin_configs(options)
    configs.pop("default.api.timeout.ms", None)
    return configs
