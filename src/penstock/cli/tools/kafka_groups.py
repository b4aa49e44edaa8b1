"""kafka-groups: lists groups of every kind."""

from __future__ import annotations

import sys

from penstock.cli.options.command_line import (
    check_invalid_args,
    command_parser,
    parse_or_print_usage,
    print_error_and_exit,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tool import run
from penstock.cli.tools.common.admin_client import admin_client, admin_configs
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.tables import padded, widest
from penstock.client.admin.groups import CONSUMER_PROTOCOL_TYPES, GroupListing, GroupType, list_groups
from penstock.errors import PenstockError
from penstock.wire_client import now

ABOUT = "This tool helps to list groups of all types."
TIMEOUT_MS = 30_000
KINDS = ("consumer", "share", "streams")


def groups_parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "bootstrap-server",
        "REQUIRED: The Kafka server to connect to.",
        argument="server to connect to",
        required=True,
    )
    parser.accepts(
        "command-config",
        "Property file containing configs to be passed to Admin Client.",
        argument="command config property file",
    )
    parser.accepts("list", "List the groups.")
    parser.accepts(
        "group-type",
        "Filter the groups based on group type. Valid types are: 'classic', 'consumer', 'share' and 'streams'.",
        argument="type",
    )
    parser.accepts("protocol", "Filter the groups based on protocol type.", argument="protocol")
    parser.accepts(
        "consumer",
        "Filter the groups to show all kinds of consumer groups, including classic and simple consumer groups. "
        "This matches group type 'consumer', and group type 'classic' where the protocol type is 'consumer' or empty.",
    )
    parser.accepts("share", "Filter the groups to show share groups.")
    parser.accepts("streams", "Filter the groups to show streams groups.")
    return parser


def command(words: list[str]) -> int:
    parser = groups_parser()
    options = parse_or_print_usage(parser, words, ABOUT)
    _check(parser, options)
    try:
        _list(options)
    except PenstockError as error:
        print(f"Error while executing groups command : {error}")
        return 1
    return 0


def _check(parser: OptionParser, options: OptionSet) -> None:
    if not options.has("list"):
        print_usage_and_exit(parser, "Command must include exactly one action: --list.")
    if options.has("group-type") and _type(options) is GroupType.UNKNOWN:
        print_error_and_exit("--group-type must be a valid group type.")
    for kind in KINDS:
        others = [each for each in ("consumer", "group-type", "protocol", "share", "streams") if each != kind]
        check_invalid_args(parser, options, kind, *others)


def _type(options: OptionSet) -> GroupType:
    return GroupType.parse(options.value("group-type"))


def _list(options: OptionSet) -> None:
    with admin_client(admin_configs(options), TIMEOUT_MS) as cluster:
        groups = {group.group_id: group for group in now(list_groups(cluster))}
    rows = [
        [group_id, str(group.type or ""), group.protocol]
        for group_id in in_hash_order(groups)
        if is_wanted(group := groups[group_id], options)
    ]
    width = widest([value for row in rows for value in row], 20)
    print(padded(["GROUP", "TYPE", "PROTOCOL"], [width] * 3))
    for row in rows:
        print(padded(row, [width] * 3) + " ")


def is_wanted(group: GroupListing, options: OptionSet) -> bool:
    if options.has("group-type"):
        is_of_protocol = not options.has("protocol") or group.protocol == options.value("protocol")
        return group.type is _type(options) and is_of_protocol
    if options.has("protocol"):
        return bool(group.protocol == options.value("protocol"))
    if options.has("consumer"):
        return group.protocol in CONSUMER_PROTOCOL_TYPES or group.type is GroupType.CONSUMER
    if options.has("share"):
        return group.type is GroupType.SHARE
    return not options.has("streams") or group.type is GroupType.STREAMS


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-groups", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
