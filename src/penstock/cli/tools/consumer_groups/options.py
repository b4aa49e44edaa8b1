"""The options of kafka-consumer-groups, and which of them go together."""

from __future__ import annotations

from penstock.cli.options.command_line import (
    check_required_args,
    command_parser,
    maybe_print_help_or_version,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import LONG
from penstock.cli.tool import err
from penstock.cli.tools.groups import checks

DEFAULT_TIMEOUT_MS = 30_000
ABOUT = (
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, "
    "or reset consumer group offsets."
)
ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex")
SCENARIOS = (
    *("to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "to-current", "shift-by"),
    "from-file",
)
EXAMPLE = "Example: --bootstrap-server localhost:9092"
NO_EXECUTE = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will "
    "require either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you "
    "are scripting this command and want to keep the current default behavior without prompting."
)


def consumer_groups_parser() -> OptionParser:
    parser = command_parser()
    _accept_subjects(parser)
    _accept_actions(parser)
    _accept_reset(parser)
    _accept_description(parser)
    _accept_listing(parser)
    parser.accepts(
        "validate-regex",
        "Validate that the syntax of the provided regular expression is valid according to the RE2 format.",
        argument="regex",
    )
    return parser


def _accept_subjects(parser: OptionParser) -> None:
    parser.accepts(
        "bootstrap-server",
        "The server(s) to connect to. REQUIRED for all options except for --validate-regex.",
        argument="server to connect to",
    )
    parser.accepts("group", "The consumer group we wish to act on.", argument="consumer group")
    parser.accepts(
        "topic",
        "The topic whose consumer group information should be deleted or topic whose should be included in the reset "
        "offset process. In `reset-offsets` case, partitions can be specified using this format: `topic1:0,1,2`, where "
        "0,1,2 are the partition to be included in the process. Reset-offsets also supports multiple topic inputs.",
        argument="topic",
    )
    parser.accepts("all-topics", "Consider all topics assigned to a group in the `reset-offsets` process.")
    parser.accepts("all-groups", "Apply to all consumer groups.")
    parser.accepts(
        "timeout",
        "The timeout that can be set for some use cases. For example, it can be used when describing the group to "
        "specify the maximum amount of time in milliseconds to wait before the group stabilizes (when the group is "
        "just created, or is going through some changes).",
        argument="timeout (ms)",
        kind=LONG,
        default=DEFAULT_TIMEOUT_MS,
    )
    parser.accepts(
        "command-config",
        "Property file containing configs to be passed to Admin Client and Consumer.",
        argument="command config property file",
    )


def _accept_actions(parser: OptionParser) -> None:
    parser.accepts("list", "List all consumer groups.")
    parser.accepts(
        "describe",
        "Describe consumer group and list offset lag (number of messages not yet processed) related to given group.",
    )
    parser.accepts(
        "delete",
        "Pass in groups to delete topic partition offsets and ownership information over the entire consumer group. "
        "For instance --group g1 --group g2",
    )
    parser.accepts(
        "reset-offsets",
        "Reset offsets of consumer group. Supports one consumer group at the time, and instances should be inactive\n"
        "Has 2 execution options: --dry-run (the default) to plan which offsets to reset, and --execute to update the "
        "offsets. Additionally, the --export option is used to export the results to a CSV format.\n"
        "You must choose one of the following reset specifications: --to-datetime, --by-duration, --to-earliest, "
        "--to-latest, --shift-by, --from-file, --to-current, --to-offset.\n"
        "To define the scope use --all-topics or --topic. One scope must be specified unless you use '--from-file'.",
    )
    parser.accepts(
        "delete-offsets",
        "Delete offsets of consumer group. Supports one consumer group at the time, and multiple topics.",
    )


def _accept_reset(parser: OptionParser) -> None:
    parser.accepts(
        "dry-run",
        "Only show results without executing changes on Consumer Groups. Supported operations: reset-offsets.",
    )
    parser.accepts("execute", "Execute operation. Supported operations: reset-offsets.")
    parser.accepts("export", "Export operation execution to a CSV file. Supported operations: reset-offsets.")
    parser.accepts("to-offset", "Reset offsets to a specific offset.", argument="offset", kind=LONG)
    parser.accepts("from-file", "Reset offsets to values defined in CSV file.", argument="path to CSV file")
    parser.accepts(
        "to-datetime",
        "Reset offsets to offset from datetime. Format: 'YYYY-MM-DDThh:mm:ss.sss'",
        argument="datetime",
    )
    parser.accepts(
        "by-duration",
        "Reset offsets to offset by duration from current timestamp. Format: 'PnDTnHnMnS'",
        argument="duration",
    )
    parser.accepts("to-earliest", "Reset offsets to earliest offset.")
    parser.accepts("to-latest", "Reset offsets to latest offset.")
    parser.accepts("to-current", "Reset offsets to current offset.")
    parser.accepts(
        "shift-by",
        "Reset offsets shifting current offset by 'n', where 'n' can be positive or negative.",
        argument="number-of-offsets",
        kind=LONG,
    )


def _accept_description(parser: OptionParser) -> None:
    describe, example = parser.option("describe"), EXAMPLE
    parser.accepts(
        "members",
        "Describe members of the group. This option may be used with '--describe' and '--bootstrap-server' options "
        f"only.\n{example} --describe --group group1 --members",
        available_if=[describe],
    )
    parser.accepts(
        "verbose",
        "Provide additional information, if any, when describing the group. This option may be used with "
        "'--offsets'/'--members'/'--state' and '--bootstrap-server' options only.\n"
        f"{example} --describe --group group1 --members --verbose",
        available_if=[describe],
    )
    parser.accepts(
        "offsets",
        "Describe the group and list all topic partitions in the group along with their offset lag. This is the "
        "default sub-action of and may be used with '--describe' and '--bootstrap-server' options only.\n"
        f"{example} --describe --group group1 --offsets",
        available_if=[describe],
    )


def _accept_listing(parser: OptionParser) -> None:
    describe, list_, example = parser.option("describe"), parser.option("list"), EXAMPLE
    parser.accepts(
        "state",
        "When specified with '--describe', includes the state of the group.\n"
        f"{example} --describe --group group1 --state\n"
        "When specified with '--list', it displays the state of all groups. It can also be used to list groups with "
        f"specific states.\n{example} --list --state stable,empty\n"
        "This option may be used with '--describe', '--list' and '--bootstrap-server' options only.",
        argument="",
        optional_argument=True,
        available_if=[describe, list_],
    )
    parser.accepts(
        "type",
        "When specified with '--list', it displays the types of all the groups. It can also be used to list groups "
        f"with specific types.\n{example} --list --type classic,consumer\n"
        "This option may be used with the '--list' option only.",
        argument="",
        optional_argument=True,
        available_if=[list_],
    )


# --- which go together


def check(parser: OptionParser, options: OptionSet, words: list[str]) -> None:
    maybe_print_help_or_version(parser, options, words, ABOUT)
    if not options.has("validate-regex"):
        check_required_args(parser, options, "bootstrap-server")
    if options.has("describe"):
        _check_scope(parser, options, "describe")
        checks.check_description(parser, options)
    if options.has("delete"):
        _check_scope(parser, options, "delete")
        if options.has("topic"):
            print_usage_and_exit(
                parser, "The consumer does not support topic-specific offset deletion from a consumer group."
            )
    checks.check_delete_offsets(parser, options)
    if options.has("reset-offsets"):
        _check_reset(parser, options)
    checks.check_action(parser, options, ACTIONS)


def _check_scope(parser: OptionParser, options: OptionSet, action: str) -> None:
    if not options.has("group") and not options.has("all-groups"):
        print_usage_and_exit(parser, f"Option [{action}] takes one of these options: [group], [all-groups]")


def _check_reset(parser: OptionParser, options: OptionSet) -> None:
    checks.check_dry_run(parser, options)
    if not options.has("dry-run") and not options.has("execute"):
        err(NO_EXECUTE)
    _check_scope(parser, options, "reset-offsets")
    checks.check_one_scenario(parser, options, SCENARIOS)
