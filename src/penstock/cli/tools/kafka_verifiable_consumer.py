"""kafka-verifiable-consumer: what a member of a consumer group lives through, as lines of JSON."""

from __future__ import annotations

import sys

from penstock.cli.options.argparse4j import ArgumentParser, Namespace
from penstock.cli.options.kinds import INTEGER
from penstock.cli.tool import run
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.verifiable.options import (
    add_bootstrap_server,
    add_command_config,
    file_configs,
    parse_words,
)

ASSIGNORS = "org.apache.kafka.clients.consumer"
GROUP_PROTOCOLS = ("CLASSIC", "CONSUMER")


def argument_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "verifiable-consumer",
        default_help=True,
        description="This tool consumes messages from a specific topic and emits consumer events (e.g. group "
        "rebalances, received messages, and offsets committed) as JSON objects to STDOUT.",
    )
    add_bootstrap_server(parser, "The server(s) to connect to.", required=True)
    parser.add_argument("--topic", required=True, metavar="TOPIC", help="Consumes messages from this topic.")
    _add_group(parser)
    _add_consuming(parser)
    _add_policies(parser)
    parser.add_argument(
        "--consumer.config",
        metavar="CONFIG-FILE",
        help="(DEPRECATED) Consumer config properties file. "
        "This option will be removed in a future version. Use --command-config instead",
    )
    add_command_config(parser)
    return parser


def _add_group(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--group-protocol",
        default="classic",
        dest="groupProtocol",
        metavar="GROUP-PROTOCOL",
        help=f"Group protocol (must be one of {', '.join(GROUP_PROTOCOLS)})",
    )
    parser.add_argument(
        "--group-remote-assignor",
        dest="groupRemoteAssignor",
        metavar="GROUP-REMOTE-ASSIGNOR",
        help="Group remote assignor; only used if the group protocol is CONSUMER",
    )
    parser.add_argument(
        "--group-id",
        required=True,
        dest="groupId",
        metavar="GROUP-ID",
        help="The group id of the consumer group",
    )
    parser.add_argument(
        "--group-instance-id",
        dest="groupInstanceId",
        metavar="GROUP-INSTANCE-ID",
        help="A unique identifier of the consumer instance",
    )


def _add_consuming(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--max-messages",
        type=INTEGER,
        default=-1,
        dest="maxMessages",
        metavar="MAX-MESSAGES",
        help="Consume this many messages. If -1 (the default), the consumer will consume until the process is "
        "killed externally",
    )
    parser.add_argument(
        "--session-timeout",
        type=INTEGER,
        dest="sessionTimeout",
        metavar="TIMEOUT-MS",
        help="Set the consumer's session timeout, note that this configuration is not supported when group protocol "
        "is consumer",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        metavar="VERBOSE",
        help="Enable to log individual consumed records",
    )
    parser.add_argument(
        "--enable-autocommit",
        action="store_true",
        dest="useAutoCommit",
        metavar="ENABLE-AUTOCOMMIT",
        help="Enable offset auto-commit on consumer",
    )


def _add_policies(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--reset-policy",
        default="earliest",
        dest="resetPolicy",
        metavar="RESET-POLICY",
        help="Set reset policy (must be either 'earliest', 'latest', or 'none')",
    )
    parser.add_argument(
        "--assignment-strategy",
        default=f"{ASSIGNORS}.RangeAssignor",
        dest="assignmentStrategy",
        metavar="ASSIGNMENT-STRATEGY",
        help=f"Set assignment strategy (e.g. {ASSIGNORS}.RoundRobinAssignor); "
        "only used if the group protocol is CLASSIC",
    )


def _configs(parser: ArgumentParser, given: Namespace) -> dict[str, str]:
    of_file = file_configs(parser, given, "consumer.config")
    optional = {
        "session.timeout.ms": given["sessionTimeout"],
        "group.instance.id": given["groupInstanceId"],
        **_protocol_configs(given),
    }
    return {
        "client.id": f"consumer-{given['groupId']}-1",
        **of_file,
        **{name: str(value) for name, value in optional.items() if value is not None},
        "group.id": given["groupId"],
        "bootstrap.servers": given["bootstrapServer"],
        "enable.auto.commit": str(given["useAutoCommit"]).lower(),
        "auto.offset.reset": given["resetPolicy"],
    }


def _protocol_configs(given: Namespace) -> dict[str, str | None]:
    protocol = given["groupProtocol"]
    if protocol.upper() not in GROUP_PROTOCOLS:
        raise CommandFailure(
            f"No enum constant org.apache.kafka.clients.consumer.GroupProtocol.{protocol.upper()}: "
            f"--group-protocol takes one of {', '.join(GROUP_PROTOCOLS)}"
        )
    if protocol.upper() == "CONSUMER":
        return {"group.protocol": "consumer", "group.remote.assignor": given["groupRemoteAssignor"]}
    return {"group.protocol": "classic", "partition.assignment.strategy": given["assignmentStrategy"]}


def verifiable_consumer(words: list[str]) -> int:
    parser = argument_parser()
    given = parse_words(parser, words)
    configs = _configs(parser, given)
    from penstock.cli.tools.verifiable.consumer_run import Request, run_verifiable_consumer

    return run_verifiable_consumer(
        Request(
            topic=given["topic"],
            max_messages=given["maxMessages"],
            commits_by_itself=given["useAutoCommit"],
            is_verbose=given["verbose"],
            configs=configs,
        )
    )


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-verifiable-consumer", verifiable_consumer, arguments)


if __name__ == "__main__":
    sys.exit(main())
