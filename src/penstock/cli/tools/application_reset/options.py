"""The options of kafka-streams-application-reset, and which of them go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.cli.options.command_line import (
    check_invalid_args,
    command_parser,
    load_properties,
    parse_or_print_usage,
    say_deprecated,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import LONG

DEFAULT_SERVER = "localhost:9092"
SCENARIOS = (
    "to-offset",
    "to-datetime",
    "by-duration",
    "to-earliest",
    "to-latest",
    "from-file",
    "shift-by",
)
USAGE = """\
This tool helps to quickly reset an application in order to reprocess its data from scratch.
* This tool resets offsets of input topics to the earliest available offset (by default), or to a specific defined \
position* This tool deletes the internal topics that were created by Kafka Streams (topics starting with \
"<application.id>-").
The tool finds these internal topics automatically. If the topics flagged automatically for deletion by the dry-run \
are unsuitable, you can specify a subset with the "--internal-topics" option.
* This tool will not delete output topics (if you want to delete them, you need to do it yourself with the \
bin/kafka-topics.sh command).
* This tool will not clean up the local state on the stream application instances (the persisted stores used to cache \
aggregation results).
You need to call KafkaStreams#cleanUp() in your application or manually delete them from the directory specified by \
"state.dir" configuration (${java.io.tmpdir}/kafka-streams/<application.id> by default).
* When long session timeout has been configured, active members could take longer to get expired on the broker thus \
blocking the reset job to complete. Use the "--force" option could remove those left-over members immediately. Make \
sure to stop all stream applications when this option is specified to avoid unexpected disruptions.

*** Important! You will get wrong output if you don't clean up the local stores after running the reset tool!

*** Warning! This tool makes irreversible changes to your application. It is strongly recommended that you run this \
once with "--dry-run" to preview your changes before making them.

"""


def read_options(words: Sequence[str]) -> OptionSet:
    parser = _parser()
    options = parse_or_print_usage(parser, words, USAGE)
    for scenario in SCENARIOS:
        check_invalid_args(parser, options, scenario, *(each for each in SCENARIOS if each != scenario))
    check_invalid_args(parser, options, "config-file", "command-config")
    return options


def configs_of(options: OptionSet, defaults: Mapping[str, str]) -> dict[str, str]:
    """The settings of clients: those given with the call, on top of them the file's, and the server."""
    old = options.has("config-file")
    if old:
        say_deprecated("config-file", "command-config")
    path = options.value("config-file" if old else "command-config")
    server = options.value("bootstrap-server") or DEFAULT_SERVER
    return {
        **defaults,
        **(load_properties(path) if path is not None else {}),
        "bootstrap.servers": server,
    }


def _parser() -> OptionParser:
    parser = command_parser()
    _accept_subjects(parser)
    _accept_scenarios(parser)
    _accept_manners(parser)
    return parser


def _accept_subjects(parser: OptionParser) -> None:
    parser.accepts(
        "application-id",
        "REQUIRED: The Kafka Streams application ID (application.id).",
        argument="id",
        required=True,
    )
    parser.accepts(
        "bootstrap-server",
        "The server(s) to connect to. The broker list string in the form HOST1:PORT1,HOST2:PORT2. "
        "(default: localhost:9092)",
        argument="server to connect to",
    )
    parser.accepts(
        "input-topics",
        "Comma-separated list of user input topics. For these topics, the tool by default will reset the offset to "
        "the earliest available offset. Reset to other offset position by appending other reset offset option, ex: "
        "--input-topics foo --shift-by 5",
        argument="list",
        separator=",",
    )
    parser.accepts(
        "intermediate-topics",
        "[deprecated] Comma-separated list of intermediate user topics (topics that are input and output topics). "
        "For these topics, the tool will skip to the end.",
        argument="list",
        separator=",",
    )
    parser.accepts(
        "internal-topics",
        "Comma-separated list of internal topics to delete. Must be a subset of the internal topics marked for "
        "deletion by the default behaviour (do a dry-run without this option to view these topics).",
        argument="list",
        separator=",",
    )


def _accept_scenarios(parser: OptionParser) -> None:
    parser.accepts("to-offset", "Reset offsets to a specific offset.", argument="", kind=LONG)
    parser.accepts(
        "to-datetime",
        "Reset offsets to offset from datetime. Format: 'YYYY-MM-DDThh:mm:ss.sss'",
        argument="",
    )
    parser.accepts(
        "by-duration",
        "Reset offsets to offset by duration from current timestamp. Format: 'PnDTnHnMnS'",
        argument="",
    )
    parser.accepts("to-earliest", "Reset offsets to earliest offset.")
    parser.accepts("to-latest", "Reset offsets to latest offset.")
    parser.accepts("from-file", "Reset offsets to values defined in CSV file.", argument="")
    parser.accepts(
        "shift-by",
        "Reset offsets shifting current offset by 'n', where 'n' can be positive or negative",
        argument="number-of-offsets",
        kind=LONG,
    )


def _accept_manners(parser: OptionParser) -> None:
    parser.accepts(
        "config-file",
        "(DEPRECATED) Property file containing configs to be passed to admin clients and embedded consumer. This "
        "option will be removed in a future version. Use --command-config instead.",
        argument="file name",
    )
    parser.accepts(
        "command-config",
        "Config properties file to be passed to admin clients and embedded consumer.",
        argument="file name",
    )
    parser.accepts(
        "force",
        "Force the removal of members of the consumer group (intended to remove stopped members if a long session "
        "timeout was used). Make sure to shut down all stream applications when this option is specified to avoid "
        "unexpected rebalances.",
    )
    parser.accepts(
        "dry-run", "Display the actions that would be performed without executing the reset commands."
    )
