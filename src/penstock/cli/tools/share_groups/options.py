"""The options of kafka-share-groups, and which of them go together."""

from __future__ import annotations

from penstock.cli.options.command_line import (
    check_required_args,
    command_parser,
    maybe_print_help_or_version,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import LONG
from penstock.cli.tools.groups import checks

DEFAULT_TIMEOUT_MS = 30_000
ABOUT = "This tool helps to list, describe, reset and delete share groups."
ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
SCENARIOS = ("to-datetime", "to-earliest", "to-latest")


def share_groups_parser() -> OptionParser:
    parser = command_parser()
    _accept_subjects(parser)
    _accept_actions(parser)
    _accept_description(parser)
    return parser


def _accept_subjects(parser: OptionParser) -> None:
    parser.accepts(
        "bootstrap-server", "REQUIRED: The server(s) to connect to.", argument="server to connect to"
    )
    parser.accepts("group", "The share group we wish to act on.", argument="share group")
    parser.accepts(
        "topic",
        "The topic whose offset information should be deleted or included in the reset offset process. When "
        "resetting offsets, partitions can be specified using this format: 'topic1:0,1,2', where 0,1,2 are the "
        "partitions to be included.",
        argument="topic",
    )
    parser.accepts(
        "all-topics", "Consider all topics assigned to a share group in the 'reset-offsets' process."
    )
    parser.accepts("all-groups", "Apply to all share groups.")
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
    parser.accepts("list", "List all share groups.")
    parser.accepts("describe", "Describe share group, members and offset information.")
    parser.accepts("delete", "Delete share group.")
    parser.accepts(
        "reset-offsets",
        "Reset offsets of share group. Supports one share group at the time, and instances must be inactive.\n"
        "Has 2 execution options: --dry-run to plan which offsets to reset, and --execute to reset the offsets. \n"
        "You must choose one of the following reset specifications: --to-datetime, --to-earliest, --to-latest.\n"
        "To define the scope use --all-topics or --topic.\n"
        "Fails if neither '--dry-run' nor '--execute' is specified.",
    )
    parser.accepts(
        "delete-offsets",
        "Delete offsets of share group. Supports one share group at the time, and multiple topics.",
    )
    parser.accepts(
        "dry-run",
        "Only show results without executing changes on share groups. Supported operations: reset-offsets.",
    )
    parser.accepts("execute", "Execute operation. Supported operations: reset-offsets.")
    parser.accepts(
        "to-datetime",
        "Reset offsets to offset from datetime. Format: 'YYYY-MM-DDThh:mm:ss.sss'",
        argument="datetime",
    )
    parser.accepts("to-earliest", "Reset offsets to earliest offset.")
    parser.accepts("to-latest", "Reset offsets to latest offset.")


def _accept_description(parser: OptionParser) -> None:
    describe, list_ = parser.option("describe"), parser.option("list")
    parser.accepts(
        "members",
        "Describe members of the group. This option may be used with the '--describe' option only.",
        available_if=[describe],
    )
    parser.accepts(
        "offsets",
        "Describe the group and list all topic partitions in the group along with their offset information. This is "
        "the default sub-action and may be used with the '--describe' option only.",
        available_if=[describe],
    )
    parser.accepts(
        "state",
        "When specified with '--describe', includes the state of the group.\n"
        "When specified with '--list', it displays the state of all groups. It can also be used to list groups with "
        "specific states. Valid values are Empty, Stable and Dead.",
        argument="",
        optional_argument=True,
        available_if=[describe, list_],
    )
    parser.accepts(
        "verbose",
        "Provide additional information, if any, when describing the group. This option may be used with the "
        "'--describe' option only.",
        available_if=[describe],
    )


# --- which go together


def check(parser: OptionParser, options: OptionSet, words: list[str]) -> None:
    maybe_print_help_or_version(parser, options, words, ABOUT)
    check_required_args(parser, options, "bootstrap-server")
    if options.has("describe"):
        _check_describe(parser, options)
    if options.has("delete"):
        _check_delete(parser, options)
    checks.check_delete_offsets(parser, options)
    if options.has("reset-offsets"):
        _check_reset(parser, options)
    checks.check_action(parser, options, ACTIONS, ".")


def _check_describe(parser: OptionParser, options: OptionSet) -> None:
    if not options.has("group") and not options.has("all-groups"):
        print_usage_and_exit(parser, "Option [describe] takes one of these options: [all-groups], [group]")
    checks.check_description(parser, options)


def _check_delete(parser: OptionParser, options: OptionSet) -> None:
    has_group, has_all_groups = options.has("group"), options.has("all-groups")
    if not has_group and not has_all_groups:
        print_usage_and_exit(parser, "Option [delete] takes the options [group] or [all-groups]")
    if has_group and has_all_groups:
        print_usage_and_exit(parser, "Option [delete] takes either [group] or [all-groups], not both.")
    if options.has("topic"):
        print_usage_and_exit(parser, "Option [delete] does not take the option: [topic]")


def _check_reset(parser: OptionParser, options: OptionSet) -> None:
    checks.check_dry_run(parser, options)
    if not options.has("dry-run") and not options.has("execute"):
        print_usage_and_exit(parser, "Option [reset-offsets] takes the option: [execute] or [dry-run]")
    if not options.has("group"):
        print_usage_and_exit(parser, "Option [reset-offsets] takes the option: [group]")
    if not options.has("topic") and not options.has("all-topics"):
        print_usage_and_exit(
            parser, "Option [reset-offsets] takes one of these options: [all-topics], [topic]"
        )
    if not any(options.has(scenario) for scenario in SCENARIOS):
        listed = ", ".join(f"[{scenario}]" for scenario in SCENARIOS)
        print_usage_and_exit(parser, f"Option [reset-offsets] takes one of these options: {listed}")
    checks.check_one_scenario(parser, options, SCENARIOS)
