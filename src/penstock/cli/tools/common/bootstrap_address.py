"""The check that some tools make of `--bootstrap-server` before they connect."""

import re

HOST_AND_PORT = re.compile(r"^(?:[0-9a-zA-Z\-%._]*://)?\[?[0-9a-zA-Z\-%._:]*\]?:[0-9]+$")


def check_bootstrap_server(text: str | None) -> None:
    """ValueError with Kafka's words if it is no list of host:port."""
    if text is None or not text.strip():
        raise ValueError("Error while validating the bootstrap address\n")
    if not all(HOST_AND_PORT.match(part) for part in text.split(",")):
        raise ValueError("Please provide valid host:port like host1:9091,host2:9092\n")
