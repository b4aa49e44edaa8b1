"""Which options go together, as far as both tools for groups agree on it."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.cli.options.command_line import check_invalid_args, print_usage_and_exit
from penstock.cli.options.joptsimple import OptionParser, OptionSet

SUB_ACTIONS = ("members", "offsets", "state")


def check_description(parser: OptionParser, options: OptionSet) -> None:
    if sum(options.has(sub_action) for sub_action in SUB_ACTIONS) > 1:
        print_usage_and_exit(
            parser, "Option [describe] takes at most one of these options: [members], [offsets], [state]"
        )
    if options.value("state") is not None:
        print_usage_and_exit(parser, "Option [describe] does not take a value for [state]")


def check_delete_offsets(parser: OptionParser, options: OptionSet) -> None:
    if options.has("delete-offsets") and not (options.has("group") and options.has("topic")):
        print_usage_and_exit(parser, "Option [delete-offsets] takes the following options: [group], [topic]")


def check_action(parser: OptionParser, options: OptionSet, actions: Sequence[str], end: str = "") -> None:
    """That there is one, and beside it only what may be there; the end is that of the list of actions."""
    check_invalid_args(parser, options, "group", "all-groups")
    check_invalid_args(parser, options, "group", "list")
    check_invalid_args(parser, options, "topic", "list", "describe")
    if sum(options.has(action) for action in actions) != 1:
        listed = ", ".join(f"--{action}" for action in actions)
        print_usage_and_exit(parser, f"Command must include exactly one action: {listed}{end}")


def check_dry_run(parser: OptionParser, options: OptionSet) -> None:
    if options.has("dry-run") and options.has("execute"):
        print_usage_and_exit(parser, "Option [reset-offsets] only accepts one of [execute] and [dry-run]")


def check_one_scenario(parser: OptionParser, options: OptionSet, scenarios: Sequence[str]) -> None:
    for scenario in scenarios:
        check_invalid_args(parser, options, scenario, *(each for each in scenarios if each != scenario))
