"""kafka-reassign-partitions: moves partitions between brokers, and replicas between directories of a broker."""

from __future__ import annotations

import sys

from penstock.cli.options.joptsimple import OptionError, OptionSet
from penstock.cli.tool import run
from penstock.cli.tools.common.admin_client import admin_client, command_config
from penstock.cli.tools.common.failures import TerseFailure, as_java_says
from penstock.cli.tools.common.json_values import read_text
from penstock.cli.tools.reassign_partitions.options import checked_action, reassign_parser
from penstock.errors import PenstockError
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError


def command(words: list[str]) -> int:
    parser = reassign_parser()
    options = parser.parse(words)
    action = checked_action(parser, options, words)
    try:
        with admin_client(_configs(options)) as cluster:
            if options.has("bootstrap-controller"):
                from penstock.client.admin.cluster_nodes import learn_controllers

                now(learn_controllers(cluster))
            _act(cluster, action, options)
    except TerseFailure as failure:
        print(failure)
    except KafkaError as error:
        print(f"Error: {as_java_says(error)}")
    except (OptionError, PenstockError, OSError) as failure:
        print(f"Error: {failure}")
    else:
        return 0
    return 1


def _configs(options: OptionSet) -> dict[str, str]:
    where = "bootstrap-controller" if options.has("bootstrap-controller") else "bootstrap-server"
    return {
        "client.id": "reassign-partitions-tool",
        **command_config(options),
        "bootstrap.servers": options.value(where),
    }


def _act(cluster: Cluster, action: str, options: OptionSet) -> None:
    from penstock.cli.tools.reassign_partitions.actions import generate, list_reassignments

    if action == "list":
        list_reassignments(cluster)
    elif action == "generate":
        topics = read_text(options.value("topics-to-move-json-file"))
        rack_aware = not options.has("disable-rack-aware")
        generate(cluster, topics, options.value("broker-list"), rack_aware=rack_aware)
    else:
        _carry_out(cluster, action, options, read_text(options.value("reassignment-json-file")))


def _carry_out(cluster: Cluster, action: str, options: OptionSet, plan: str) -> None:
    from penstock.cli.tools.reassign_partitions.actions import execute
    from penstock.cli.tools.reassign_partitions.following_up import cancel, verify

    preserve_throttles = options.has("preserve-throttles")
    if action == "verify":
        verify(cluster, plan, preserve_throttles=preserve_throttles)
    elif action == "cancel":
        cancel(cluster, plan, preserve_throttles=preserve_throttles, timeout_ms=options.value("timeout"))
    else:
        execute(
            cluster,
            plan,
            additional=options.has("additional"),
            throttle=options.value("throttle"),
            log_dir_throttle=options.value("replica-alter-log-dirs-throttle"),
            timeout_ms=options.value("timeout"),
            allow_replication_factor_change=not options.has("disallow-replication-factor-change"),
        )


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-reassign-partitions", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
