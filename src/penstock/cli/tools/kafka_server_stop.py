"""`kafka-server-stop [--node-id=N] [--process-role=ROLE]`: SIGTERM, or $SIGNAL, to brokers that run here."""

import argparse
import sys
from typing import NoReturn

from penstock.cli.tools.servers.start import parse_start_arguments
from penstock.cli.tools.servers.stop import RunningServer, running_servers, stop_servers
from penstock.errors import ConfigError, PenstockError
from penstock.settings.properties import read_properties

TOOL = "kafka-server-stop"
START = "kafka-server-start"
ROLES = ("broker", "controller", "broker,controller")
BOTH_GIVEN = "When both node-id and process-role are provided, the value for node-id will take precedence"


def main(arguments: list[str] | None = None) -> int:
    try:
        return _stop(_parser().parse_args(arguments))
    except PenstockError as error:
        print(f"{TOOL}: {error}", file=sys.stderr)
        return 1


def _stop(given: argparse.Namespace) -> int:
    if given.node_id is not None and given.process_role is not None:
        print(BOTH_GIVEN)
    servers = running_servers(START)
    if not servers or (given.node_id is None and given.process_role is None):
        return stop_servers(servers, "kafka")
    wanted = (
        ("node.id", given.node_id) if given.node_id is not None else ("process.roles", given.process_role)
    )
    chosen = [server for server in servers if _identity(server)[wanted[0]] == wanted[1]]
    if chosen:
        return stop_servers(chosen, "kafka")
    print(f"No kafka server with {wanted[0]}={wanted[1]} to stop")
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}; `{self.prog} --help` tells what it takes")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        TOOL, description="Stop the brokers that kafka-server-start runs here.", allow_abbrev=False
    )
    parser.add_argument("--node-id", metavar="N", help="only the broker with this node.id or broker.id")
    parser.add_argument(
        "--process-role", choices=ROLES, metavar="ROLE", help="only those with these process.roles"
    )
    return parser


def _identity(server: RunningServer) -> dict[str, str | None]:
    """What the server was started with; its file is read as it is now."""
    given = parse_start_arguments(START, "server.properties", "kafkaServer.out", server.arguments)
    file = {} if given.properties is None else read_properties(server.directory / given.properties)
    configs = {**file, **given.overrides}
    return {
        "node.id": configs.get("node.id", configs.get("broker.id")),
        "process.roles": configs.get("process.roles", "broker"),
    }


if __name__ == "__main__":
    sys.exit(main())
