"""kafka-console-share-consumer: the records of a topic on standard output, as a member of a share group."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.cli.options.command_line import (
    check_required_args,
    command_parser,
    parse_or_print_usage,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import INTEGER
from penstock.cli.tool import run
from penstock.cli.tools.common.broker_list import with_bootstrap_server
from penstock.cli.tools.console.consumer_options import (
    ConsumerRequest,
    accept_bootstrap_server,
    accept_command_config,
    accept_deserializers,
    accept_formatter,
    accept_limits,
    accept_system_test_events,
    chosen_formatter,
    command_properties,
    group_ids,
    max_messages_of,
    timeout_ms_of,
)

ABOUT = "This tool helps to read data from Kafka topics using share groups and outputs it to standard output."


@dataclass(frozen=True, kw_only=True)
class Request(ConsumerRequest):
    topic: str
    rejects: bool
    releases: bool
    rejects_on_error: bool


def option_parser() -> OptionParser:
    parser = command_parser()
    parser.accepts("topic", "The topic to consume from.", argument="topic")
    accept_command_config(parser, "consumer-config")
    accept_formatter(parser, "Kafka messages", has_delivery_counts=True)
    accept_limits(parser, INTEGER)
    parser.accepts("reject", "If specified, messages are rejected as they are consumed.")
    parser.accepts("release", "If specified, messages are released as they are consumed.")
    parser.accepts(
        "reject-message-on-error",
        "If there is an error when processing a message, reject it instead of halting.",
    )
    accept_bootstrap_server(parser)
    accept_deserializers(parser)
    parser.accepts("group", "The share group id of the consumer.", argument="share group id")
    accept_system_test_events(parser, "share consumer")
    return parser


def read_request(words: Sequence[str]) -> Request:
    parser = option_parser()
    options = parse_or_print_usage(parser, with_bootstrap_server(words), ABOUT)
    if not options.has("topic"):
        print_usage_and_exit(parser, "--topic is a required argument")
    check_required_args(parser, options, "bootstrap-server")
    if options.has("reject") and options.has("release"):
        print_usage_and_exit(parser, "At most one of --reject and --release may be specified.")
    configs = _configs(parser, options)
    return Request(
        topic=options.value("topic"),
        formatter=chosen_formatter(parser, options, has_delivery_counts=True),
        max_messages=max_messages_of(options),
        timeout_ms=timeout_ms_of(options),
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


def console_share_consumer(words: list[str]) -> int:
    request = read_request(words)
    sys.stdout.flush()
    from penstock.cli.tools.console.share_consumer_run import consume_to_output

    return consume_to_output(request)


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-console-share-consumer", console_share_consumer, arguments)


if __name__ == "__main__":
    sys.exit(main())
