"""The options of kafka-topics, and which of them go together."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.cli.options.command_line import (
    check_invalid_args,
    check_invalid_args_set,
    check_required_args,
    command_parser,
    maybe_print_help_or_version,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionError, OptionParser, OptionSet
from penstock.cli.tool import err

ACTIONS = ("create", "list", "alter", "describe", "delete")
REPORTS = (
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
)
USE_KAFKA_CONFIGS = " (To alter topic configurations, the kafka-configs tool can be used.)"


def parse_options(words: list[str]) -> OptionSet:
    parser = _parser()
    options = parser.parse(words)
    _check_action(parser, options, words)
    _check_required(parser, options)
    _check_invalid(parser, options)
    return options


def _parser() -> OptionParser:
    parser = command_parser()
    _add_connection(parser)
    _add_actions(parser)
    _add_topic(parser)
    _add_filters(parser)
    return parser


def _add_connection(parser: OptionParser) -> None:
    parser.accepts(
        "bootstrap-server", "REQUIRED: The Kafka server to connect to.", argument="server to connect to"
    )
    parser.accepts(
        "command-config",
        "Property file containing configs to be passed to Admin Client.",
        argument="command config property file",
    )


def _add_actions(parser: OptionParser) -> None:
    parser.accepts("list", "List all available topics.")
    parser.accepts("create", "Create a new topic.")
    parser.accepts("delete", "Delete a topic.")
    parser.accepts("alter", f"Alter the number of partitions and replica assignment.{USE_KAFKA_CONFIGS}")
    parser.accepts("describe", "List details for the given topics.")


def _add_topic(parser: OptionParser) -> None:
    parser.accepts(
        "topic",
        "The topic to create, alter, describe or delete. It also accepts a regular expression, except for --create "
        "option.",
        argument="topic",
    )
    parser.accepts("topic-id", "The topic-id to describe.", argument="topic-id")
    parser.accepts("config", _about_config, argument="name=value")
    parser.accepts(
        "delete-config",
        "This option is no longer supported and has been deprecated since 4.0",
        argument="name",
    )
    parser.accepts(
        "partitions",
        "The number of partitions for the topic being created or altered. If not supplied with --create, the topic "
        "uses the cluster default. (WARNING: If partitions are increased for a topic that has a key, the partition "
        "logic or ordering of the messages will be affected).",
        argument="# of partitions",
        kind=int,
    )
    parser.accepts(
        "replication-factor",
        "The replication factor for each partition in the topic being created. If not supplied, the topic uses the "
        "cluster default.",
        argument="replication factor",
        kind=int,
    )
    parser.accepts(
        "replica-assignment",
        "A list of manual partition-to-broker assignments for the topic being created or altered.",
        argument="broker_id_for_part1_replica1 : broker_id_for_part1_replica2 , "
        "broker_id_for_part2_replica1 : broker_id_for_part2_replica2 , ...",
    )


def _about_config() -> str:
    from penstock.settings.topic import TOPIC_TABLE

    names = sorted(name for name, setting in TOPIC_TABLE.items() if not setting.internal)
    return (
        "A topic configuration override for the topic being created. The following is a list of valid "
        "configurations: \n"
        + "\n".join(f"\t{name}" for name in names)
        + "\nSee the Kafka documentation for full "
        "details on the topic configs. It is supported only in combination with --create." + USE_KAFKA_CONFIGS
    )


def _add_filters(parser: OptionParser) -> None:
    shown = "If set when describing topics, only show"
    parser.accepts("under-replicated-partitions", f"{shown} under-replicated partitions.")
    parser.accepts("unavailable-partitions", f"{shown} partitions whose leader is not available.")
    parser.accepts(
        "under-min-isr-partitions", f"{shown} partitions whose isr count is less than the configured minimum."
    )
    parser.accepts(
        "at-min-isr-partitions", f"{shown} partitions whose isr count is equal to the configured minimum."
    )
    parser.accepts("topics-with-overrides", f"{shown} topics that have overridden configs.")
    parser.accepts(
        "if-exists",
        "If set when altering or deleting or describing topics, the action will only execute if the topic exists.",
    )
    parser.accepts(
        "if-not-exists",
        "If set when creating topics, the create request will not fail if the topic already exists, but the request "
        "will still be sent.",
    )
    parser.accepts(
        "exclude-internal",
        "Exclude internal topics when listing or describing topics. By default, the internal topics are included.",
    )
    parser.accepts(
        "partition-size-limit-per-response",
        "The maximum partition size to be included in one DescribeTopicPartitions response.",
        argument="maximum number of partitions per response",
        kind=int,
    )


# --- which go together


def _check_action(parser: OptionParser, options: OptionSet, words: Sequence[str]) -> None:
    if not words:
        print_usage_and_exit(parser, "Create, delete, describe, or change a topic.")
    about = "This tool helps to create, delete, describe, or change a topic."
    maybe_print_help_or_version(parser, options, words, about)
    if sum(options.has(action) for action in ACTIONS) != 1:
        print_usage_and_exit(
            parser,
            "Command must include exactly one action: --list, --describe, --create, --alter or --delete",
        )
    if options.has("delete-config"):
        err(
            "delete-config option is no longer supported and deprecated since version 4.0. The config will be fully "
            "removed in future releases."
        )


def _check_required(parser: OptionParser, options: OptionSet) -> None:
    if not options.has("bootstrap-server"):
        raise OptionError("--bootstrap-server must be specified")
    if options.has("describe") and options.has("if-exists"):
        _check_described(parser, options)
    if not options.has("list") and not options.has("describe"):
        check_required_args(parser, options, "topic")
    if options.has("alter"):
        check_invalid_args_set(parser, options, ["bootstrap-server", "config"], ["alter"], USE_KAFKA_CONFIGS)
        check_required_args(parser, options, "partitions")


def _check_described(parser: OptionParser, options: OptionSet) -> None:
    if not options.has("topic") and not options.has("topic-id"):
        print_usage_and_exit(parser, "--topic or --topic-id is required to describe a topic")
    if options.has("topic") and options.has("topic-id"):
        print(
            "Only topic id will be used when both --topic and --topic-id are specified and topicId is not "
            "Uuid.ZERO_UUID"
        )


_ACTIONS_OF = {
    "config": ("alter", "create"),
    "partitions": ("alter", "create"),
    "replication-factor": ("create",),
    "replica-assignment": ("alter", "create"),
}
_ACTIONS_OF_CONDITIONS = {
    "if-exists": ("alter", "delete", "describe"),
    "if-not-exists": ("create",),
    "exclude-internal": ("list", "describe"),
}


def _check_invalid(parser: OptionParser, options: OptionSet) -> None:
    for option, actions in _ACTIONS_OF.items():
        check_invalid_args(parser, options, option, *_all_but(actions))
    if options.has("create"):
        check_invalid_args(parser, options, "replica-assignment", "partitions", "replication-factor")
    for report in REPORTS:
        check_invalid_args(parser, options, report, *_all_but(("describe",)), "topics-with-overrides")
    check_invalid_args(parser, options, "topics-with-overrides", *_all_but(("describe",)), *REPORTS)
    for option, actions in _ACTIONS_OF_CONDITIONS.items():
        check_invalid_args(parser, options, option, *_all_but(actions))


def _all_but(actions: Sequence[str]) -> list[str]:
    return [action for action in ACTIONS if action not in actions]
