"""The options of kafka-streams-groups, and which of them go together."""

from __future__ import annotations

from penstock.cli.options.command_line import (
    check_invalid_args,
    check_required_args,
    command_parser,
    maybe_print_help_or_version,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import LONG
from penstock.cli.tools.groups import checks

DEFAULT_TIMEOUT_MS = 30_000
ABOUT = "This tool helps to list, or describe streams groups."
ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
SCENARIOS = (
    "to-offset",
    "to-datetime",
    "by-duration",
    "to-earliest",
    "to-latest",
    "to-current",
    "shift-by",
    "from-file",
)


def streams_groups_parser() -> OptionParser:
    parser = command_parser()
    _accept_subjects(parser)
    _accept_actions(parser)
    _accept_description(parser)
    _accept_scenarios(parser)
    return parser


def _accept_subjects(parser: OptionParser) -> None:
    parser.accepts(
        "bootstrap-server", "REQUIRED: The server(s) to connect to.", argument="server to connect to"
    )
    parser.accepts("group", "The streams group we wish to act on.", argument="streams group")
    parser.accepts(
        "input-topic",
        "The input topic whose committed offset should be deleted or reset. In `reset-offsets` case, partitions can "
        "be specified using this format: `topic1:0,1,2`, where 0,1,2 are the partition to be included in the "
        "process. Multiple input topics can be specified. Supported operations: delete-offsets, reset-offsets.",
        argument="topic",
    )
    parser.accepts(
        "all-input-topics",
        "Consider all source topics used in the topology of the group. Supported operations: delete-offsets, "
        "reset-offsets.",
    )
    parser.accepts("all-groups", "Apply to all streams groups.")
    parser.accepts(
        "timeout",
        "The timeout that can be set for some use cases. For example, it can be used when describing the group to "
        "specify the maximum amount of time in milliseconds to wait before the group stabilizes.",
        argument="timeout (ms)",
        kind=LONG,
        default=DEFAULT_TIMEOUT_MS,
    )
    parser.accepts(
        "command-config",
        "Property file containing configs to be passed to Admin Client.",
        argument="command config property file",
    )


def _accept_actions(parser: OptionParser) -> None:
    parser.accepts("list", "List all streams groups.")
    parser.accepts("describe", "Describe streams group and list offset lag related to given group.")
    parser.accepts(
        "delete",
        "Pass in groups to delete topic partition offsets and ownership information over the entire streams group. "
        "For instance --group g1 --group g2",
    )
    parser.accepts(
        "delete-offsets",
        "Delete offsets of streams group. Supports one streams group at the time, and multiple topics.",
    )
    parser.accepts(
        "reset-offsets",
        "Reset offsets of streams group. The instances should be inactive.\n"
        "Has 2 execution options: --dry-run to plan which offsets to reset, and --execute to update the offsets.\n"
        "If you use --execute, all internal topics linked to the group will also be deleted.\n"
        "You must choose one of the following reset specifications: --to-datetime, --by-duration, --to-earliest, "
        "--to-latest, --shift-by, --from-file, --to-current, --to-offset.\n"
        "To define the scope use --all-input-topics or --input-topic. One scope must be specified unless you use "
        "'--from-file'.\n"
        "Fails if neither '--dry-run' nor '--execute' is specified.",
    )
    parser.accepts(
        "delete-internal-topic",
        "Delete specified internal topic of the streams group. Supported operations: reset-offsets."
        "This option is applicable only when --execute is used.",
        argument="",
    )
    parser.accepts(
        "delete-all-internal-topics",
        "Delete all internal topics linked to the streams group. Supported operations: reset-offsets, delete."
        "With reset-offsets, this option is applicable only when --execute is used.",
    )


def _accept_description(parser: OptionParser) -> None:
    describe, list_ = parser.option("describe"), parser.option("list")
    parser.accepts(
        "state",
        "When specified with '--list', it displays the state of all groups. It can also be used to list groups with "
        "specific states. Valid values are Empty, NotReady, Stable, Assigning, Reconciling, and Dead.",
        argument="",
        optional_argument=True,
        available_if=[list_, describe],
    )
    parser.accepts(
        "members",
        "Describe members of the group. This option may be used with the '--describe' option only.",
        available_if=[describe],
    )
    parser.accepts(
        "offsets",
        "Describe the group and list all topic partitions in the group along with their offset information."
        "This is the default sub-action and may be used with the '--describe' option only.",
        available_if=[describe],
    )
    parser.accepts(
        "verbose",
        "Use with --describe --state  to show group epoch and target assignment epoch.\n"
        "Use with --describe --members to show for each member the member epoch, target assignment epoch, current "
        "assignment, target assignment, and whether member is still using the classic rebalance protocol.\n"
        "Use with --describe --offsets  and --describe  to show leader epochs for each partition.",
        available_if=[describe],
    )


def _accept_scenarios(parser: OptionParser) -> None:
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
    parser.accepts(
        "dry-run",
        "Only show results without executing changes on streams group. Supported operations: reset-offsets.",
    )
    parser.accepts("execute", "Execute operation. Supported operations: reset-offsets.")
    parser.accepts("export", "Export operation execution to a CSV file. Supported operations: reset-offsets.")


# --- which go together


def check(parser: OptionParser, options: OptionSet, words: list[str]) -> None:
    maybe_print_help_or_version(parser, options, words, ABOUT)
    check_required_args(parser, options, "bootstrap-server")
    if options.has("describe"):
        _check_has_groups(parser, options, "describe")
        checks.check_description(parser, options)
    if options.has("delete"):
        _check_has_groups(parser, options, "delete")
        if options.has("input-topic") or options.has("all-input-topics"):
            print_usage_and_exit(
                parser, "Kafka Streams does not support topic-specific offset deletion from a streams group."
            )
    if options.has("delete-offsets"):
        _check_delete_offsets(parser, options)
    if options.has("reset-offsets"):
        _check_reset(parser, options)
    _check_internal_topics(parser, options)
    _check_action(parser, options)


def _check_has_groups(parser: OptionParser, options: OptionSet, action: str) -> None:
    if not options.has("group") and not options.has("all-groups"):
        print_usage_and_exit(parser, f"Option [{action}] takes one of these options: [all-groups], [group]")


def _check_delete_offsets(parser: OptionParser, options: OptionSet) -> None:
    has_topics = options.has("input-topic") or options.has("all-input-topics")
    if not has_topics or not options.has("group"):
        print_usage_and_exit(
            parser,
            "Option [delete-offsets] takes the [group] and one of these options: "
            "[all-input-topics], [input-topic]",
        )
    groups = options.values("group")
    if len(groups) > 1:
        print_usage_and_exit(
            parser,
            f"Option [delete-offsets] supports only one [group] at a time, but found: [{', '.join(groups)}]",
        )


def _check_reset(parser: OptionParser, options: OptionSet) -> None:
    checks.check_dry_run(parser, options)
    if not options.has("dry-run") and not options.has("execute"):
        print_usage_and_exit(parser, "Option [reset-offsets] takes the option: [execute] or [dry-run]")
    _check_has_groups(parser, options, "reset-offsets")
    checks.check_one_scenario(parser, options, SCENARIOS)


def _check_internal_topics(parser: OptionParser, options: OptionSet) -> None:
    resets, executes = options.has("reset-offsets"), options.has("execute")
    if options.has("delete-all-internal-topics"):
        if not resets and not options.has("delete"):
            print_usage_and_exit(
                parser,
                "Option [delete-all-internal-topics] takes one of these options: [delete], [reset-offsets]",
            )
        if resets and not executes:
            print_usage_and_exit(
                parser, "Option [delete-all-internal-topics] takes [execute] when [reset-offsets] is used."
            )
    elif options.has("delete-internal-topic") and not (resets and executes):
        print_usage_and_exit(
            parser, "Option [delete-internal-topic] takes [reset-offsets] when [execute] is used."
        )


def _check_action(parser: OptionParser, options: OptionSet) -> None:
    """That there is one, and beside it only what may be there."""
    has_way = options.has("dry-run") or options.has("execute")
    if has_way and not options.has("reset-offsets"):
        print_usage_and_exit(parser, "Only Option [reset-offsets] accepts [execute] or [dry-run]")
    check_invalid_args(parser, options, "list", "members", "offsets")
    check_invalid_args(parser, options, "group", "all-groups")
    check_invalid_args(parser, options, "group", "list")
    check_invalid_args(parser, options, "input-topic", "list", "describe", "delete")
    if sum(options.has(action) for action in ACTIONS) != 1:
        print_usage_and_exit(
            parser,
            "Command must include exactly one action: "
            "--list, --describe, --delete, --reset-offsets, or --delete-offsets.",
        )
