"""What Kafka's tools do alike with their options: help, version, and checks that end the tool.

The help goes to standard error after a message, and the tool ends with 1, also when the user asked for the help.
"""

import sys
from collections.abc import Iterable, MutableMapping, Sequence
from typing import NoReturn

from penstock.cli.options.joptsimple import Option, OptionError, OptionParser, OptionSet
from penstock.cli.tool import Exit, err

KAFKA_VERSION = "4.3.1"
"""The version of Kafka whose tools these are."""


def command_parser() -> OptionParser:
    """A parser with what every tool takes: `--help` and `--version`."""
    parser = OptionParser()
    parser.accepts("help", "Print usage information.", for_help=True)
    parser.accepts("version", "Display Kafka version.", for_help=True)
    return parser


def print_usage_and_exit(parser: OptionParser, message: str) -> NoReturn:
    err(message)
    sys.stderr.write(parser.help_text())
    raise Exit(1)


def print_version_and_exit() -> NoReturn:
    print(KAFKA_VERSION)
    raise Exit(0)


def print_error_and_exit(message: str) -> NoReturn:
    err(message)
    raise Exit(1)


def maybe_print_help_or_version(
    parser: OptionParser, options: OptionSet, words: Sequence[str], message: str
) -> None:
    """Help if there are no words at all or `--help` is among them; else the version if that is asked for."""
    if not words or options.has("help"):
        print_usage_and_exit(parser, message)
    if options.has("version"):
        print_version_and_exit()


def parse_command_line(
    parser: OptionParser, words: Sequence[str], message: str, *required: str | Option
) -> OptionSet:
    """The options of a tool, unless the help or the version is asked for, or one that it needs is missing."""
    options = parser.parse(words)
    maybe_print_help_or_version(parser, options, words, message)
    check_required_args(parser, options, *required)
    return options


def parse_or_print_usage(
    parser: OptionParser, words: Sequence[str], message: str, *required: str | Option
) -> OptionSet:
    """The same for a tool that shows its usage, too, when it does not understand the words."""
    try:
        return parse_command_line(parser, words, message, *required)
    except OptionError as error:
        print_usage_and_exit(parser, str(error))


def check_required_args(parser: OptionParser, options: OptionSet, *required: str | Option) -> None:
    for option in _options(parser, required):
        if not options.has(option):
            print_usage_and_exit(parser, f'Missing required argument "{option}"')


def check_invalid_args(
    parser: OptionParser, options: OptionSet, used: str | Option, *invalid: str | Option
) -> None:
    """None of `invalid` may stand beside `used`."""
    if not options.has(used):
        return
    (used_option,) = _options(parser, [used])
    for option in _options(parser, invalid):
        if options.has(option):
            print_usage_and_exit(parser, f'Option "{used_option}" can\'t be used with option "{option}"')


def check_invalid_args_set(
    parser: OptionParser,
    options: OptionSet,
    used: Sequence[str | Option],
    invalid: Sequence[str | Option],
    more: str = "",
) -> None:
    """None of `invalid` may stand beside `used` when all of these are there."""
    if not all(options.has(option) for option in used):
        return
    combination = f"[{', '.join(map(str, _options(parser, used)))}]"
    for option in _options(parser, invalid):
        if options.has(option):
            message = f'Option combination "{combination}" can\'t be used with option "{option}"{more}'
            print_usage_and_exit(parser, message)


def check_one_of_args(parser: OptionParser, options: OptionSet, *choices: str | Option) -> None:
    if sum(options.has(option) for option in choices) != 1:
        listed = ", ".join(map(str, _options(parser, choices)))
        print_usage_and_exit(parser, f"Exactly one of the following arguments is required: {listed}")


def say_deprecated(old: str, new: str) -> None:
    print(f"Option --{old} has been deprecated and will be removed in a future version. Use --{new} instead.")


def _options(parser: OptionParser, options: Iterable[str | Option]) -> list[Option]:
    return [parser.option(option) if isinstance(option, str) else option for option in options]


# --- properties


def parse_key_value_args(words: Iterable[str], *, accept_missing_value: bool = True) -> dict[str, str]:
    """`key=value` words as a mapping; the value may contain `=`."""
    properties = {}
    for word in words:
        key, _, value = word.partition("=")
        if not value and not accept_missing_value:
            raise ValueError(f"Missing value for key {key}}}")
        properties[key] = value
    return properties


def maybe_merge_options(
    properties: MutableMapping[str, str], key: str, options: OptionSet, option: str | Option
) -> None:
    """An option that is given wins over the property, the property over what the option defaults to."""
    if not options.has(option) and key in properties:
        return
    value = options.value(option)
    if value is None:
        properties.pop(key, None)
    else:
        properties[key] = str(value).lower() if isinstance(value, bool) else str(value)


def load_properties(path: str) -> dict[str, str]:
    """A `.properties` file that the user named, `--command-config`."""
    from pathlib import Path

    from penstock.settings.properties import read_properties

    return read_properties(Path(path))
