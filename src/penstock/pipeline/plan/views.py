"""How an operation looks up the current row of a table: in its store, or computed from the stores above it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Joiner: TypeAlias = Callable[[Any, Any], Any]
JoinKind: TypeAlias = Literal["inner", "left", "right", "outer"]


@dataclass(frozen=True)
class View:
    @property
    def stores(self) -> tuple[str, ...]:
        raise NotImplementedError


@dataclass(frozen=True)
class StoreView(View):
    store: str

    @property
    def stores(self) -> tuple[str, ...]:
        return (self.store,)


@dataclass(frozen=True)
class FilterView(View):
    parent: View
    predicate: Callable[[Any, Any], bool]
    keeps: bool

    @property
    def stores(self) -> tuple[str, ...]:
        return self.parent.stores


@dataclass(frozen=True)
class MapView(View):
    parent: View
    mapper: Callable[[Any, Any], Any]

    @property
    def stores(self) -> tuple[str, ...]:
        return self.parent.stores


@dataclass(frozen=True)
class JoinView(View):
    kind: JoinKind
    this: View
    other: View
    joiner: Joiner

    @property
    def stores(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.this.stores, *self.other.stores)))


@dataclass(frozen=True)
class SuppressedView(View):
    """What was last said of a row whose newer changes are held back."""

    buffer: str
    parent: View

    @property
    def stores(self) -> tuple[str, ...]:
        return (self.buffer, *self.parent.stores)
