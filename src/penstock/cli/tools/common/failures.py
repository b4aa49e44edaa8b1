"""Failures of tools, in the words of Kafka's, whose errors are exceptions of Java printed with all that wraps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.errors import PenstockError
from penstock.wire_client.errors import KafkaError

EXECUTION_EXCEPTION = "java.util.concurrent.ExecutionException"


class CommandFailure(PenstockError):
    """The command cannot go on; the text is what Java's `getMessage` gives, and all that most tools say."""


class TerseFailure(Exception):
    """A failure that is told as it is, without `Error: ` or the like before it."""


class ArgumentFailure(Exception):
    """An argument is wrong, which only showed at work: told with the usage."""


def as_java_says(error: KafkaError) -> str:
    return f"{error.java_name}: {error.message}"


def as_future_says(error: KafkaError) -> str:
    """An error that came out of a future, and was wrapped once more on its way."""
    return f"{EXECUTION_EXCEPTION}: {as_java_says(error)}"


def as_broker_says(error: KafkaError) -> str:
    return error.message


@contextmanager
def failing(say: Callable[[KafkaError], str]) -> Iterator[None]:
    """Turns errors of the client into failures of the command."""
    try:
        yield
    except KafkaError as error:
        raise CommandFailure(say(error)) from error
