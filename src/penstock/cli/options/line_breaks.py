"""Where Java would break a line: `java.text.BreakIterator.getLineInstance()`, for ASCII text.

Both libraries of command lines wrap their help with it, so that the help of Kafka's tools shows its rules. A piece
of text that stays together is a word with the blanks behind it. A word is

- opening punctuation, a run of letters (or anything else that is not named here), then hyphens or closing punctuation;
- or a number, before which opening punctuation and hyphens may stand, with points and commas between digits;
- or several of these, glued by an apostrophe or a dollar sign.

A tab or the end of a line ends the piece, and an empty pair of parentheses sticks to what is before it.
"""

import re

_CLOSING = r"""[!"%),.:;?\]}]*"""
_SUFFIX = rf"(?:-+|{_CLOSING})"
_WORD = re.compile(rf"""[(\[{{"]*[^\s(\[{{"!%),.:;?\]}}\-'$]*{_SUFFIX}""")
_NUMBER = re.compile(rf"""[(\[{{"\-]*\d+(?:[.,]\d+)*{_SUFFIX}""")
_GLUE = re.compile(r"['$]+")
_END = re.compile(rf"[ ]*(?:\(\){_CLOSING})?(?:\r?[\t\n\f])?")


def pieces_of(text: str) -> list[str]:
    pieces = []
    start = 0
    while start < len(text):
        end = max(_end_of_piece(text, start), start + 1)
        pieces.append(text[start:end])
        start = end
    return pieces


def _end_of_piece(text: str, position: int) -> int:
    while True:
        position = _end_of_word(text, position)
        glue = _GLUE.match(text, position)
        if glue is None:
            end = _END.match(text, position)
            assert end is not None
            return end.end()
        position = glue.end()


def _end_of_word(text: str, position: int) -> int:
    ends = [found.end() for found in (_WORD.match(text, position), _NUMBER.match(text, position)) if found]
    return max(ends)
