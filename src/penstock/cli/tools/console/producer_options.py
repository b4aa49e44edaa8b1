"""The options of the console producer."""

from __future__ import annotations

from penstock.cli.options.command_line import command_parser
from penstock.cli.options.joptsimple import OptionParser
from penstock.cli.options.kinds import INTEGER, LONG
from penstock.cli.tools.console.confluent_classes import FORMAT_OF_READER
from penstock.cli.tools.console.confluent_classes import READER_PROPERTIES as OF_SCHEMAS

LINE_READER = "org.apache.kafka.tools.LineMessageReader"
TO_BE_REMOVED = "This option will be removed in a future version."
READER_PROPERTIES = (
    "A mechanism to pass user-defined properties in the form key=value to the message reader. "
    "This allows custom configuration for a user-defined message reader."
    "\nDefault properties include:"
    "\n parse.key=false"
    "\n parse.headers=false"
    "\n ignore.error=false"
    "\n key.separator=\\t"
    "\n headers.delimiter=\\t"
    "\n headers.separator=,"
    "\n headers.key.separator=:"
    "\n null.marker=   When set, any fields (key, value and headers) equal to this will be replaced by null"
    "\nDefault parsing pattern when:"
    "\n parse.headers=true and parse.key=true:"
    '\n  "h1:v1,h2:v2...\\tkey\\tvalue"'
    "\n parse.key=true:"
    '\n  "key\\tvalue"'
    "\n parse.headers=true:"
    '\n  "h1:v1,h2:v2...\\tvalue"'
)
BUFFER_OF_A_PARTITION = (
    "The buffer size in bytes allocated for a partition. When records are received which are smaller than this size "
    "the producer will attempt to optimistically group them together until this size is reached. "
    "This is the option to control batch.size in producer configs. "
)


def option_parser(reader: str = LINE_READER) -> OptionParser:
    parser = command_parser()
    parser.accepts("topic", "REQUIRED: The topic name to produce messages to.", argument="topic")
    parser.accepts(
        "bootstrap-server",
        "REQUIRED: The server(s) to connect to. The broker list string in the form HOST1:PORT1,HOST2:PORT2.",
        argument="server to connect to",
    )
    parser.accepts(
        "sync",
        "If set message send requests to the brokers are synchronously, one at a time as they arrive.",
    )
    _accept_producer_settings(parser)
    _accept_sizes(parser)
    _accept_times(parser)
    _accept_limits_of_waiting(parser)
    _accept_reader(parser, reader)
    _accept_command_config(parser)
    return parser


def _accept_producer_settings(parser: OptionParser) -> None:
    parser.accepts(
        "compression-codec",
        "The compression codec: either 'none', 'gzip', 'snappy', 'lz4', or 'zstd'."
        "If specified without value, then it defaults to 'gzip'",
        argument="compression-codec",
        optional_argument=True,
    )
    parser.accepts(
        "batch-size",
        f"{BUFFER_OF_A_PARTITION}"
        "Please note that this option will be replaced if max-partition-memory-bytes is also set.",
        argument="size",
        kind=INTEGER,
        default=16 * 1024,
    )
    parser.accepts(
        "message-send-max-retries",
        "Brokers can fail receiving the message for multiple reasons, and being unavailable transiently is just one "
        "of them. This property specifies the number of retries before the producer give up and drop this message. "
        "This is the option to control `retries` in producer configs.",
        argument="",
        kind=INTEGER,
        default=3,
    )
    parser.accepts(
        "request-required-acks",
        "The required `acks` of the producer requests",
        argument="request required acks",
        default="-1",
    )


def _accept_sizes(parser: OptionParser) -> None:
    parser.accepts(
        "max-memory-bytes",
        "The total memory used by the producer to buffer records waiting to be sent to the server. "
        "This is the option to control `buffer.memory` in producer configs.",
        argument="total memory in bytes",
        kind=LONG,
        default=32 * 1024 * 1024,
    )
    parser.accepts(
        "max-partition-memory-bytes",
        f"(Deprecated) {BUFFER_OF_A_PARTITION}"
        "This option will be removed in Apache Kafka 5.0. Use --batch-size instead.",
        argument="memory in bytes per partition",
        kind=INTEGER,
        default=16 * 1024,
    )
    parser.accepts(
        "socket-buffer-size",
        "The size of the tcp RECV size. This is the option to control `send.buffer.bytes` in producer configs.",
        argument="size",
        kind=INTEGER,
        default=1024 * 100,
    )


def _accept_times(parser: OptionParser) -> None:
    parser.accepts(
        "retry-backoff-ms",
        "Before each retry, the producer refreshes the metadata of relevant topics. "
        "Since leader election takes a bit of time, this property specifies the amount of time that the producer "
        "waits before refreshing the metadata. This is the option to control `retry.backoff.ms` in producer configs.",
        argument="",
        kind=LONG,
        default=100,
    )
    parser.accepts(
        "timeout",
        "If set and the producer is running in asynchronous mode, this gives the maximum amount of time a message "
        "will queue awaiting sufficient batch size. The value is given in ms. "
        "This is the option to control `linger.ms` in producer configs.",
        argument="timeout_ms",
        kind=LONG,
        default=1000,
    )
    parser.accepts(
        "request-timeout-ms",
        "The ack timeout of the producer requests. Value must be non-negative and non-zero.",
        argument="request timeout ms",
        kind=INTEGER,
        default=1500,
    )


def _accept_limits_of_waiting(parser: OptionParser) -> None:
    parser.accepts(
        "metadata-expiry-ms",
        "The period of time in milliseconds after which we force a refresh of metadata even if we haven't seen any "
        "leadership changes. This is the option to control `metadata.max.age.ms` in producer configs.",
        argument="metadata expiration interval",
        kind=LONG,
        default=5 * 60 * 1000,
    )
    parser.accepts(
        "max-block-ms",
        "The max time that the producer will block for during a send request.",
        argument="max block on send",
        kind=LONG,
        default=60 * 1000,
    )


def _accept_reader(parser: OptionParser, reader: str) -> None:
    properties = READER_PROPERTIES
    if reader in FORMAT_OF_READER:
        properties += OF_SCHEMAS
    parser.accepts(
        "line-reader",
        "The class name of the class to use for reading lines from standard in. "
        "By default each line is read as a separate message.",
        argument="reader_class",
        default=reader,
    )
    parser.accepts(
        "property",
        f"(DEPRECATED) {properties}\n {TO_BE_REMOVED} Use --reader-property instead.",
        argument="prop",
    )
    newer = parser.accepts("reader-property", properties, argument="prop")
    parser.accepts(
        "reader-config",
        f"Config properties file for the message reader. Note that {newer} takes precedence over this config.",
        argument="config file",
    )


def _accept_command_config(parser: OptionParser) -> None:
    in_form = "Producer config properties in the form key=value."
    parser.accepts(
        "producer-property",
        f"(DEPRECATED) {in_form} {TO_BE_REMOVED} Use --command-property instead.",
        argument="producer_prop",
    )
    newer = parser.accepts("command-property", in_form, argument="producer_prop")
    in_file = f"Producer config properties file. Note that {newer} takes precedence over this config."
    parser.accepts(
        "producer.config",
        f"(DEPRECATED) {in_file} {TO_BE_REMOVED} Use --command-config instead.",
        argument="config file",
    )
    parser.accepts("command-config", in_file, argument="config file")
