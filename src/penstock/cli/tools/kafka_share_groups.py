"""kafka-share-groups: lists, describes and deletes share groups, and resets or deletes their offsets."""

from __future__ import annotations

import sys

from penstock.cli.tool import run
from penstock.cli.tools.group_command import run_group_command
from penstock.cli.tools.share_groups.changing import delete_chosen_groups, delete_offsets, reset_offsets
from penstock.cli.tools.share_groups.describing import describe_groups
from penstock.cli.tools.share_groups.listing import print_groups
from penstock.cli.tools.share_groups.options import check, share_groups_parser

ACTIONS = {
    "list": print_groups,
    "describe": describe_groups,
    "delete": delete_chosen_groups,
    "reset-offsets": reset_offsets,
    "delete-offsets": delete_offsets,
}


def command(words: list[str]) -> int:
    parser = share_groups_parser()
    options = parser.parse(words)
    check(parser, options, words)
    action = next(act for name, act in ACTIONS.items() if options.has(name))
    return run_group_command("share", parser, options, lambda cluster: action(cluster, options))


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-share-groups", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
