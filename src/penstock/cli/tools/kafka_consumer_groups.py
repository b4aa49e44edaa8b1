"""kafka-consumer-groups: lists, describes and deletes groups of consumers, and resets or deletes their offsets."""

from __future__ import annotations

import sys

from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tool import run
from penstock.cli.tools.consumer_groups.options import check, consumer_groups_parser
from penstock.cli.tools.groups.command import run_group_command
from penstock.wire_client import Cluster

# Each action imports what it needs: a list is there sooner if nothing is loaded for resets.


def _list(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.consumer_groups.listing import print_groups

    print_groups(cluster, options)


def _describe(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.consumer_groups.describing import describe_groups

    describe_groups(cluster, options)


def _delete(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.consumer_groups.deleting import delete_chosen_groups

    delete_chosen_groups(cluster, options)


def _delete_offsets(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.consumer_groups.deleting import delete_offsets

    delete_offsets(cluster, options)


def _reset_offsets(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    from penstock.cli.tools.consumer_groups.resetting import reset_offsets

    reset_offsets(cluster, parser, options)


ACTIONS = {
    "list": _list,
    "describe": _describe,
    "delete": _delete,
    "reset-offsets": _reset_offsets,
    "delete-offsets": _delete_offsets,
}


def command(words: list[str]) -> int:
    parser = consumer_groups_parser()
    options = parser.parse(words)
    check(parser, options, words)
    if options.has("validate-regex"):
        from penstock.cli.tools.consumer_groups.regexes import print_validity

        print_validity(options.value("validate-regex"))
        return 0
    action = next(act for name, act in ACTIONS.items() if options.has(name))
    return run_group_command("consumer", parser, options, lambda cluster: action(cluster, parser, options))


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-consumer-groups", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
