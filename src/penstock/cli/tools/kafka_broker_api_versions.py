"""kafka-broker-api-versions: which APIs each broker has, in which versions, and the one that clients use."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.options.command_line import command_parser, parse_command_line
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tool import run
from penstock.cli.tools.api_versions.client_apis import CLIENT_APIS, Api
from penstock.cli.tools.common.admin_client import admin_configs
from penstock.cli.tools.common.failures import CommandFailure, as_java_says
from penstock.wire.messages.api_versions import ApiVersion
from penstock.wire_client import Cluster, ClusterConfig, Disconnected, Node, blocking_cluster, now
from penstock.wire_client.errors import AuthenticationError, KafkaError

TOOL = "kafka-broker-api-versions"
USAGE = "This tool helps to retrieve broker version information."
REQUEST_TIMEOUT_MS = 5_000
API_OF_KEY = {api.key: api for api in CLIENT_APIS}


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, broker_api_versions, arguments)


def broker_api_versions(words: list[str]) -> int:
    options = parse_command_line(_parser(), words, USAGE, "bootstrap-server")
    with blocking_cluster(_config(options)) as cluster:
        for node in _nodes(cluster):
            print(f"{_shown(node)} -> {_versions(cluster, node)}")
    return 0


def _parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "command-config",
        "A property file containing configs to be passed to Admin Client.",
        argument="command config property file",
    )
    parser.accepts(
        "bootstrap-server",
        "REQUIRED: The server to connect to.",
        argument="server(s) to use for bootstrapping",
    )
    return parser


def _config(options: OptionSet) -> ClusterConfig:
    """For one attempt: the tool says which brokers did not answer."""
    configs = admin_configs(options, {"request.timeout.ms": str(REQUEST_TIMEOUT_MS)})
    return ClusterConfig.from_configs(configs)._replace(default_api_timeout_ms=0)


def _nodes(cluster: Cluster) -> tuple[Node, ...]:
    try:
        return now(cluster.describe()).nodes
    except AuthenticationError as error:
        raise CommandFailure(error.message) from error
    except KafkaError as error:
        tried = (Node(-1 - index, *address) for index, address in enumerate(cluster.config.bootstrap))
        listed = ", ".join(map(_shown, tried))
        raise CommandFailure(f"Request METADATA failed on brokers [{listed}]: {error}") from error


def _shown(node: Node) -> str:
    return f"{node.host}:{node.port} (id: {node.id} rack: {node.rack or 'null'} isFenced: false)"


def _versions(cluster: Cluster, node: Node) -> str:
    try:
        connection = now(cluster.connection_to(node.id))
    except KafkaError as error:
        return f"ERROR: {as_java_says(error)}"
    except Disconnected as error:
        return f"ERROR: {error}"
    return f"(\n\t{_listed(connection.api_versions.api_keys)}\n)"


def _listed(served: Iterable[ApiVersion]) -> str:
    lines = {api.key: f"{api.name}({api.key}): UNSUPPORTED" for api in CLIENT_APIS if api.on_brokers}
    lines |= {each.api_key: _served(each) for each in served}
    return ",\n\t".join(lines[key] for key in sorted(lines))


def _served(each: ApiVersion) -> str:
    same = each.min_version == each.max_version
    versions = str(each.min_version) if same else f"{each.min_version} to {each.max_version}"
    if (api := API_OF_KEY.get(each.api_key)) is None:
        return f"UNKNOWN({each.api_key}): {versions}"
    return f"{api.name}({api.key}): {versions} [{_usable(api, each)}]"


def _usable(api: Api, each: ApiVersion) -> str:
    if api.latest_version < each.min_version:
        return "unusable: node too new"
    if each.max_version < api.oldest_version:
        return "unusable: node too old"
    return f"usable: {min(api.latest_version, each.max_version)}"


if __name__ == "__main__":
    raise SystemExit(main())
