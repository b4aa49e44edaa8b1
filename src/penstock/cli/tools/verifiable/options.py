"""The options that the verifiable producer and consumer have in common, and how both read them."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.cli.options.argparse4j import ArgumentParser, ArgumentParserError, Namespace
from penstock.cli.options.command_line import load_properties, say_deprecated
from penstock.cli.tool import Exit
from penstock.cli.tools.common.broker_list import with_bootstrap_server


def add_bootstrap_server(parser: ArgumentParser, about: str, *, required: bool = False) -> None:
    connection = parser.add_mutually_exclusive_group(
        "Connection Group", "Group of arguments for connection to brokers", required=True
    )
    connection.add_argument(
        "--bootstrap-server",
        required=required,
        dest="bootstrapServer",
        metavar="HOST1:PORT1[,HOST2:PORT2[...]]",
        help=f"{about} Comma-separated list of Kafka brokers in the form HOST1:PORT1,HOST2:PORT2,...",
    )


def add_command_config(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--command-config",
        metavar="CONFIG-FILE",
        dest="commandConfigFile",
        help="Config properties file (config options shared with command line parameters will be overridden).",
    )


def parse_words(parser: ArgumentParser, words: Sequence[str]) -> Namespace:
    """What was asked for; no words at all ask for the help."""
    if not words:
        parser.print_help()
        raise Exit(0)
    return parser.parse_args_or_fail(with_bootstrap_server(words))


def file_configs(parser: ArgumentParser, given: Namespace, old: str) -> dict[str, str]:
    """What the file of `--command-config` says, or of the option that had its place once."""
    old_file, file = given[old], given["commandConfigFile"]
    if old_file is not None and file is not None:
        both = f"Options --{old} and --command-config are mutually exclusive."
        parser.handle_error(ArgumentParserError(both, parser))
        raise Exit(1)
    if old_file is not None:
        say_deprecated(old, "command-config")
        file = old_file
    return load_properties(file) if file is not None else {}
