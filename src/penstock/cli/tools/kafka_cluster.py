"""kafka-cluster: the id of a cluster, its endpoints, and taking a broker out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.cli.options.argparse4j import ArgumentParser, Namespace
from penstock.cli.options.command_line import load_properties, say_deprecated
from penstock.cli.tool import run
from penstock.cli.tools.common.admin_client import admin_client
from penstock.cli.tools.common.failures import CommandFailure, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.client.admin.cluster_nodes import (
    ClusterNode,
    EndpointType,
    describe_cluster,
    unregister_broker,
)
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import UnsupportedVersionError

TOOL = "kafka-cluster"


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, cluster, arguments)


def cluster(words: list[str]) -> int:
    given = _parser().parse_args_or_fail(words)
    with failing(as_java_says), admin_client(_configs(given)) as connected:
        COMMANDS[given["command"]](connected, given)
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(TOOL, default_help=True, description="The Kafka cluster tool.")
    commands = parser.add_subparsers(dest="command")
    cluster_id = commands.add_parser("cluster-id", help="Get information about the ID of a cluster.")
    unregister = commands.add_parser("unregister", help="Unregister a broker.")
    list_endpoints = commands.add_parser("list-endpoints", help="List endpoints")
    for command in (cluster_id, unregister, list_endpoints):
        _add_connection_options(command)
    unregister.add_argument("--id", "-i", type=int, required=True, help="The ID of the broker to unregister.")
    list_endpoints.add_argument(
        "--include-fenced-brokers",
        action="store_true",
        help="Whether to include fenced brokers when listing broker endpoints",
    )
    return parser


def _add_connection_options(command: ArgumentParser) -> None:
    group = command.add_mutually_exclusive_group(required=True)
    group.add_argument(
        "--bootstrap-server",
        "-b",
        help="A list of host/port pairs to use for establishing the connection to the Kafka cluster.",
    )
    group.add_argument(
        "--bootstrap-controller",
        "-C",
        help="A list of host/port pairs to use for establishing the connection to the KRaft controllers.",
    )
    command.add_argument(
        "--config",
        help="(DEPRECATED) A property file containing configurations for the Admin client. "
        "This option will be removed in a future version. Use --command-config instead.",
    )
    command.add_argument("--command-config", "-c", help="Config properties file for the Admin client.")


def _configs(given: Namespace) -> dict[str, str]:
    file, old_file = given["command_config"], given["config"]
    if file and old_file:
        raise CommandFailure("--config and --command-config cannot be specified together.")
    if old_file:
        say_deprecated("config", "command-config")
    configs = load_properties(file or old_file) if file or old_file else {}
    configs["bootstrap.servers"] = given["bootstrap_server"] or given["bootstrap_controller"]
    return configs


def _endpoint_type(given: Namespace) -> EndpointType:
    return EndpointType.BROKER if given["bootstrap_controller"] is None else EndpointType.CONTROLLER


def _cluster_id(connected: Cluster, given: Namespace) -> None:
    described = now(describe_cluster(connected, endpoint_type=_endpoint_type(given)))
    if described.cluster_id is None:
        print("No cluster ID found. The Kafka version is probably too old.")
    else:
        print(f"Cluster ID: {described.cluster_id}")


def _unregister(connected: Cluster, given: Namespace) -> None:
    try:
        now(unregister_broker(connected, given["id"]))
        print(f"Broker {given['id']} is no longer registered.")
    except UnsupportedVersionError:
        print("The target cluster does not support the broker unregistration API.")


def _list_endpoints(connected: Cluster, given: Namespace) -> None:
    endpoint_type, fenced = _endpoint_type(given), given["include_fenced_brokers"]
    if fenced and endpoint_type is EndpointType.CONTROLLER:
        raise CommandFailure(
            "The option --include-fenced-brokers is only supported with --bootstrap-server option"
        )
    try:
        described = now(
            describe_cluster(connected, endpoint_type=endpoint_type, include_fenced_brokers=fenced)
        )
    except UnsupportedVersionError as error:
        print(error.message)
        return
    nodes = {each.node.id: each for each in described.nodes}
    _print_endpoints([nodes[node_id] for node_id in in_hash_order(nodes)], endpoint_type)


def _print_endpoints(nodes: Sequence[ClusterNode], endpoint_type: EndpointType) -> None:
    host_width = max((len(each.node.host) for each in nodes), default=100)
    rack_width = max((len(each.node.rack) for each in nodes if each.node.rack), default=10)
    of_brokers = endpoint_type is EndpointType.BROKER
    states = ["STATE"] if of_brokers else []
    _print_row(["ID", "HOST", "PORT", "RACK", *states, "ENDPOINT_TYPE"], host_width, rack_width)
    for each in nodes:
        node = each.node
        state = ["fenced" if each.is_fenced else "unfenced"] if of_brokers else []
        place = [node.id, node.host, node.port, "null" if node.rack is None else node.rack]
        _print_row([*place, *state, endpoint_type.name.lower()], host_width, rack_width)


def _print_row(values: Sequence[object], host_width: int, rack_width: int) -> None:
    widths = [10, host_width, 10, rack_width, *[10] * (len(values) - 5), 15]
    print(" ".join(f"{value!s:<{width}}" for value, width in zip(values, widths, strict=True)))


COMMANDS: dict[str, Callable[[Cluster, dict[str, Any]], None]] = {
    "cluster-id": _cluster_id,
    "unregister": _unregister,
    "list-endpoints": _list_endpoints,
}


if __name__ == "__main__":
    raise SystemExit(main())
