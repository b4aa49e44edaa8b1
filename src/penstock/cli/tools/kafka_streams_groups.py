"""kafka-streams-groups: lists, describes and deletes groups of Kafka Streams programs, and resets their offsets."""

from __future__ import annotations

import sys

from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tool import run
from penstock.cli.tools.groups.command import run_group_command
from penstock.cli.tools.streams_groups.options import check, streams_groups_parser
from penstock.wire_client import Cluster

FAILED = 1

# Each action imports what it needs: a list is there sooner if nothing is loaded for resets.


def _list(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.streams_groups.listing import print_groups

    print_groups(cluster, options)


def _describe(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.streams_groups.describing import describe_groups

    describe_groups(cluster, options)


def _delete(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.streams_groups.deleting import delete_chosen_groups

    delete_chosen_groups(cluster, options)


def _delete_offsets(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.streams_groups.deleting import delete_offsets

    delete_offsets(cluster, options)


def _reset_offsets(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.streams_groups.resetting import reset_offsets

    reset_offsets(cluster, parser, options)


ACTIONS = {
    "list": _list,
    "describe": _describe,
    "delete": _delete,
    "reset-offsets": _reset_offsets,
    "delete-offsets": _delete_offsets,
}


def command(words: list[str]) -> int:
    parser = streams_groups_parser()
    options = parser.parse(words)
    check(parser, options, words)
    action = next(act for name, act in ACTIONS.items() if options.has(name))
    return run_group_command(
        "streams", parser, options, lambda cluster: action(cluster, parser, options), failed=FAILED
    )


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-streams-groups", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
