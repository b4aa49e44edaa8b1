"""Validators: what a setting takes beyond its type, with the words that say so."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from penstock.settings.kinds import Value


@dataclass(frozen=True, slots=True)
class Takes:
    """`accepts` decides; `says` completes "takes an integer, ..." and fills the reference page."""

    says: str
    accepts: Callable[[Value], bool]

    def __or__(self, other: "Takes") -> "Takes":
        return Takes(
            f"{self.says} or {other.says}", lambda value: self.accepts(value) or other.accepts(value)
        )


ANYTHING = Takes("", lambda value: True)


def _is_number(value: Value) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def at_least(least: float, note: str = "") -> Takes:
    """`note` stands for the plain words where a bound has a meaning: "-1 for no limit"."""
    return Takes(note or f"{least} or more", lambda value: _is_number(value) and value >= least)


def between(least: float, most: float, note: str = "") -> Takes:
    return Takes(note or f"{least} to {most}", lambda value: _is_number(value) and least <= value <= most)


def exactly(only: int) -> Takes:
    return Takes(str(only), lambda value: value == only)


def one_of(*choices: str) -> Takes:
    return Takes(f"one of {', '.join(choices)}", lambda value: value in choices)


def one_of_any_case(*choices: str) -> Takes:
    lowered = frozenset(choice.lower() for choice in choices)
    return Takes(
        f"one of {', '.join(choices)}", lambda value: isinstance(value, str) and value.lower() in lowered
    )


def only_items(*choices: str) -> Takes:
    """A list, possibly empty, of these words without repetition."""

    def accepts(value: Value) -> bool:
        return isinstance(value, tuple) and len(set(value)) == len(value) and set(value) <= set(choices)

    return Takes(f"any of {', '.join(choices)}, each at most once", accepts)


NOT_EMPTY = Takes("not empty", lambda value: value is not None and value not in ("", ()) and value != ("",))
