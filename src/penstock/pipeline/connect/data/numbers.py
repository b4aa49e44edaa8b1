"""Numbers as Java converts and reads them: narrowing wraps around, floats saturate, texts have Java's grammar."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

from penstock.pipeline.connect.data.schema import Type

BITS: Final = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
_FLOAT = re.compile(r"([+-]?)(?:(NaN)|(Infinity)|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?)", re.ASCII)
_HEX_FLOAT = re.compile(
    r"([+-]?)(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+)[fFdD]?", re.ASCII
)
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_WHITESPACE = "".join(map(chr, range(33)))
_LARGEST_SCALE = 2**31 - 1


def wrapped(value: int, bits: int) -> int:
    """The lowest bits, with their sign."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def whole(value: float | Decimal, bits: int) -> int:
    """What a cast makes of it: a float saturates (at 32 bits for the narrow types), a Decimal wraps around."""
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        size = max(bits, 32)
        largest = (1 << (size - 1)) - 1
        value = (
            int(max(min(value, largest), -largest - 1))
            if math.isfinite(value)
            else (largest if value > 0 else -largest - 1)
        )
    return wrapped(int(value), bits)


def parse_whole(text: str, bits: int) -> int:
    """ValueError where Java has its NumberFormatException."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(text)
    value = int(text)
    if not -1 << (bits - 1) <= value < 1 << (bits - 1):
        raise ValueError(text)
    return value


def parse_float(text: str) -> float:
    stripped = text.strip(_WHITESPACE)
    if found := _HEX_FLOAT.fullmatch(stripped):
        return float.fromhex(found[1] + found[2])
    found = _FLOAT.fullmatch(stripped)
    if found is None:
        raise ValueError(text)
    return float(found[1] + (found[2] or found[3] or found[4]))


def parse_decimal(text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text):
        raise ValueError(text)
    value = Decimal(text)
    if abs(scale(value)) > _LARGEST_SCALE:
        raise ValueError(text)
    return value


def scale(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "NaN and infinities are no BigDecimals"
    return -exponent
