"""The topologies of `tests/support/java_streams`, by the same names, in our DSL."""

from collections.abc import Callable

from penstock.streams import StreamsBuilder

TOPOLOGIES: dict[str, Callable[[StreamsBuilder], object]] = {}


def topology(function: Callable[[StreamsBuilder], object]) -> Callable[[StreamsBuilder], object]:
    TOPOLOGIES[function.__name__] = function
    return function


def joined(_key: object, value: str, aggregate: str) -> str | None:
    """Of an aggregate that deletes itself when it gets long."""
    everything = aggregate + value
    return None if len(everything) > 12 else everything


def is_low(_key: object, value: str | None) -> bool:
    return value is not None and value < "5"


def marked(value: str | None) -> str | None:
    return None if value is None else value + "!"


def java(value: object) -> str:
    return "null" if value is None else str(value)


def both(one: object, two: object) -> str:
    return f"{java(one)}/{java(two)}"


def three(key: object, one: object, two: object) -> str:
    return f"{java(key)}:{java(one)}/{java(two)}"


def added(_key: object, value: str, aggregate: str) -> str:
    return (aggregate + "+" + value)[max(0, len(aggregate) - 10) :]


def taken(_key: object, value: str, aggregate: str) -> str:
    return (aggregate + "-" + value)[max(0, len(aggregate) - 10) :]


def parity(key: str, value: str) -> tuple[str | None, str]:
    if value < "5":
        return "low", key + value
    return (None, value) if value == "9" else ("high", key + value)
