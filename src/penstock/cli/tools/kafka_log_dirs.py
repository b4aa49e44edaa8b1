"""kafka-log-dirs: how much each partition takes in the log directories of brokers, as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.cli.options.command_line import command_parser, parse_command_line
from penstock.cli.options.joptsimple import OptionParser
from penstock.cli.options.kinds import INTEGER
from penstock.cli.tool import run
from penstock.cli.tools.common.admin_client import admin_client, admin_configs
from penstock.cli.tools.common.failures import CommandFailure, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.json_values import written
from penstock.client.admin.log_dirs import LogDirDescription, LogDirs, describe_log_dirs
from penstock.wire_client import Cluster, now

TOOL = "kafka-log-dirs"
USAGE = "This tool helps to query log directory usage on the specified brokers."


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, log_dirs, arguments)


def log_dirs(words: list[str]) -> int:
    options = parse_command_line(_parser(), words, USAGE, "bootstrap-server", "describe")
    configs = admin_configs(options, {"client.id": "log-dirs-tool"})
    with failing(as_java_says), admin_client(configs) as cluster:
        _describe(cluster, _listed(options.value("topic-list")), options.value("broker-list"))
    return 0


def _parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "bootstrap-server",
        "REQUIRED: the server(s) to use for bootstrapping",
        argument="The server(s) to use for bootstrapping",
    )
    parser.accepts(
        "command-config",
        "Property file containing configs to be passed to Admin Client.",
        argument="Admin client property file",
    )
    parser.accepts("describe", "Describe the specified log directories on the specified brokers.")
    parser.accepts(
        "topic-list",
        'The list of topics to be queried in the form "topic1,topic2,topic3". All topics will be queried if no '
        "topic list is specified",
        argument="Topic list",
        default="",
    )
    parser.accepts(
        "broker-list",
        'The list of brokers to be queried in the form "0,1,2". All brokers in the cluster will be queried if no '
        "broker list is specified",
        argument="Broker list",
        default="",
    )
    return parser


def _listed(text: str) -> set[str]:
    return {part for part in text.split(",") if part}


def _describe(cluster: Cluster, topics: set[str], broker_list: str) -> None:
    known = {node.id for node in now(cluster.describe()).nodes}
    given = _broker_ids(broker_list)
    if unknown := given - known:
        raise CommandFailure(
            f"ERROR: The given brokers do not exist from --broker-list: {_joined(unknown)}. "
            f"Current existent brokers: {_joined(known)}"
        )
    brokers = in_hash_order(given or known)
    print("Querying brokers for log directories information")
    described = now(describe_log_dirs(cluster, brokers))
    print(f"Received log directory information from brokers {_joined(brokers)}")
    print(written(_as_json(described, topics)))


def _broker_ids(text: str) -> set[int]:
    try:
        return {INTEGER.convert(part) for part in _listed(text)}
    except ValueError as error:
        raise CommandFailure(str(error)) from None


def _joined(node_ids: Iterable[int]) -> str:
    return ",".join(map(str, in_hash_order(node_ids)))


# --- as JSON, with the keys in the order in which Kafka's tool has them


def _as_json(described: Mapping[int, LogDirs], topics: set[str]) -> dict[str, Any]:
    brokers = [
        {
            "broker": broker,
            "logDirs": [_log_dir(path, dirs[path], topics) for path in in_hash_order(dirs, len(dirs))],
        }
        for broker, dirs in described.items()
    ]
    return {"brokers": brokers, "version": 1}


def _log_dir(path: str, description: LogDirDescription, topics: set[str]) -> dict[str, Any]:
    wanted = [each for each in in_hash_order(description.replicas) if not topics or each.topic in topics]
    partitions = [
        {
            "partition": str(each),
            "size": replica.size,
            "offsetLag": replica.offset_lag,
            "isFuture": replica.is_future,
        }
        for each in in_hash_order(wanted)
        for replica in [description.replicas[each]]
    ]
    error = None if description.error is None else description.error.java_name
    return {"partitions": partitions, "error": error, "logDir": path}


if __name__ == "__main__":
    raise SystemExit(main())
