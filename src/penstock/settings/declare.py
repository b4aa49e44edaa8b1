"""How a field of a dataclass becomes a setting: see `table`.

Each function returns a dataclass field, and is typed as what the field holds: `T | None` where the default
is None.
"""

from dataclasses import field
from functools import partial
from typing import Any, TypedDict, TypeVar, Unpack, cast

from penstock.settings.kinds import Kind, Password, Value
from penstock.settings.table import Effect, Importance, Scope, Setting, Synonym
from penstock.settings.takes import ANYTHING, Takes

_Boolean = TypeVar("_Boolean", bound="bool | None")
_Integer = TypeVar("_Integer", bound="int | None")
_Double = TypeVar("_Double", bound="float | None")
_Text = TypeVar("_Text", bound="str | None")
_Items = TypeVar("_Items", bound="tuple[str, ...] | None")
_Secret = TypeVar("_Secret", bound="Password | None")

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
PER_BROKER, CLUSTER_WIDE = Scope.PER_BROKER, Scope.CLUSTER_WIDE
LATER, NO_EFFECT = Effect.LATER, Effect.NO_EFFECT


class Details(TypedDict, total=False):
    """What a declaration may say beside default, documentation and validator."""

    importance: Importance
    scope: Scope
    broker_synonyms: tuple[Synonym, ...]
    effect: Effect
    internal: bool


def _declare(kind: Kind, default: Value, doc: str, takes: Takes, details: Details) -> Any:
    declaration = partial(Setting, kind=kind, default=default, doc=doc, takes=takes, **details)
    return field(default=default, metadata={"setting": declaration})


def boolean(default: _Boolean, doc: str, **details: Unpack[Details]) -> _Boolean:
    return cast(_Boolean, _declare(Kind.BOOLEAN, default, doc, ANYTHING, details))


def short(default: _Integer, doc: str, takes: Takes = ANYTHING, **details: Unpack[Details]) -> _Integer:
    return cast(_Integer, _declare(Kind.SHORT, default, doc, takes, details))


def integer(default: _Integer, doc: str, takes: Takes = ANYTHING, **details: Unpack[Details]) -> _Integer:
    return cast(_Integer, _declare(Kind.INT, default, doc, takes, details))


def long(default: _Integer, doc: str, takes: Takes = ANYTHING, **details: Unpack[Details]) -> _Integer:
    return cast(_Integer, _declare(Kind.LONG, default, doc, takes, details))


def double(default: _Double, doc: str, takes: Takes = ANYTHING, **details: Unpack[Details]) -> _Double:
    return cast(_Double, _declare(Kind.DOUBLE, default, doc, takes, details))


def string(default: _Text, doc: str, takes: Takes = ANYTHING, **details: Unpack[Details]) -> _Text:
    return cast(_Text, _declare(Kind.STRING, default, doc, takes, details))


def class_name(default: _Text, doc: str, takes: Takes = ANYTHING, **details: Unpack[Details]) -> _Text:
    return cast(_Text, _declare(Kind.CLASS, default, doc, takes, details))


def items(default: _Items, doc: str, takes: Takes = ANYTHING, **details: Unpack[Details]) -> _Items:
    return cast(_Items, _declare(Kind.LIST, default, doc, takes, details))


def password(default: _Secret, doc: str, **details: Unpack[Details]) -> _Secret:
    return cast(_Secret, _declare(Kind.PASSWORD, default, doc, ANYTHING, details))
