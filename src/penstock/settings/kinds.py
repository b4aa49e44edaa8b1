"""The types a setting can have, and how text becomes a value of each: as Kafka's ConfigDef reads them."""

import re
from collections.abc import Callable
from enum import IntEnum

Value = bool | int | float | str | tuple[str, ...] | None

SHORT_MAX = 2**15 - 1
INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_COMMA = re.compile(r"\s*,\s*")


class Kind(IntEnum):
    """The type of a setting; the number is the type's code in DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Password(str):
    """A secret: printing it, or anything that holds it, hides it."""

    def __repr__(self) -> str:
        return "'[hidden]'"

    def __str__(self) -> str:
        return "[hidden]"

    def reveal(self) -> str:
        return "".join(self)


LARGEST = {Kind.SHORT: SHORT_MAX, Kind.INT: INT_MAX, Kind.LONG: LONG_MAX}
WORDS = {
    Kind.BOOLEAN: "true or false",
    Kind.STRING: "text",
    Kind.INT: "an integer",
    Kind.SHORT: "an integer",
    Kind.LONG: "an integer",
    Kind.DOUBLE: "a number",
    Kind.LIST: "a comma-separated list",
    Kind.CLASS: "a class name",
    Kind.PASSWORD: "a password",
}


def _parse_boolean(text: str) -> bool:
    lowered = text.lower()
    if lowered not in ("true", "false"):
        raise ValueError(text)
    return lowered == "true"


def _integer_parser(kind: Kind) -> Callable[[str], int]:
    largest = LARGEST[kind]

    def parse(text: str) -> int:
        if not _INTEGER.fullmatch(text) or len(text) > 20:
            raise ValueError(text)
        number = int(text)
        if not -largest - 1 <= number <= largest:
            raise OverflowError(text)
        return number

    return parse


def _parse_double(text: str) -> float:
    if not _DECIMAL.fullmatch(text):
        raise ValueError(text)
    return float(text)


def _parse_list(text: str) -> tuple[str, ...]:
    return tuple(_COMMA.split(text)) if text else ()


_PARSERS: dict[Kind, Callable[[str], Value]] = {
    Kind.BOOLEAN: _parse_boolean,
    Kind.STRING: str,
    Kind.INT: _integer_parser(Kind.INT),
    Kind.SHORT: _integer_parser(Kind.SHORT),
    Kind.LONG: _integer_parser(Kind.LONG),
    Kind.DOUBLE: _parse_double,
    Kind.LIST: _parse_list,
    Kind.CLASS: str,
    Kind.PASSWORD: Password,
}


def parse(kind: Kind, text: str) -> Value:
    """The value that `text` stands for; ValueError if none, OverflowError if too large for the type."""
    return _PARSERS[kind](text.strip())


def to_text(value: Value) -> str | None:
    """The text that DescribeConfigs shows for a value, which `parse` reads back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, float):
        return _double_to_text(value)
    return None if value is None else str(value)


def _double_to_text(value: float) -> str:
    """As Java prints a double: 1.0E-5 for 1e-05."""
    mantissa, e, exponent = repr(value).partition("e")
    if not e:
        return mantissa
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"
