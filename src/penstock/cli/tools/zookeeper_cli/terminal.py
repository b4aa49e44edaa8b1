"""Lines from a person, with editing, history and completion; or from a file or pipe."""

import sys
from collections.abc import Iterator

from penstock.cli.tool import err
from penstock.cli.tools.zookeeper_cli.commands import COMMANDS
from penstock.cli.tools.zookeeper_cli.errors import ShellError
from penstock.cli.tools.zookeeper_cli.paths import child_of
from penstock.cli.tools.zookeeper_cli.shell import OWN_COMMANDS, Shell


def interact(shell: Shell) -> None:
    print("Welcome to ZooKeeper!")
    if sys.stdin.isatty():
        lines = _typed_lines(shell)
    else:
        print("JLine support is disabled", flush=True)
        lines = (line.rstrip("\n") for line in sys.stdin)
    try:
        shell.session.connect()
    except ShellError as error:
        err(str(error))
    shell.run_lines(lines)


def _typed_lines(shell: Shell) -> Iterator[str]:
    import readline

    readline.set_completer_delims(" ")
    readline.set_completer(lambda word, number: _nth(_completions(shell, word), number))
    readline.parse_and_bind("tab: complete")
    while True:
        try:
            yield input(shell.prompt)
        except EOFError:
            print()
            return


def _nth(found: list[str], number: int) -> str | None:
    return found[number] if number < len(found) else None


def _completions(shell: Shell, word: str) -> list[str]:
    """Commands that begin so; or nodes, for what begins with a slash."""
    if not word.startswith("/"):
        return sorted(name for name in (*OWN_COMMANDS, *COMMANDS) if name.startswith(word))
    parent, _, start = word.rpartition("/")
    try:
        names = shell.session.children(parent or "/")[0]
    except ShellError:
        return []
    return [child_of(parent or "/", name) for name in names if name.startswith(start)]
