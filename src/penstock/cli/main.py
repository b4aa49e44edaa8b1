"""`penstock`: a command is a module with `main(arguments) -> exit code`, imported only when it is called."""

import sys
from collections.abc import Sequence
from importlib import import_module

import penstock
from penstock.cli.commands import COMMANDS, PLATFORM, TOOLS, Command
from penstock.errors import PenstockError

USAGE = 2
INTERRUPTED = 130
COMPLETE = "__complete"
"""Asked by the scripts of `penstock completion`, not by people."""


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in TOOLS:
        from penstock.cli.tool_commands.running import run_tool

        return run_tool(words[0], words[1:])
    if words and words[0] in PLATFORM:
        return _run(PLATFORM[words[0]], words[1:])
    if words and words[0] == COMPLETE:
        return _run(Command("", "penstock.cli.completion.candidates"), words[1:])
    return _tell(words)


def _run(command: Command, arguments: list[str]) -> int:
    try:
        exit_code: int = import_module(command.module).main(arguments)
        return exit_code
    except (PenstockError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        print(f"penstock: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _tell(words: Sequence[str]) -> int:
    first = words[0] if words else None
    if first in ("--help", "-h"):
        print(help_text())
        return 0
    if first == "--version":
        print(f"penstock {penstock.__version__}")
        return 0
    if first is None:
        print(help_text())
        return USAGE
    print(
        f"penstock: {first!r} is not a command{_nearest(first)}; `penstock --help` lists them",
        file=sys.stderr,
    )
    return USAGE


def _nearest(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word.removeprefix("kafka-").removesuffix(".sh"), COMMANDS, 1)
    return f": is {near[0]!r} meant?" if near else ""


def help_text() -> str:
    width = max(map(len, COMMANDS)) + 2
    sections = []
    for title, commands in (("the platform", PLATFORM), ("Kafka's console tools", TOOLS)):
        listed = "\n".join(f"  {name:<{width}}{command.what_it_does}" for name, command in commands.items())
        sections.append(f"{title}:\n{listed}")
    return (
        "usage: penstock COMMAND ...\n\nThe whole Kafka platform in one command.\n\n"
        + "\n\n".join(sections)
        + "\n\n`penstock COMMAND --help` tells more about each. Tools take the flags of Kafka's; the bootstrap server\n"
        "is $PENSTOCK_BOOTSTRAP_SERVERS, or localhost:9092, if none is given."
    )


if __name__ == "__main__":
    sys.exit(main())
