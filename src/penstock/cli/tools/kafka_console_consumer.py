"""kafka-console-consumer: the records of a topic on standard output."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from penstock.cli.options.command_line import (
    check_one_of_args,
    check_required_args,
    command_parser,
    maybe_merge_options,
    parse_or_print_usage,
    print_error_and_exit,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import INTEGER, LONG
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
from penstock.cli.tools.console.formatters import DEFAULT_FORMATTER

ABOUT = "This tool helps to read data from Kafka topics and outputs it to standard output."
EARLIEST, LATEST = -2, -1


@dataclass(frozen=True, kw_only=True)
class Request(ConsumerRequest):
    topic: str | None
    include: str | None
    partition: int | None
    offset: int
    skip_message_on_error: bool


def option_parser(formatter: str = DEFAULT_FORMATTER) -> OptionParser:
    parser = command_parser()
    accept_bootstrap_server(parser)
    _accept_what_to_read(parser)
    _accept_when_to_end(parser)
    accept_command_config(parser, "consumer.config")
    accept_formatter(parser, "kafka messages", has_delivery_counts=False, formatter=formatter)
    accept_deserializers(parser)
    accept_system_test_events(parser, "consumer")
    parser.accepts("group", "The consumer group id of the consumer.", argument="consumer group id")
    return parser


def _accept_what_to_read(parser: OptionParser) -> None:
    parser.accepts("topic", "The topic to consume from.", argument="topic")
    parser.accepts(
        "include",
        "Regular expression specifying list of topics to include for consumption.",
        argument="Java regex (String)",
    )
    parser.accepts(
        "partition",
        "The partition to consume from. "
        "Consumption starts from the end of the partition unless '--offset' is specified.",
        argument="partition",
        kind=INTEGER,
    )
    parser.accepts(
        "offset",
        "The offset to consume from (a non-negative number), or 'earliest' which means from beginning, "
        "or 'latest' which means from end",
        argument="consume offset",
        default="latest",
    )
    parser.accepts(
        "from-beginning",
        "If the consumer does not already have an established offset to consume from, "
        "start with the earliest message present in the log rather than the latest message.",
    )
    parser.accepts(
        "isolation-level",
        "Set to read_committed in order to filter out transactional messages which are not committed. "
        "Set to read_uncommitted to read all messages.",
        argument="",
        default="read_uncommitted",
    )


def _accept_when_to_end(parser: OptionParser) -> None:
    accept_limits(parser, LONG)
    parser.accepts(
        "skip-message-on-error", "If there is an error when processing a message, skip it instead of halt."
    )


# --- what was asked for


def read_request(words: Sequence[str], formatter: str = DEFAULT_FORMATTER) -> Request:
    parser = option_parser(formatter)
    options = parse_or_print_usage(parser, with_bootstrap_server(words), ABOUT)
    _check_required(parser, options)
    configs = _consumer_configs(parser, options)
    return Request(
        topic=options.value("topic"),
        include=options.value("include"),
        partition=options.value("partition"),
        offset=_offset(parser, options),
        timeout_ms=timeout_ms_of(options),
        formatter=chosen_formatter(parser, options),
        max_messages=max_messages_of(options),
        skip_message_on_error=options.has("skip-message-on-error"),
        logs_system_test_events=options.has("enable-systest-events"),
        configs=configs,
    )


def _check_required(parser: OptionParser, options: OptionSet) -> None:
    check_one_of_args(parser, options, "topic", "include")
    if options.has("partition"):
        if not options.has("topic"):
            print_usage_and_exit(parser, "The topic is required when partition is specified.")
        if options.has("from-beginning") and options.has("offset"):
            print_usage_and_exit(parser, "Options from-beginning and offset cannot be specified together.")
    elif options.has("offset"):
        print_usage_and_exit(parser, "The partition is required when offset is specified.")
    check_required_args(parser, options, "bootstrap-server")


def _consumer_configs(parser: OptionParser, options: OptionSet) -> dict[str, str]:
    of_file, given = command_properties(parser, options, "consumer.config")
    groups = group_ids(parser, options, of_file, given, "consumer.config")
    if groups and options.has("partition"):
        print_usage_and_exit(parser, "Options group and partition cannot be specified together.")
    configs = {**of_file, **given}
    _set_offset_reset(configs, from_beginning=options.has("from-beginning"))
    configs["bootstrap.servers"] = options.value("bootstrap-server")
    configs.setdefault("client.id", "console-consumer")
    maybe_merge_options(configs, "isolation.level", options, "isolation-level")
    if groups:
        configs["group.id"] = groups[0]
    else:
        configs["group.id"] = f"console-consumer-{random.randrange(100_000)}"
        configs.setdefault("enable.auto.commit", "false")
    return configs


def _set_offset_reset(configs: dict[str, str], *, from_beginning: bool) -> None:
    given = configs.get("auto.offset.reset")
    if from_beginning and given not in (None, "earliest"):
        print_error_and_exit(
            f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={given}', "
            "please remove one option"
        )
    configs.setdefault("auto.offset.reset", "earliest" if from_beginning else "latest")


def _offset(parser: OptionParser, options: OptionSet) -> int:
    if not options.has("offset"):
        return EARLIEST if options.has("from-beginning") else LATEST
    text = options.value("offset")
    if text.lower() in ("earliest", "latest"):
        return EARLIEST if text.lower() == "earliest" else LATEST
    try:
        offset: int = LONG.convert(text)
    except ValueError:
        _refuse_offset(parser, text)
    return offset if offset >= 0 else _refuse_offset(parser, text)


def _refuse_offset(parser: OptionParser, text: str) -> NoReturn:
    print_usage_and_exit(
        parser,
        f"The provided offset value '{text}' is incorrect. "
        "Valid values are 'earliest', 'latest', or a non-negative long.",
    )


# --- doing it


def console_consumer(words: list[str], formatter: str = DEFAULT_FORMATTER) -> int:
    request = read_request(words, formatter)
    sys.stdout.flush()
    from penstock.cli.tools.console.consumer_run import consume_to_output

    return consume_to_output(request)


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-console-consumer", console_consumer, arguments)


if __name__ == "__main__":
    sys.exit(main())
