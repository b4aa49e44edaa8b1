"""What may come next on a command line: a command, a flag, or a value.

`penstock __complete PROGRAM WORD...` prints the candidates for the last word, one a line, with a tab and a description
where there is one. Nothing is printed where a file is meant, and the shell completes that itself.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from penstock.cli.commands import COMMANDS, TOOLS, Command
from penstock.cli.completion.flags import Flag, Flags, flags_of
from penstock.cli.output.formats import FORMATS

MAX_DESCRIPTION = 72
OUTPUT = Flag(("--output",), "table, json, or text as Kafka's tool prints it", True, FORMATS)
WAIT = Flag(("--wait",), "with --execute: stay until all is done, and verify it", False)
TOPIC_FLAGS = {"--topic", "--topics", "--topic-list", "--include"}
GROUP_FLAGS = {"--group"}
CHOICES = {
    "--entity-type": (
        "topics",
        "brokers",
        "clients",
        "users",
        "ips",
        "groups",
        "client-metrics",
        "broker-loggers",
    ),
    "--election-type": ("preferred", "unclean"),
    "--compression-codec": ("none", "gzip", "snappy", "lz4", "zstd"),
    "--isolation-level": ("read_committed", "read_uncommitted"),
    "--offset": ("earliest", "latest"),
    "--time": ("latest", "earliest", "max-timestamp"),
}
TAKES_TOPICS = {"tail": 1, "cp": 2}
"""Commands whose words without a flag are topics, and how many."""
SERVICES = ("zookeeper", "broker", "registry", "rest", "connect")
FIRST_WORDS = {"completion": ("bash", "zsh", "fish"), "logs": SERVICES, "restart": SERVICES}
PROGRAM = "penstock"
SHORT_NAME_OF_TOOL = {
    command.module.rpartition(".")[2].replace("_", "-"): name for name, command in TOOLS.items()
}
SH = ".sh"
"""Kafka's scripts have it, and ours have it as well."""


class Candidate(NamedTuple):
    text: str
    description: str = ""


def main(arguments: list[str]) -> int:
    program, *words = arguments or [PROGRAM]
    program = program.removesuffix(SH)
    if program in SHORT_NAME_OF_TOOL:
        words = [SHORT_NAME_OF_TOOL[program], *words]
    for text, description in candidates(words or [""]):
        print(f"{text}\t{_short(description)}" if description else text)
    return 0


def _short(description: str) -> str:
    text = " ".join(description.split())
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 1] + "…"


def candidates(words: Sequence[str]) -> list[Candidate]:
    """For the last word, which may be empty; the others are complete."""
    *before, current = words
    if not before:
        return _matching((Candidate(name, each.what_it_does) for name, each in COMMANDS.items()), current)
    if before[0] not in COMMANDS:
        return []
    flag, equals, value = current.rpartition("=")
    found = _matching(_after_command(before[0], before[1:], current), value)
    return [Candidate(f"{flag}{equals}{text}", help) for text, help in found] if flag else found


def _matching(found: Iterator[Candidate], prefix: str) -> list[Candidate]:
    return [each for each in found if each.text.startswith(prefix)]


def _after_command(name: str, before: Sequence[str], current: str) -> Iterator[Candidate]:
    flags = _flags(name, COMMANDS[name], before)
    flag, is_value = _flag_with_value(before, current)
    known = flags.named(flag) if is_value else None
    if known is not None and known.takes_value:
        yield from _values(known, before)
    elif current.startswith("-"):
        yield from _flag_candidates(flags)
    else:
        yield from _words(name, flags, before)


def _flags(name: str, command: Command, before: Sequence[str]) -> Flags:
    if not command.has_flags:
        return Flags((), {})
    from penstock.cli.tool_commands.option_tables import parser_of

    flags = flags_of(parser_of(command.module), before)
    more = [OUTPUT] if command.view is not None else []
    more += [WAIT] if command.waiting is not None else []
    return Flags((*more, *flags.flags), flags.commands)


def _flag_with_value(before: Sequence[str], current: str) -> tuple[str, bool]:
    """The flag whose value is being typed: `--topic x`, `--topic=x`, and `--topic = x` as bash takes it apart."""
    if current.startswith("-") and "=" in current:
        return current.partition("=")[0], True
    if current == "=" and before:
        return before[-1], True
    rest = before[:-1] if before and before[-1] == "=" else before
    return (rest[-1], True) if rest and rest[-1].startswith("-") else ("", False)


def _values(flag: Flag, words: Sequence[str]) -> Iterator[Candidate]:
    if flag.choices:
        yield from map(Candidate, flag.choices)
    for names, ask in _live().items():
        if set(flag.names) & names:
            yield from map(Candidate, ask(words))
    for name in flag.names:
        yield from map(Candidate, CHOICES.get(name, ()))


def _live() -> dict[frozenset[str], Callable[[Sequence[str]], list[str]]]:
    from penstock.cli.completion.names import group_names, topic_names

    return {frozenset(TOPIC_FLAGS): topic_names, frozenset(GROUP_FLAGS): group_names}


def _flag_candidates(flags: Flags) -> Iterator[Candidate]:
    for flag in flags.flags:
        for name in flag.names:
            if name.startswith("--") or len(flag.names) == 1:
                yield Candidate(name, flag.help)


def _words(name: str, flags: Flags, before: Sequence[str]) -> Iterator[Candidate]:
    for command, description in flags.commands.items():
        yield Candidate(command, description)
    if not before:
        yield from map(Candidate, FIRST_WORDS.get(name, ()))
    if name in TAKES_TOPICS:
        from penstock.cli.completion.names import topic_names

        yield from map(Candidate, topic_names(before))
    if name in TOOLS and not flags.commands:
        yield from _flag_candidates(flags)
