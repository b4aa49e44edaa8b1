"""kafka-console-producer: lines of standard input as the records of a topic."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.cli.options.command_line import (
    check_required_args,
    load_properties,
    maybe_merge_options,
    parse_key_value_args,
    parse_or_print_usage,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tool import err, run
from penstock.cli.tools.common.bootstrap_address import check_bootstrap_server
from penstock.cli.tools.common.broker_list import with_bootstrap_server
from penstock.cli.tools.console.confluent_classes import FORMAT_OF_READER
from penstock.cli.tools.console.line_reader import LineReader
from penstock.cli.tools.console.producer_options import LINE_READER, option_parser
from penstock.wire_client.errors import KafkaError

if TYPE_CHECKING:
    from penstock.cli.tools.console.schema_reader import SchemaLineReader

ABOUT = "This tool helps to read data from standard input and publish it to Kafka."
TWO_SPELLINGS = (
    ("command-config", "producer.config"),
    ("command-property", "producer-property"),
    ("reader-property", "property"),
)
OPTION_OF_CONFIG = (
    ("linger.ms", "timeout"),
    ("acks", "request-required-acks"),
    ("request.timeout.ms", "request-timeout-ms"),
    ("retries", "message-send-max-retries"),
    ("retry.backoff.ms", "retry-backoff-ms"),
    ("send.buffer.bytes", "socket-buffer-size"),
    ("buffer.memory", "max-memory-bytes"),
    ("batch.size", "batch-size"),
    ("batch.size", "max-partition-memory-bytes"),
    ("metadata.max.age.ms", "metadata-expiry-ms"),
    ("max.block.ms", "max-block-ms"),
)


class UnknownReaderError(KafkaError):
    """`--line-reader` names something else than the reader that there is."""

    JAVA_NAME = "java.lang.ClassNotFoundException"


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    topic: str
    waits_for_each: bool
    reader: LineReader | SchemaLineReader
    configs: dict[str, str]


def read_request(words: Sequence[str], reader: str = LINE_READER) -> Request:
    parser = option_parser(reader)
    options = parse_or_print_usage(parser, with_bootstrap_server(words), ABOUT)
    _check(parser, options)
    return Request(
        topic=options.value("topic"),
        waits_for_each=options.has("sync"),
        reader=_reader(options),
        configs=_producer_configs(options),
    )


def _check(parser: OptionParser, options: OptionSet) -> None:
    check_required_args(parser, options, "topic")
    for new, old in TWO_SPELLINGS:
        if options.has(new) and options.has(old):
            print_usage_and_exit(parser, f"Options --{new} and --{old} cannot be specified together.")
    for new, old in (TWO_SPELLINGS[1], TWO_SPELLINGS[0], TWO_SPELLINGS[2]):
        if options.has(old):
            print(
                f"Warning: --{old} is deprecated and will be removed in a future version. Use --{new} instead."
            )
    if options.has("max-partition-memory-bytes"):
        print(
            "Warning: --max-partition-memory-bytes is deprecated and will be removed in Apache Kafka 5.0. "
            "Use --batch-size instead."
        )
    check_bootstrap_server(parser, options)


def _reader(options: OptionSet) -> LineReader | SchemaLineReader:
    class_name = options.value("line-reader")
    if class_name != LINE_READER and class_name not in FORMAT_OF_READER:
        raise UnknownReaderError(class_name)
    of_file = load_properties(options.value("reader-config")) if options.has("reader-config") else {}
    given = parse_key_value_args([*options.values("reader-property"), *options.values("property")])
    properties = {**of_file, **given}
    if class_name == LINE_READER:
        return LineReader(properties)
    from penstock.cli.tools.console.schema_reader import schema_reader
    from penstock.rest.schemas.codec import FORMATS

    return schema_reader(FORMATS[FORMAT_OF_READER[class_name]], options.value("topic"), properties)


def _producer_configs(options: OptionSet) -> dict[str, str]:
    configs: dict[str, str] = {}
    for file_option in ("command-config", "producer.config"):
        if options.has(file_option):
            configs |= load_properties(options.value(file_option))
    configs |= parse_key_value_args(
        [*options.values("command-property"), *options.values("producer-property")]
    )
    configs["bootstrap.servers"] = options.value("bootstrap-server")
    configs["compression.type"] = _compression(options)
    configs.setdefault("client.id", "console-producer")
    for config, option in OPTION_OF_CONFIG:
        maybe_merge_options(configs, config, options, option)
    return configs


def _compression(options: OptionSet) -> str:
    if not options.has("compression-codec"):
        return "none"
    return options.value("compression-codec") or "gzip"


def console_producer(words: list[str], reader: str = LINE_READER) -> int:
    try:
        request = read_request(words, reader)
        sys.stdout.flush()
        from penstock.cli.tools.console.producer_run import produce_from_input

        return produce_from_input(request)
    except KafkaError as error:
        err(f"{error.java_name}: {error}")
        return 1


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-console-producer", console_producer, arguments)


if __name__ == "__main__":
    sys.exit(main())
