"""kafka-consumer-groups: lists, describes and deletes groups of consumers, and resets or deletes their offsets."""

from __future__ import annotations

import sys

from penstock.cli.tool import run
from penstock.cli.tools.consumer_groups.deleting import delete_chosen_groups, delete_offsets
from penstock.cli.tools.consumer_groups.describing import describe_groups
from penstock.cli.tools.consumer_groups.listing import print_groups
from penstock.cli.tools.consumer_groups.options import check, consumer_groups_parser
from penstock.cli.tools.consumer_groups.regexes import print_validity
from penstock.cli.tools.consumer_groups.resetting import reset_offsets
from penstock.cli.tools.group_command import run_group_command


def command(words: list[str]) -> int:
    parser = consumer_groups_parser()
    options = parser.parse(words)
    check(parser, options, words)
    if options.has("validate-regex"):
        print_validity(options.value("validate-regex"))
        return 0
    actions = {
        "list": lambda cluster: print_groups(cluster, options),
        "describe": lambda cluster: describe_groups(cluster, options),
        "delete": lambda cluster: delete_chosen_groups(cluster, options),
        "reset-offsets": lambda cluster: reset_offsets(cluster, parser, options),
        "delete-offsets": lambda cluster: delete_offsets(cluster, options),
    }
    action = next(run for name, run in actions.items() if options.has(name))
    return run_group_command("consumer", parser, options, action)


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-consumer-groups", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
