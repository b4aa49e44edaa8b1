"""The values that the producer's performance test sends."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path

LETTERS = bytes(ord("A") + byte % 26 for byte in range(256))
POOL_BYTES = 4 * 1024 * 1024
STRIDE = 1_000_003
"""A prime: the pieces of the pool begin elsewhere at each turn."""


def random_letters(size: int) -> Iterator[bytes]:
    """Pieces of a pool of random letters: to roll dice for each byte would be what is measured."""
    pool = random.Random(0).randbytes(max(POOL_BYTES, 4 * size)).translate(LETTERS)
    places = len(pool) - size
    start = 0
    while True:
        yield pool[start : start + size]
        start = (start + STRIDE) % places


def increasing_numbers() -> Iterator[bytes]:
    return (b"%d" % number for number in itertools.count())


def any_of(payloads: list[bytes]) -> Iterator[bytes]:
    dice = random.Random(0)
    while True:
        yield from dice.choices(payloads, k=1000)


def read_payload_file(path: str, delimiter: str) -> list[bytes]:
    """The pieces of a text file; the delimiter is a regular expression."""
    print(f"Reading payloads from: {Path(path).absolute()}")
    file = Path(path)
    if not file.exists() or not file.stat().st_size:
        raise ValueError("File does not exist or empty file provided.")
    pieces = re.split(delimiter, file.read_text(encoding="utf-8", errors="replace"))
    if pieces and not pieces[-1]:
        pieces.pop()
    if pieces and not pieces[0]:
        pieces.pop(0)
    print(f"Number of records read: {len(pieces)}")
    return [piece.encode() for piece in pieces]
