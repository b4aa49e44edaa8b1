"""The flags of a command, whichever library its option table is made of."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from penstock.cli.options.argparse4j import ArgumentParser
from penstock.cli.options.joptsimple import OptionParser


class Flag(NamedTuple):
    names: tuple[str, ...]
    """With their hyphens."""
    help: str
    takes_value: bool
    choices: tuple[str, ...] = ()


class Flags(NamedTuple):
    flags: tuple[Flag, ...]
    commands: dict[str, str]
    """Sub-commands, with what each does."""

    def named(self, name: str) -> Flag | None:
        return next((flag for flag in self.flags if name in flag.names), None)


def flags_of(parser: Any, words: Sequence[str]) -> Flags:
    """The flags that a parser takes after these words: those of the sub-command too, if there is one among them."""
    if isinstance(parser, OptionParser):
        return Flags(tuple(_of_joptsimple(parser)), {})
    if isinstance(parser, argparse.ArgumentParser):
        return Flags(tuple(_of_argparse(parser)), {})
    if isinstance(parser, ArgumentParser):
        return _of_argparse4j(parser, words)
    return Flags((), {})


def _of_joptsimple(parser: OptionParser) -> Iterator[Flag]:
    for option in parser.options():
        names = tuple(f"--{name}" if len(name) > 1 else f"-{name}" for name in option.names)
        yield Flag(names, option.description, option.takes_argument)


def _of_argparse(parser: argparse.ArgumentParser) -> Iterator[Flag]:
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            text = (action.help or "") % {"default": action.default, "prog": parser.prog}
            choices = tuple(map(str, action.choices or ()))
            yield Flag(tuple(action.option_strings), text, action.nargs != 0, choices)


def _of_argparse4j(parser: ArgumentParser, words: Sequence[str]) -> Flags:
    flags = [
        Flag(tuple(each.flags), each.help or "", each.takes_value, tuple(map(str, each.choices or ())))
        for each in parser.flags
        if each.help is not None
    ]
    below = parser.subparsers.parsers
    chosen = next((word for word in words if word in below), None)
    if chosen is None:
        return Flags(tuple(flags), {name: each.help_as_command for name, each in below.items()})
    inner = _of_argparse4j(below[chosen], words[words.index(chosen) + 1 :])
    return Flags((*flags, *inner.flags), inner.commands)
