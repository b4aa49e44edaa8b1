"""A line as words, and words as options: as ZooKeeper's shell and the library under it (commons-cli) read them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.cli.tools.zookeeper_cli.errors import ShellError

_WORD = re.compile(r"""\s*([^"']\S*|"[^"]*"|'[^']*')\s*""")
_QUOTED = re.compile(r"""^(['"])(.*)(\1)$""", re.DOTALL)
_NEGATIVE_NUMBER = re.compile(r"-\d+(\.\d*)?$")
LIBRARY = "org.apache.commons.cli"


def split_line(line: str) -> list[str]:
    words = (found[1] for found in _WORD.finditer(line.strip()))
    return [word[1:-1] if _QUOTED.match(word) else word for word in words]


@dataclass
class Given:
    """The options of a command that were given, and its other words."""

    options: dict[str, str | None] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def has(self, letter: str) -> bool:
        return letter in self.options


def parse_words(words: Sequence[str], flags: str, with_value: str) -> Given:
    """`flags` are the letters of options without a value, `with_value` of those that take one."""
    given = Given()
    left = list(reversed(words))
    while left:
        word = left.pop()
        if word == "--":
            given.words += reversed(left)
            break
        if not word.startswith("-") or word == "-" or _NEGATIVE_NUMBER.match(word):
            given.words.append(word)
        else:
            _take(word, left, flags, with_value, given)
    return given


def _take(word: str, left: list[str], flags: str, with_value: str, given: Given) -> None:
    for position, letter in enumerate(word[1:], 1):
        if letter in flags:
            given.options[letter] = None
        elif letter in with_value:
            value = word[position + 1 :].removeprefix("=") or (left.pop() if left else None)
            if value is None:
                raise ShellError(f"{LIBRARY}.MissingArgumentException: Missing argument for option: {letter}")
            given.options.setdefault(letter, value)
            return
        else:
            raise ShellError(f"{LIBRARY}.UnrecognizedOptionException: Unrecognized option: {word}")
