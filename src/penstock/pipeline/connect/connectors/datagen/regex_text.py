"""Random text that a regular expression matches: literals, `.`, classes, `\\d \\w \\s`, groups, `|` and quantifiers.

A pattern is parsed once, into functions that write a piece of text each.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from random import Random
from typing import Final

from penstock.pipeline.connect.errors import ConnectError

Piece = Callable[[Random], str]

MOST_REPEATS: Final = 8
"""Of `*` and `+`, which have no end of their own."""
LONGEST_REPEAT: Final = 10_000
_CLASSES: Final = {
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_",
    "s": " ",
}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r"}
_PRINTABLE: Final = string.ascii_letters + string.digits + string.punctuation + " "


def text_of(pattern: str) -> Piece:
    reader = _Reader(pattern)
    piece = reader.alternatives()
    if not reader.is_at_end:
        raise reader.error("a ) that closes nothing")
    return piece


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._pattern)

    def error(self, what: str) -> ConnectError:
        return ConnectError(f"regex: {self._pattern!r}: {what}, at character {self._at}")

    def _next(self) -> str:
        if self.is_at_end:
            raise self.error("it ends too early")
        self._at += 1
        return self._pattern[self._at - 1]

    def _takes(self, letter: str) -> bool:
        found = self._pattern.startswith(letter, self._at)
        self._at += len(letter) if found else 0
        return found

    def alternatives(self) -> Piece:
        choices = [self._sequence()]
        while self._takes("|"):
            choices.append(self._sequence())
        return choices[0] if len(choices) == 1 else lambda random: random.choice(choices)(random)

    def _sequence(self) -> Piece:
        pieces: list[Piece] = []
        while not self.is_at_end and self._pattern[self._at] not in "|)":
            pieces.append(self._repeated(self._single()))
        return lambda random: "".join([piece(random) for piece in pieces])

    def _single(self) -> Piece:
        letter = self._next()
        if letter == "(":
            self._takes("?:")
            inner = self.alternatives()
            if not self._takes(")"):
                raise self.error("a ( that is not closed")
            return inner
        if letter in "*+?{":
            raise self.error(f"{letter} repeats nothing")
        if letter in "^$":
            return lambda random: ""
        return _one_of(self._letters(letter))

    def _letters(self, letter: str) -> str:
        if letter == "[":
            return self._class()
        if letter == "\\":
            return self._escaped()
        return _PRINTABLE if letter == "." else letter

    def _escaped(self) -> str:
        letter = self._next()
        if letter in _CLASSES or letter in _CONTROLS:
            return _CLASSES.get(letter) or _CONTROLS[letter]
        if letter.isalnum():
            raise self.error(f"\\{letter} is not known here; takes \\d \\w \\s \\n \\t \\r and escaped signs")
        return letter

    def _class(self) -> str:
        is_negated = self._takes("^")
        letters = self._class_letter()
        while not self._takes("]"):
            letters += self._class_letter()
        if is_negated:
            letters = "".join(each for each in _PRINTABLE if each not in letters)
        if not letters:
            raise self.error("a class that nothing is in")
        return letters

    def _class_letter(self) -> str:
        """One letter, a range of them, or a class within the class."""
        letter = self._next()
        if letter == "\\":
            return self._escaped()
        following = self._pattern[self._at : self._at + 2]
        if len(following) < 2 or following[0] != "-" or following[1] == "]":
            return letter
        self._at += 1
        last = self._next()
        if last < letter:
            raise self.error(f"the range {letter}-{last} is empty")
        return "".join(map(chr, range(ord(letter), ord(last) + 1)))

    def _repeated(self, piece: Piece) -> Piece:
        low, high = self._bounds()
        if (low, high) == (1, 1):
            return piece
        return lambda random: "".join([piece(random) for _ in range(random.randint(low, high))])

    def _bounds(self) -> tuple[int, int]:
        for sign, bounds in (("*", (0, MOST_REPEATS)), ("+", (1, MOST_REPEATS)), ("?", (0, 1))):
            if self._takes(sign):
                return bounds
        if not self._takes("{"):
            return 1, 1
        text = ""
        while not self._takes("}"):
            text += self._next()
        low, comma, high = text.partition(",")
        if not low.isdecimal() or not (high.isdecimal() or not high):
            raise self.error(f"{{{text}}} is no count; takes {{n}}, {{n,}} or {{n,m}}")
        most = int(high) if high else int(low) + (MOST_REPEATS if comma else 0)
        if not int(low) <= most <= LONGEST_REPEAT:
            raise self.error(f"{{{text}}} is no count; takes n <= m <= {LONGEST_REPEAT}")
        return int(low), most


def _one_of(letters: str) -> Piece:
    return (lambda random: letters) if len(letters) == 1 else (lambda random: random.choice(letters))
