"""kafka-consumer-perf-test: how many records a second a consumer gets."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

from penstock.cli.options.command_line import (
    check_invalid_args,
    check_one_of_args,
    command_parser,
    load_properties,
    parse_key_value_args,
    parse_or_print_usage,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import INTEGER, LONG
from penstock.cli.tool import err, run
from penstock.cli.tools.common.broker_list import with_bootstrap_server
from penstock.cli.tools.perf.consumer_request import Request
from penstock.cli.tools.perf.simple_date_format import SimpleDateFormat

ABOUT = "This tool is used to verify the consumer performance."
RATES = "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
TIMES = "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"


def option_parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "bootstrap-server", "REQUIRED: The server(s) to connect to.", argument="server to connect to"
    )
    parser.accepts("topic", "The topic to consume from.", argument="topic")
    parser.accepts(
        "include",
        "Regular expression specifying list of topics to include for consumption.",
        argument="Java regex (String)",
    )
    parser.accepts(
        "group",
        "The group id to consume on.",
        argument="gid",
        default=f"perf-consumer-{random.randrange(100_000)}",
    )
    _accept_consumer_settings(parser)
    _accept_reports(parser)
    return parser


def _accept_consumer_settings(parser: OptionParser) -> None:
    parser.accepts(
        "fetch-size",
        "The maximum amount of data to fetch from a single partition per request.",
        argument="size",
        kind=INTEGER,
        default=1024 * 1024,
    )
    parser.accepts(
        "command-property",
        "Kafka consumer related configuration properties like client.id. "
        "These configs take precedence over those passed via --command-config or --consumer.config.",
        argument="prop1=val1",
    )
    parser.accepts(
        "from-latest",
        "If the consumer does not already have an established offset to consume from, "
        "start with the latest record present in the log rather than the earliest record.",
    )
    parser.accepts(
        "socket-buffer-size",
        "The size of the tcp RECV size.",
        argument="size",
        kind=INTEGER,
        default=2 * 1024 * 1024,
    )
    parser.accepts(
        "consumer.config",
        "(DEPRECATED) Consumer config properties file. "
        "This option will be removed in a future version. Use --command-config instead.",
        argument="config file",
    )
    parser.accepts("command-config", "Config properties file.", argument="config file")


def _accept_reports(parser: OptionParser) -> None:
    parser.accepts("print-metrics", "Print out the metrics.")
    parser.accepts(
        "show-detailed-stats",
        "If set, stats are reported for each reporting interval as configured by reporting-interval.",
    )
    parser.accepts(
        "timeout",
        "The maximum allowed time in milliseconds between returned records.",
        argument="milliseconds",
        optional_argument=True,
        kind=LONG,
        default=10_000,
    )
    parser.accepts(
        "messages",
        "(DEPRECATED) The number of records to consume. "
        "This option will be removed in a future version. Use --num-records instead.",
        argument="count",
        kind=LONG,
    )
    parser.accepts("num-records", "REQUIRED: The number of records to consume.", argument="count", kind=LONG)
    parser.accepts(
        "reporting-interval",
        "Interval in milliseconds at which to print progress info.",
        argument="interval_ms",
        kind=LONG,
        default=5_000,
    )
    parser.accepts(
        "date-format",
        "The date format to use for formatting the time field. See java.text.SimpleDateFormat for options.",
        argument="date format",
        default="yyyy-MM-dd HH:mm:ss:SSS",
    )
    parser.accepts("hide-header", "If set, skips printing the header for the stats.")


def read_options(parser: OptionParser, words: Sequence[str]) -> OptionSet:
    options = parse_or_print_usage(parser, with_bootstrap_server(words), ABOUT, "bootstrap-server")
    check_one_of_args(parser, options, "topic", "include")
    check_one_of_args(parser, options, "messages", "num-records")
    check_invalid_args(parser, options, "consumer.config", "command-config")
    for old, new in (("messages", "num-records"), ("consumer.config", "command-config")):
        if options.has(old):
            print(f"Warning: --{old} is deprecated. Use --{new} instead.")
    return options


def read_request(options: OptionSet) -> Request:
    reporting_interval_ms = options.value("reporting-interval")
    if reporting_interval_ms <= 0:
        raise ValueError("Reporting interval must be greater than 0.")
    return Request(
        topic=options.value("topic"),
        include=options.value("include"),
        records=options.value("messages" if options.has("messages") else "num-records"),
        timeout_ms=options.value("timeout"),
        reporting_interval_ms=reporting_interval_ms,
        date_format=SimpleDateFormat(options.value("date-format")),
        shows_detailed_stats=options.has("show-detailed-stats"),
        prints_metrics=options.has("print-metrics"),
        configs=_configs(options),
    )


def _configs(options: OptionSet) -> dict[str, str]:
    file = options.value("consumer.config" if options.has("consumer.config") else "command-config")
    return {
        "client.id": "perf-consumer-client",
        **(load_properties(file) if file is not None else {}),
        **parse_key_value_args(options.values("command-property")),
        "bootstrap.servers": options.value("bootstrap-server"),
        "group.id": options.value("group"),
        "receive.buffer.bytes": str(options.value("socket-buffer-size")),
        "max.partition.fetch.bytes": str(options.value("fetch-size")),
        "auto.offset.reset": "latest" if options.has("from-latest") else "earliest",
        "check.crcs": "false",
    }


def header(shows_detailed_stats: bool) -> str:
    return f"{'time, threadId' if shows_detailed_stats else 'start.time, end.time'}, {RATES}, {TIMES}"


def consumer_perf_test(words: list[str]) -> int:
    parser = option_parser()
    options = read_options(parser, words)
    if not options.has("hide-header"):
        print(header(options.has("show-detailed-stats")), flush=True)
    try:
        request = read_request(options)
    except ValueError as error:
        err(str(error))
        return 1
    from penstock.cli.tools.perf.consumer_run import run_consumer_test

    return run_consumer_test(request)


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-consumer-perf-test", consumer_perf_test, arguments)


if __name__ == "__main__":
    sys.exit(main())
