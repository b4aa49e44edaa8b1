from __future__ import annotations

import random
from itertools import accumulate

import pytest

from penstock.cli.options.line_breaks import pieces_of
from tests.cli.options.probe import ask_java

pytestmark = pytest.mark.processes

# Each character of ASCII that can be in a line, those that matter more often, and pairs that Java treats apart.
ALPHABET = [*map(chr, range(32, 127)), *"ab1 .,-'$()[]\"  ", "()", "[]", "{}", "-1", "1.5", "--", "\t"]


def test_java_breaks_lines_at_the_same_places() -> None:
    dice = random.Random(4711)
    lines = ["".join(dice.choices(ALPHABET, k=dice.randint(1, 14))) for _ in range(5000)]
    ours = [" ".join(map(str, accumulate(map(len, pieces_of(line))))) for line in lines]
    differing = [
        (line, java, our)
        for line, java, our in zip(lines, ask_java("breaks", lines), ours, strict=True)
        if java != our
    ]
    assert differing == []
