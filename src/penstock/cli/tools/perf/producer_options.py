"""The command line of the producer's performance test."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.cli.options.argparse4j import ArgumentGroup, ArgumentParser, ArgumentParserError, Namespace
from penstock.cli.options.command_line import load_properties, say_deprecated
from penstock.cli.options.kinds import DOUBLE, INTEGER, LONG
from penstock.cli.tools.common.broker_list import with_bootstrap_server
from penstock.cli.tools.perf.payloads import read_payload_file

TRANSACTIONAL_ID_PREFIX = "performance-producer-"
DEFAULT_TRANSACTION_DURATION_MS = 3000
ONE_PAYLOAD = (
    "Note that you must provide exactly one of --record-size, --payload-file or --payload-monotonic."
)
CONFIGS = (
    "Kafka producer related configuration properties like client.id. "
    "These configs take precedence over those passed via --command-config or --producer.config. "
)
CONFIGS_EXAMPLE = "Example: --command-property linger.ms=10 batch.size=32768"
TO_BE_REMOVED = "This option will be removed in a future version. "


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    topic: str
    records: int
    warmup_records: int
    record_size: int | None
    payloads: list[bytes]
    throughput: float
    reporting_interval_ms: int
    prints_metrics: bool
    transaction_duration_ms: int | None
    configs: dict[str, str]


def argument_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "kafka-producer-perf-test",
        default_help=True,
        description="This tool is used to verify the producer performance. To enable transactions, "
        "you can specify a transactional id or set a transaction duration using --transaction-duration-ms. "
        "There are three ways to specify the transactional id: set transactional.id=<id> via --command-property, "
        "set transactional.id=<id> in the config file via --command-config, or use --transactional-id <id>.",
    )
    parser.add_argument(
        "--bootstrap-server",
        metavar="BOOTSTRAP-SERVER",
        dest="bootstrapServer",
        help="The server(s) to connect to. This config takes precedence over bootstrap.servers specified via "
        "--command-property or --command-config.",
    )
    payloads = parser.add_mutually_exclusive_group(required=True, description=ONE_PAYLOAD)
    _add_what_to_send(parser)
    _add_payloads(payloads)
    parser.add_argument(
        "--payload-delimiter",
        metavar="PAYLOAD-DELIMITER",
        dest="payloadDelimiter",
        default="\\n",
        help="Provides the delimiter to be used when --payload-file is provided. Defaults to new line. "
        "Note that this parameter will be ignored if --payload-file is not provided.",
    )
    parser.add_argument(
        "--throughput",
        required=True,
        type=DOUBLE,
        metavar="THROUGHPUT",
        help="Throttle maximum record throughput to *approximately* THROUGHPUT records/sec. "
        "Set this to -1 to disable throttling.",
    )
    _add_configs(parser)
    _add_transactions(parser)
    _add_reports(parser)
    return parser


def _add_what_to_send(parser: ArgumentParser) -> None:
    parser.add_argument("--topic", required=True, metavar="TOPIC", help="Produce records to this topic.")
    parser.add_argument(
        "--num-records",
        required=True,
        type=LONG,
        metavar="NUM-RECORDS",
        dest="numRecords",
        help="Number of records to produce.",
    )


def _add_payloads(payloads: ArgumentGroup) -> None:
    payloads.add_argument(
        "--record-size",
        type=INTEGER,
        metavar="RECORD-SIZE",
        dest="recordSize",
        help=f"Record size in bytes. {ONE_PAYLOAD}",
    )
    payloads.add_argument(
        "--payload-file",
        metavar="PAYLOAD-FILE",
        dest="payloadFile",
        help="File to read the record payloads from. This works only for UTF-8 encoded text files. "
        "Payloads will be read from this file and a payload will be randomly selected when sending records. "
        f"{ONE_PAYLOAD}",
    )
    payloads.add_argument(
        "--payload-monotonic",
        action="store_true",
        metavar="PAYLOAD-MONOTONIC",
        dest="payloadMonotonic",
        help=f"Payload is a monotonically increasing integer. {ONE_PAYLOAD}",
    )


def _add_configs(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--producer-props",
        nargs="+",
        metavar="PROP-NAME=PROP-VALUE",
        dest="producerConfig",
        help=f"(DEPRECATED) {CONFIGS}{TO_BE_REMOVED}Use --command-property instead. {CONFIGS_EXAMPLE}",
    )
    parser.add_argument(
        "--command-property",
        nargs="+",
        metavar="PROP-NAME=PROP-VALUE",
        dest="commandProperties",
        help=f"{CONFIGS}{CONFIGS_EXAMPLE}",
    )
    parser.add_argument(
        "--producer.config",
        metavar="CONFIG-FILE",
        dest="producerConfigFile",
        help=f"(DEPRECATED) Producer config properties file. {TO_BE_REMOVED}Use --command-config instead.",
    )
    parser.add_argument(
        "--command-config",
        metavar="CONFIG-FILE",
        dest="commandConfigFile",
        help="Producer config properties file.",
    )
    parser.add_argument(
        "--print-metrics",
        action="store_true",
        metavar="PRINT-METRICS",
        dest="printMetrics",
        help="Print out metrics at the end of the test.",
    )


def _add_transactions(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--transactional-id",
        metavar="TRANSACTIONAL-ID",
        dest="transactionalId",
        help="The transactional id to use. This config takes precedence over the transactional.id specified via "
        "--command-property or --command-config. Note that if the transactional id is not specified while "
        "--transaction-duration-ms is provided, the default value for the transactional id will be "
        "performance-producer- followed by a random uuid.",
    )
    parser.add_argument(
        "--transaction-duration-ms",
        type=LONG,
        metavar="TRANSACTION-DURATION",
        dest="transactionDurationMs",
        help="The maximum duration of each transaction. The commitTransaction will be called after this time has "
        "elapsed. The value should be greater than 0. If the transactional id is specified via --command-property, "
        "--command-config or --transactional-id but --transaction-duration-ms is not specified, the default value "
        "will be 3000.",
    )


def _add_reports(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--warmup-records",
        type=LONG,
        metavar="WARMUP-RECORDS",
        dest="warmupRecords",
        default=0,
        help="The number of records to treat as warmup. These initial records will not be included in steady-state "
        "statistics. An additional summary line will be printed describing the steady-state statistics.",
    )
    parser.add_argument(
        "--reporting-interval",
        type=LONG,
        metavar="INTERVAL-MS",
        dest="reportingInterval",
        default=5000,
        help="Interval in milliseconds at which to print progress info.",
    )


# --- what was asked for


def read_request(parser: ArgumentParser, words: Sequence[str]) -> Request:
    given = parser.parse_args(with_bootstrap_server(words))
    if (problem := _problem(given)) is not None:
        raise ArgumentParserError(problem, parser)
    delimiter = given["payloadDelimiter"]
    payload_file = given["payloadFile"]
    payloads = (
        read_payload_file(payload_file, "\n" if delimiter == "\\n" else delimiter) if payload_file else []
    )
    configs = _configs(given)
    return Request(
        topic=given["topic"],
        records=given["numRecords"],
        warmup_records=max(given["warmupRecords"], 0),
        record_size=given["recordSize"],
        payloads=payloads,
        throughput=given["throughput"],
        reporting_interval_ms=given["reportingInterval"],
        prints_metrics=given["printMetrics"],
        transaction_duration_ms=_transaction_duration_ms(given, configs),
        configs=configs,
    )


def _problem(given: Namespace) -> str | None:
    sources = (
        "bootstrapServer",
        "commandProperties",
        "producerConfig",
        "producerConfigFile",
        "commandConfigFile",
    )
    checks = (
        (given["numRecords"] <= 0, "--num-records should be greater than zero."),
        (
            max(given["warmupRecords"], 0) >= given["numRecords"],
            "The value for --warmup-records must be strictly fewer than the number of records in the test, "
            "--num-records.",
        ),
        (_is_below(given["recordSize"], 1), "--record-size should be greater than zero."),
        (
            all(given[source] is None for source in sources),
            "At least one of --bootstrap-server, --command-property, --producer-props, --producer.config or "
            "--command-config must be specified.",
        ),
        (
            given["commandProperties"] is not None and given["producerConfig"] is not None,
            "--command-property and --producer-props cannot be specified together.",
        ),
        (
            given["commandConfigFile"] is not None and given["producerConfigFile"] is not None,
            "--command-config and --producer.config cannot be specified together.",
        ),
        (
            _is_below(given["transactionDurationMs"], 1),
            "--transaction-duration-ms should be greater than zero.",
        ),
        (given["reportingInterval"] <= 0, "--reporting-interval should be greater than zero."),
    )
    return next((problem for is_wrong, problem in checks if is_wrong), None)


def _is_below(value: int | None, least: int) -> bool:
    return value is not None and value < least


def _configs(given: Namespace) -> dict[str, str]:
    for dest, old, new in (
        ("producerConfig", "producer-props", "command-property"),
        ("producerConfigFile", "producer.config", "command-config"),
    ):
        if given[dest] is not None:
            say_deprecated(old, new)
    file = given["producerConfigFile"] or given["commandConfigFile"]
    configs = load_properties(file) if file is not None else {}
    for word in given["producerConfig"] or given["commandProperties"] or ():
        configs |= dict([_key_and_value(word)])
    configs.setdefault("client.id", "perf-producer-client")
    if given["bootstrapServer"] is not None:
        configs["bootstrap.servers"] = given["bootstrapServer"]
    return configs


def _key_and_value(word: str) -> tuple[str, str]:
    pieces = word.split("=")
    while pieces and not pieces[-1]:
        pieces.pop()
    if len(pieces) != 2:
        raise ValueError(f"Invalid property: {word}")
    return pieces[0], pieces[1]


def _transaction_duration_ms(given: Namespace, configs: dict[str, str]) -> int | None:
    """None if there are to be no transactions; else the transactional id is among the configs."""
    duration_ms: int | None = given["transactionDurationMs"]
    transactional_id = given["transactionalId"] or configs.get("transactional.id")
    if duration_ms is None and transactional_id is None:
        return None
    configs["transactional.id"] = transactional_id or TRANSACTIONAL_ID_PREFIX + _random_uuid()
    return DEFAULT_TRANSACTION_DURATION_MS if duration_ms is None else duration_ms


def _random_uuid() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
