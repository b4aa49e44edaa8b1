"""The options that the console consumer and the console share consumer have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.cli.options.command_line import load_properties, parse_key_value_args, print_usage_and_exit
from penstock.cli.options.joptsimple import Option, OptionParser, OptionSet
from penstock.cli.options.kinds import INTEGER, Kind
from penstock.cli.tools.console.confluent_classes import FORMAT_OF_FORMATTER, FORMATTER_PROPERTIES
from penstock.cli.tools.console.formatters import (
    DEFAULT_FORMATTER,
    Formatter,
    check_formatter,
    formatter_of,
)

PRINTED = ("timestamp", "key", "offset", "delivery", "epoch", "partition", "headers", "value")
OTHER_PROPERTIES = (
    *("key.separator", "line.separator", "headers.separator", "null.literal"),
    *("key.deserializer", "value.deserializer", "header.deserializer"),
)
CUSTOM_PROPERTIES = (
    "\nUsers can also pass in customized properties for their formatter; more specifically, users can pass in "
    "properties keyed with 'key.deserializer.', 'value.deserializer.' and 'headers.deserializer.' prefixes to "
    "configure their deserializers."
)
NO_LIMIT = -1
TO_BE_REMOVED = "This option will be removed in a future version. "


@dataclass(frozen=True, kw_only=True)
class ConsumerRequest:
    """What the command line asks for."""

    max_messages: int
    timeout_ms: int | None
    logs_system_test_events: bool
    configs: dict[str, str]
    formatter: Formatter


def accept_command_config(parser: OptionParser, old_file_option: str) -> None:
    parser.accepts(
        "consumer-property",
        "(DEPRECATED) Consumer config properties in the form key=value. "
        f"{TO_BE_REMOVED}Use --command-property instead.",
        argument="consumer_prop",
    )
    newer = parser.accepts(
        "command-property", "Consumer config properties in the form key=value.", argument="consumer_prop"
    )
    file_text = f"Consumer config properties file. Note that {newer} takes precedence over this config."
    parser.accepts(
        old_file_option,
        f"(DEPRECATED) {file_text} {TO_BE_REMOVED}Use --command-config instead.",
        argument="config file",
    )
    parser.accepts("command-config", file_text, argument="config file")


def accept_formatter(
    parser: OptionParser,
    what_it_formats: str,
    *,
    has_delivery_counts: bool,
    formatter: str = DEFAULT_FORMATTER,
) -> None:
    parser.accepts(
        "formatter",
        f"The name of a class to use for formatting {what_it_formats} for display.",
        argument="class",
        default=formatter,
    )
    printed = [name for name in PRINTED if name != "delivery" or has_delivery_counts]
    properties = (
        "The properties to initialize the message formatter. Default properties include: \n"
        + "".join(f" print.{name}=true|false\n" for name in printed)
        + "".join(f" {name}=<{name}>\n" for name in OTHER_PROPERTIES)
        + CUSTOM_PROPERTIES
        + (FORMATTER_PROPERTIES if formatter in FORMAT_OF_FORMATTER else "")
    )
    parser.accepts(
        "property",
        f"(DEPRECATED) {properties} \n{TO_BE_REMOVED}Use --formatter-property instead.",
        argument="prop",
    )
    newer = parser.accepts("formatter-property", properties, argument="prop")
    parser.accepts(
        "formatter-config",
        "Config properties file to initialize the message formatter. "
        f"Note that {newer} takes precedence over this config.",
        argument="config file",
    )


def accept_bootstrap_server(parser: OptionParser) -> None:
    parser.accepts(
        "bootstrap-server", "REQUIRED: The server(s) to connect to.", argument="server to connect to"
    )


def accept_limits(parser: OptionParser, timeout_kind: Kind) -> None:
    parser.accepts(
        "max-messages",
        "The maximum number of messages to consume before exiting. If not set, consumption is continual.",
        argument="num_messages",
        kind=INTEGER,
    )
    parser.accepts(
        "timeout-ms",
        "If specified, exit if no message is available for consumption for the specified interval.",
        argument="timeout_ms",
        kind=timeout_kind,
    )


def accept_system_test_events(parser: OptionParser, who: str) -> None:
    parser.accepts(
        "enable-systest-events",
        f"Log lifecycle events of the {who} in addition to logging consumed messages. "
        "(This is specific for system tests.)",
    )


def accept_deserializers(parser: OptionParser) -> None:
    for part in ("key", "value"):
        parser.accepts(
            f"{part}-deserializer",
            f"The name of the class to use for deserializing {part}s.",
            argument=f"deserializer for {part}s",
        )


def max_messages_of(options: OptionSet) -> int:
    return options.value("max-messages") if options.has("max-messages") else NO_LIMIT


def timeout_ms_of(options: OptionSet) -> int | None:
    timeout_ms: int | None = options.value("timeout-ms")
    return timeout_ms if timeout_ms is not None and timeout_ms >= 0 else None


def newer_option(parser: OptionParser, options: OptionSet, old: str, new: str) -> Option:
    """The one of two spellings that was used; the old one with a word to its user, both at once are refused."""
    if options.has(old) and options.has(new):
        print_usage_and_exit(parser, f"Options --{old} and --{new} cannot be specified together.")
    if not options.has(old):
        return parser.option(new)
    return parser.option(old)


def say_deprecated(options: OptionSet, old: str, new: str) -> None:
    if options.has(old):
        print(f"Option --{old} is deprecated and will be removed in a future version. Use --{new} instead.")


def command_properties(
    parser: OptionParser, options: OptionSet, old_file_option: str
) -> tuple[dict[str, str], dict[str, str]]:
    """What the file says, and what the command line says."""
    property_option = newer_option(parser, options, "consumer-property", "command-property")
    file_option = newer_option(parser, options, old_file_option, "command-config")
    say_deprecated(options, "consumer-property", "command-property")
    say_deprecated(options, old_file_option, "command-config")
    of_file = load_properties(options.value(file_option)) if options.has(file_option) else {}
    return of_file, parse_key_value_args(options.values(property_option))


def group_ids(
    parser: OptionParser,
    options: OptionSet,
    of_file: Mapping[str, str],
    given: Mapping[str, str],
    old_file_option: str,
) -> list[str]:
    """The group that was asked for, if any; all places that name one must name the same."""
    places = (options.value("group"), of_file.get("group.id"), given.get("group.id"))
    found = list(dict.fromkeys(place for place in places if place is not None))
    if len(found) > 1:
        listed = ", ".join(f"'{group}'" for group in found)
        print_usage_and_exit(
            parser,
            "The group ids provided in different places (directly using '--group', via '--consumer-property', "
            f"or via '--{old_file_option}') do not match. Detected group ids: {listed}",
        )
    return found


def chosen_formatter(
    parser: OptionParser, options: OptionSet, *, has_delivery_counts: bool = False
) -> Formatter:
    class_name = options.value("formatter")
    property_option = parser.option("formatter-property")
    try:
        check_formatter(class_name)
        property_option = newer_option(parser, options, "property", "formatter-property")
        say_deprecated(options, "property", "formatter-property")
        configs = _formatter_configs(options, property_option)
        return formatter_of(class_name, configs, has_delivery_counts=has_delivery_counts)
    except LookupError as error:
        print_usage_and_exit(parser, str(error.args[0]))


def _formatter_configs(options: OptionSet, property_option: Option) -> dict[str, str]:
    configs = load_properties(options.value("formatter-config")) if options.has("formatter-config") else {}
    for part in ("key", "value"):
        if class_name := options.value(f"{part}-deserializer"):
            configs[f"{part}.deserializer"] = class_name
    return {**configs, **parse_key_value_args(options.values(property_option))}
