"""The check that some tools make of `--bootstrap-server` before they connect."""

import re

from penstock.cli.options.command_line import print_usage_and_exit
from penstock.cli.options.joptsimple import OptionParser, OptionSet

HOST_AND_PORT = re.compile(r"^(?:[0-9a-zA-Z\-%._]*://)?\[?[0-9a-zA-Z\-%._:]*\]?:[0-9]+$")


def check_bootstrap_server(parser: OptionParser, options: OptionSet) -> None:
    if (problem := problem_with_servers(options.value("bootstrap-server"))) is not None:
        print_usage_and_exit(parser, problem)


def problem_with_servers(text: str | None) -> str | None:
    """Kafka's words for what is no list of host:port."""
    if text is None or not text.strip():
        return "Error while validating the bootstrap address\n"
    if not all(HOST_AND_PORT.match(part) for part in text.rstrip(",").split(",")):
        return "Please provide valid host:port like host1:9091,host2:9092\n"
    return None
