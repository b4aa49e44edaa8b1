"""The frame that every console tool runs in: what ends it, with which exit code, and what it says then.

An error that the user can do something about is one line on standard error, never a traceback. Ctrl-C ends a tool
with 130 as in a shell; a reader that closed the pipe (`| head`) ends it quietly, as it ends Kafka's own tools.
"""

import os
import sys
from collections.abc import Callable

from penstock.cli.options.joptsimple import OptionError
from penstock.errors import PenstockError

INTERRUPTED = 130

Command = Callable[[list[str]], int | None]


class Exit(SystemExit):
    """Ends the tool with this code; what was to be said has been said."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.exit_code = code


def err(line: str) -> None:
    print(line, file=sys.stderr)


def run(tool_name: str, command: Command, arguments: list[str] | None = None) -> int:
    """Runs a tool with these words, or with those of the command line, and returns its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = _exit_code_of(tool_name, command, words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_standard_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _exit_code_of(tool_name: str, command: Command, words: list[str]) -> int:
    try:
        return command(words) or 0
    except Exit as exit_:
        return exit_.exit_code
    except (OptionError, PenstockError) as error:
        err(str(error))
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:
        err(f"{tool_name}: {error}")
        return 1


def _drop_standard_output() -> None:
    """So that the interpreter does not stumble over the closed pipe once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
