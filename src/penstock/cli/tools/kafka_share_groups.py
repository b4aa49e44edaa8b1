"""kafka-share-groups: lists, describes and deletes share groups, and resets or deletes their offsets."""

from __future__ import annotations

import sys

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tool import run
from penstock.cli.tools.groups.command import run_group_command
from penstock.cli.tools.share_groups.options import check, share_groups_parser
from penstock.wire_client import Cluster

# Each action imports what it needs: a list is there sooner if nothing is loaded for resets.


def _list(cluster: Cluster, options: OptionSet) -> None:
    from penstock.cli.tools.share_groups.listing import print_groups

    print_groups(cluster, options)


def _describe(cluster: Cluster, options: OptionSet) -> None:
    from penstock.cli.tools.share_groups.describing import describe_groups

    describe_groups(cluster, options)


def _change(cluster: Cluster, options: OptionSet) -> None:
    from penstock.cli.tools.share_groups.changing import delete_chosen_groups, delete_offsets, reset_offsets

    actions = {
        "delete": delete_chosen_groups,
        "reset-offsets": reset_offsets,
        "delete-offsets": delete_offsets,
    }
    next(act for name, act in actions.items() if options.has(name))(cluster, options)


def command(words: list[str]) -> int:
    parser = share_groups_parser()
    options = parser.parse(words)
    check(parser, options, words)
    action = _list if options.has("list") else _describe if options.has("describe") else _change
    return run_group_command("share", parser, options, lambda cluster: action(cluster, options))


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-share-groups", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
