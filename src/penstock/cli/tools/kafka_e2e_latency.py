"""kafka-e2e-latency: how long a record takes from the producer to the consumer."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from penstock.cli.options.command_line import (
    command_parser,
    load_properties,
    parse_or_print_usage,
    print_error_and_exit,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import INTEGER
from penstock.cli.tool import run
from penstock.cli.tools.common.broker_list import with_bootstrap_server

ABOUT = "This tool measures end-to-end latency in Kafka by sending messages and timing their reception."
REQUIRED = ("bootstrap-server", "topic", "num-records", "producer-acks", "record-size")
POSITIONAL = (*REQUIRED, "command-config")
NAMED_INSTEAD = ", ".join(f"--{name}" for name in POSITIONAL)
LIMITS = (
    ("num-records", 1, "a positive integer."),
    ("record-size", 0, "a non-negative integer."),
    ("record-key-size", 0, "a non-negative integer."),
    ("record-header-key-size", 0, "a non-negative integer."),
    ("record-header-size", -1, "a non-negative integer or -1 for null header value."),
    ("num-headers", 0, "a non-negative integer."),
)


def option_parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "bootstrap-server",
        "REQUIRED: The Kafka broker list string in the form HOST1:PORT1,HOST2:PORT2.",
        argument="bootstrap-server",
    )
    parser.accepts("topic", "REQUIRED: The topic to use for the test.", argument="topic-name")
    parser.accepts("num-records", "REQUIRED: The number of messages to send.", argument="count", kind=INTEGER)
    parser.accepts(
        "producer-acks",
        "REQUIRED: Producer acknowledgements. Must be '1' or 'all'.",
        argument="producer-acks",
    )
    parser.accepts(
        "record-size",
        "REQUIRED: The size of each message payload in bytes.",
        argument="bytes",
        kind=INTEGER,
    )
    _accept_optional_sizes(parser)
    parser.accepts(
        "command-config",
        "Optional: A property file for Kafka producer/consumer/admin client configuration.",
        argument="config-file",
        optional_argument=True,
    )
    return parser


def _accept_optional_sizes(parser: OptionParser) -> None:
    _accept_optional_number(
        parser,
        "record-key-size",
        "The size of the message key in bytes. If not set, messages are sent without a key.",
    )
    _accept_optional_number(
        parser,
        "record-header-key-size",
        "The size of the message header key in bytes. Used together with record-header-size.",
    )
    _accept_optional_number(
        parser,
        "record-header-size",
        "The size of message header value in bytes. Use -1 for null header value.",
    )
    _accept_optional_number(
        parser, "num-headers", "The number of headers to include in each message.", argument="count"
    )


def _accept_optional_number(parser: OptionParser, name: str, about: str, argument: str = "bytes") -> None:
    parser.accepts(
        name, f"Optional: {about}", argument=argument, optional_argument=True, kind=INTEGER, default=0
    )


def with_names(words: Sequence[str]) -> Sequence[str]:
    """The words of before, which had their meaning by their place, as options."""
    if not words or {f"--{name}" for name in REQUIRED} & set(words):
        return words
    if len(words) not in (5, 6):
        print_error_and_exit(
            f"Invalid number of arguments. Expected 5 or 6 positional arguments, but got {len(words)}. "
            "Usage: bootstrap-server topic num-records producer-acks record-size [optional] command-config"
        )
    print(
        "WARNING: Positional argument usage is deprecated and will be removed in Apache Kafka 5.0. "
        f"Please use named arguments instead: {NAMED_INSTEAD}"
    )
    return [part for name, word in zip(POSITIONAL, words, strict=False) for part in (f"--{name}", word)]


def check(parser: OptionParser, options: OptionSet) -> None:
    if options.value("producer-acks") not in ("1", "all"):
        print_usage_and_exit(
            parser,
            "Invalid value for --producer-acks. Latency testing requires synchronous acknowledgement. "
            "Please use '1' or 'all'.",
        )
    for name, least, words in LIMITS:
        if options.value(name) < least:
            print_usage_and_exit(parser, f"Value for --{name} must be {words}")


def e2e_latency(words: list[str]) -> int:
    named = with_names(with_bootstrap_server(words))
    parser = option_parser()
    options = parse_or_print_usage(parser, named, ABOUT, *REQUIRED)
    check(parser, options)
    file = options.value("command-config")
    configs = load_properties(file) if file is not None else {}
    sys.stdout.flush()
    from penstock.cli.tools.perf.latency_run import Request, run_latency_test

    return run_latency_test(
        Request(
            topic=options.value("topic"),
            records=options.value("num-records"),
            acks=options.value("producer-acks"),
            value_size=options.value("record-size"),
            key_size=options.value("record-key-size"),
            headers=options.value("num-headers"),
            header_key_size=options.value("record-header-key-size"),
            header_value_size=options.value("record-header-size"),
            configs={**configs, "bootstrap.servers": options.value("bootstrap-server")},
        )
    )


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-e2e-latency", e2e_latency, arguments)


if __name__ == "__main__":
    sys.exit(main())
