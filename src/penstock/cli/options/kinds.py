"""What an option's argument is read as, and the word that the help shows for it.

Java reads numbers strictly: an optional sign and digits, in the range of the type, no blanks, no underscores.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Kind(NamedTuple):
    name: str
    """As the help shows it: `<Integer: # of partitions>`."""
    convert: Callable[[str], Any]
    """Raises ValueError for text that it does not take."""
    is_number: bool = False


def _integer_of(bits: int) -> Callable[[str], int]:
    limit = 1 << (bits - 1)

    def convert(text: str) -> int:
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not digits.isdecimal():
            raise ValueError(f'For input string: "{text}"')
        number = int(text)
        if not -limit <= number < limit:
            raise ValueError(f'For input string: "{text}"')
        return number

    return convert


java_int = _integer_of(32)
java_long = _integer_of(64)


def java_double(text: str) -> float:
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise ValueError(f'For input string: "{text}"' if text.strip() else "empty String") from None


def java_boolean(text: str) -> bool:
    return text.lower() == "true"


STRING = Kind("String", str)
INTEGER = Kind("Integer", java_int, is_number=True)
LONG = Kind("Long", java_long, is_number=True)
DOUBLE = Kind("Double", java_double, is_number=True)
BOOLEAN = Kind("Boolean", java_boolean)

_OF_PYTHON_TYPE: dict[Any, Kind] = {str: STRING, int: INTEGER, float: DOUBLE, bool: BOOLEAN}


def kind_of(kind: "type | Kind") -> Kind:
    return kind if isinstance(kind, Kind) else _OF_PYTHON_TYPE[kind]


def matching(pattern: str) -> Kind:
    """Text that a regular expression matches as a whole; the help shows the expression."""

    def convert(text: str) -> str:
        import re

        if not re.fullmatch(pattern, text):
            raise ValueError(f"Value [{text}] did not match regex [{pattern}]")
        return text

    return Kind(pattern, convert)


def one_of(choices: Sequence[str], name: str) -> Kind:
    """One of some words in any case, given in the case of `choices`."""

    def convert(text: str) -> str:
        for choice in choices:
            if choice.lower() == text.lower():
                return choice
        raise ValueError(f"Value [{text}] is not one of [{', '.join(choices)}]")

    return Kind(name, convert)
