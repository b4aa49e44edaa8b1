"""kafka-console-share-consumer: the records of a topic on standard output, as a member of a share group."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.cli.options.command_line import (
    check_required_args,
    command_parser,
    maybe_print_help_or_version,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionError, OptionParser, OptionSet
from penstock.cli.options.kinds import INTEGER
from penstock.cli.tool import run
from penstock.cli.tools.common.broker_list import with_bootstrap_server
from penstock.cli.tools.console.consumer_options import (
    accept_command_config,
    accept_deserializers,
    accept_formatter,
    chosen_formatter,
    command_properties,
    group_ids,
)
from penstock.cli.tools.console.formatters import Formatter

ABOUT = "This tool helps to read data from Kafka topics using share groups and outputs it to standard output."
NO_LIMIT = -1


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    topic: str
    max_messages: int
    timeout_ms: int | None
    rejects: bool
    releases: bool
    rejects_on_error: bool
    logs_system_test_events: bool
    configs: dict[str, str]
    formatter: Formatter


def option_parser() -> OptionParser:
    parser = command_parser()
    parser.accepts("topic", "The topic to consume from.", argument="topic")
    accept_command_config(parser, "consumer-config")
    accept_formatter(parser, "Kafka messages", has_delivery_counts=True)
    parser.accepts(
        "max-messages",
        "The maximum number of messages to consume before exiting. If not set, consumption is continual.",
        argument="num_messages",
        kind=INTEGER,
    )
    parser.accepts(
        "timeout-ms",
        "If specified, exit if no message is available for consumption for the specified interval.",
        argument="timeout_ms",
        kind=INTEGER,
    )
    parser.accepts("reject", "If specified, messages are rejected as they are consumed.")
    parser.accepts("release", "If specified, messages are released as they are consumed.")
    parser.accepts(
        "reject-message-on-error",
        "If there is an error when processing a message, reject it instead of halting.",
    )
    parser.accepts(
        "bootstrap-server", "REQUIRED: The server(s) to connect to.", argument="server to connect to"
    )
    accept_deserializers(parser)
    parser.accepts("group", "The share group id of the consumer.", argument="share group id")
    parser.accepts(
        "enable-systest-events",
        "Log lifecycle events of the share consumer in addition to logging consumed messages. "
        "(This is specific for system tests.)",
    )
    return parser


def read_request(words: Sequence[str]) -> Request:
    parser = option_parser()
    try:
        options = parser.parse(with_bootstrap_server(words))
    except OptionError as error:
        print_usage_and_exit(parser, str(error))
    maybe_print_help_or_version(parser, options, words, ABOUT)
    if not options.has("topic"):
        print_usage_and_exit(parser, "--topic is a required argument")
    check_required_args(parser, options, "bootstrap-server")
    if options.has("reject") and options.has("release"):
        print_usage_and_exit(parser, "At most one of --reject and --release may be specified.")
    configs = _configs(parser, options)
    return Request(
        topic=options.value("topic"),
        formatter=chosen_formatter(parser, options, has_delivery_counts=True),
        max_messages=options.value("max-messages") if options.has("max-messages") else NO_LIMIT,
        timeout_ms=_timeout_ms(options),
        rejects=options.has("reject"),
        releases=options.has("release"),
        rejects_on_error=options.has("reject-message-on-error"),
        logs_system_test_events=options.has("enable-systest-events"),
        configs=configs,
    )


def _configs(parser: OptionParser, options: OptionSet) -> dict[str, str]:
    of_file, given = command_properties(parser, options, "consumer-config")
    groups = group_ids(parser, options, of_file, given, "consumer-config")
    return {
        "client.id": "console-share-consumer",
        **of_file,
        **given,
        "bootstrap.servers": options.value("bootstrap-server"),
        "group.id": groups[0] if groups else "console-share-consumer",
    }


def _timeout_ms(options: OptionSet) -> int | None:
    timeout_ms: int | None = options.value("timeout-ms")
    return timeout_ms if timeout_ms is not None and timeout_ms >= 0 else None


def console_share_consumer(words: list[str]) -> int:
    request = read_request(words)
    sys.stdout.flush()
    from penstock.cli.tools.console.share_consumer_run import consume_to_output

    return consume_to_output(request)


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-console-share-consumer", console_share_consumer, arguments)


if __name__ == "__main__":
    sys.exit(main())
