"""kafka-verifiable-producer: increasing numbers into a topic, with a line of JSON for each."""

from __future__ import annotations

import sys

from penstock.cli.options.argparse4j import ArgumentParser, Namespace
from penstock.cli.options.kinds import INTEGER, LONG
from penstock.cli.tool import run
from penstock.cli.tools.verifiable.options import (
    add_bootstrap_server,
    add_command_config,
    file_configs,
    parse_words,
)

NO_CREATE_TIME = -1


def argument_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "verifiable-producer",
        default_help=True,
        description="This tool produces increasing integers to the specified topic and prints JSON metadata to stdout "
        'on each "send" request, making externally visible which messages have been acked and which have not.',
    )
    parser.add_argument("--topic", required=True, metavar="TOPIC", help="Produce messages to this topic.")
    add_bootstrap_server(parser, "REQUIRED: The server(s) to connect to.")
    _add_amount(parser)
    _add_records(parser)
    add_command_config(parser)
    return parser


def _add_amount(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--max-messages",
        default=-1,
        type=INTEGER,
        dest="maxMessages",
        metavar="MAX-MESSAGES",
        help="Produce this many messages. If -1, produce messages until the process is killed externally.",
    )
    parser.add_argument(
        "--throughput",
        default=-1,
        type=INTEGER,
        metavar="THROUGHPUT",
        help="If set >= 0, throttle maximum message throughput to *approximately* THROUGHPUT messages/sec.",
    )
    parser.add_argument(
        "--acks",
        default=-1,
        type=INTEGER,
        choices=(0, 1, -1),
        metavar="ACKS",
        help="Acks required on each produced message. See Kafka docs on acks for details.",
    )
    parser.add_argument(
        "--producer.config",
        metavar="CONFIG-FILE",
        help="(DEPRECATED) Producer config properties file. "
        "This option will be removed in a future version. Use --command-config instead.",
    )


def _add_records(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--message-create-time",
        default=NO_CREATE_TIME,
        type=LONG,
        metavar="CREATE-TIME",
        dest="createTime",
        help="Send messages with creation time starting at the arguments value, in milliseconds since epoch",
    )
    parser.add_argument(
        "--value-prefix",
        type=INTEGER,
        metavar="VALUE-PREFIX",
        dest="valuePrefix",
        help="If specified, each produced value will have this prefix with a dot separator",
    )
    parser.add_argument(
        "--repeating-keys",
        type=INTEGER,
        metavar="REPEATING-KEYS",
        dest="repeatingKeys",
        help="If specified, each produced record will have a key starting at 0 increment by 1 up to the number "
        "specified (exclusive), then the key is set to 0 again",
    )


def _configs(parser: ArgumentParser, given: Namespace) -> dict[str, str]:
    of_file = file_configs(parser, given, "producer.config")
    return {
        "client.id": "producer-1",
        "bootstrap.servers": given["bootstrapServer"],
        "acks": str(given["acks"]),
        "retries": "0",
        **of_file,
    }


def verifiable_producer(words: list[str]) -> int:
    parser = argument_parser()
    given = parse_words(parser, words)
    configs = _configs(parser, given)
    from penstock.cli.tools.verifiable.producer_run import Request, run_verifiable_producer

    create_time_ms = given["createTime"]
    return run_verifiable_producer(
        Request(
            topic=given["topic"],
            max_messages=given["maxMessages"],
            throughput=given["throughput"],
            value_prefix=given["valuePrefix"],
            repeating_keys=given["repeatingKeys"],
            create_time_ms=None if create_time_ms == NO_CREATE_TIME else create_time_ms,
            configs=configs,
        )
    )


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-verifiable-producer", verifiable_producer, arguments)


if __name__ == "__main__":
    sys.exit(main())
