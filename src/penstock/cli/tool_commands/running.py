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
from penstock.cli.output.formats import FORMATS, TABLE, TEXT
from penstock.cli.tool import Exit, err, run
from penstock.errors import PenstockError

OUTPUT_FLAG = "--output"
WAIT_FLAG = "--wait"


def run_tool(name: str, words: Sequence[str]) -> int:
    command = TOOLS[name]
    if command.view is None:
        module = command.waiting if command.waiting is not None and WAIT_FLAG in words else command.module
        exit_code: int = import_module(module).main(with_bootstrap(command, words))
        return exit_code
    return run(f"penstock {name}", lambda all_words: _run(name, command, all_words), list(words))


def _run(name: str, command: Command, words: list[str]) -> int:
    output, rest = _take_output(name, words)
    rest = with_bootstrap(command, rest, also_if_empty=output is not None)
    chosen = output or (TABLE if sys.stdout.isatty() else TEXT)
    if chosen == TEXT or not _show(name, rest, chosen):
        return _run_itself(name, command, rest, output)
    return 0


def _run_itself(name: str, command: Command, words: list[str], output: str | None) -> int:
    """The tool, also where a view was asked for that there is not; it knows best what is wrong with its flags."""
    if output not in (None, TEXT) and _is_understood(command, words):
        err(f"penstock {name}: this can't be shown as {output}; without {OUTPUT_FLAG} it is Kafka's text")
        return 1
    exit_code: int = import_module(command.module).main(words)
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


def _show(name: str, words: list[str], output: str) -> bool:
    """Shows the tool's view of these words; False if there is none."""
    from penstock.cli.output.view import show
    from penstock.cli.tool_commands.option_tables import options_of
    from penstock.cli.tools.common.failures import ArgumentFailure, CommandFailure

    command = TOOLS[name]
    options = options_of(command.module, words)
    if options is None or command.view is None:
        return False
    try:
        view = import_module(command.view).view(options)
    except (CommandFailure, ArgumentFailure) as failure:
        raise PenstockError(f"penstock {name}: {failure}") from failure
    if view is not None:
        show(view, output)
    return view is not None


def _is_understood(command: Command, words: list[str]) -> bool:
    from penstock.cli.tool_commands.option_tables import options_of

    return options_of(command.module, words) is not None
