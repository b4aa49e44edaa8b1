"""The option table of a tool, and what it makes of a command line, without running the tool.

A tool builds its table when it is called, and hands it to one of the parsers in `cli.options`, or to argparse. Here
the tool is called and stopped at that moment: whatever flags it takes are known then, from the only place that knows
them.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from penstock.cli.options.joptsimple import OptionError, OptionParser, OptionSet

HELP_FLAGS = {"--help", "-h", "--version", "-v"}
WORDS_THAT_REACH_THE_PARSER = ("--bootstrap-server", "none", "--help")
"""kafka-e2e-latency takes words without a flag among them for the arguments of its older form."""


class _Caught(BaseException):
    """Not an `Exception`: the tool must not take it for a failure of its own."""

    def __init__(self, parser: Any, words: Sequence[str]) -> None:
        self.parser = parser
        self.words = words


def options_of(module: str, words: Sequence[str]) -> "OptionSet | dict[str, Any] | None":
    """What the tool's parser reads in the words; None if it refuses them, or if they ask for help."""
    caught = _call(module, words) if words else None
    if caught is None or set(words) & HELP_FLAGS:
        return None
    from penstock.cli.options.argparse4j import ArgumentParser, ArgumentParserError

    try:
        if isinstance(caught.parser, ArgumentParser):
            return caught.parser.parse_args(caught.words)
        if isinstance(caught.parser, OptionParser):
            return caught.parser.parse(caught.words)
    except (OptionError, ArgumentParserError):
        pass
    return None


def parser_of(module: str) -> Any:
    """The option table of a command: the parser that it calls; None if it calls none."""
    caught = _call(module, WORDS_THAT_REACH_THE_PARSER)
    return None if caught is None else caught.parser


def _call(module: str, words: Sequence[str]) -> _Caught | None:
    main = import_module(module).main
    with _stopped_at_the_parser():
        try:
            main(list(words))
        except _Caught as caught:
            return caught
    return None


@contextmanager
def _stopped_at_the_parser() -> Iterator[None]:
    from penstock.cli.options.argparse4j import ArgumentParser

    places: tuple[tuple[type, str], ...] = (
        (OptionParser, "parse"),
        (ArgumentParser, "parse_args"),
        (argparse.ArgumentParser, "parse_args"),
    )
    originals: list[Callable[..., Any]] = [getattr(cls, name) for cls, name in places]

    def stop(parser: Any, words: Sequence[str], *others: Any) -> None:
        raise _Caught(parser, words)

    for cls, name in places:
        setattr(cls, name, stop)
    try:
        yield
    finally:
        for (cls, name), original in zip(places, originals, strict=True):
            setattr(cls, name, original)
