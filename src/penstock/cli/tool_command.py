"""`penstock TOOL ...`: one of Kafka's tools under its short name, with a server by default and its lists as tables.

What a tool lists or describes comes in three forms: a table on a terminal, JSON with `--output json`, and Kafka's own
text in a pipe. The first two are a view of the tool: a module that reads the tool's own flags, asks the same functions
of `client.admin`, and returns rows. All that has no view, and all that is wrong with the flags, is left to the tool.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

from penstock.cli.bootstrap_default import with_bootstrap
from penstock.cli.commands import TOOLS, Command
from penstock.cli.output import FORMATS, TABLE, TEXT, View, show
from penstock.cli.tool import Exit, err, run
from penstock.cli.tool_options import options_of
from penstock.cli.tools.failures import ArgumentFailure, CommandFailure

OUTPUT_FLAG = "--output"


def run_tool(name: str, words: Sequence[str]) -> int:
    command = TOOLS[name]
    if command.view is None:
        exit_code: int = import_module(command.module).main(with_bootstrap(command, words))
        return exit_code
    return run(f"penstock {name}", lambda all_words: _run(name, command, all_words), list(words))


def _run(name: str, command: Command, words: list[str]) -> int:
    output, rest = _take_output(name, words)
    rest = with_bootstrap(command, rest, also_if_empty=output is not None)
    chosen = output or (TABLE if sys.stdout.isatty() else TEXT)
    try:
        view = None if chosen == TEXT else _view(command, rest)
    except (CommandFailure, ArgumentFailure) as failure:
        err(f"penstock {name}: {failure}")
        return 1
    if view is not None:
        show(view, chosen)
        return 0
    if output not in (None, TEXT) and _is_understood(command, rest):
        err(f"penstock {name}: {OUTPUT_FLAG} {output}: only what lists or describes has that form")
        return 1
    exit_code: int = import_module(command.module).main(rest)
    return exit_code


def _take_output(name: str, words: list[str]) -> tuple[str | None, list[str]]:
    """What --output says, and the words without it."""
    for position, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag != OUTPUT_FLAG:
            continue
        end = position + 1
        if not equals:
            value = words[end] if end < len(words) else ""
            end += 1
        if value not in FORMATS:
            err(f"penstock {name}: {OUTPUT_FLAG}: got {value!r}; takes {', '.join(FORMATS)}")
            raise Exit(1)
        return value, words[:position] + words[end:]
    return None, words


def _view(command: Command, words: list[str]) -> View | None:
    options = options_of(command.module, words)
    if options is None or command.view is None:
        return None
    view: View | None = import_module(command.view).view(options)
    return view


def _is_understood(command: Command, words: list[str]) -> bool:
    return options_of(command.module, words) is not None
