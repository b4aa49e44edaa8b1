"""What kafka-transactions says, and ends with, when a broker does not do what it was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.cli.options.command_line import print_error_and_exit
from penstock.wire_client.errors import KafkaError


@contextmanager
def failed_to(action: str) -> Iterator[None]:
    try:
        yield
    except KafkaError as error:
        print_error_and_exit(
            f"Failed to {action}: {error.message}. Enable debug logging for additional detail."
        )
