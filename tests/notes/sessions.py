"""What a page has people type into a shell, and what it shows of the answers."""

from __future__ import annotations

import re
import shlex


def commands_in(page: str) -> list[tuple[str, list[str]]]:
    """In their order, each with the lines behind it."""
    found = []
    for session in re.findall(r"```\n(\$ .*?)```", page, flags=re.DOTALL):
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, said = _split(part)
            found.append((command, said.splitlines()))
    return found


def _split(part: str) -> tuple[str, str]:
    """A command, which goes on as long as a quote is open or a line ends in a backslash, and the rest."""
    lines = part.splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        command = "".join(lines[:count])
        try:
            shlex.split(command)
        except ValueError:
            continue
        if not command.endswith("\\\n"):
            return command.rstrip("\n"), "".join(lines[count:])
    raise AssertionError(f"a quote without an end: {part}")
